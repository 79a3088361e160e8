"""What lowering carries along: the nodes so far, the elaboration that is walked and the depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from axon.diagnostics import error
from axon.graph.graph import Graph, Node, Value
from axon.graph.module import Module
from axon.graph.scope import Closure, Known, Stop
from axon.inference.elaborate import Elaboration
from axon.inference.infer import Prelude
from axon.solver.constraints import Guard
from axon.syntax import ast
from axon.types.type import Fn, Tuple, Type, type_variables
from axon.types.variables import DimVar, Var

MOST_NODES = 200_000

Library = Callable[[str], tuple[Module, str, int] | None]
"""Where a name of the standard library is."""


@dataclass(slots=True, eq=False)
class Shared:
    """What the graphs of one program have in common. `count` is that of their nodes."""

    prelude: Prelude
    library: Library
    graphs: dict[tuple[int, str, int, str], Graph] = field(default_factory=dict)
    elaborations: dict[tuple[int, int, Fn], tuple[Closure, Elaboration]] = field(
        default_factory=dict
    )
    count: int = 0


class State:
    """One graph in the making. `depth` is that of the function whose body is being evaluated,
    `first` the nodes of the values of files, which come before the others. `hint` is what the next
    value will be called.
    """

    def __init__(self, shared: Shared, elaboration: Elaboration) -> None:
        self.shared = shared
        self.elaboration = elaboration
        self.nodes: list[Node] = []
        self.first: list[Node] = []
        self.constants: dict[tuple[int, int, str, Type | None], Known] = {}
        self.checks: list[Guard] = []
        self.depth = elaboration.state.depth + 1
        self.hint = ""

    def emit(self, node: Node) -> None:
        self.shared.count += 1
        if self.shared.count > MOST_NODES:
            span = getattr(node, "span", None) or self.elaboration.fn.span
            raise Stop([error("AX402", f"the graph has more than {MOST_NODES} nodes", span)])
        self.nodes.append(node)

    def value(self, type_: Type, written: Type | None = None) -> Value:
        """A value of this type. `written` is the type before what is known was put in."""
        if written is None:
            return Value(self.take_hint(), type_, self.depth)
        made = self.elaboration.as_made(written)
        return Value(
            self.take_hint(),
            type_,
            self.depth,
            made if made != type_ else None,
            _foreign(Tuple((type_, made)), written),
        )

    def take_hint(self) -> str:
        """The name that was meant for the next value: it gets none, unless it is put back."""
        hint, self.hint = self.hint, ""
        return hint

    def take_nodes(self) -> list[Node]:
        """The nodes so far: those that follow stand apart, unless these are put back."""
        nodes, self.nodes = self.nodes, []
        return nodes

    def type_of(self, expr: ast.Expr) -> Type:
        return self.elaboration.type_of(expr)


def _foreign(type_: Type, written: Type) -> frozenset[Var]:
    """The run-time sizes of a type that are not made by the operator whose signature says it."""
    found = [v for v in type_variables(type_) if isinstance(v, DimVar) and v.runtime]
    if not found:
        return frozenset()
    own = set(type_variables(written))
    return frozenset(v for v in found if v not in own and not v.derived and not v.over)
