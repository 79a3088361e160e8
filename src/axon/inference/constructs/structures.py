"""Stacked structures: tuples and records of tensors whose rows are passed to a function.

Where the structure is known on one side, so it is on the other, and each tensor is a condition of
its own. Where it is not known yet, the condition waits; at the end of a definition it becomes part
of the scheme.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from axon.diagnostics import error
from axon.inference.report.mismatch import mismatch
from axon.inference.state import LARGEST_TYPE, State, Waiting
from axon.inference.unify import unify
from axon.solver.constraints import Origin
from axon.source import Span
from axon.types.dim import Dim
from axon.types.rows import RowCall
from axon.types.type import (
    DimEq,
    DimValue,
    Fn,
    Record,
    Renaming,
    RowOf,
    Scheme,
    ShapeValue,
    Stacked,
    Tensor,
    Tuple,
    Type,
    Unknown,
    record,
)
from axon.types.variables import ElemVar, ShapeVar, TypeVar, Var, made_at


def is_structured(state: State, function: Type, tensors: list[Type], outputs: int | None) -> bool:
    """Whether a function is called for rows that are structures, or may be. `outputs` is the place
    of its output in its result, -1 for all of it and None if it has none.
    """
    found = state.prune(function)
    params = found.params[-len(tensors) :] if isinstance(found, Fn) else ()
    for i, tensor in enumerate(tensors):
        whole = state.prune(tensor)
        row = state.prune(params[i]) if len(params) == len(tensors) else None
        if isinstance(whole, Tuple) or isinstance(row, Tuple):
            return True
        if isinstance(whole, TypeVar) and (row is None or isinstance(row, TypeVar)):
            return True
    return outputs is not None and returns_structure(state, function, outputs)


def returns_structure(state: State, function: Type, output: int) -> bool:
    """Whether the output of a function is a structure, or may be: a part of its result, or all of
    it if `output` is -1.
    """
    found = state.prune(function)
    if isinstance(found, TypeVar):
        return True
    made = state.prune(found.result) if isinstance(found, Fn) else None
    if output >= 0:
        if not isinstance(made, Tuple) or len(made.items) != 2:
            return False
        made = state.prune(made.items[output])
    return isinstance(made, Tuple | TypeVar)


def solve(state: State, since: int = 0) -> None:
    """Take apart what is known by now of the structures that are waited for."""
    progress = True
    while progress and len(state.stacked) > since:
        if len(state.stacked) - since > LARGEST_TYPE:
            _too_large(state, state.stacked[since].origin)
            del state.stacked[since:]
            return
        waiting = state.stacked[since:]
        forms = _Forms(list(state.stacked))
        del state.stacked[since:]
        progress = False
        for each in waiting:
            parts = _taken_apart(state, each, forms)
            progress = progress or parts is not None
            state.stacked.extend((each,) if parts is None else parts)
        progress = _same(state, since) or progress


def _too_large(state: State, origin: Origin) -> None:
    assert origin.span is not None
    text = f"the type of this has more than {LARGEST_TYPE} parts"
    state.diagnostics.append(error("AX216", text, origin.span, "too large", None, origin.operator))


def has_no_tensor(state: State, types: list[Type]) -> bool:
    """Whether there is nothing in these structures that could have rows."""
    todo = list(types)
    while todo:
        part = state.prune(todo.pop())
        if not isinstance(part, Tuple) or (isinstance(part, Record) and part.rest is not None):
            return False
        todo.extend(part.items)
    return True


def _same(state: State, since: int) -> bool:
    """The same rows, as many of them, are the same structure; and one structure has one number of
    rows.
    """
    found: dict[tuple[int, object], Type] = {}
    sizes: dict[int, Dim] = {}
    progress = False
    for each in state.stacked[since:]:
        row, whole = _open(state, each.row), _open(state, each.whole)
        if row is None or whole is None:
            continue
        size = sizes.setdefault(id(whole), each.size)
        if state.store.dim(size) != state.store.dim(each.size):
            state.store.post(DimEq(size, each.size), each.origin, each.depth)
            progress = True
        first = found.setdefault((id(row), state.store.dim(each.size)), each.whole)
        if _open(state, first) is not whole:
            unify(state, first, each.whole, each.origin)
            progress = True
    if progress:
        kept: dict[tuple[int, int, object], Waiting] = {}
        for each in state.stacked[since:]:
            key = (
                id(_open(state, each.row) or each.row),
                id(_open(state, each.whole) or each.whole),
            )
            kept.setdefault((*key, state.store.dim(each.size)), each)
        state.stacked[since:] = kept.values()
    return progress


def _taken_apart(state: State, each: Waiting, forms: _Forms) -> list[Waiting] | None:
    """The conditions on the parts, if the structure is known on one side."""
    whole, row = state.prune(each.whole), state.prune(each.row)
    if isinstance(whole, Unknown) or isinstance(row, Unknown):
        return []
    if isinstance(whole, TypeVar) and isinstance(row, TypeVar):
        return None
    known, other = (whole, row) if isinstance(row, TypeVar) else (row, whole)
    scopes = made_at(each.depth), made_at(each.depth + 1)
    level = min(state.level, _level(whole), _level(row)) if _is_open(whole, row) else state.level
    if isinstance(known, Tuple) and _inside_itself(state, other, known, forms):
        mismatch(state, other, known, each.origin, "AX208")
        return []
    match known:
        case Tensor() | DimValue() | ShapeValue():
            _leaf(state, each, whole, row, level)
            return []
        case Record(_, names, rest):
            if not names and isinstance(other, Record):
                if not other.names and rest is not None and other.rest is not None:
                    return None
                names, rest = other.names, rest and other.rest
            elif isinstance(other, Record):
                names = tuple(sorted({*names, *other.names}))
                rest = rest and other.rest
            return _fields(state, each, whole, row, names, rest is not None, level)
        case Tuple(items):
            wholes, rows = (
                Tuple(tuple(TypeVar("", level, scope=scope) for _ in items)) for scope in scopes
            )
            unify(state, wholes, whole, each.origin)
            unify(state, rows, row, each.origin, deeper=1)
            pairs = zip(wholes.items, rows.items, strict=True)
            return [replace(each, whole=a, row=b) for a, b in pairs]
        case _:
            mismatch(state, Tensor(ElemVar(), (ShapeVar(),)), known, each.origin, "AX207")
            return []


def _inside_itself(state: State, var: Type, known: Tuple, forms: _Forms) -> bool:
    """Whether a variable that has the form of a structure is a part of it, or has the form of a
    part: there is no such structure, and to take it apart would not end.
    """
    if not isinstance(var, TypeVar):
        return False
    seen: dict[int, Type] = {}
    todo: list[Type] = [*known.items]
    while todo:
        part = state.prune(todo.pop())
        if part is var:
            return True
        if id(part) not in seen:
            seen[id(part)] = part
            if isinstance(part, Tuple):
                todo.extend(part.items)
            elif isinstance(part, TypeVar):
                todo.extend(forms.like(state, part))
    return False


class _Forms:
    """What has the form of a variable, by the conditions on structures."""

    def __init__(self, waiting: list[Waiting]) -> None:
        self.waiting = waiting
        self.found: dict[TypeVar, list[Type]] | None = None

    def like(self, state: State, var: TypeVar) -> list[Type]:
        if self.found is None:
            self.found = {}
            for each in self.waiting:
                sides = state.prune(each.whole), state.prune(each.row)
                for side, other in (sides, sides[::-1]):
                    if isinstance(side, TypeVar):
                        self.found.setdefault(side, []).append(other)
        return self.found.get(var, [])


def _fields(
    state: State,
    each: Waiting,
    whole: Type,
    row: Type,
    names: tuple[str, ...],
    is_open: bool,
    level: int,
) -> list[Waiting]:
    """The conditions on the fields of a record, and on its other fields if it is open."""
    scopes = made_at(each.depth), made_at(each.depth + 1)
    made: list[Record] = []
    for scope in scopes:
        fields: dict[str, Type] = {name: TypeVar("", level, scope=scope) for name in names}
        made.append(record(fields, TypeVar("", level, scope=scope, row=True) if is_open else None))
    wholes, rows = made
    unify(state, wholes, whole, each.origin)
    unify(state, rows, row, each.origin, deeper=1)
    pairs = zip(wholes.items, rows.items, strict=True)
    parts = [replace(each, whole=a, row=b) for a, b in pairs]
    if is_open:
        rests = Record((), (), wholes.rest), Record((), (), rows.rest)
        parts.append(replace(each, whole=rests[0], row=rests[1]))
    return parts


def _leaf(state: State, each: Waiting, whole: Type, row: Type, level: int) -> None:
    """A tensor, whose rows are one shorter. Their sizes may vary."""
    elem = ElemVar("", level)
    inside = ShapeVar("", level, scope=made_at(each.depth + 1))
    all_ = ShapeVar("", level, scope=made_at(each.depth))
    unify(state, Tensor(elem, (each.size, all_)), whole, each.origin)
    unify(state, Tensor(elem, (inside,)), row, each.origin, deeper=1)
    state.store.post(RowOf((inside,), (all_,), each.call), each.origin, each.depth)


def _level(type_: Type) -> int:
    return type_.level if isinstance(type_, TypeVar) else 1 << 30


def _is_open(*types: Type) -> bool:
    return any(isinstance(type_, TypeVar) for type_ in types)


# --- schemes -----------------------------------------------------------------------------------


def waiting_here(state: State, level: int) -> list[Waiting]:
    """Take out the conditions that belong to a definition at this level."""
    mine = [each for each in state.stacked if _deepest(state, each) > level]
    state.stacked[:] = [each for each in state.stacked if each not in mine]
    return mine


def _deepest(state: State, each: Waiting) -> int:
    sides = (_variable(state, each.whole), _variable(state, each.row))
    return max(side.level for side in sides)


def as_conditions(state: State, waiting: Iterable[Waiting]) -> tuple[Stacked, ...]:
    """The conditions on structures as a scheme has them."""
    return tuple(
        Stacked(
            _variable(state, each.whole),
            _variable(state, each.row),
            state.store.dim(each.size),
            each.call,
        )
        for each in waiting
    )


def without_repeats(conditions: Sequence[Stacked], variables: Iterable[Var]) -> tuple[Stacked, ...]:
    """A structure has rows: to say so again, of a row that nothing else has, adds nothing."""
    uses = Counter([each.row for each in conditions] + [each.whole for each in conditions])
    shown = {*variables}
    kept: list[Stacked] = []
    idle: list[Stacked] = []
    for each in conditions:
        (idle if uses[each.row] == 1 and each.row not in shown else kept).append(each)
    said = {(each.whole, each.size) for each in kept}
    for each in idle:
        if (each.whole, each.size) not in said:
            said.add((each.whole, each.size))
            kept.append(each)
    return tuple([each for each in conditions if each in kept])


def _open(state: State, type_: Type) -> TypeVar | None:
    """The variable that a side is, or that stands for all of its fields."""
    found = state.prune(type_)
    if isinstance(found, Record) and not found.names:
        return found.rest
    return found if isinstance(found, TypeVar) else None


def _variable(state: State, type_: Type) -> TypeVar:
    found = _open(state, type_)
    assert found is not None
    return found


def with_conditions(type_: Type, conditions: Sequence[Stacked]) -> Type:
    """The type with its conditions on structures as parameters, so that both are renamed alike."""
    if not conditions or not isinstance(type_, Fn):
        return type_
    more = [Tuple((_side(c.whole), _side(c.row), DimValue(c.size))) for c in conditions]
    return Fn((*type_.params, *more), type_.result)


def without_conditions(
    type_: Type, conditions: Sequence[Stacked]
) -> tuple[Type, tuple[Stacked, ...]]:
    """The type and its conditions again."""
    if not conditions or not isinstance(type_, Fn):
        return type_, ()
    count = len(type_.params) - len(conditions)
    found: list[Stacked] = []
    for each, before in zip(type_.params[count:], conditions, strict=True):
        assert isinstance(each, Tuple)
        whole, row, size = each.items
        assert isinstance(size, DimValue)
        found.append(Stacked(_of_side(whole), _of_side(row), size.dim, before.call))
    return Fn(type_.params[:count], type_.result), tuple(found)


def post(state: State, scheme: Scheme, renaming: Renaming, origin: Origin, depth: int) -> None:
    """The conditions of a scheme on structures, for one use of it."""
    calls: dict[RowCall, RowCall] = {}
    since = len(state.stacked)
    for each in scheme.stacked:
        whole, row = renaming.type(_side(each.whole)), renaming.type(_side(each.row))
        call = calls.setdefault(each.call, RowCall(depth))
        size = renaming.dim(each.size)
        state.stacked.append(Waiting(whole, row, size, call, origin, depth))
    solve(state, since)


def post_written(
    state: State, conditions: Iterable[tuple[Stacked, Span]], kind: str, depth: int
) -> None:
    """The conditions on structures that a function states."""
    for each, span in conditions:
        origin = Origin(kind, span, "", 0, span.text)
        sides = _side(each.whole), _side(each.row)
        state.stacked.append(Waiting(*sides, each.size, each.call, origin, depth))
    solve(state)


def _side(var: TypeVar) -> Type:
    return Record((), (), var) if var.row else var


def _of_side(type_: Type) -> TypeVar:
    if isinstance(type_, Record):
        assert type_.rest is not None
        return type_.rest
    assert isinstance(type_, TypeVar)
    return type_
