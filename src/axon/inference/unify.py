"""Unification: two types are made equal; where two tensors meet, a constraint between their shapes
is posted.

A value that is a size may be used where a tensor is expected and the other way round; otherwise the
two sides are symmetric.
"""

from __future__ import annotations

from dataclasses import replace

from axon.inference.constructs.fractions import divisors
from axon.inference.report.mismatch import (
    classes_differ,
    elements_differ,
    fields_differ,
    literal_differs,
    mismatch,
    not_in_class,
    varies,
)
from axon.inference.state import Asked, State
from axon.solver.constraints import Origin
from axon.types import dim as dims
from axon.types.elements import ANY, BIT, INT, NUM
from axon.types.type import (
    AtLeast,
    DimEq,
    DimValue,
    Elem,
    Fn,
    Record,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
    record,
    shape_rank,
    shape_variables,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, given_at, is_ragged, made_at

DEEPEST_TYPE = 120


def unify(
    state: State, expected: Type, actual: Type, origin: Origin, deeper: int = 0, nested: int = 0
) -> None:
    """Make the types equal. `deeper` counts the enclosing function types, called further in."""
    expected, actual = state.prune(expected), state.prune(actual)
    if expected is actual or isinstance(expected, Unknown) or isinstance(actual, Unknown):
        return
    if state.sealed:
        raise Asked
    if nested > DEEPEST_TYPE:
        mismatch(state, expected, actual, origin, "AX208")
        return
    match expected, actual:
        case (TypeVar(), _):
            _bind(state, expected, widened(state, actual, expected.wide), origin, deeper)
        case (_, TypeVar()):
            given = widened(state, expected, True) if actual.wide else expected
            _bind(state, actual, given, origin, deeper, wanted=True)
        case (Tensor(e1, s1), Tensor(e2, s2)):
            if unify_elem(state, e1, e2, origin) and s1 != s2:
                state.post(ShapeEq(s1, s2), origin, deeper)
        case (Record(), Record()):
            _unify_records(state, expected, actual, origin, deeper, nested)
        case (Record(), Tuple()) | (Tuple(), Record()):
            mismatch(state, expected, actual, origin, "AX207")
        case (Tuple(items1), Tuple(items2)) if len(items1) == len(items2):
            for i, (a, b) in enumerate(zip(items1, items2, strict=True)):
                of = origin.of_part(f"item {i + 1} of {origin.part}") if origin.part else origin
                unify(state, a, b, of, deeper, nested + 1)
        case (Fn(params1, result1), Fn(params2, result2)):
            if len(params1) != len(params2):
                mismatch(state, expected, actual, origin, "AX203")
                return
            for i, (a, b) in enumerate(zip(params1, params2, strict=True)):
                unify(state, b, a, _part(origin, f"argument {i + 1}"), deeper + 1, nested + 1)
            unify(state, result1, result2, _part(origin, "result"), deeper + 1, nested + 1)
        case (DimValue(d1), DimValue(d2)):
            floor(state, expected, origin, deeper)
            floor(state, actual, origin, deeper)
            state.post(DimEq(d1, d2), origin, deeper)
        case (ShapeValue(w1), ShapeValue(w2)):
            state.post(ShapeEq(w1, w2), origin, deeper)
        case (Tensor(), DimValue(dim)) if _varies(state, (dim,)):
            varies(state, origin)
        case (Tensor(elem, shape), DimValue()):
            if restrict(state, elem, NUM, origin):
                state.post(ShapeEq(shape, ()), origin, deeper)
        case (DimValue(dim), Tensor(elem, shape)):
            if restrict(state, elem, INT, origin):
                state.post(ShapeEq((), shape), origin, deeper)
                state.post(DimEq(dim, _found(state, deeper)), origin, deeper)
        case (Tensor(), ShapeValue(word)) if _varies(state, word):
            varies(state, origin)
        case (Tensor(elem, shape), ShapeValue(word)):
            if restrict(state, elem, NUM, origin):
                word = state.store.word(word)
                for item in word:
                    if isinstance(item, ShapeVar):
                        state.store.watch_rank(item)
                state.post(ShapeEq(shape, (shape_rank(word),)), origin, deeper)
        case (ShapeValue(word), Tensor(elem, shape)):
            if restrict(state, elem, INT, origin):
                _open_shape(state, word, shape, origin, deeper)
        case _:
            mismatch(state, expected, actual, origin, "AX207")


def _unify_records(
    state: State, expected: Record, actual: Record, origin: Origin, deeper: int, nested: int
) -> None:
    """Fields of the same name are made equal; the others go into the rest of the other side."""
    wanted, given = expected.fields, actual.fields
    for name in expected.names:
        if name in given:
            part = f"field `{name}` of {origin.part}" if origin.part else f"field `{name}`"
            unify(state, wanted[name], given[name], origin.of_part(part), deeper, nested + 1)
    missing: dict[str, Type] = {n: t for n, t in wanted.items() if n not in given}
    extra: dict[str, Type] = {n: t for n, t in given.items() if n not in wanted}
    rest, other = expected.rest, actual.rest
    if (missing and other is None) or (extra and rest is None) or (rest and rest is other):
        if missing or extra:
            if origin.kind == "result":  # what is declared stands on the other side
                missing, extra = extra, missing
            fields_differ(state, tuple(missing), tuple(extra), origin)
        return
    if rest is None and other is None:
        return
    if not missing and not extra and rest is not None and other is not None:
        unify(state, rest, other, origin, deeper, nested + 1)
        return
    fresh = None
    if rest is not None and other is not None:
        fresh = TypeVar("", min(rest.level, other.level), row=True)
        fresh.scope = min(rest.scope, other.scope)
    if rest is not None:
        _bind(state, rest, record(extra, fresh), origin, deeper, wanted=False)
    if other is not None and state.prune(other) is other:
        _bind(state, other, record(missing, fresh), origin, deeper, wanted=True)


def floor(state: State, value: DimValue, origin: Origin, deeper: int = 0) -> None:
    """The value is used as a size: the divisor of a quotient must not be zero."""
    for divisor in divisors(value):
        guard = AtLeast(dims.sub(divisor, 1), silent=True)
        state.post(guard, replace(origin, kind="divisor"), deeper)


def _part(origin: Origin, part: str) -> Origin:
    """The origin of a requirement on one part of a function."""
    return origin if origin.part or origin.kind != "argument" else origin.of_part(part)


def widened(state: State, type_: Type, sizes: bool = False) -> Type:
    """An integer, where nothing requires it to be a size, is a scalar of some number type; with
    `sizes`, so is any other size.
    """
    type_ = state.prune(type_)
    match type_:
        case DimValue(dim) if sizes or isinstance(dim, int):
            return Tensor(ElemVar("", state.level, allowed=NUM, literal="int"), ())
        case ShapeValue(shape) if sizes:
            word = state.store.shape(shape)
            for item in word:
                if isinstance(item, ShapeVar):
                    state.store.watch_rank(item)
            elem = ElemVar("", state.level, allowed=NUM, literal="int")
            return Tensor(elem, (shape_rank(word),))
        case Tuple(items):
            return type_.of(tuple(widened(state, item, sizes) for item in items))
        case _:
            return type_


def _varies(state: State, word: Shape) -> bool:
    return any(map(is_ragged, shape_variables(state.store.word(word))))


def _open_shape(state: State, word: Shape, shape: Shape, origin: Origin, deeper: int) -> None:
    """An integer vector used as a shape: its length is the rank, its values are run-time sizes."""
    length = state.fresh_dim()
    state.post(ShapeEq((length,), shape), origin, deeper)
    known = state.store.dim(length)
    if isinstance(known, int) and 0 <= known <= 64:
        sizes: Shape = tuple(_found(state, deeper) for _ in range(known))
    else:
        scope = _value_scope(state, deeper)
        sizes = (ShapeVar("", state.level, scope=scope, runtime=True),)
    state.post(ShapeEq(word, sizes), origin, deeper)


def _found(state: State, deeper: int) -> DimVar:
    """A size that is the value of a tensor."""
    return DimVar("", state.level, scope=_value_scope(state, deeper), runtime=True)


def _value_scope(state: State, deeper: int) -> int:
    """The scope of a size that is a value: a function further in receives it as an argument."""
    return given_at(state.depth + deeper) if deeper else made_at(state.depth)


def _bind(
    state: State, var: TypeVar, value: Type, origin: Origin, deeper: int, wanted: bool = False
) -> None:
    """Bind the variable to the value; `wanted` is whether the value is the expected side."""
    if isinstance(value, TypeVar):
        if _rank(value) > _rank(var):
            var, value = value, var
        value.wide |= var.wide
        value.row |= var.row
    elif var.row and not isinstance(value, Record | Unknown):
        mismatch(state, Record((), (), var), value, origin, "AX207")
        return
    if isinstance(value, Tensor) and var.shown and state.reasons:
        # a name for an entire type: its shape has the name too, so that a derivation shows what the
        # paper shows
        named = ShapeVar(var.name, min(var.level, state.level), scope=var.scope)
        shape_origin = replace(origin, turned=True) if wanted else origin
        if isinstance(value.elem, ElemVar) and value.elem.allowed & ANY != ANY:
            state.asked.setdefault(value.elem, origin)
        state.post(ShapeEq((named,), value.shape), shape_origin, deeper)
        value = Tensor(value.elem, (named,))
    if _occurs(state, var, value):
        mismatch(state, var, value, origin, "AX208")
        return
    state.types[var] = _shallow(state, value, var.scope, origin, deeper)


def _rank(var: TypeVar) -> tuple[int, bool, bool, int]:
    """Of two equal variables the higher is replaced: the deeper one, then the nameless one."""
    return var.level, not var.user, not var.shown, var.id


def _shallow(state: State, value: Type, scope: int, origin: Origin, deeper: int) -> Type:
    """A run-time size that is made further in does not enter the type; it is checked instead."""
    match value:
        case Tensor(_, shape) | ShapeValue(shape) if _made_deeper(state, shape, scope):
            outer = (ShapeVar("", state.level, scope=scope),)
            state.post(ShapeEq(outer, shape), origin, deeper)
            return Tensor(value.elem, outer) if isinstance(value, Tensor) else ShapeValue(outer)
        case DimValue(dim) if _made_deeper(state, (dim,), scope):
            size = DimVar("", state.level, scope=scope)
            state.post(DimEq(size, dim), origin, deeper)
            return DimValue(size)
        case Tuple(items):
            parts = [_shallow(state, state.prune(i), scope, origin, deeper) for i in items]
            return value.of(tuple(parts))
        case _:
            return value


def _made_deeper(state: State, shape: Shape, scope: int) -> bool:
    return any(v.runtime and v.scope > scope for v in shape_variables(state.store.word(shape)))


def _occurs(state: State, var: TypeVar, value: Type) -> bool:
    """Whether the variable occurs in the value. On the way, the variables of the value get its
    level and its scope. Parameters and results of a function type belong to its calls, further in.
    """
    todo = [(value, True)]
    while todo:
        part, here = todo.pop()
        current = state.prune(part)
        match current:
            case TypeVar():
                if current is var:
                    return True
                current.level = min(current.level, var.level)
                if here:
                    current.scope = min(current.scope, var.scope)
            case Tuple(items):
                todo.extend((item, here) for item in items)
                if isinstance(current, Record) and current.rest is not None:
                    todo.append((current.rest, here))
            case Fn(params, result):
                todo.extend((item, False) for item in (*params, result))
            case Tensor(elem, shape):
                found = state.elem(elem)
                if isinstance(found, ElemVar) and found.level > var.level:
                    found.level = var.level
                _lowered(state, shape, var, here)
            case ShapeValue(shape):
                _lowered(state, shape, var, here)
            case DimValue(dim):
                _lowered(state, (dim,), var, here)
            case _:
                pass
    return False


def _lowered(state: State, shape: Shape, var: TypeVar, here: bool) -> None:
    for item in shape_variables(state.store.word(shape)):
        if item.level > var.level:
            item.level = var.level
        if here and item.scope > var.scope and not item.runtime:
            item.scope = var.scope


def lower(state: State, type_: Type, level: int) -> None:
    """Nothing in the type may be generalised at a level deeper than this."""
    for var in type_variables(state.resolve(type_)):
        var.level = min(var.level, level)


# --- element types
# -------------------------------------------------------------------------------------


def unify_elem(state: State, left: Elem, right: Elem, origin: Origin) -> bool:
    left, right = state.elem(left), state.elem(right)
    if left is right or left == right:
        return True
    if isinstance(left, str):
        if isinstance(right, str):
            elements_differ(state, left, right, origin)
            return False
        return _bind_elem(state, right, left, origin)
    if isinstance(right, str):
        return _bind_elem(state, left, right, origin)
    both = left.allowed & right.allowed
    if not both:
        first = left if left in state.asked else right
        classes_differ(state, left.allowed, right.allowed, origin, first)
        return False
    if (left.user, -left.id) > (right.user, -right.id):
        left, right = right, left
    if both & ANY != ANY:
        state.asked.setdefault(right, state.asked.get(left, origin))
    right.allowed = both
    right.level = min(left.level, right.level)
    if not right.literal or left.literal == "float":
        right.literal = left.literal
    state.elems[left] = right
    return True


def _bind_elem(state: State, var: ElemVar, elem: str, origin: Origin) -> bool:
    if var.allowed & BIT[elem]:
        state.elems[var] = elem
        return True
    if var.literal:
        literal_differs(state, elem, var.literal, origin)
    else:
        not_in_class(state, elem, var.allowed, origin)
    return False


def restrict(state: State, elem: Elem, mask: int, origin: Origin) -> bool:
    elem = state.elem(elem)
    if isinstance(elem, str):
        if BIT[elem] & mask:
            return True
        not_in_class(state, elem, mask, origin)
        return False
    if not elem.allowed & mask:
        classes_differ(state, elem.allowed, mask, origin, elem)
        return False
    if elem.allowed & mask != elem.allowed:
        state.asked[elem] = origin
    elem.allowed &= mask
    return True
