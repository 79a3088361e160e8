"""The nodes of a padded program: those of the exact one, with masks where padding would get into
what is true.

Three things hold of every value. What is true comes first along each padded axis; behind it stands
anything. What is derived with respect to a value is exact where it is true, and anything behind. So
a mask stands where an operator would mix the two, in either direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Extern,
    Function,
    Item,
    Node,
    Number,
    Operand,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.padding.lanes import is_float, lanes_of, shape_of, type_of
from axon.graph.padding.orders import stays_first
from axon.graph.padding.sizes import NotPadded, Sizes
from axon.graph.sizes import captured
from axon.ops.operator import Operator
from axon.ops.padding import (
    COMPUTED_SIZE,
    FILLED,
    KEPT,
    POISONED,
    REFITTED,
    SIZE_NUMBER,
    SPREAD,
    Place,
    rewritten,
)
from axon.ops.traits import Fill
from axon.source import Span
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min
from axon.types.type import DimValue, Fn, Shape, Tensor, Tuple, Type
from axon.types.variables import DimVar

I64 = Tensor("i64", ())

Called = Callable[[Call, "Builder"], Value]
WithFunctions = Callable[["Builder", Apply], Value]


def typed(operands: Sequence[Operand], result: Type) -> Fn:
    """The type of an operator that no signature states."""
    return Fn(tuple(map(type_of, operands)), result)


@dataclass(slots=True)
class Mode:
    """`derived`: what is derived must be exact, too. `poison`: a number that all padding is filled
    with, for tests.
    """

    derived: bool
    poison: float | None


@dataclass(slots=True)
class Builder:
    """The nodes of one function. `values` are those that stand for the ones of the exact program;
    `called` makes a padded graph for one that is called, `with_functions` an operator that calls
    functions.
    """

    sizes: Sizes
    mode: Mode
    called: Called
    with_functions: WithFunctions
    values: dict[Value, Value] = field(default_factory=dict)
    filled: dict[tuple[Value, tuple[tuple[int, Fill], ...]], Value] = field(default_factory=dict)
    counted: dict[Dim, Operand] = field(default_factory=dict)
    nodes: list[Node] = field(default_factory=list)
    depth: int = 1
    span: Span | None = None
    integers: list[tuple[Dim, str]] = field(default_factory=list)
    """True sizes that become integers, and the types of these, which they must fit."""

    def inner(self, depth: int) -> Builder:
        """For a function inside, which may use what is known outside."""
        return Builder(
            self.sizes, self.mode, self.called, self.with_functions, dict(self.values),
            dict(self.filled), dict(self.counted), [], depth, self.span, self.integers,
        )  # fmt: skip

    # --- nodes ---

    def apply(
        self,
        operator: Operator,
        operands: Sequence[Operand],
        type_: Type,
        **attributes: object,
    ) -> Value:
        """A node that the exact program does not have."""
        result = Value(operator.name, type_, self.depth)
        known = typed(operands, type_)
        span = self.span
        assert span is not None
        self.nodes.append(Apply(result, operator, tuple(operands), attributes, span, known, known))
        return result

    def numbers(self, shape: Sequence[object], axes: Sequence[int]) -> list[Operand]:
        """The true sizes along some axes."""
        return [self.number(shape[axis]) for axis in axes]

    def number(self, dim: object) -> Operand:
        """The true size of a dimension."""
        assert not isinstance(dim, str)
        size = self.sizes.dim(dim)  # type: ignore[arg-type]
        known = self.counted.get(size)
        if known is None:
            known = self.counted[size] = self._computed(size)
        return known

    def _computed(self, size: Dim) -> Operand:
        if isinstance(size, int):
            return Number(size, I64)
        if isinstance(size, DimVar):
            if size not in self.sizes.padded:
                return SizeOf(size, "i64")
            found = self.sizes.numbers.get(size)
            if found is None:
                raise NotPadded((size,), "its true size is not known inside")
            return found
        terms = [
            self._sign("*", [*([Number(c, I64)] if c != 1 or not m else []), *map(self._atom, m)])
            for m, c in size.terms.items()
        ]
        return self._sign("+", terms)

    def _atom(self, atom: Atom) -> Operand:
        match atom:
            case DimVar():
                return self.number(atom)
            case FloorDiv(args=(top, bottom)):
                return self._sign("/", [self.number(top), self.number(bottom)])
            case Min(args=parts):
                return self._sign("least", [self.number(part) for part in parts])
            case Max(args=parts):
                return self._sign("greatest", [self.number(part) for part in parts])
            case _:
                raise NotPadded(self.sizes.padded, "a size cannot be computed")

    def _sign(self, sign: str, parts: Sequence[Operand]) -> Operand:
        if len(parts) == 1:
            return parts[0]
        return self.apply(COMPUTED_SIZE, parts, I64, sign=sign)

    # --- masks ---

    def fill(self, value: Value, fills: dict[int, Fill]) -> Value:
        """The value with something known in its padding."""
        needed = {axis: fill for axis, fill in fills.items() if fill != "anything"}
        key = (value, tuple(sorted(needed.items())))
        if key in self.filled:
            return self.filled[key]
        assert isinstance(value.type, Tensor)
        made: Value = value
        for fill in dict.fromkeys(needed.values()):
            axes = tuple(sorted([axis for axis, known in needed.items() if known == fill]))
            numbers = self.numbers(value.type.shape, axes)
            made = self.apply(FILLED, [made, *numbers], value.type, axes=axes, fill=fill)
        self.filled[key] = made
        return made

    def keep(self, value: Value, kept: Sequence[set[int]]) -> Value:
        """The value, of which only what is true has a derivative, but for the axes `kept`."""
        left = iter(kept)

        def each(part: Value, type_: Tensor) -> Value:
            own = next(left, set())
            axes = tuple([axis for axis in self.sizes.axes(type_.shape) if axis not in own])
            if not axes or not is_float(type_) or not self.mode.derived:
                return part
            return self.apply(KEPT, [part, *self.numbers(type_.shape, axes)], type_, axes=axes)

        return self.leaves(value, each)

    def poison(self, value: Value) -> Value:
        poison = self.mode.poison
        if poison is None:
            return value

        def each(part: Value, type_: Tensor) -> Value:
            axes = self.sizes.axes(type_.shape)
            if not axes:
                return part
            numbers = self.numbers(type_.shape, axes)
            return self.apply(POISONED, [part, *numbers], type_, axes=axes, poison=poison)

        return self.leaves(value, each)

    def leaves(self, value: Value, each: Callable[[Value, Tensor], Value]) -> Value:
        """A value with each tensor in it changed."""
        changed, whole = self._leaves(value, value.type, each)
        if not changed:
            return value
        if isinstance(whole, Value):
            return whole
        made = Value(value.name, value.type, self.depth)
        self.nodes.append(Alias(made, whole))
        return made

    def _leaves(
        self, value: Value, type_: Type, each: Callable[[Value, Tensor], Value]
    ) -> tuple[bool, Operand]:
        if isinstance(type_, Tensor):
            made = each(value, type_)
            return made is not value, made
        if not isinstance(type_, Tuple):
            return False, value
        at = len(self.nodes)
        parts: list[Operand] = []
        changed = False
        for index, item in enumerate(type_.items):
            part = Value(value.name, item, self.depth)
            self.nodes.append(Item(part, value, index))
            other, inner = self._leaves(part, item, each)
            changed |= other
            parts.append(inner)
        if not changed:
            del self.nodes[at:]
            return False, value
        return True, Bundle(tuple(parts), getattr(type_, "names", None))

    # --- operands ---

    def operand(self, operand: Operand) -> Operand:
        """An operand of the padded program; sizes that are numbers are the true ones."""
        match operand:
            case Value():
                return self.values.get(operand, operand)
            case SizeOf(dim, elem) if elem and self.sizes.padded_in(dim):
                return self._as_elements((dim,), elem, False)
            case ShapeOf(shape, elem) if elem and self.sizes.axes(shape):
                return self._as_elements(shape, elem, True)
            case Bundle(items, names):
                return Bundle(tuple(map(self.operand, items)), names)
            case Function():
                return self.function(operand)
            case _:
                return operand

    def true_sizes(self, result: Operand) -> Operand:
        """A result in which sizes are the true ones."""
        match result:
            case SizeOf(dim, "") if self.sizes.padded_in(dim):
                return self.number(dim)
            case ShapeOf(shape, "") if self.sizes.axes(shape):
                return Bundle(tuple([self.number(item) for item in shape]))
            case Bundle(items, names):
                return Bundle(tuple(map(self.true_sizes, items)), names)
            case _:
                return result

    def _as_elements(self, sizes: Shape, elem: str, vector: bool) -> Operand:
        """Sizes as numbers. Whether they fit is known when there is a call."""
        if elem[0] in "iu":
            self.integers += [(self.sizes.dim(size), elem) for size in sizes]  # type: ignore[arg-type]
        numbers = list(map(self.number, sizes))
        type_ = Tensor(elem, (len(numbers),) if vector else ())
        return self.apply(SIZE_NUMBER, numbers, type_, elem=elem, vector=vector)

    def function(self, function: Function) -> Function:
        inside = self.inner(function.depth)
        result = inside.body(function.nodes, function.result)
        return replace(function, nodes=tuple(inside.nodes), result=result)

    def body(self, nodes: Sequence[Node], result: Operand, last: bool = False) -> Operand:
        """The nodes, and the result; of the `last` function its sizes are the true ones."""
        for node in nodes:
            self.node(node)
        return self.operand(self.true_sizes(result) if last else result)

    def node(self, node: Node) -> None:
        if isinstance(node, Apply | Call | Extern):
            self.span = node.span
        match node:
            case Apply():
                try:
                    self.sizes.check(node.result.type)
                    made = self.application(node)
                except NotPadded as problem:
                    if problem.span is None:
                        problem.span, problem.operator = node.span, node.operator.name
                    raise
                self.values[node.result] = self.poison(made)
            case Call():
                self.values[node.result] = self.called(node, self)
            case Extern():
                types = [type_of(o) for o in node.operands] + [node.result.type]
                found = frozenset[DimVar]().union(*map(self.sizes.among, types))
                if found:
                    text = "it is not known what padding does to an operator of the caller"
                    raise NotPadded(found, text, node.name, node.span)
                self._plainly(node, tuple(map(self.operand, node.operands)))
            case Item(result, whole, index):
                known = self.values.get(whole, whole)
                self.nodes.append(Item(result, known, index))
            case Alias(result, operand):
                self.nodes.append(Alias(result, self.operand(operand)))
            case _:
                raise NotPadded(self.sizes.padded, "a size is known at run time only")

    def _plainly(self, node: Apply | Extern, operands: tuple[Operand, ...]) -> None:
        self.nodes.append(replace(node, operands=operands))

    # --- operators ---

    def application(self, node: Apply) -> Value:
        if node.operator.traits.calls is not None:
            return self.with_functions(self, node)
        operands = list(map(self.operand, node.operands))
        if any(isinstance(operand, Function) for operand in node.operands):
            self._check_captured(node)
        lanes = lanes_of(replace(node, operands=tuple(operands)), self.sizes)
        if lanes.in_order:
            return self.in_order(node, operands)
        for place, operand in enumerate(operands):
            shape = shape_of(operand)
            if not isinstance(operand, Value) or shape is None:
                continue
            fills = dict(lanes.fills.get(place, {}))
            if self.mode.derived and is_float(operand.type):
                for axis in lanes.zeros.get(place, ()):
                    fills.setdefault(axis, "zero")
            if fills:
                operands[place] = self.fill(operand, fills)
        if self.mode.derived and lanes.spread:
            given = list(operands)
            for place, along in lanes.spread.items():
                operands[place] = self.spread(given[place], along, given)
        if lanes.counted and node.operator.padded_meaning is not None:
            places, numbers = self.places(node, operands)
            made = self.apply(
                rewritten(node.operator),
                [*operands, *numbers],
                node.result.type,
                **node.attributes,
                places=places,
            )
            return self.keep(made, lanes.kept)
        result = replace(node.result)
        self._plainly(replace(node, result=result), tuple(operands))
        return self.keep(result, lanes.kept)

    def places(
        self, node: Apply, operands: Sequence[Operand]
    ) -> tuple[tuple[Place, ...], list[Operand]]:
        """Where operands and result are padded, or attributes their sizes, and the true ones."""
        found: list[tuple[Place, object]] = []
        for place, operand in enumerate(operands):
            type_ = type_of(operand)
            shape = (type_.dim,) if isinstance(type_, DimValue) else shape_of(operand) or ()
            found += [((place, axis), shape[axis]) for axis in self.sizes.axes(shape)]
        if isinstance(node.result.type, Tensor):
            shape = node.result.type.shape
            found += [((-1, axis), shape[axis]) for axis in self.sizes.axes(shape)]
        for name, value in node.attributes.items():
            if isinstance(value, SizeOf) and self.sizes.padded_in(value.dim):
                found.append(((-2, name), value.dim))
        return tuple([place for place, _ in found]), [self.number(dim) for _, dim in found]

    def spread(
        self, operand: Operand, along: dict[int, int], operands: Sequence[Operand]
    ) -> Operand:
        """An operand that is shared along padded axes, once for each place there."""
        if not isinstance(operand, Value) or not is_float(operand.type):
            return operand
        assert isinstance(operand.type, Tensor)
        axes = tuple(sorted(along))
        shape = [1] * (-axes[0] - len(operand.type.shape)) + list(operand.type.shape)
        for axis in axes:
            like = shape_of(operands[along[axis]])
            assert like is not None
            shape[axis] = like[axis]
        likes = [operands[along[axis]] for axis in axes]
        numbers = self.numbers(shape, axes)
        type_ = Tensor(operand.type.elem, tuple(shape))
        return self.apply(SPREAD, [operand, *likes, *numbers], type_, axes=axes)

    def in_order(self, node: Apply, operands: list[Operand]) -> Value:
        """The elements of the first operand in their order, under another shape."""
        source, type_ = operands[0], node.result.type
        given = shape_of(source)
        assert isinstance(type_, Tensor) and given is not None
        before, after = self.sizes.axes(given), self.sizes.axes(type_.shape)
        result = replace(node.result)
        if not before and not after:
            self._plainly(replace(node, result=result), tuple(operands))
            return result
        if stays_first(given, type_.shape, self.sizes):
            self._plainly(replace(node, result=result), tuple(operands))
            return self.keep(result, [set()])
        numbers = [*self.numbers(given, before), *self.numbers(type_.shape, after)]
        made = self.apply(
            REFITTED, [source, *numbers, ShapeOf(type_.shape)], type_, given=before, made=after
        )
        return self.keep(made, [set()])

    def _check_captured(self, node: Apply) -> None:
        """A function of scalars must not use what is around it: all elements would share it."""
        inside = [o for o in node.operands if isinstance(o, Function)]
        for function in inside:
            if any(is_float(value.type) for value in captured(function)):
                raise NotPadded(
                    frozenset().union(*[self.sizes.among(type_of(o)) for o in node.operands]),
                    "its function uses values around it",
                )
