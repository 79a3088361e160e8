"""Questions about a definition: why is this dimension what it is?"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from axon.inference.program import Definition
from axon.inference.state import State
from axon.solver.constraints import Constraint
from axon.solver.reasons import sufficient
from axon.solver.store import Store
from axon.types.show import Names, Show
from axon.types.type import Fn, Shape, Tensor, Type, relation_variables
from axon.types.variables import ShapeVar


@dataclass(frozen=True, slots=True)
class Answer:
    """What was asked about, its value, and the fewest constraints that give it that value, in
    source order.
    """

    subject: str
    value: str
    because: tuple[Constraint, ...]


def why(state: State, definition: Definition, question: str) -> Answer | str:
    """`n` (a name of the program), `x` or `x[1]` (a parameter, or one of its dimensions),
    `result[0]`; else a complaint.
    """
    found = _subject(state, definition, question)
    if isinstance(found, str):
        return found
    read = found
    value = read(state.store)
    names = Names()
    for constraint in definition.constraints:
        names.reserve(v for v in relation_variables(constraint.relation))
    because = sufficient(list(definition.constraints), read, value)
    show = Show(names)
    one = value[0] if len(value) == 1 else None
    single = one is not None and not isinstance(one, ShapeVar) and "[" in question
    text = show.dim(one) if single and not isinstance(one, ShapeVar | None) else show.shape(value)
    return Answer(question, text, tuple(because))


def _subject(state: State, definition: Definition, question: str) -> Callable[[Store], Shape] | str:
    match = re.fullmatch(r"\s*([A-Za-z_][\w']*)\s*(?:\[\s*(-?\d{1,6})\s*\])?\s*", question)
    if match is None:
        return f"`{question}` is not a name, `name[0]` or `result[0]`"
    name, index = match[1], match[2]
    var = definition.names.index.get(name)
    if var is not None and name not in definition.params:
        return _pick((var,), index, isinstance(var, ShapeVar))
    type_ = _typed(state, definition, name)
    if type_ is None:
        known = ", ".join([*definition.params, *definition.names.index, "result"])
        return f"{definition.name} has no parameter or dimension `{name}`; there are {known}"
    type_ = state.prune(type_)
    if not isinstance(type_, Tensor):
        return f"`{name}` is not a tensor"
    length = len(state.store.word(type_.shape))
    if index is not None and not -length <= int(index) < length:
        return f"`{name}` has {length} dimension{'' if length == 1 else 's'}"
    return _pick(type_.shape, index, whole=True)


def _pick(shape: Shape, index: str | None, whole: bool) -> Callable[[Store], Shape]:
    def read(store: Store) -> Shape:
        word = store.word(shape)
        if index is None or not whole:
            return word
        at = int(index)
        return (word[at],) if -len(word) <= at < len(word) else word

    return read


def _typed(state: State, definition: Definition, name: str) -> Type | None:
    type_ = state.prune(definition.type)
    if not isinstance(type_, Fn):
        return type_ if name in ("result", definition.name) else None
    if name in definition.params:
        return type_.params[definition.params.index(name)]
    return type_.result if name == "result" else None


__all__ = ["Answer", "why"]
