"""The code of a function for all rows at once: each operator is a step over values of rows (see
`segments`). It has the lines, the names and the checks of the function for one row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from axon.backends.coder import Body, Coder
from axon.backends.nature import operator_function, sizes_as
from axon.backends.segments import measured
from axon.backends.segments.arrays import FlatArrays
from axon.backends.segments.checks import check_rows
from axon.backends.segments.namespace import flat_arrays
from axon.backends.segments.steps import apply
from axon.backends.sizes import write_shape
from axon.graph.graph import (
    Apply,
    Call,
    Check,
    Extern,
    Function,
    Graph,
    Node,
    Operand,
    OperatorFunction,
    ShapeOf,
    Value,
)
from axon.graph.sizes import SizeVar, needed, needed_inside, values_in
from axon.ops.levels import Levels, LevelTree


def reason(whole: Function | Graph) -> str | None:
    """Why a function cannot be applied to all rows at once, if it cannot."""
    for node in whole.nodes:
        match node:
            case Extern(_, name, _, _):
                return f"`{name}` is a caller's operator"
            case Call(_, graph, _, _):
                found = reason(graph)
            case Apply():
                found = _reason(node)
            case _:
                found = None
        if found is not None:
            return found
    return None


def _reason(node: Apply) -> str | None:
    for operand in node.operands:
        if isinstance(operand, Function) and (found := reason(operand)) is not None:
            return found
    return None


class FlatBody(Body):
    """The lines of one function of all rows. What is computed of values from `outside` alone, at
    the sizes `given` there, is the same for all rows: it is computed once, as it would be outside,
    also where that is a tensor whose rows vary.
    """

    measuring = measured

    def __init__(
        self,
        coder: Coder,
        values: dict[Value, str],
        sizes: dict[SizeVar, str],
        indent: str,
        levels: Mapping[Value | ShapeOf, LevelTree],
        outside: Iterable[Value] = (),
        given: Iterable[SizeVar] = (),
    ) -> None:
        super().__init__(coder, values, sizes, indent, levels)
        self.outside, self.given = set(outside), frozenset(given)

    def inner(self, sizes: dict[SizeVar, str], indent: str) -> Body:
        return FlatBody(
            self.coder, self.values, sizes, indent, self.levels, self.outside, self.given
        )

    def is_outside(self, node: Apply) -> bool:
        """Whether an operator has nothing from the rows."""
        if any(isinstance(operand, OperatorFunction) for operand in node.operands):
            return False
        takes_function = any(isinstance(operand, Function) for operand in node.operands)
        if takes_function and not super()._by_rows(node):
            return False
        values = {v for o in node.operands for v in values_in(o) if v in self.values}
        sizes = needed(node).union(*map(needed_inside, node.operands))
        return bool(values) and values <= self.outside and sizes <= self.given

    @property
    def flat(self) -> FlatArrays:
        below: Any = self.coder.arrays
        return flat_arrays(below)

    def application(self, node: Apply) -> str:
        if self.is_outside(node):
            self.outside.add(node.result)
            return super().application(node)
        step = self.coder.step(node)
        parts = [self.names.constant(step, "step"), "xp", *map(self.operand, node.operands)]
        parts += [f"{k}={self.attribute(v)}" for k, v in node.attributes.items()]
        return f"{self.names.constant(apply, 'on_rows', 'on_rows')}({', '.join(parts)})"

    def node(self, node: Node, needs: set[SizeVar]) -> None:
        if not isinstance(node, Call):
            super().node(node, needs)
            return
        name = self.values[node.result] = self.names.fresh(node.result.name)
        self.line(f"{name} = {self._graph(node.graph)}({self.operands(node.operands)})")
        self.read([node.result], needs)

    def _graph(self, graph: Graph) -> str:
        known = self.coder.flat_graphs.get(graph)
        if known is None:
            known = self.coder.flat_graphs[graph] = self.names.fresh(graph.name)
            body = FlatBody(self.coder, {}, {}, "    ", graph.levels)
            params = body.params(graph.params)
            self.coder.define(known, params, body, body.write(graph))
        return known

    def operand(self, operand: Operand) -> str:
        if isinstance(operand, OperatorFunction):
            made = operator_function(operand.operator, self.flat)
            return self.names.constant(made, "op", ("all rows", operand.operator.name))
        return super().operand(operand)

    def numbers(self, sizes: str, elem: str) -> str:
        convert = self.names.constant(sizes_as, "sizes_as", "sizes_as")
        flat = self.names.constant(self.flat, "flat", "flat")
        return f"{convert}({flat}, {sizes}, {elem!r})"

    def shape(self, operand: ShapeOf) -> str:
        return write_shape(operand.shape, self.sizes)

    def check(self, node: Check) -> None:
        known = [(var, name) for var, name in self.sizes.items() if var in needed(node)]
        held = self.names.constant((node.relation, node.origin, [v for v, _ in known]), "held")
        test = self.names.constant(check_rows, "check_rows", "check_rows")
        self.line(f"{test}({held}, ({''.join(f'{name}, ' for _, name in known)}))")

    def compare(self, node: Apply) -> None:
        """The rows of a function's results are compared where they are put together."""

    def check_fits(self, node: Apply) -> None:
        """The room is asked for where the rows are put together."""

    def _by_rows(self, node: Apply) -> bool:
        return super()._by_rows(node) if self.is_outside(node) else True

    def _levels(self, value: Value, path: tuple[int, ...]) -> Levels:
        return super()._levels(value, path) if value in self.outside else ()


def for_all_rows(
    coder: Coder,
    function: Function,
    values: dict[Value, str],
    sizes: dict[SizeVar, str],
    levels: Mapping[Value | ShapeOf, LevelTree],
) -> str:
    """The name of a function for all rows at once, beside one for each row; or why not."""
    why = reason(function)
    if not coder.arrays.by_segments and not hasattr(coder.arrays, "compiled"):
        why = "the backend compiles them"
    if why is not None:
        return f"None, {why!r}"
    name = coder.names.fresh("all_rows")
    inner = FlatBody(coder, values, sizes, "    ", levels, outside=values, given=sizes)
    params = [*values.values(), *sizes.values(), *inner.params(function.params)]
    coder.define(name, params, inner, inner.write(function))
    return name
