"""What a model does, step by step, for the program that it becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from axon.importers.expressions import Expression
from axon.importers.operations import Constant, Operation


class Step(NamedTuple):
    """Tensors, and the expression that makes them; None where no operator of Axon does.

    `fallback` makes them too, without the sizes that `expr` needs to say; `tensor` is what a
    Constant holds.
    """

    names: tuple[str, ...]
    expr: Expression | None
    node: Operation
    fallback: Expression | None = None
    tensor: Constant | None = None


class Body(NamedTuple):
    """The operations of a subgraph with the `names` that its tensors have in an importer, by their
    own, and with others for tensors `outside`.
    """

    names: dict[str, str]
    operations: list[Operation]
    outside: Mapping[str, str]


class Repeated(NamedTuple):
    """The steps of an earlier node, for a node like it."""

    steps: tuple[Step, ...]
    like: Operation
    node: Operation


Parts = str | tuple[Any, ...]
"""A tensor by its name, or a tuple of such."""


@dataclass(frozen=True, slots=True)
class SubgraphFunction:
    """A graph inside a node, as a function: what it takes and what it gives. It is one only if the
    tensors that are `same` have the same types in the end.
    """

    params: tuple[Parts, ...]
    result: Parts
    steps: tuple[Step | Repeated, ...]
    same: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Called:
    """A call of a function of the model's own: what it calls the tensors that it is given, and all
    that was made for it.
    """

    domain: str
    name: str
    parameters: dict[str, str]
    names: frozenset[str]


def made_by(step: Step | Repeated) -> tuple[str, ...]:
    return step.names if isinstance(step, Step) else tuple(step.node.outputs)
