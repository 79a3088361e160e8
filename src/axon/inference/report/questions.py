"""Questions about a definition: why is this dimension what it is, and what must hold of it?"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from axon.inference.generalise.schemes import resolved, visible
from axon.inference.program import Definition
from axon.inference.report.clash import item_at
from axon.inference.report.signature import describe_definition
from axon.inference.state import State
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import enough_for, sufficient
from axon.solver.store import Store
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    Fn,
    Record,
    Relation,
    Shape,
    Tensor,
    Type,
    relation_variables,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition as the signature shows it, and the fewest constraints that imply it."""

    text: str
    because: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """The subject of the question, its value, and the fewest constraints that imply it, in source
    order; then the conditions on the value.
    """

    subject: str
    value: str
    because: tuple[Constraint, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class _Subject:
    """The subject of a question: a shape, and which of its dimensions."""

    name: str
    shape: Shape
    index: int | None = None
    user: DimVar | ShapeVar | None = None
    """The variable, if it is asked for by name."""

    def read(self, store: Store) -> Shape:
        """Its value; the entire shape where the dimension is inside a part of unknown rank."""
        word = store.word(self.shape)
        item = None if self.index is None else item_at(word, self.index)
        return word if item is None else (item,)


def why(state: State, definition: Definition, question: str) -> Answer | str:
    """Answer `n` (a name of the program), `x` or `x[1]` (a parameter, or one of its dimensions),
    `p.w[0]` (of a field) or `result[0]`; else return a complaint.
    """
    subject = _subject(state, definition, question)
    if isinstance(subject, str):
        return subject
    return _answer(state, definition, question.strip(), subject)


def why_shape(
    state: State, definition: Definition, name: str, shape: Shape, index: int | None
) -> Answer | str:
    """The same about the shape of a name inside a definition, or one of its dimensions."""
    asked = name if index is None else f"{name}[{index}]"
    subject = _in_range(state, _Subject(name, shape, index))
    return subject if isinstance(subject, str) else _answer(state, definition, asked, subject)


def _answer(state: State, definition: Definition, asked: str, subject: _Subject) -> Answer:
    value = subject.read(state.store)
    because = sufficient(list(definition.constraints), subject.read, value)
    show = Show(_names(definition))
    text = _text(subject, state.store.word(subject.shape), value, show)
    conditions = tuple(_conditions(definition, value, show))
    return Answer(asked, text, tuple(because), conditions)


def _names(definition: Definition) -> Names:
    """The names of the signature, then others."""
    names = Names()
    for name, var in describe_definition(definition).variables.items():
        names.given[var] = name
        names.taken.add(name)
    for constraint in definition.constraints:
        names.reserve(relation_variables(constraint.relation))
    return names


# --- what it is about ---

_QUESTION = re.compile(
    r"\s*([A-Za-z_][\w']*)((?:\.[A-Za-z_][\w']*)*)\s*(?:\[\s*(-?\d{1,6})\s*\])?\s*"
)


def _subject(state: State, definition: Definition, question: str) -> _Subject | str:
    match = _QUESTION.fullmatch(question)
    if match is None:
        return f"`{question}` is not a name, `name[0]`, `name.field[0]` or `result[0]`"
    name, index = match[1], int(match[3]) if match[3] is not None else None
    fields = match[2].split(".")[1:]
    var = definition.names.index.get(name)
    if var is not None and name not in definition.params and not fields:
        if isinstance(var, DimVar) and index is not None:
            return f"`{name}` is a dimension: it has no dimensions of its own"
        subject = _Subject(name, (var,), index, var)
    else:
        type_ = _typed(state, definition, name)
        if type_ is None:
            known = ", ".join([*definition.params, *definition.names.index, "result"])
            return f"{definition.name} has no parameter or dimension `{name}`; there are {known}"
        type_ = state.prune(type_)
        for field in fields:
            if not isinstance(type_, Record):
                return f"`{name}` is not a record"
            if field not in type_.names:
                known = ", ".join(type_.names)
                return f"`{name}` has no field `{field}`; there are {known}"
            type_, name = state.prune(type_.fields[field]), f"{name}.{field}"
        if isinstance(type_, Record):
            known = ", ".join(f"{name}.{field}" for field in type_.names)
            return f"`{name}` is a record; ask for one of {known}" if known else f"`{name}` is {{}}"
        if not isinstance(type_, Tensor):
            return f"`{name}` is not a tensor"
        subject = _Subject(name, type_.shape, index)
    return _in_range(state, subject)


def _in_range(state: State, subject: _Subject) -> _Subject | str:
    """The subject, unless it has no such dimension."""
    name, index = subject.name, subject.index
    word = state.store.word(subject.shape)
    if index is None or any(isinstance(item, ShapeVar) for item in word):
        return subject
    if not -len(word) <= index < len(word):
        return f"`{name}` has {len(word)} dimension{'' if len(word) == 1 else 's'}"
    return subject


def _typed(state: State, definition: Definition, name: str) -> Type | None:
    type_ = state.prune(definition.type)
    if not isinstance(type_, Fn):
        return type_ if name in ("result", definition.name) else None
    if name in definition.params:
        return type_.params[definition.params.index(name)]
    return type_.result if name == "result" else None


# --- what it is ---


def _text(subject: _Subject, word: Shape, value: Shape, show: Show) -> str:
    if subject.user is not None and value == (subject.user,):
        return "any size" if isinstance(subject.user, DimVar) else "any shape"
    index = subject.index
    if index is None:
        one = value[0] if len(value) == 1 else None
        if isinstance(subject.user, DimVar) and one is not None and not isinstance(one, ShapeVar):
            return show.dim(one)
        return show.shape(value)
    item = item_at(word, index)
    return _in_open_part(subject.name, word, index, show) if item is None else show.dim(item)


def _in_open_part(name: str, word: Shape, index: int, show: Show) -> str:
    """A dimension that is in a part of unknown rank, or beyond it: what is known instead."""
    opens = [i for i, item in enumerate(word) if isinstance(item, ShapeVar)]
    at = opens[0] if index >= 0 else opens[-1]
    part = f"the shape {show.shape((word[at],))}, whose rank is open"
    if len(word) == 1:
        return f"not known: `{name}` is {part}"
    if index >= 0:
        where = "begins with" if at == 0 else "goes on with"
    else:
        where = "ends with" if at == len(word) - 1 else "has, further out,"
    ends = (*range(opens[0]), *range(opens[-1] + 1 - len(word), 0))
    known = [
        f"{name}[{i}] is {show.dim(item)}"
        for i in ends
        if not isinstance(item := word[i], ShapeVar)
    ]
    text = f"not known: `{name}` is {show.shape(word)}, which {where} {part}"
    return "; ".join([text, *known])


# --- what must hold ---


def _conditions(definition: Definition, value: Shape, show: Show) -> Iterable[Condition]:
    """The conditions of the signature, and its run-time checks, that mention a value."""
    mine = set(shape_variables(value))
    texts = {guard.relation: show.check(guard.relation) for guard in definition.guards}
    texts = {r: show.relation(r) for r in visible(definition.scheme.relations)} | texts
    for relation, text in texts.items():
        if mine.isdisjoint(relation_variables(relation)):
            continue
        because = enough_for(list(definition.constraints), _entails(relation))
        yield Condition(text, tuple(because))


def _entails(relation: Relation) -> Callable[[Store], bool]:
    """Whether constraints imply a relation: adding it leaves the same residuals."""

    def implied(alone: Store) -> bool:
        before, bound = _residuals(alone), len(alone.bindings)
        alone.post(relation, NOWHERE, 1)
        return not alone.conflicts and len(alone.bindings) == bound and _residuals(alone) == before

    return implied


def _residuals(store: Store) -> set[Relation]:
    """The relations that wait in a store, as if all were shown."""
    state = State(store=store)
    found = [resolved(state, c.relation) for c in store.waiting]
    return {AtLeast(r.dim, silent=False) if isinstance(r, AtLeast) else r for r in found}
