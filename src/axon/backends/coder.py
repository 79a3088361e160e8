"""The text of a graph as Python functions: a `Coder` for all of it, a `Body` for each function."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from axon.backends import externs, row_application, row_sizes, rowwise
from axon.backends.fold import folded
from axon.backends.fusion import Fusion
from axon.backends.growth import fits, fits_now, grown, grown_needs, write_large
from axon.backends.layer_code import write_run
from axon.backends.names import Names
from axon.backends.nature import (
    elements_of,
    elementwise,
    made_of,
    makes_own_sizes,
    makes_sizes,
    operator_function,
    scalar,
    sizes_as,
)
from axon.backends.operator_rows import Used
from axon.backends.row_code import RowCode
from axon.backends.segments import extremes
from axon.backends.segments.steps import Step
from axon.backends.size_code import Line, SizeCode
from axon.backends.sizes import Undetermined, write_dim, write_shape, write_tuple
from axon.backends.stepwise import Stepwise
from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Check,
    Extern,
    Function,
    Graph,
    Item,
    Measure,
    Node,
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.layer_runs import LayerRun, with_runs
from axon.graph.layer_runs import Step as LayerStep
from axon.graph.ragged import runtime
from axon.graph.sharding import Placement, Tree
from axon.graph.sizes import (
    SizeVar,
    needed,
    needed_inside,
    operand_needs,
    operands_of,
    readable,
    values_in,
)
from axon.ops.arrays import Arrays
from axon.ops.levels import LevelTree, goes_flat, varies
from axon.ops.memory import Refused, check_fits
from axon.ops.rows import core, rows_of
from axon.ops.traits import Calls
from axon.source import Span
from axon.types.type import Tensor, Tuple, Type, type_variables

Externs = Mapping[str, Callable[..., Any]]

Watcher = Callable[[int, int], None]
"""Receives how many nodes of a graph are done, of how many."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the values of a graph lie: `put` makes what puts a value there."""

    placement: Placement
    put: Callable[[Tree], Callable[[Any], Any]]

    def of_call(self, call: Call) -> Placed | None:
        found = self.placement.calls.get(call)
        return None if found is None else Placed(found, self.put)


ForAllRows = Callable[
    ["Coder", Function, dict[Value, str], dict[SizeVar, str], Mapping[Value | ShapeOf, LevelTree]],
    str,
]
"""Writes a function for all rows at once; returns its name, or why there is none."""


class Coder:
    """The text of a graph, and of those that it calls: a function for each."""

    def __init__(self, arrays: Arrays, externs: Externs, for_all_rows: ForAllRows) -> None:
        self.arrays = arrays
        self.externs = externs
        self.for_all_rows = for_all_rows
        self.names = Names(
            xp=arrays,
            prod=prod,
            len=len,
            max=extremes.greatest,
            min=extremes.least,
            tuple=tuple,
        )
        self.lines: list[Line] = []
        self.graphs: dict[object, str] = {}
        self.flat_graphs: dict[Graph, str] = {}
        self.steps: list[Step] = []
        self.known: dict[Value, Any] = {}
        self.watched: Graph | None = None
        self.repeated: frozenset[Graph] = frozenset()
        self.root = ""
        self.rows: RowCode | None = None

    def graph(self, graph: Graph, placed: Placed | None = None) -> str:
        """The name of the function for a graph whose values lie in this way."""
        key = graph if placed is None else placed.placement.key
        known = self.graphs.get(key)
        if known is None:
            known = self.graphs[key] = self.names.fresh(graph.name)
            body = Body(self, {}, {}, "    ", graph.levels, placed)
            body.watched = graph is self.watched
            params = body.params(graph.params)
            result = body.write(graph)
            self.define(known, params, body, result)
            if placed is None and graph in self.repeated:
                share = self.names.constant(self.arrays.shared, "shared", "shared")
                self.lines.append(Line(f"{known} = {share}({known})"))
        return known

    def step(self, node: Apply) -> Step:
        """An operator as it is applied to all rows at once."""
        operator = node.operator
        assert operator.meaning is not None
        elements, made = elements_of(node), made_of(node.result.type)
        usual = self.arrays.meaning_of(operator, elements, made)
        around = self.arrays.around_meaning(operator, elements, made)
        step = Step(operator.name, operator.meaning, usual, operator.traits.rows, node.span, around)
        self.steps.append(step)
        return step

    def define(self, name: str, params: Sequence[str], body: Body, result: str) -> None:
        self.lines += [Line(f"def {name}({', '.join(params)}):"), *body.lines]
        self.lines += [Line(f"    return {result}"), Line("")]


class Body(SizeCode):
    """The lines of one function; names that it does not define come from the enclosing ones."""

    def __init__(
        self,
        coder: Coder,
        values: dict[Value, str],
        sizes: dict[SizeVar, str],
        indent: str,
        levels: Mapping[Value | ShapeOf, LevelTree],
        placed: Placed | None = None,
    ) -> None:
        super().__init__(coder.names, values, sizes, indent, levels)
        self.coder = coder
        self.placed = placed
        self.asked: set[tuple[str, int]] = set()
        self.watched = False

    def write(self, whole: Graph | Function) -> str:
        """Write the lines of a graph whose parameters have names; returns its result."""
        needs = operand_needs(whole.result)
        for node in whole.nodes:
            needs |= needed(node).union(*map(needed_inside, operands_of(node)))
        asked = needs.union(*map(grown_needs, whole.nodes))  # the memory check uses known sizes
        self.read(whole.params, asked)
        self.solve(whole.params, needs)
        for param in whole.params:
            self.put(param)
        fused, inner = self.fusions(whole)
        for at, step in enumerate(self.steps(whole), 1):
            if isinstance(step, LayerRun):
                self.layers(step, asked)
                continue
            self.span = _span(step)
            if isinstance(step, Apply) and step.result in inner:
                continue
            if isinstance(step, Apply) and step.result in fused:
                self.fuse(fused[step.result], asked)
            else:
                self.node(step, asked)
            if self.placed is not None and not isinstance(step, Measure | Check):
                self.put(step.result)
            if self.watched:
                self.line(f"done({at}, {len(whole.nodes)})")
        return self.operand(whole.result)

    def steps(self, whole: Graph | Function) -> Sequence[LayerStep]:
        """The nodes, and the runs of layers where these are stacked."""
        return whole.nodes if self.coder.arrays.layers is None else with_runs(whole, self._layer)

    def _layer(self, call: Call) -> object:
        """What must be equal for two calls to be stacked; None if they cannot be."""
        if call.graph not in self.coder.repeated:
            return None
        placed = None if self.placed is None else self.placed.of_call(call)
        return call.graph if placed is None else placed.placement.key

    def layers(self, run: LayerRun, needs: set[SizeVar]) -> None:
        first, stacks = run.calls[0], self.coder.arrays.layers
        self.span = first.span
        placed = None if self.placed is None else self.placed.of_call(first)
        function = self.coder.graph(first.graph, placed)
        for value, entire in write_run(self, run, function, self.coder.root, stacks):
            if entire:
                self.read([value], needs)
                self.put(value)

    def put(self, value: Value) -> None:
        """Put a value where it lies, if that is said."""
        tree = None if self.placed is None else self.placed.placement.values.get(value)
        if self.placed is not None and tree is not None and value not in self.coder.known:
            put = self.names.constant(self.placed.put(tree), "put", ("put", tree))
            self.line(f"{self.values[value]} = {put}({self.values[value]})")

    # --- operands ---

    def operands(self, operands: Sequence[Operand]) -> str:
        return ", ".join(self.operand(o) for o in operands)

    def operand(self, operand: Operand) -> str:
        match operand:
            case Value():
                return self.values[operand]
            case Number(value, Tensor(elem, _)):
                return self.scalar(value, str(elem))
            case SizeOf(dim, ""):
                return write_dim(dim, self.sizes)
            case SizeOf(int() as size, elem):
                return self.scalar(size, elem)
            case SizeOf(dim, elem):
                return self.numbers(write_dim(dim, self.sizes), elem)
            case ShapeOf(shape, ""):
                return self.shape(operand)
            case ShapeOf(shape, elem):
                return self.numbers(write_shape(shape, self.sizes), elem)
            case Bundle(items):
                return write_tuple([self.operand(item) for item in items])
            case Function():
                return self.function(operand)
            case OperatorFunction(operator):
                return self.names.constant(
                    operator_function(operator, self.coder.arrays), "op", ("op", operator.name)
                )

    def shape(self, operand: ShapeOf) -> str:
        sizes = write_shape(operand.shape, self.sizes)
        levels = self.levels.get(operand)
        if levels is None:
            return sizes
        spread = self.names.constant(row_sizes.spread, "spread", "spread")
        return f"{spread}({sizes}, {levels})"

    def numbers(self, sizes: str, elem: str) -> str:
        """Sizes as elements of a tensor."""
        convert = self.names.constant(sizes_as, "sizes_as", "sizes_as")
        return f"{convert}(xp, {sizes}, {elem!r})"

    def scalar(self, value: float, elem: str) -> str:
        made = scalar(value, elem, self.coder.arrays)
        constant = self.coder.arrays.constant(made)
        return self.names.constant(constant, "c", ("scalar", repr(value), elem))

    def function(self, function: Function) -> str:
        """A function that is defined where it is used."""
        name = self.names.fresh("each")
        known = self._outside(function, self.sizes)
        around = self.indent + "    "
        inner = self.inner(known, around)
        params = inner.params(function.params)
        result = inner.write(function)
        self.line(f"def {name}({', '.join(params)}):")
        self.lines += inner.lines
        self.line(f"    return {result}")
        if elementwise(function):
            self.line(f"{name}.elementwise = True")
        return name

    def inner(self, sizes: dict[SizeVar, str], indent: str) -> Body:
        """For the lines of a function that is defined here."""
        return type(self)(self.coder, self.values, sizes, indent, self.levels, self.placed)

    def lifted(self, function: Function) -> str:
        """A function that is defined outside, so that it is the same each time: the values that it
        uses from here are passed to it.
        """
        used, needs = self._used(function)
        name = self.names.fresh("each")
        values = {v: self.names.fresh(v.name) for v in used}
        sizes = {v: self.names.fresh(v.name or "n") for v in needs}
        inner = Body(self.coder, values, sizes, "    ", self.levels, self.placed)
        params = [*values.values(), *sizes.values(), *inner.params(function.params)]
        result = inner.write(function)
        self.coder.define(name, params, inner, result)
        lift = self.names.constant(row_application.Lifted, "Lifted", "Lifted")
        given = "".join(f"{self.values[v]}, " for v in used)
        known = "".join(f"{self.sizes[v]}, " for v in needs)
        whole = self.coder.for_all_rows(self.coder, function, values, sizes, self.levels)
        padded = self.coder.rows and self.coder.rows.function(function, used, needs)
        more = self.names.constant(padded, "padded")
        return f"{lift}({name}, ({given}), ({known}), {whole}, padded={more})"

    def _used(self, function: Function) -> Used:
        """The values and the sizes from here that a function uses."""
        used = dict.fromkeys(v for v in values_in(function) if v in self.values)
        inside = needed_inside(function)
        return list(used), [v for v in self._outside(function, self.sizes) if v in inside]

    def _outside(self, function: Function, sizes: dict[SizeVar, str]) -> dict[SizeVar, str]:
        """The sizes that a function knows from outside: one that varies from row to row differs in
        each call.
        """
        rows = {v for p in function.params for v, _ in readable(p) if v.runtime}
        return {var: name for var, name in sizes.items() if var not in rows}

    # --- nodes ---

    def node(self, node: Node, needs: set[SizeVar]) -> None:
        match node:
            case Apply():
                made = folded(node, self.coder.known, self.coder.arrays)
                if made is not None:
                    constant = self.coder.arrays.constant(made)
                    self.values[node.result] = self.names.constant(
                        constant, node.result.name or "c"
                    )
                    self.coder.known[node.result] = made
                    self.read([node.result], needs)
                    return
                self.check_fits(node)
                text = self.application(node)
            case Call(_, graph, operands, _):
                placed = None if self.placed is None else self.placed.of_call(node)
                text = f"{self.coder.graph(graph, placed)}({self.operands(operands)})"
            case Extern(_, name, operands, _):
                function = self.names.constant(self.coder.externs[name], name, ("extern", name))
                text = self.brought(node, f"{function}({self.operands(operands)})")
            case Item(_, whole, index):
                text = f"{self.values[whole]}[{index}]"
            case Alias(_, operand):
                text = self.operand(operand)
            case Measure(source, shape, counted):
                self.measure(source, shape, counted)
                return
            case Check():
                self.check(node)
                return
        result = node.result
        self.values[result] = name = self.names.fresh(result.name)
        self.line(f"{name} = {text}")
        if isinstance(node, Apply) and node.operator.traits.calls is not None:
            self.compare(node)
        self.read([result], needs)

    def fusions(self, whole: Graph | Function) -> tuple[dict[Value, Fusion], set[Value]]:
        """The fusions by their results, and the values that they leave out. Rows that vary, and
        values with a place on a mesh, are computed one by one.
        """
        fused: dict[Value, Fusion] = {}
        inner: set[Value] = set()
        if self.placed is not None:
            return fused, inner
        made = {node.result: node for node in whole.nodes if isinstance(node, Apply)}
        for fusion in self.coder.arrays.fusions(whole):
            values = {fusion.result, *fusion.inner}
            apart = inner.isdisjoint(values) and fusion.inner.isdisjoint(fused)
            if apart and not any(self._by_rows(made[value]) for value in values):
                fused[fusion.result] = fusion
                inner |= fusion.inner
        return fused, inner

    def fuse(self, fusion: Fusion, needs: set[SizeVar]) -> None:
        name = self.values[fusion.result] = self.names.fresh(fusion.result.name)
        meaning = fusion.meaning
        do = self.names.constant(meaning, meaning.__name__, ("fused", id(meaning)))
        self.line(f"{name} = {do}(xp, {self.operands(fusion.operands)})")
        self.read([fusion.result], needs)

    def check_fits(self, node: Apply) -> None:
        """Check the memory for a result that may be larger than its operands, before it is made. An
        operator whose result has run-time sizes checks these itself.
        """
        for type_ in grown(node):
            itemsize = self.coder.arrays.element(str(type_.elem)).itemsize
            if fits_now(type_.shape, itemsize):
                continue
            try:
                shape = write_shape(type_.shape, self.sizes)
                large = write_large(type_.shape, itemsize, self.sizes)
            except Undetermined:
                continue
            if (shape, itemsize) not in self.asked:
                self.asked.add((shape, itemsize))
                ask = self.names.constant(fits, "fits", "fits")
                self.line(f"if {large}: {ask}({shape}, {itemsize})")

    def brought(self, node: Extern, text: str) -> str:
        """Check the result of a caller's function: it may not be what was declared."""
        mine = set(type_variables(node.result.type))
        known = [(v, n) for v, n in self.sizes.items() if v in mine]
        held = externs.Declared(node.name, node.result.type, tuple(v for v, _ in known))
        plan = self.names.constant(held, "declared")
        look = self.names.constant(externs.look_at, "look_at", "look_at")
        return f"{look}({plan}, xp, {text}, ({''.join(f'{n}, ' for _, n in known)}))"

    def application(self, node: Apply) -> str:
        operator = node.operator
        makes = any(makes_sizes(o) for o in node.operands)
        by_rows = makes or self._by_rows(node)
        if by_rows and self.coder.rows is not None:
            text = self.coder.rows.on_host(self, node, self._used)
            if text is not None:
                return text
        lifts = by_rows and (not makes or operator.traits.calls is Calls.EACH_ROW)
        parts = [
            self.lifted(o) if lifts and isinstance(o, Function) else self.operand(o)
            for o in node.operands
        ]
        parts += [f"{k}={self.attribute(v)}" for k, v in node.attributes.items()]
        does = self.coder.arrays.meaning_of(operator, elements_of(node), made_of(node.result.type))
        meaning = self.names.constant(does, operator.rule.__name__, ("do", operator.name, id(does)))
        if not by_rows:
            return f"{meaning}({', '.join(['xp', *parts])})"
        do = self.names.constant(rowwise.apply, "by_rows", "by_rows")
        plan = self.names.constant(self._plan(node), "plan")
        steps = makes or makes_own_sizes(node)
        xp = self.names.constant(Stepwise(self.coder.arrays), "steps", "steps") if steps else "xp"
        return f"{do}({', '.join([plan, meaning, xp, *parts])})"

    def _by_rows(self, node: Apply) -> bool:
        """Whether the operands or results of an operator have rows that vary. A function that
        receives run-time sizes is called row by row, too.
        """
        values = [v for o in (*node.operands, node.result) for v in values_in(o)]
        if any(varies(self.levels.get(value, ())) for value in values):
            return True
        takes_function = any(isinstance(o, Function | OperatorFunction) for o in node.operands)
        return takes_function and any(runtime(value.type) for value in values)

    def _plan(self, node: Apply) -> row_application.Plan:
        """How an operator is applied to rows that vary."""
        operator, arity = node.operator, len(node.operands)
        rows = rows_of(operator, node.type, node.written)
        trees = [self.levels.get(o, ()) if isinstance(o, Value) else () for o in node.operands]
        try:
            blank = self._blank(node.result.type)
        except Refused:  # no array is as large: the arguments, or a check, will say so
            blank = None
        return row_application.Plan(
            operator.name,
            operator.traits,
            tuple(map(rows.batch, range(arity))),
            self.levels[node.result],
            core(operator, arity),
            goes_flat(operator, node.attributes, trees),
            blank,
            self.coder.step(node),
            self.coder.rows and self.coder.rows.operator(node, self._used),
        )

    def _blank(self, type_: Type) -> Any:
        """A value of this type without elements; sizes that are not known are 0."""
        if isinstance(type_, Tuple):
            return tuple(self._blank(item) for item in type_.items)
        if not isinstance(type_, Tensor):
            return None
        sizes = [size if isinstance(size, int) else 0 for size in type_.shape]
        shape, element = (0, *sizes[1:])[: len(sizes)], self.coder.arrays.element(str(type_.elem))
        check_fits(shape, element.itemsize)
        return self.coder.arrays.blank(shape, element)

    def attribute(self, value: object) -> str:
        if isinstance(value, SizeOf):
            return write_dim(value.dim, self.sizes)
        if isinstance(value, tuple):
            return write_tuple([self.attribute(item) for item in value])
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        return self.names.constant(value, "a", ("attribute", repr(value)))


def _span(node: Node) -> Span | None:
    match node:
        case Apply() | Call() | Extern():
            return node.span
        case Measure():
            return node.span
        case Check():
            return node.origin.span
        case Item() | Alias():
            return None
