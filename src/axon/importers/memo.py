"""Equal nodes are inferred once.

The outputs of a node depend on its operator, its attributes, and the types and contents of its
inputs. Tensors that are equal in both are of one *kind*; a node with the operator, the attributes
and the kinds of an earlier one has the outputs of that one, unless these have something of their
own, such as a size that only a run knows.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from axon.contents.values import Contents
from axon.importers.operations import Operation
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.type import Type, type_variables
from axon.types.variables import DimVar, Var

Kinds = tuple[int, int]
"""What a tensor is but for its contents, and with them."""
NOWHERE: Kinds = (-2, -2)
"""The kinds of a tensor that nothing has made so far: it is like no other."""
LOOKED: dict[str, frozenset[int]] = {}
"""The inputs of operators whose contents the rules have asked for so far."""


class Outcome(NamedTuple):
    """What is known of a tensor."""

    type: Type
    contents: Contents | None
    kinds: Kinds


class Seen(NamedTuple):
    """A node that was inferred: what it gave, and the steps that made it."""

    node: Any
    outputs: tuple[Outcome | None, ...]
    steps: tuple[Any, ...]


@dataclass(slots=True)
class Memo:
    """The kinds of tensors by name, and the nodes that were inferred."""

    kinds: dict[str, Kinds] = field(default_factory=dict)
    numbers: dict[Hashable, int] = field(default_factory=dict)
    seen: dict[Hashable, Seen] = field(default_factory=dict)

    def key(self, operation: Operation, version: int, kinds: Callable[[str], Kinds]) -> Hashable:
        """What a node's outcome depends on, if it has no graphs inside. A node that was like this
        one in all that it asked for asks for the same.
        """
        inputs, known = operation.inputs, self.kinds
        found = [known[n] if n in known else kinds(n) for n in inputs]
        if NOWHERE in found:
            return object()
        looked = LOOKED.get(operation.operator)
        if looked:
            given = tuple([both[i in looked] for i, both in enumerate(found)])
        else:
            given = tuple([both[0] for both in found])
        twice = tuple(map(inputs.index, inputs)) if len(set(inputs)) < len(inputs) else None
        attributes = operation.key() if operation.attributes else None
        outputs = len(operation.outputs)
        return operation.operator, operation.domain, version, attributes, given, twice, outputs

    def look(self, operator: str, looked: set[int]) -> bool:
        """The contents of these inputs matter. Says whether that was not known."""
        known = LOOKED.get(operator, frozenset())
        if looked <= known:
            return False
        LOOKED[operator] = known | looked
        return True

    def kinds_of(self, type_: Type, contents: Contents | None) -> Kinds:
        """The kinds of a tensor of a type, which is resolved."""
        plain = self.numbers.setdefault(type_, len(self.numbers))
        if contents is None:
            return plain, plain
        held = contents.shape, _marked(contents.items)
        return plain, self.numbers.setdefault((type_, held), len(self.numbers))


def _marked(items: tuple[Any, ...]) -> Hashable:
    """Elements that are not taken for equal ones of other types, such as 1 for True, or of another
    sign, such as 0.0 for -0.0.
    """
    kinds = set(map(type, items))
    if kinds == {int}:
        return int, items
    if kinds == {float}:
        return float, array("d", items).tobytes()
    return tuple([(type(x), repr(x) if isinstance(x, float) else x) for x in items])


def variables(types: Iterable[Type], contents: Iterable[Contents | None]) -> Iterator[Var]:
    """The variables in types, and in the elements of contents."""
    for type_ in types:
        yield from type_variables(type_)
    for held in contents:
        for item in () if held is None else held.items:
            if isinstance(item, DimVar | Poly):
                yield from dims.variables(item)
