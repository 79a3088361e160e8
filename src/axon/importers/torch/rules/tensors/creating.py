"""Tensors from nothing but sizes and numbers: fillings, ranges, random numbers."""

from __future__ import annotations

import math
from typing import Any

from axon.contents import arithmetic as contents
from axon.contents.pointwise import size_of
from axon.contents.reals import Real
from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule
from axon.types import dim as dims
from axon.types.quotient import exact_quotient

LARGEST_RANGE = 1 << 53
"""Floating-point numbers count no further."""

# --- one number everywhere -----------------------------------------------------------------------


@rule("zeros", "ones", "empty", "empty_strided", "empty_permuted", "full")
def filled(node: TorchNode) -> Made:
    """What is empty may have any elements; here they are zeros."""
    shape, elem = wanted_shape(node), node.dtype()
    if node.operator == "full":
        return _full(node, shape, elem)
    operator = "ones" if node.operator == "ones" else "zeros"
    return node.call(operator, shape, to=elem or elements.DEFAULT)


@rule("new_zeros", "new_ones", "new_empty", "new_empty_strided", "new_full")
def new(node: TorchNode) -> Made:
    """The element type is that of a tensor, if none is asked for."""
    shape, elem = wanted_shape(node), node.dtype() or node.elem_of()
    if node.operator == "new_full":
        return _full(node, shape, elem)
    operator = "ones" if node.operator == "new_ones" else "zeros"
    if elem is None:
        return node.call("cast_like", node.call(operator, shape), node.x())
    return node.call(operator, shape, to=elem)


def wanted_shape(node: TorchNode, name: str = "size") -> Expression:
    """The shape that an argument lists."""
    return node.shape_of_argument(name, node.sizes(name))


def _full(node: TorchNode, shape: Expression, elem: str | None) -> Expression:
    return node.call("full", shape, number_of(node, "fill_value", elem))


def number_of(node: TorchNode, name: str, elem: str | None) -> Expression:
    """A number among the arguments, of this element type or of its own."""
    value = node.argument(name)
    if isinstance(value, Operand):
        return node.converted(value, elem)
    if not isinstance(value, int | float):
        raise Malformed(f"its argument `{name}` is no number")
    if elem is None:
        own = node.weight(value)
        elem = own[0] if own is not None else elements.DEFAULT
    if elem == "bool":
        return node.literal(bool(value))
    if not elements.is_float(elem) and not math.isfinite(value):
        raise Unsupported(f"{node.operator} with {value} as an integer")
    return node.scalar(value, elem)


@rule("zeros_like", "ones_like", "empty_like", "full_like")
def like(node: TorchNode) -> Made:
    x, elem = node.x(), node.dtype()
    if node.operator == "full_like":
        value = number_of(node, "fill_value", elem or node.elem_of())
        return node.call("full", node.call("shape", x), value)
    made = node.call("ones_like" if node.operator == "ones_like" else "zeros_like", x)
    return made if elem is None else node.cast(made, elem)


@rule("eye")
def eye(node: TorchNode) -> Made:
    rows, elem = node.size_argument("n"), node.dtype() or elements.DEFAULT
    if "m" not in node.attributes:
        return node.call("eye", node.size(rows, node.as_found(node.argument("n"))), to=elem)
    columns = node.size_argument("m")
    down, along = (
        node.call("range", node.size(size, node.as_found(node.argument(name))))
        for name, size in (("n", rows), ("m", columns))
    )
    return node.cast(node.call("==", node.call("expand_dims", down, axis=[1]), along), elem)


# --- ranges --------------------------------------------------------------------------------------


@rule("arange", "range")
def arange(node: TorchNode) -> Made:
    """From a start up to and without an end; `range` has the end too."""
    given = [node.number("start", 0), node.number("end"), node.number("step", 1)]
    elem = node.dtype()
    if elem is None:
        kinds = [node.weight(value) for value in given]
        if any(kind is None for kind in kinds):
            raise Unsupported(f"{node.operator} of elements of an unknown type")
        floats = any(kind is not None and elements.is_float(kind[0]) for kind in kinds)
        elem = elements.DEFAULT if floats or node.operator == "range" else "i64"
    count = _count(node, given)
    if count is None:
        if node.operator == "range":
            raise Unsupported("range whose bounds are not known")
        wide = "f64" if elements.is_float(elem) else "i64"
        made = node.call("arange", *(node.converted_to(value, wide) for value in given))
        return made if elem == wide else node.cast(made, elem)
    start, step = given[0], given[2]
    whole = all(_is_whole(node, value) for value in (start, step))
    inner = elem if whole else "f64"
    expr = node.call("range", node.size(count, _counted(node, given)), to=inner)
    if step != 1:
        expr = node.call("*", expr, node.converted_to(step, inner))
    if start != 0:
        expr = node.call("+", expr, node.converted_to(start, inner))
    return expr if inner == elem else node.cast(expr, elem)


def _is_whole(node: TorchNode, value: Any) -> bool:
    kind = node.weight(value)
    return kind is not None and not elements.is_float(kind[0])


def _count(node: TorchNode, given: list[Any]) -> Any:
    """How many numbers there are from a start to an end, if that is a size that is known. There is
    an error where the end is on the wrong side of the start, so it is not.
    """
    start, step = (_known(node, given[i]) for i in (0, 2))
    if start == 0 and step == 1 and _is_whole(node, given[1]):
        end = node.size_item(given[1])
    else:
        end = _known(node, given[1])
    if start is None or end is None or step is None or step == 0:
        return None
    start, end, step = (
        int(each) if isinstance(each, float) and each.is_integer() else each
        for each in (start, end, step)
    )
    gap = contents.sub(end, start)
    if any(isinstance(each, float | Real) for each in (start, end, step)):
        found = None if gap is None else contents.ratio(gap, step)
        count = None if found is None else contents.ceil(found)
        if node.operator == "range":
            count = None
        if isinstance(count, Real):
            count = size_of(node, count)
        if isinstance(count, float):
            count = int(count) if abs(count) < LARGEST_RANGE else None
        if count is None or (isinstance(count, int) and count < 0):
            return None
        return _guarded(node, count)
    if gap is None:
        return None
    if not isinstance(step, int):
        count = exact_quotient(gap, step)
        if count is None or node.operator == "range" or not node.importer.is_size(step):
            return None
        node.guard(contents.sub(step, 1))
        return _guarded(node, count)
    if node.operator == "range":
        gap = contents.add(gap, 1 if step > 0 else -1)
    gap = gap if step > 0 else dims.scale(-1, gap)
    return _guarded(node, dims.floordiv(dims.add(gap, abs(step) - 1), abs(step)))


def _guarded(node: TorchNode, count: Any) -> Any:
    if isinstance(count, int):
        if count < 0:
            raise Malformed("its end is on the wrong side of its start")
        return count
    if not node.importer.is_size(count):
        node.guard(count)
    return count


def _known(node: TorchNode, value: Any) -> Any:
    return node.element(value.index) if isinstance(value, Operand) else value


def _counted(node: TorchNode, given: list[Any]) -> Expression | None:
    """The same as a run finds it."""
    start, end, step = given
    if not all(_is_whole(node, value) for value in given) or not isinstance(step, int):
        return None
    if not any(isinstance(value, Operand) for value in given) or node.operator == "range":
        return None
    gap = node.as_found(end)
    if start != 0:
        gap = node.call("-", gap, node.as_found(start))
    if step == 1:
        return gap
    if step < 0:
        gap = node.call("negate", gap)
    gap = node.call("+", gap, node.literal(abs(step) - 1))
    return node.call("//", gap, node.literal(abs(step)))


@rule("linspace", "logspace")
def linspace(node: TorchNode) -> Made:
    elem = node.dtype() or elements.DEFAULT
    count = node.size_argument("steps")
    inner = elem if elements.is_float(elem) else "f64"
    places = node.call("range", node.size(count, node.as_found(node.argument("steps"))), to=inner)
    ends = [node.converted_to(node.argument(name), inner) for name in ("start", "end")]
    made = node.call("evenly_between", places, *ends)
    if node.operator == "logspace":
        made = node.call("pow", node.scalar(node.real("base", 10.0), inner), made)
    if inner == elem:
        return made
    return node.cast(node.call("truncate", made), elem)


@rule("tril_indices", "triu_indices")
def triangle_indices(node: TorchNode) -> Made:
    """The places of the elements of a triangle: their rows, and their columns."""
    rows, columns = node.size_argument("row"), node.size_argument("col")
    offset = node.integer("offset", 0)
    assert offset is not None
    lower = node.operator == "tril_indices"
    down, along = (node.call("range", node.size(size)) for size in (rows, columns))
    diagonal = node.call("+", node.call("expand_dims", down, axis=[1]), node.literal(offset))
    inside = node.call(">=" if lower else "<=", diagonal, along)
    made = node.call("transpose", node.call("argwhere", inside))
    elem = node.dtype() or "i64"
    made = made if elem == "i64" else node.cast(made, elem)
    if not isinstance(rows, int) or not isinstance(columns, int):
        return made
    count = _between(offset + 1, rows, columns)
    if not lower:
        count = rows * columns - _between(offset, rows, columns)
    return node.shaped(made, [2, count])


def _between(first: int, count: int, most: int) -> int:
    """The sum of so many numbers, one after another, each brought between 0 and the most."""
    last = first + count - 1
    beyond = max(last - max(first - 1, most), 0)
    low, high = max(first, 1), min(last, most)
    return beyond * most + (max(high - low + 1, 0) * (low + high)) // 2


# --- random numbers ------------------------------------------------------------------------------


@rule("rand", "randn")
def random(node: TorchNode) -> Made:
    """What is drawn is not for a program to say; its shape is."""
    elem = node.dtype() or elements.DEFAULT
    return node.type_of(node.call("zeros", wanted_shape(node), to=elem))


@rule("randint")
def random_integers(node: TorchNode) -> Made:
    return node.type_of(node.call("zeros", wanted_shape(node), to=node.dtype() or "i64"))


@rule("randperm")
def random_permutation(node: TorchNode) -> Made:
    count, elem = node.size_argument("n"), node.dtype() or "i64"
    return node.type_of(node.call("zeros", node.shape_literal([count]), to=elem))


@rule("rand_like", "randn_like", "randint_like")
def random_like(node: TorchNode) -> Made:
    elem = node.dtype()
    made = node.call("zeros_like", node.x())
    return node.type_of(made if elem is None else node.cast(made, elem))


@rule(
    "bernoulli", "uniform", "random", "exponential", "geometric", "log_normal", "cauchy", "poisson",
    "native_dropout_backward",
)  # fmt: skip
def drawn(node: TorchNode) -> Made:
    """Something of the type of a tensor, drawn anew."""
    return node.type_of(node.call("zeros_like", node.x()))


@rule("normal", "normal_functional")
def normal(node: TorchNode) -> Made:
    """Of the shape of a mean and a deviation, or of one that is given, or of a tensor."""
    if node.index("self") is not None:
        return node.type_of(node.call("zeros_like", node.x()))
    if "size" in node.attributes:
        return random(node)
    tensors = [name for name in ("mean", "std") if node.index(name) is not None]
    if not tensors:
        raise Malformed("neither its shape nor a tensor is given")
    elem = node.joint(*tensors)
    sides = [node.operand(name, elem) for name in tensors]
    return node.type_of(node.call("+", *sides) if len(sides) == 2 else sides[0])


@rule("multinomial")
def multinomial(node: TorchNode) -> Made:
    count, rank = node.size_argument("num_samples"), node.rank_of()
    if rank not in (1, 2):
        raise Unsupported("multinomial of a tensor whose rank is not known")
    sizes = [count] if rank == 1 else [node.size_of("self", 0), count]
    return node.type_of(node.call("zeros", node.shape_literal(sizes), to="i64"))
