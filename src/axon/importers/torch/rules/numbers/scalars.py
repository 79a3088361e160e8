"""Numbers that a program computes from sizes, and what it takes for granted of them."""

from __future__ import annotations

from axon.contents import arithmetic as contents
from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Operand
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

BINARY = {
    "add": "+", "sub": "-", "mul": "*", "floordiv": "//", "mod": "mod", "pow": "pow", "eq": "==",
    "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and_": "logical_and",
    "or_": "logical_or", "sym_max": "maximum", "sym_min": "minimum",
}  # fmt: skip


@rule(*BINARY, domain="python")
def binary(node: TorchNode) -> Made:
    a, b = numbers(node)
    return node.call(BINARY[node.operator], a, b)


def numbers(node: TorchNode) -> list[Expression]:
    """The arguments; integers beside fractions as fractions."""
    given = node.positional(2)
    floats = [_is_float(node, each) for each in given]
    if any(floats) and not all(floats):
        return [node.converted(each, "f64") for each in given]
    return [node.as_found(each) for each in given]


def _is_float(node: TorchNode, value: object) -> bool:
    if isinstance(value, Operand):
        return str(node.elem(value.index)).startswith("f")
    return isinstance(value, float)


@rule("truediv", domain="python")
def truediv(node: TorchNode) -> Made:
    a, b = (node.converted(each, "f64") for each in node.positional(2))
    return node.call("/", a, b)


@rule("neg", "sym_not", "sym_sqrt", "_sym_sqrt", domain="python")
def unary(node: TorchNode) -> Made:
    (x,) = (node.as_found(each) for each in node.positional(1))
    if node.operator == "neg":
        return node.call("negate", x)
    if node.operator == "sym_not":
        return node.call("logical_not", x)
    return node.call("sqrt", node.cast(x, "f64"))


@rule("sym_float", "sym_int", "trunc", "floor", "ceil", "round", domain="python")
def converted(node: TorchNode) -> Made:
    (value,) = node.positional(1)
    x = node.as_found(value)
    if node.operator == "sym_float":
        return node.cast(x, "f64")
    if not _is_float(node, value):
        return node.call("identity", x)
    if node.operator not in ("sym_int", "trunc"):  # a cast cuts off what is behind the point
        x = node.call(node.operator, x)
    return node.cast(x, "i64")


@rule("sym_ite", domain="python")
def choice(node: TorchNode) -> Made:
    test, *sides = (node.as_found(each) for each in node.positional(3))
    return node.call("where", test, *sides)


@rule("sym_size")
def sym_size(node: TorchNode) -> Made:
    axis = node.axis()
    found, measured = node.size_of("self", axis), node.call("size", node.x(), axis=axis)
    return measured if found is None else node.size(found, measured)


@rule("sym_numel", "numel")
def sym_numel(node: TorchNode) -> Made:
    return node.call("size", node.x())


@rule("sym_stride", "sym_storage_offset", "stride", "storage_offset")
def stride(node: TorchNode) -> Made:
    """How a tensor lies in memory is not for a program to say."""
    return node.declared("t p -> i64 []", node.tensor_index("self"))


@rule("sym_is_contiguous", "is_nonzero", "is_same_size")
def truth(node: TorchNode) -> Made:
    x = node.tensor_index("self")
    if node.operator == "is_nonzero":
        return node.cast(node.as_scalar(node.argument("self")), "bool")
    return node.declared("t p -> bool []", x)


@rule("item", "_local_scalar_dense")
def item(node: TorchNode) -> Made:
    """The one element of a tensor."""
    x = node.x()
    return x if node.rank_of() == 0 else node.call("reshape", x, node.shape_literal(()))


@rule("scalar_tensor")
def scalar_tensor(node: TorchNode) -> Made:
    value = node.number("s")
    elem = node.dtype() or "f32"
    if isinstance(value, Operand):
        return node.converted(value, elem)
    return node.scalar(value, elem)


@rule("_assert_scalar")
def asserted(node: TorchNode) -> Made:
    """What a run makes sure of: how two sizes compare, or that a number is a size."""
    relation, sides = node.argument("relation"), [node.argument(name) for name in ("left", "right")]
    if relation is None or any(side is None for side in sides):
        return None
    if relation == "ge" and sides[1] == 0 and _may_be_size(node, sides[0]):
        node.size_item(sides[0])
        return None
    left, right = (node.known_size(side) for side in sides)
    if left is None or right is None:
        return None
    if relation in ("le", "lt"):
        left, right = right, left
    gap = contents.sub(left, right)
    if relation in ("gt", "lt"):
        gap = contents.sub(gap, 1)
    if relation == "eq":
        node.equal(left, right)
    elif not isinstance(gap, int):
        node.guard(gap)
    return None


@rule("sym_constrain_range_for_size", "_check_is_size")
def size_asserted(node: TorchNode) -> Made:
    """A number is a size."""
    value = next(iter(node.attributes.values()), None)
    if _may_be_size(node, value):
        node.size_item(value)
    return None


def _may_be_size(node: TorchNode, value: object) -> bool:
    """Whether a value is an integer of which nothing is known so far."""
    return (
        isinstance(value, Operand)
        and node.known_size(value) is None
        and node.elem(value.index) == "i64"
        and node.rank(value.index) == 0
    )


@rule(
    "_assert_tensor_metadata", "_assert_async", "sym_constrain_range", "_functional_assert_async",
    "_functional_sym_constrain_range", "_functional_sym_constrain_range_for_size",
    "_functional_assert_scalar",
)  # fmt: skip
def granted(node: TorchNode) -> Made:
    """What a run checks; it makes nothing."""
    return None
