"""Fourier transforms, and the windows that go with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Operand, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.numbers.complex_numbers import (
    Pair,
    is_complex,
    pair_of,
    set_pair,
    stacked,
)
from axon.importers.torch.rules.registry import ANY_SHAPE, rule

POWERS = {0: 0.0, 1: -0.5, 2: -1.0}
"""What a transform is multiplied by, as a power of the number of its elements."""
NORMS = {"backward": 0, "ortho": 1, "forward": 2}


@dataclass(frozen=True, slots=True)
class Transform:
    """Along which axes, to which sizes (None: as they are), and which way."""

    axes: list[int]
    sizes: list[Any]
    forward: bool
    normalisation: int

    @property
    def power(self) -> float:
        """What is left to multiply with: Axon's inverse divides by the number of elements."""
        return POWERS[self.normalisation] - (0.0 if self.forward else -1.0)


def _input(node: TorchNode) -> Expression:
    """The input with the parts of its numbers in a last dimension: two of them, or one."""
    at = node.tensor_index("self")
    if is_complex(node, at):
        return stacked(node, pair_of(node, at))
    elem, x = node.elem_of(), node.x()
    if elem is None:
        raise Unsupported(f"{node.operator} of numbers of which the parts are not known")
    if not elements.is_float(elem):
        x = node.cast(x, elements.DEFAULT)
    return node.call("expand_dims", x, axis=[-1])


def _along(
    node: TorchNode, x: Expression, wanted: Transform, at: Sequence[int], onesided: bool = False
) -> Expression:
    """A tensor transformed along some of the axes."""
    for i in at:
        axis, size = wanted.axes[i], wanted.sizes[i]
        how = {"size": size, "inverse": not wanted.forward, "onesided": onesided}
        x = node.call("dft", x, axis=axis, **how)
    return x


def _scaled(node: TorchNode, x: Expression, like: Expression, wanted: Transform) -> Expression:
    """A transform times its factor; `like` has the sizes of what is transformed."""
    power = wanted.power
    if power == 0.0:
        return x
    total: Expression | None = None
    known = 1
    for axis, size in zip(wanted.axes, wanted.sizes, strict=True):
        if isinstance(size, int):
            known *= size
            continue
        at = axis - 1 if axis < 0 else axis
        each = node.call("size", like, axis=at) if size is None else node.size(size)
        total = each if total is None else node.call("*", total, each)
    elem = node.elem_of() or elements.DEFAULT
    elem = elem if elements.is_float(elem) else elements.DEFAULT
    if total is None:
        return node.call("*", x, node.scalar(float(known) ** power, elem))
    count = node.cast(total if known == 1 else node.call("*", total, node.literal(known)), elem)
    factor = node.call("sqrt", count) if abs(power) == 0.5 else count
    return node.call("/" if power < 0 else "*", x, factor)


def _parts(node: TorchNode, x: Expression) -> Pair:
    re, im = (node.call("index", x, i=i, axis=-1) for i in (0, 1))
    return re, im


def _set_complex(node: TorchNode, x: Expression) -> None:
    """An output whose parts are in the last dimension of a tensor."""
    name = f"{node.outputs[0]}/parts"
    run = node.part_of(node.inputs, [name])
    run.set_outputs(x)
    node.alone = True
    set_pair(node, _parts(node, node.tensor(name)))


def _to_complex(node: TorchNode, wanted: Transform) -> None:
    x = _input(node)
    _set_complex(node, _scaled(node, _along(node, x, wanted, range(len(wanted.axes))), x, wanted))


def _last(wanted: Transform) -> int:
    """The number of the last axis, of which a half is enough."""
    if not wanted.axes:
        raise Malformed("it has no axis to transform along")
    return len(wanted.axes) - 1


def _half(node: TorchNode, wanted: Transform, turned: bool = False) -> None:
    """Of real numbers, of which the first half of the last axis tells the rest."""
    x, last = _input(node), _last(wanted)
    found = _along(node, x, wanted, [last], onesided=True)
    made = _scaled(node, _along(node, found, wanted, range(last)), x, wanted)
    _set_complex(node, made)


def _to_real(node: TorchNode, wanted: Transform) -> Expression:
    """The other way. The size of the last axis is given, or twice the half, less two."""
    x, last = _input(node), _last(wanted)
    made = _along(node, _along(node, x, wanted, range(last)), wanted, [last], onesided=True)
    like = made if wanted.sizes[last] is None else x
    return node.call("squeeze", _scaled(node, made, like, wanted), axis=[-1])


# --- as core ATen has them -------------------------------------------------------------------


def _core(node: TorchNode, forward: bool) -> Transform:
    axes, how = node.integers("dim"), node.integer("normalization", 0)
    if how not in POWERS or not axes:
        raise Malformed(f"its argument `normalization` is {how}, or it has no axis")
    return Transform(axes, [None] * len(axes), forward, how)


@rule("_fft_c2c")
def fft_c2c(node: TorchNode) -> None:
    _to_complex(node, _core(node, node.flag("forward", True)))


@rule("_fft_r2c")
def fft_r2c(node: TorchNode) -> None:
    wanted = _core(node, forward=True)
    if node.flag("onesided", True):
        _half(node, wanted)
    else:
        _to_complex(node, wanted)


@rule("_fft_c2r")
def fft_c2r(node: TorchNode) -> Made:
    wanted = _core(node, forward=False)
    wanted.sizes[-1] = node.size_argument("last_dim_size")
    return _to_real(node, wanted)


# --- as exported -----------------------------------------------------------------------------


def _asked(node: TorchNode, forward: bool) -> Transform:
    """What the arguments of one of the functions of `torch.fft` say."""
    norm = node.text("norm", "backward")
    if norm not in NORMS:
        raise Malformed(f"its argument `norm` is {norm}")
    normalisation = NORMS[norm] if forward else 2 - NORMS[norm]
    kind = node.operator.rstrip("_")
    if kind[-1] not in "2n":
        size = node.size_argument("n") if node.argument("n") is not None else None
        return Transform([node.axis("dim", -1)], [size], forward, normalisation)
    sizes: list[Any] = node.sizes("s") if node.argument("s") is not None else []
    axes = node.integers("dim", [-2, -1] if kind[-1] == "2" else [])
    if not axes:
        rank = len(sizes) or node.rank_of()
        if rank is None:
            raise Unsupported(f"{node.operator} of a tensor whose rank is not known")
        axes = list(range(-rank, 0))
    sizes = [None if size == -1 else size for size in sizes] or [None] * len(axes)
    if len(sizes) != len(axes):
        raise Malformed("it does not have a size for each axis")
    return Transform(axes, sizes, forward, normalisation)


@rule("fft_fft", "fft_fft2", "fft_fftn")
def fft(node: TorchNode) -> None:
    _to_complex(node, _asked(node, forward=True))


@rule("fft_ifft", "fft_ifft2", "fft_ifftn")
def ifft(node: TorchNode) -> None:
    _to_complex(node, _asked(node, forward=False))


@rule("fft_rfft", "fft_rfft2", "fft_rfftn")
def rfft(node: TorchNode) -> None:
    _half(node, _asked(node, forward=True))


@rule("fft_irfft", "fft_irfft2", "fft_irfftn")
def irfft(node: TorchNode) -> Made:
    return _to_real(node, _asked(node, forward=False))


@rule("fft_hfft")
def hfft(node: TorchNode) -> Made:
    """Real numbers of the half of a signal: the inverse of its conjugate, without its factor."""
    asked = _asked(node, forward=True)
    axis, size = asked.axes[0], asked.sizes[0]
    re, im = pair_of(node, node.tensor_index("self"))
    x = stacked(node, (re, node.call("negate", im)))
    wanted = Transform([axis], [size], False, asked.normalisation)
    made = _along(node, x, wanted, [0], onesided=True)
    like = made if size is None else x
    return node.call("squeeze", _scaled(node, made, like, wanted), axis=[-1])


@rule("fft_ihfft")
def ihfft(node: TorchNode) -> None:
    """The conjugate of the half of a transform, with the factor of an inverse."""
    asked = _asked(node, forward=False)
    x = _input(node)
    wanted = Transform(asked.axes, asked.sizes, True, asked.normalisation)
    made = _scaled(node, _along(node, x, wanted, [0], onesided=True), x, wanted)
    re, im = _parts(node, made)
    set_pair(node, (re, node.call("negate", im)))


@rule("fft_fftshift", "fft_ifftshift")
def fftshift(node: TorchNode) -> Made:
    """The middle of a transform comes first, or goes back there."""
    at = node.tensor_index("self")
    word, x = node.shape(at), node.input(at)
    if word is None:
        return node.type_of(x)
    axes = node.integers("dim") if node.argument("dim") is not None else list(range(len(word)))
    for axis in axes:
        size = node.dim(at, axis)
        if not isinstance(size, int):
            return node.type_of(x)
        by = size // 2 if node.operator == "fft_fftshift" else -(size // 2)
        x = node.call("roll", x, by=by, axis=axis)
    return x


@rule("fft_fftfreq", "fft_rfftfreq")
def fftfreq(node: TorchNode) -> Made:
    """Which frequency each element of a transform is, of samples at a distance `d`."""
    count, elem = node.integer("n") or 0, node.dtype() or elements.DEFAULT
    if count < 1:
        raise Malformed(f"it has {count} samples")
    width = count * node.real("d", 1.0)
    step = node.scalar(1.0 / width if width else math.copysign(math.inf, width), elem)
    half = count // 2
    if node.operator == "fft_rfftfreq":
        places = node.call("range", node.size(half + 1))
        return node.call("*", node.cast(places, elem), step)
    places = node.call("+", node.call("range", node.size(count)), node.literal(half))
    around = node.call("-", node.call("mod", places, node.literal(count)), node.literal(half))
    return node.call("*", node.cast(around, elem), step)


# --- windows ---------------------------------------------------------------------------------

WINDOWS = {"hann_window": "hann_window", "blackman_window": "blackman_window"}


@rule("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")
def window(node: TorchNode) -> Made:
    kind, elem = node.operator, node.dtype() or elements.DEFAULT
    given = node.argument("window_length")
    size = node.size_argument("window_length")
    held = node.as_found(given) if isinstance(given, Operand) else None
    count, periodic = node.size(size, held), node.flag("periodic", True)
    if size == 1:
        return node.call("ones", node.shape_literal([1]), to=elem)
    if kind in WINDOWS:
        return node.call(WINDOWS[kind], count, periodic=periodic, to=elem)
    empty = node.call("zeros", node.shape_literal([size], node.list_of([count])), to=elem)
    if kind == "kaiser_window":
        return node.type_of(empty)
    places = node.cast(node.call("range", count), elem)
    last = node.cast(count, elem)
    if not periodic:
        last = node.call("-", last, node.scalar(1.0, elem))
    if kind == "bartlett_window":
        return node.call("bartlett_at", places, last)
    numbers = [float(node.real(*each)) for each in (("alpha", 0.54), ("beta", 0.46))]
    return node.call("hamming_at", places, last, *(node.scalar(x, elem) for x in numbers))


# --- frames ----------------------------------------------------------------------------------


@rule("stft")
def stft(node: TorchNode) -> None:
    """What sounds when: a batch of signals, or one; frequencies come before frames."""
    rank, elem = node.rank_of(), node.elem_of()
    size = node.integer("n_fft") or 0
    hop = node.integer("hop_length") or size // 4
    if rank not in (1, 2) or elem is None or size < 1 or hop < 1:
        raise Unsupported("stft of a signal whose rank or whose elements are not known")
    if "center" in node.attributes and node.flag("center", True):
        raise Unsupported("stft that puts something around the signal itself")
    x = node.x() if rank == 2 else node.call("expand_dims", node.x(), axis=[0])
    signal = node.call("expand_dims", x, axis=[-1])
    onesided = node.flag("onesided", True)
    made = node.call("stft", signal, _frame(node, size, elem), step=hop, onesided=onesided)
    made = node.call("transpose", made, perm=[0, 2, 1, 3])
    if node.flag("normalized"):
        made = node.call("*", made, node.scalar(size**-0.5, elem))
    if rank == 1:
        made = node.call("squeeze", made, axis=[0])
    if node.argument("return_complex") is False:
        node.set_outputs(made)
        return
    _set_complex(node, made)


def _frame(node: TorchNode, size: int, elem: str) -> Expression:
    """The window, in the middle of a frame; ones if none is given."""
    length = node.integer("win_length") or size
    if node.index("window") is None:
        window = node.call("ones", node.shape_literal([length]), to=elem)
    else:
        window = node.x("window")
    if length == size:
        return window
    left = (size - length) // 2
    return node.call("pad", window, before=left, after=size - length - left)


@rule("istft")
def istft(node: TorchNode) -> Made:
    """How long the signal is, follows from the frames, or is asked for."""
    size = node.integer("n_fft") or 0
    hop, at = node.integer("hop_length") or size // 4, node.tensor_index("self")
    rank = node.rank(at)
    if rank not in (2, 3) or node.flag("return_complex"):
        return node.declared(ANY_SHAPE, at)
    length: Any = node.integer("length")
    if length is not None and length < 0:
        raise Malformed(f"its argument `length` is {length}")
    if length is None:
        around = 0 if node.flag("center", True) else size
        length = f"{hop}*k-{hop}" + (f"+{around}" if around else "")
    before, after = ("[f,k]", f"[{length}]") if rank == 2 else ("[b,f,k]", f"[b,{length}]")
    if not is_complex(node, at):
        return node.declared(f"t {before} -> u {after}", at)
    re, _ = pair_of(node, at)
    name = f"{node.outputs[0]}/re"
    run = node.part_of(node.inputs, [name])
    run.set_outputs(re)
    whole = node.part_of([name], node.outputs)
    whole.set_outputs(whole.declared(f"t {before} -> t {after}", 0))
    node.alone = True
    return None
