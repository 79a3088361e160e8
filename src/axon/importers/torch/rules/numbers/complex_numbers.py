"""Complex numbers, which Axon does not have: such a tensor is two, its real and its imaginary part.

The tensor itself has an element type that is not known; beside it stand its parts, under names of
their own. An operator that moves numbers around, or adds them up, does so with each of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from axon.importers.expressions import Expression
from axon.importers.node import Made, Rule
from axon.importers.operations import Operand, Operation, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.elements import OF_PARTS, part
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import find as real_rule
from axon.importers.torch.rules.registry import rule

Pair = tuple[Expression, Expression]
SAME_SHAPE = "t p -> u p"


def is_complex(node: TorchNode, index: int) -> bool:
    """Whether an input is a complex tensor whose parts are there."""
    return part(node.inputs[index], 0) in node.importer.types


def pair_of(node: TorchNode, index: int) -> Pair:
    """The parts of an input; a real one has none that is imaginary."""
    name = node.inputs[index]
    if is_complex(node, index):
        re, im = (node.tensor(part(name, i)) for i in (0, 1))
        return re, im
    x = node.input(index)
    return x, node.call("zeros_like", x)


def set_pair(node: TorchNode, pair: Pair, output: int = 0) -> None:
    """An output that is complex, by its parts."""
    name = node.outputs[output]
    for i, expr in enumerate(pair):
        hidden = node.part_of(node.inputs, [part(name, i)])
        hidden.set_outputs(expr)
    _set_whole(node, name)


def set_made_pair(node: TorchNode, made: Expression) -> None:
    """The same where an expression makes both parts."""
    name = node.outputs[0]
    node.set_tuple_outputs(made, [part(name, 0), part(name, 1)])
    _set_whole(node, name)


def _set_whole(node: TorchNode, name: str) -> None:
    """The complex tensor itself, of which only the shape is known."""
    node.alone = True  # an equal node does not make the parts of another one
    whole = node.part_of([part(name, 0)], [name])
    whole.set_outputs(whole.declared(SAME_SHAPE, 0))


# --- each part by itself ---------------------------------------------------------------------

LINEAR = (
    "view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias", "view_as", "reshape_as",
    "expand", "expand_as", "expand_copy", "broadcast_to", "permute", "permute_copy", "transpose",
    "transpose_copy", "swapaxes", "swapdims", "t", "numpy_T", "mT", "movedim", "moveaxis",
    "unsqueeze", "unsqueeze_copy", "squeeze", "squeeze_copy", "flatten", "unflatten", "slice",
    "slice_copy", "select", "select_copy", "narrow", "split", "split_with_sizes", "split_copy",
    "chunk", "unbind", "unsafe_split", "tensor_split", "index", "index_select", "gather", "take",
    "cat", "concat", "stack", "hstack", "vstack", "repeat", "tile", "roll", "flip", "fliplr",
    "flipud", "rot90", "diagonal", "diagonal_copy", "tril", "triu", "sum", "mean", "cumsum",
    "neg", "negative", "_neg_view", "clone", "contiguous", "detach", "alias", "lift_fresh_copy",
    "lift_fresh", "requires_grad", "zeros_like", "new_zeros", "slice_scatter", "select_scatter",
    "index_put", "copy", "constant_pad_nd", "unfold", "as_strided", "fft_fftshift",
    "fft_ifftshift",
)  # fmt: skip
"""What makes the real part of its result of the real parts, and the imaginary one of the
others.
"""
BILINEAR = ("mul", "multiply", "matmul", "mm", "bmm", "einsum", "outer", "dot", "mv", "kron")
"""Products of two tensors."""


def linear(node: TorchNode, apply: Rule) -> None:
    names = node.outputs
    for i in (0, 1):
        own = [
            part(name, i) if is_complex(node, at) else name for at, name in enumerate(node.inputs)
        ]
        run = node.part_of(own, [part(name, i) if name else "" for name in names])
        run.set_made(apply(run))
    for name in filter(None, names):
        _set_whole(node, name)


def bilinear(node: TorchNode, apply: Rule) -> None:
    """`(a + bi)(c + di)` is `ac - bd + (ad + bc)i`, whatever the product is."""
    complex_ones = [at for at in range(len(node.inputs)) if is_complex(node, at)]
    if len(complex_ones) == 1:
        linear(node, apply)
        return
    if len(node.inputs) > 2 or len(complex_ones) > 2:
        raise Unsupported(f"{node.operator} of several complex tensors")

    def product(first: int, second: int) -> Expression:
        name = f"{node.outputs[0]}/{first}*{second}"
        kinds = (first, second)[: len(node.inputs)]
        own = [part(each, kind) for each, kind in zip(node.inputs, kinds, strict=True)]
        run = node.part_of(own, [name])
        run.set_made(apply(run))
        return node.tensor(name)

    if len(node.inputs) == 1:  # a tensor by itself, which is one input
        if node.operator.rstrip("_") not in ("mul", "multiply"):
            raise Unsupported(f"{node.operator} of a complex tensor by itself")
        pair = pair_of(node, 0)
        set_made_pair(node, node.call("complex_product", *pair, *pair))
        return
    re = node.call("-", product(0, 0), product(1, 1))
    set_pair(node, (re, node.call("+", product(0, 1), product(1, 0))))


# --- arithmetic ------------------------------------------------------------------------------


def _numbers(node: TorchNode, name: str) -> Pair | Expression:
    """An operand: the parts of a complex tensor, or what is real."""
    value = node.argument(name)
    if isinstance(value, Operand) and is_complex(node, value.index):
        return pair_of(node, value.index)
    if isinstance(value, complex):
        re, im = (node.scalar(x, _elem(node)) for x in (value.real, value.imag))
        return re, im
    return node.converted(value, _elem(node))


def _elem(node: TorchNode) -> str:
    """The element type of the parts of what is complex here."""
    for at, name in enumerate(node.inputs):
        found = node.importer.elem(part(name, 0)) if is_complex(node, at) else node.elem(at)
        if isinstance(found, str) and (is_complex(node, at) or elements.is_float(found)):
            return found
    return elements.DEFAULT


def add(node: TorchNode, apply: Rule) -> None:
    names = ("other", "self") if node.operator == "rsub" else ("self", "other")
    one, other = (_numbers(node, name) for name in names)
    sign = "+" if node.operator.rstrip("_") == "add" else "-"
    if node.argument("alpha") not in (None, 1):
        factor = node.operand("alpha", _elem(node))
        other = (
            tuple(node.call("*", x, factor) for x in other)  # type: ignore[assignment]
            if isinstance(other, tuple)
            else node.call("*", other, factor)
        )
    a, b = one if isinstance(one, tuple) else (one, None)
    c, d = other if isinstance(other, tuple) else (other, None)
    re = node.call(sign, a, c)
    if b is None:
        assert d is not None
        b = node.call("-", re, re)
    im = node.call("+", b, node.call("-", re, re)) if d is None else node.call(sign, b, d)
    set_pair(node, (re, im))


def multiply(node: TorchNode, apply: Rule) -> None:
    """The product of two tensors, or of one and a complex number."""
    if not any(isinstance(value, complex) for value in node.attributes.values()):
        bilinear(node, apply)
        return
    one, (c, d) = _numbers(node, "self"), _both(_numbers(node, "other"))
    if not isinstance(one, tuple):
        set_pair(node, (node.call("*", one, c), node.call("*", one, d)))
        return
    set_made_pair(node, node.call("complex_product", *one, c, d))


def _both(numbers: Pair | Expression) -> Pair:
    if not isinstance(numbers, tuple):
        raise Unsupported("a complex number times a tensor")
    return numbers


def divide(node: TorchNode, apply: Rule) -> None:
    """A product with what the divisor is turned around."""
    one, other = (_numbers(node, name) for name in ("self", "other"))
    if not isinstance(other, tuple):
        assert isinstance(one, tuple)
        set_pair(node, (node.call("/", one[0], other), node.call("/", one[1], other)))
        return
    if isinstance(one, tuple):
        set_made_pair(node, node.call("complex_quotient", *one, *other))
    else:
        set_made_pair(node, node.call("over_complex", one, *other))


def absolute(node: TorchNode, apply: Rule) -> None:
    node.set_outputs(node.call("hypot", *pair_of(node, 0)))


def conjugate(node: TorchNode, apply: Rule) -> None:
    re, im = pair_of(node, 0)
    set_pair(node, (re, node.call("negate", im)))


def identity(node: TorchNode, apply: Rule) -> None:
    """Into another complex type, or none; a real type has the real part alone."""
    re, im = pair_of(node, 0)
    asked = node.argument("dtype")
    elem = OF_PARTS.get(asked or "")
    if asked is not None and elem is None:
        node.set_outputs(node.cast(re, asked))
        return
    if elem is not None and node.elem_of() != elem:
        re, im = node.cast(re, elem), node.cast(im, elem)
    set_pair(node, (node.call("identity", re), node.call("identity", im)))


def exponential(node: TorchNode, apply: Rule) -> None:
    re, im = pair_of(node, 0)
    set_made_pair(node, node.call("from_polar", node.call("exp", re), im))


def find(operation: Operation, version: int) -> Rule | None:
    """The rule for an operation, which knows what to do with complex numbers."""
    found = real_rule(operation, version)
    return None if found is None else _aware(found)


@cache
def _aware(apply: Rule) -> Rule:
    return partial(with_complex, apply)


ComplexRule = Callable[[TorchNode, Rule], None]
OF_COMPLEX: Mapping[str, ComplexRule] = {
    "add": add, "sub": add, "subtract": add, "rsub": add, "div": divide, "divide": divide,
    "true_divide": divide, "abs": absolute, "exp": exponential, "conj": conjugate,
    "_conj": conjugate, "conj_physical": conjugate, "_conj_physical": conjugate,
    "resolve_conj": identity, "resolve_neg": identity, "to": identity, "_to_copy": identity,
} | dict.fromkeys(LINEAR, linear) | dict.fromkeys(BILINEAR, bilinear) | {
    "mul": multiply, "multiply": multiply,
}  # fmt: skip
"""What operators are of complex tensors."""
READS = frozenset(["real", "imag", "view_as_real", "angle"])
"""Operators whose own rules look for the parts."""


def with_complex(apply: Rule, node: TorchNode) -> Made:
    """What a rule makes of a node, one part of its numbers after the other if they are complex."""
    operator = node.operator
    numbers = any(isinstance(value, complex) for value in node.attributes.values())
    known = any(is_complex(node, at) for at in range(len(node.inputs)) if node.inputs[at])
    if not known and not numbers:
        asked = node.attributes.get("dtype")
        if operator in ("to", "_to_copy") and asked in OF_PARTS:
            x = node.cast(node.x(), OF_PARTS[asked])
            set_pair(node, (x, node.call("zeros_like", x)))
            return None
        return apply(node)
    node.alone = True
    reads = operator in READS or operator.startswith(("fft_", "_fft", "istft"))
    if reads and operator not in OF_COMPLEX:
        return apply(node)
    name = operator if operator.endswith("__") else operator.rstrip("_")
    found = OF_COMPLEX.get(operator) or OF_COMPLEX.get(name)
    if found is None:
        raise Unsupported(f"{operator} of complex numbers")
    found(node, apply)
    return None


@rule("_conj", "_conj_physical", "_neg_view")
def of_real(node: TorchNode) -> Made:
    """What they are of real numbers."""
    return node.call("negate" if node.operator == "_neg_view" else "identity", node.x())


# --- from parts, and to them -----------------------------------------------------------------


@rule("complex")
def complex_(node: TorchNode) -> None:
    re, im = node.x("real"), node.x("imag")
    words = [node.shape(node.tensor_index(name)) for name in ("real", "imag")]
    if words[0] is None or words[0] != words[1]:
        zeros = node.call("zeros_like", node.call("+", re, im))
        re, im = (node.call("+", each, zeros) for each in (re, im))
    set_pair(node, (node.call("identity", re), node.call("identity", im)))


@rule("polar")
def polar(node: TorchNode) -> None:
    set_made_pair(node, node.call("from_polar", node.x("abs"), node.x("angle")))


@rule("view_as_complex", "view_as_complex_copy")
def view_as_complex(node: TorchNode) -> None:
    re, im = (node.call("index", node.x(), i=i, axis=-1) for i in (0, 1))
    set_pair(node, (re, im))


def _pair(node: TorchNode) -> Pair | None:
    at = node.tensor_index("self")
    return pair_of(node, at) if is_complex(node, at) else None


@rule("view_as_real", "view_as_real_copy")
def view_as_real(node: TorchNode) -> Made:
    pair = _pair(node)
    if pair is None:
        return node.declared("t p -> u p@[2]", node.tensor_index("self"))
    return node.call("stack", *pair, axis=-1)


@rule("real", "imag")
def of_complex(node: TorchNode) -> Made:
    pair = _pair(node)
    if pair is not None:
        return node.call("identity", pair[0 if node.operator == "real" else 1])
    if node.elem_of() is None:
        return node.declared(SAME_SHAPE, node.tensor_index("self"))
    return node.call("identity" if node.operator == "real" else "zeros_like", node.x())


@rule("angle")
def angle(node: TorchNode) -> Made:
    pair = _pair(node)
    if pair is not None:
        return node.call("atan2", pair[1], pair[0])
    x = node.x()
    if node.elem_of() is None:
        return node.declared(SAME_SHAPE, node.tensor_index("self"))
    if not elements.is_float(node.elem_of()):
        x = node.cast(x, elements.DEFAULT)
    return node.call("angle_of_real", x)


def stacked(node: TorchNode, pair: Sequence[Expression]) -> Expression:
    """The parts in a last dimension, as Axon's transforms have them."""
    return node.call("stack", *pair, axis=-1)
