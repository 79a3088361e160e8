"""The state of lowering: the nodes so far, the current elaboration and the depth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from axon.diagnostics import error
from axon.graph.graph import Graph, Node, Value
from axon.graph.module import Module
from axon.graph.scope import Closure, Known, Stop
from axon.inference.recording.elaborate import Elaboration
from axon.inference.walk import Prelude
from axon.solver.constraints import Guard
from axon.syntax import ast
from axon.types.type import DimValue, Fn, ShapeValue, Type, type_variables
from axon.types.variables import DimVar, Var

MOST_NODES = 200_000

Library = Callable[[str], tuple[Module, str, int] | None]
"""Where a name of the standard library is."""


@dataclass(slots=True, eq=False)
class Shared:
    """The state shared by the graphs of one program. `made` are the run-time sizes that operators
    make, `count` is the number of nodes.
    """

    prelude: Prelude
    library: Library
    graphs: dict[tuple[int, str, int, str], Graph] = field(default_factory=dict)
    elaborations: dict[tuple[int, int, Fn], tuple[Closure, Elaboration]] = field(
        default_factory=dict
    )
    made: set[Var] = field(default_factory=set)
    count: int = 0


class State:
    """One graph under construction. `depth` is that of the function whose body is being evaluated,
    `first` the nodes of top-level values of files, which precede the others. `hint` is the name for
    the next value.
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

    def value(self, type_: Type, written: Type | None = None, makes: bool = True) -> Value:
        """A value of this type. `written` is the type of an operator's result before substitution:
        run-time sizes in it are its own if it `makes` them.
        """
        made = None
        own: frozenset[Var] = frozenset()
        if written is not None:
            made = self.elaboration.as_made(written)
            if makes:
                own = frozenset(filter(_is_made, type_variables(written)))
                self.shared.made |= own
        made = made if made != type_ else None
        return Value(self.take_hint(), type_, self.depth, made, Foreign(self.shared.made, own))

    def take_hint(self) -> str:
        """Take the name meant for the next value, which gets none unless it is put back."""
        hint, self.hint = self.hint, ""
        return hint

    def take_nodes(self) -> list[Node]:
        """Take the nodes so far: those that follow are separate, unless these are put back."""
        nodes, self.nodes = self.nodes, []
        return nodes

    def type_of(self, expr: ast.Expr) -> Type:
        return self.elaboration.type_of(expr)

    def size_of(self, expr: ast.Expr) -> Type:
        """The type of an expression; sizes and shapes are as operators made them."""
        return self.as_size(self.elaboration.record.types[id(expr)])

    def as_size(self, written: Type) -> Type:
        """A type under the bindings. In sizes and shapes, a size that an operator made stays as it
        is, even where a check equates it with one that no value has yet.
        """
        found = self.elaboration.state.resolve(written)
        if not isinstance(found, DimValue | ShapeValue) or not self.elaboration.state.store.guards:
            return found
        made = self.elaboration.as_made(written)
        own = set(type_variables(made)) - set(type_variables(found))
        return made if own <= self.shared.made else found


@dataclass(frozen=True, slots=True)
class Foreign:
    """The sizes that operators make, except the `own` ones. More are added while the graph is
    made.
    """

    made: set[Var]
    own: frozenset[Var] = frozenset()

    def __contains__(self, var: object) -> bool:
        return var in self.made and var not in self.own


def _is_made(var: Var) -> bool:
    return isinstance(var, DimVar) and var.runtime and not var.derived and not var.over
