"""A graph as a Python function: straight code over an array namespace, made once.

Nothing is interpreted when it runs, so on NumPy it costs what a function written by hand costs, and
JAX traces it as it would trace that.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy

from axon.backends import externs, rowwise
from axon.backends.checks import check
from axon.backends.nature import (
    elementwise,
    is_open,
    makes_sizes,
    operator_function,
    pointwise,
    rows_vary,
    scalar,
    varying,
)
from axon.backends.numpy_arrays import ARRAYS as NUMPY
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
from axon.graph.ragged import runtime
from axon.graph.sizes import (
    Reading,
    SizeVar,
    measured,
    needed,
    operand_needs,
    owner,
    readable,
    values_in,
)
from axon.ops.arrays import Arrays
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Size, Vast
from axon.types.type import Shape, Tensor, type_variables
from axon.types.variables import DimVar, ShapeVar

MOST_FOLDED = 1 << 16

Externs = Mapping[str, Callable[..., Any]]


class Undetermined(Exception):
    """A size is needed that no value has: the graph must be made at other types."""


Watcher = Callable[[int, int], None]
"""Is told how many nodes of a graph are done, of how many."""


def compile_graph(
    graph: Graph, arrays: Arrays, externs: Externs, watcher: Watcher | None = None
) -> tuple[Callable[..., Any], str]:
    """The function that a graph is, and its text."""
    coder = Coder(arrays, externs)
    if watcher is not None:
        coder.watched = graph
        coder.constant(watcher, "done", "done")
    name = coder.graph(graph)
    text = "\n".join(coder.lines) + "\n"
    space: dict[str, Any] = coder.constants
    exec(compile(text, f"<{graph.name}>", "exec"), space)
    return space[name], text


class Coder:
    def __init__(self, arrays: Arrays, externs: Externs) -> None:
        self.arrays = arrays
        self.externs = externs
        self.lines: list[str] = []
        self.constants: dict[str, Any] = {"xp": arrays, "prod": _prod}
        self.graphs: dict[Graph, str] = {}
        self.watched: Graph | None = None
        self._known: dict[object, str] = {}
        self._taken: set[str] = {"xp", "prod"}

    # --- names ---

    def fresh(self, hint: str) -> str:
        base = re.sub(r"\W", "_", hint) or "v"
        if not base.isascii() or keyword.iskeyword(base) or base[0].isdigit():
            base = "v"
        name = base
        number = len(self._taken)
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def constant(self, value: object, hint: str, key: object = None) -> str:
        """A name for an object; objects with equal keys share one."""
        known = self._known.get(key) if key is not None else None
        if known is None:
            known = self.fresh(hint)
            self.constants[known] = value
            if key is not None:
                self._known[key] = known
        return known

    # --- functions ---

    def graph(self, graph: Graph) -> str:
        known = self.graphs.get(graph)
        if known is None:
            known = self.graphs[graph] = self.fresh(graph.name)
            body = Body(self, {}, {}, "    ")
            params = body.params(graph.params)
            needs = _needs(graph.nodes, graph.result)
            body.read(graph.params, needs)
            for at, node in enumerate(graph.nodes, 1):
                body.node(node, needs)
                if graph is self.watched:
                    body.line(f"done({at}, {len(graph.nodes)})")
            result = body.operand(graph.result)
            self.lines += [f"def {known}({', '.join(params)}):", *body.lines]
            self.lines += [f"    return {result}", ""]
        return known


def _needs(nodes: Sequence[Node], result: Operand) -> set[SizeVar]:
    found = operand_needs(result)
    for node in nodes:
        found |= needed(node)
    return found


class Body:
    """The lines of one function; what it does not define itself it finds in those around it."""

    def __init__(
        self, coder: Coder, values: dict[Value, str], sizes: dict[SizeVar, str], indent: str
    ) -> None:
        self.coder = coder
        self.values = dict(values)
        self.sizes = dict(sizes)
        self.indent = indent
        self.lines: list[str] = []

    def line(self, text: str) -> None:
        self.lines.append(self.indent + text)

    def params(self, params: Sequence[Value]) -> list[str]:
        names = [self.coder.fresh(p.name) for p in params]
        self.values.update(zip(params, names, strict=True))
        return names

    # --- sizes ---

    def read(self, values: Sequence[Value], needs: set[SizeVar]) -> None:
        """Read the sizes that are needed off the shapes of values."""
        for value in values:
            for var, reading in readable(value):
                if var in needs and var not in self.sizes:
                    self.sizes[var] = self._read(value, var, reading)

    def _read(self, value: Value, var: SizeVar, reading: Reading) -> str:
        name = self.coder.fresh(var.name or "n")
        place = self.values[value] + "".join(f"[{i}]" for i in reading.path)
        sizes = place if reading.given else f"{place}.shape"
        if isinstance(var, ShapeVar):
            stop = "" if reading.stop is None else str(reading.stop)
            self.line(f"{name} = tuple({sizes}[{reading.start}:{stop}])")
            return name
        if reading.given == "dim":
            text = place
        elif not reading.given and runtime(value.type):
            measure = self.coder.constant(rowwise.size_at, "size_at", "size_at")
            text = f"{measure}({place}, {reading.start}, {var.runtime})"
        else:
            text = f"{sizes}[{reading.start}]"
        if reading.offset:
            text = f"({text} - {reading.offset})"
        self.line(f"{name} = {text if reading.scale == 1 else f'{text} // {reading.scale}'}")
        return name

    def dim(self, dim: Dim) -> str:
        """A dimension as an expression over integers."""
        if isinstance(dim, int):
            return str(dim)
        if isinstance(dim, DimVar):
            return self.variable(dim)
        terms = []
        for mono, coefficient in dim.terms.items():
            factors = [str(coefficient)] if coefficient != 1 or not mono else []
            terms.append("*".join([*factors, *(self.atom(atom) for atom in mono)]))
        return f"({' + '.join(terms)})"

    def variable(self, var: DimVar) -> str:
        known = self.sizes.get(owner(var))
        if known is None:
            raise Undetermined(var.name)
        return known if var.rank_of is None else f"len({known})"

    def atom(self, atom: Atom) -> str:
        match atom:
            case DimVar():
                return self.variable(atom)
            case FloorDiv(args=(top, bottom)):
                return f"({self.dim(top)} // {self.dim(bottom)})"
            case Min(args=parts):
                return f"min({', '.join(self.dim(p) for p in parts)})"
            case Max(args=parts):
                return f"max({', '.join(self.dim(p) for p in parts)})"
            case Size(args=(shape,)):
                known = self.sizes.get(shape)
                if known is None:
                    raise Undetermined(shape.name)
                return f"prod({known})"
            case Vast():
                raise Undetermined("a size that is too large")

    def shape(self, shape: Shape) -> str:
        parts = []
        for item in shape:
            if isinstance(item, ShapeVar):
                if item not in self.sizes:
                    raise Undetermined(item.name)
                parts.append(f"*{self.sizes[item]}")
            else:
                parts.append(self.dim(item))
        return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    # --- operands ---

    def operand(self, operand: Operand) -> str:
        match operand:
            case Value():
                return self.values[operand]
            case Number(value, Tensor(elem, _)):
                return self.scalar(value, str(elem))
            case SizeOf(dim, ""):
                return self.dim(dim)
            case SizeOf(int() as size, elem):
                return self.scalar(size, elem)
            case SizeOf(dim, elem):
                return f"xp.asarray({self.dim(dim)}, {self.element(elem)})"
            case ShapeOf(shape, ""):
                return self.shape(shape)
            case ShapeOf(shape, elem):
                return f"xp.asarray({self.shape(shape)}, {self.element(elem)})"
            case Bundle(items):
                parts = [self.operand(item) for item in items]
                return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
            case Function():
                return self.function(operand)
            case OperatorFunction(operator):
                return self.coder.constant(
                    operator_function(operator, self.coder.arrays), "op", ("op", operator.name)
                )

    def element(self, elem: str) -> str:
        dtype = self.coder.arrays.element(elem)
        return self.coder.constant(dtype, elem, ("element", elem))

    def scalar(self, value: float, elem: str) -> str:
        made = scalar(value, elem, self.coder.arrays)
        return self.coder.constant(made, "c", ("scalar", repr(value), elem))

    def function(self, function: Function) -> str:
        name = self.coder.fresh("each")
        inner = Body(self.coder, self.values, self.sizes, self.indent + "    ")
        params = inner.params(function.params)
        needs = _needs(function.nodes, function.result)
        inner.read(function.params, needs)
        inner.nodes(function.nodes, needs)
        result = inner.operand(function.result)
        self.line(f"def {name}({', '.join(params)}):")
        self.lines += inner.lines
        self.line(f"    return {result}")
        if elementwise(function):
            self.line(f"{name}.elementwise = True")
        return name

    def lifted(self, function: Function) -> str:
        """A function that stands outside, so that it is the same each time: what it uses from here
        is given to it.
        """
        used = dict.fromkeys(v for v in values_in(function) if v in self.values)
        needs = [v for v in self.sizes if v in operand_needs(function)]
        name = self.coder.fresh("each")
        values = {v: self.coder.fresh(v.name) for v in used}
        sizes = {v: self.coder.fresh(v.name or "n") for v in needs}
        inner = Body(self.coder, values, sizes, "    ")
        params = [*values.values(), *sizes.values(), *inner.params(function.params)]
        wanted = _needs(function.nodes, function.result)
        inner.read(function.params, wanted)
        inner.nodes(function.nodes, wanted)
        result = inner.operand(function.result)
        self.coder.lines += [f"def {name}({', '.join(params)}):", *inner.lines]
        self.coder.lines += [f"    return {result}", ""]
        lift = self.coder.constant(rowwise.Lifted, "Lifted", "Lifted")
        given = "".join(f"{self.values[v]}, " for v in used)
        known = "".join(f"{self.sizes[v]}, " for v in needs)
        return f"{lift}({name}, ({given}), ({known}))"

    # --- nodes ---

    def nodes(self, nodes: Sequence[Node], needs: set[SizeVar]) -> None:
        for node in nodes:
            self.node(node, needs)

    def node(self, node: Node, needs: set[SizeVar]) -> None:
        match node:
            case Apply():
                if self.folded(node):
                    return
                text = self.application(node)
            case Call(_, graph, operands, _):
                text = f"{self.coder.graph(graph)}({self.operands(operands)})"
            case Extern(_, name, operands, _):
                function = self.coder.constant(self.coder.externs[name], name, ("extern", name))
                text = self.brought(node, f"{function}({self.operands(operands)})")
            case Item(_, whole, index):
                text = f"{self.values[whole]}[{index}]"
            case Alias(_, operand):
                text = self.operand(operand)
            case Measure(source, shape):
                self.measure(source, shape)
                return
            case Check():
                self.check(node)
                return
        result = node.result
        self.values[result] = name = self.coder.fresh(result.name)
        self.line(f"{name} = {text}")
        self.read([result], needs)

    def folded(self, node: Apply) -> bool:
        """What depends on nothing is computed now."""
        if node.rows is not None or not isinstance(node.result.type, Tensor):
            return False
        operands = [self.fixed(operand) for operand in node.operands]
        if None in operands or any(is_open(v) for v in node.attributes.values()):
            return False
        sizes = [item for item in node.result.type.shape if isinstance(item, int)]
        if len(sizes) < len(node.result.type.shape) or _prod(sizes) > MOST_FOLDED:
            return False
        assert node.operator.meaning is not None
        given = [held[0] for held in operands if held is not None]
        with numpy.errstate(all="ignore"):
            made = numpy.asarray(node.operator.meaning(NUMPY, *given, **node.attributes))
        self.values[node.result] = self.coder.constant(made, node.result.name or "c")
        return True

    def fixed(self, operand: Operand) -> tuple[Any] | None:
        """The value of an operand that is known now."""
        match operand:
            case Number(value, Tensor(elem, _)):
                return (scalar(value, str(elem), self.coder.arrays),)
            case SizeOf(int() as size, elem):
                return (scalar(size, elem, self.coder.arrays) if elem else size,)
            case ShapeOf(shape, "") if all(isinstance(item, int) for item in shape):
                return (shape,)
            case Value() if isinstance(
                known := self.coder.constants.get(self.values[operand]), numpy.ndarray
            ):
                return (known,)
            case _:
                return None

    def brought(self, node: Extern, text: str) -> str:
        """What a caller's function gives is looked at: it may not be what was declared."""
        mine = set(type_variables(node.result.type))
        known = [(v, n) for v, n in self.sizes.items() if v in mine]
        held = externs.Declared(node.name, node.result.type, tuple(v for v, _ in known))
        plan = self.coder.constant(held, "declared")
        look = self.coder.constant(externs.look_at, "look_at", "look_at")
        return f"{look}({plan}, xp, {text}, ({''.join(f'{n}, ' for _, n in known)}))"

    def operands(self, operands: Sequence[Operand]) -> str:
        return ", ".join(self.operand(o) for o in operands)

    def application(self, node: Apply) -> str:
        operator = node.operator
        assert operator.meaning is not None, operator.name
        rows = node.rows
        makes = any(makes_sizes(o) for o in node.operands)
        if rows is None and makes:
            rows = (False,) * len(node.operands)
        parts = [
            self.lifted(o)
            if rows is not None and isinstance(o, Function) and not makes
            else self.operand(o)
            for o in node.operands
        ]
        parts += [f"{k}={self.attribute(v)}" for k, v in node.attributes.items()]
        meaning = self.coder.constant(
            operator.meaning, operator.rule.__name__, ("do", operator.name)
        )
        if rows is None:
            return f"{meaning}({', '.join(['xp', *parts])})"
        which = varying(node.result.type, node.result.depth)
        broadcasts = pointwise(operator, len(node.operands))
        core = 0 if broadcasts else 2 if operator.name == "@" else None
        may_vary = rows_vary(node.result.type)
        plan = rowwise.Plan(operator.name, operator.family, rows, which, may_vary, core)
        do = self.coder.constant(rowwise.apply, "by_rows", "by_rows")
        made = self.coder.constant(plan, "plan")
        return f"{do}({', '.join([made, meaning, 'xp', *parts])})"

    def attribute(self, value: object) -> str:
        if isinstance(value, SizeOf):
            return self.dim(value.dim)
        if isinstance(value, tuple):
            parts = [self.attribute(item) for item in value]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if value is None or isinstance(value, bool | int | str):
            return repr(value)
        return self.coder.constant(value, "a", ("attribute", repr(value)))

    def measure(self, source: Operand, shape: Shape) -> None:
        """Sizes out of an array: brought to the host, and checked to be sizes."""
        names = {var: self.coder.fresh(var.name or "n") for var in measured(shape)}
        take = self.coder.constant(rowwise.measure, "measure", "measure")
        numbers = self.coder.fresh("numbers")
        self.line(f"{numbers} = {take}({self.operand(source)})")
        for i, item in enumerate(shape):
            if isinstance(item, ShapeVar):
                self.line(f"{names[item]} = {numbers}")
                self.sizes[item] = names[item]
            elif isinstance(item, DimVar):
                self.line(f"{names[item]} = {numbers}[{i}]")
                self.sizes[owner(item)] = names[item]

    def check(self, node: Check) -> None:
        known = [(var, name) for var, name in self.sizes.items() if var in needed(node)]
        held = self.coder.constant((node.relation, node.origin, [v for v, _ in known]), "held")
        test = self.coder.constant(check, "check", "check")
        self.line(f"{test}({held}, ({''.join(f'{name}, ' for _, name in known)}))")


def _prod(sizes: Sequence[int]) -> int:
    total = 1
    for size in sizes:
        total *= size
    return total
