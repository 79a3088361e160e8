"""The array namespace on PyTorch: NumPy's functions on tensors, on one device.

Everything is differentiable where PyTorch is, and nothing leaves the device. There is one namespace
for each device: constants and new tensors are made where the arguments are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy
import torch

from axon.backends.bounded import Bounded
from axon.backends.failures import NO_MEMORY, out_of_range
from axon.backends.fusion import Body, Fusion
from axon.backends.numpy_arrays import element
from axon.backends.torch_attention import attention_of_rows
from axon.backends.torch_calls import TorchCalls
from axon.backends.torch_derived import is_eager
from axon.backends.torch_elements import DTYPES, KINDS, from_host
from axon.backends.torch_fuse import biased_products
from axon.backends.torch_meanings import around_meaning, function_of, meaning_of
from axon.backends.torch_moves import Axes, TorchMoves, axes_of
from axon.backends.torch_sdpa import fused_attention
from axon.backends.torch_softmax import softmax_of_rows
from axon.backends.torch_unsigned import NARROW
from axon.backends.torch_windows import TorchWindows
from axon.graph.graph import Function, Graph
from axon.ops import Operator
from axon.ops.arrays import Array, Meaning, is_integer
from axon.ops.memory import Refused, check_fits

OUT_OF_RANGE = ("is out of bounds", "is out of DATA bounds", "indexing axis dim should be positive")
CPU_NO_MEMORY = "can't allocate memory"
"""What PyTorch says where it raises no `IndexError` and no `OutOfMemoryError`."""


class _Fourier:
    def fft(self, x: Array, n: int | None = None, axis: int = -1) -> Array:
        return _transformed(torch.fft.fft, x, n, axis)

    def ifft(self, x: Array, n: int | None = None, axis: int = -1) -> Array:
        return _transformed(torch.fft.ifft, x, n, axis)

    def irfft(self, x: Array, n: int | None = None, axis: int = -1) -> Array:
        return _transformed(torch.fft.irfft, x, n, axis)


class TorchArrays(TorchCalls, TorchMoves, TorchWindows, Bounded):
    library = torch
    attention_of_rows = attention_of_rows
    softmax_of_rows = softmax_of_rows
    fft = _Fourier()
    linalg = torch.linalg

    def failure(self, problem: Exception) -> str | None:
        return failure(problem)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    @property
    def word(self) -> Any:
        return torch.int64

    @property
    def tiled(self) -> bool:  # type: ignore[override]
        return bool(self.device.type != "cpu")

    def __init__(self, device: Any = "cpu", *, bounded: bool = True, narrow: str = "") -> None:
        """Where the arrays are; whether the memory is asked for before it is used; and the type
        that i64 stands for, if it does, as it does for others of 16 and 32 bits.
        """
        self.narrow = narrow
        self.device = torch.device(device)
        self.bounded = bounded
        self.by_segments = bounded

    def context(self) -> AbstractContextManager[object]:
        return nullcontext()

    def memory(self) -> int:
        return _memory(self.device)

    def place(self) -> Hashable:
        """Where tensors are that one call may keep for the next, and in which queue they are made;
        None if those made now are not for all calls.
        """
        if not is_eager():
            return None
        cuda = self.device.type == "cuda"
        return self.device, torch.cuda.current_stream(self.device).cuda_stream if cuda else 0

    # --- element types ---

    def element(self, name: str) -> Any:
        dtype = DTYPES[name]
        return torch.int64 if self.narrow and dtype in NARROW else dtype

    def kind(self, dtype: Any) -> str:
        return KINDS[dtype]

    def iinfo(self, dtype: Any) -> Any:
        if self.narrow and dtype == torch.int64:
            return numpy.iinfo(element(self.narrow))
        return numpy.iinfo(str(dtype).removeprefix("torch."))

    def stop_gradient(self, x: Array) -> Array:
        return x.detach()

    def low32(self, x: Array) -> Array:
        return x & 0xFFFFFFFF

    def astype(self, x: Array, dtype: Any) -> Array:
        return x.to(dtype) if isinstance(x, torch.Tensor) else self.asarray(x, dtype)

    def asarray(self, x: Any, dtype: Any = None) -> Array:
        if isinstance(x, torch.Tensor):
            return x if dtype is None else x.to(dtype)
        if isinstance(x, numpy.ndarray | numpy.generic):
            made = from_host(numpy.asarray(x), self.device)
            return made if dtype is None else made.to(dtype)
        if isinstance(x, tuple | list) and any(isinstance(each, torch.Tensor) for each in x):
            made = torch.stack([self.asarray(each) for each in x])
            return made if dtype is None else made.to(dtype)
        return torch.as_tensor(x, dtype=dtype, device=self.device)

    array = asarray

    def host_element(self, name: str) -> Any:
        return element(name)

    def sizes(self, sizes: Any, elem: str) -> Array:
        if self.bounded:
            return from_host(numpy.asarray(sizes, element(elem)), self.device)
        dtype = DTYPES[elem]
        if isinstance(sizes, tuple):
            made = [torch.full((), size, dtype=dtype, device=self.device) for size in sizes]
            return torch.stack(made) if made else self.blank((0,), dtype)
        return torch.full((), sizes, dtype=dtype, device=self.device)

    def meaning_of(self, operator: Operator, given: frozenset[str], made: Any) -> Meaning:
        return meaning_of(operator, given, made) if given else function_of(operator)

    def around_meaning(
        self, operator: Operator, given: frozenset[str], made: Any
    ) -> Callable[[Meaning], Meaning] | None:
        return around_meaning(operator, given, made)

    def fusions(self, whole: Graph | Function) -> Sequence[Fusion]:
        body = Body(whole)
        return [*fused_attention(body), *biased_products(body)]

    def for_narrow(self, elem: str) -> TorchArrays:
        """The namespace in which i64 stands for a narrower type."""
        return arrays_on(self.device, bounded=self.bounded, narrow=elem)

    def constant(self, value: Any) -> Array:
        """A constant of the program, which NumPy has made."""
        return from_host(value, self.device)

    def blank(self, shape: Sequence[int], dtype: Any) -> Array:
        return torch.zeros(tuple(shape), dtype=dtype, device=self.device)

    def ask(self, shape: Any, dtype: Any) -> None:
        if self.bounded:
            itemsize = 8 if dtype is None or dtype is bool else dtype.itemsize
            check_fits((shape,) if isinstance(shape, int) else shape, itemsize)

    # --- new tensors ---

    def zeros(self, shape: Any, dtype: Any = None) -> Array:
        return self.full(shape, 0, dtype)

    def ones(self, shape: Any, dtype: Any = None) -> Array:
        return self.full(shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> Array:
        self.ask(shape, dtype)
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dtype = torch.float64 if dtype is None else dtype
        return torch.full(shape, value, dtype=dtype, device=self.device)

    empty = zeros

    def eye(self, size: int, dtype: Any = None) -> Array:
        self.ask((size, size), dtype)
        return torch.eye(size, dtype=dtype, device=self.device)

    def arange(self, *bounds: int, dtype: Any = None) -> Array:
        if not self.bounded:
            made = torch.arange(*bounds, device=self.device)
        else:
            start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
            count = max(0, -((start - stop) // step))
            self.ask((count,), dtype)
            ends = (start, start + (count - 1) * step)
            if count and max(map(abs, ends)) >= 1 << 63:
                raise Refused("the numbers of a range do not fit into i64")
            made = torch.arange(count, device=self.device)
            if count:
                made = made * (step if count > 1 else 1) + start
        return made if dtype is None else made.to(dtype)

    def zeros_like(self, x: Array) -> Array:
        return torch.zeros_like(x)

    def ones_like(self, x: Array) -> Array:
        return torch.ones_like(x)

    def full_like(self, x: Array, value: Any) -> Array:
        return torch.full_like(x, value)

    # --- element by element ---

    exp, expm1, log = map(staticmethod, (torch.exp, torch.expm1, torch.log))
    log1p, log10, log2 = map(staticmethod, (torch.log1p, torch.log10, torch.log2))
    sin, cos, tan = map(staticmethod, (torch.sin, torch.cos, torch.tan))
    sinh, cosh, tanh = map(staticmethod, (torch.sinh, torch.cosh, torch.tanh))
    arcsin, arccos, arctan = map(staticmethod, (torch.arcsin, torch.arccos, torch.arctan))
    arcsinh, arccosh, arctanh = map(staticmethod, (torch.arcsinh, torch.arccosh, torch.arctanh))
    sqrt, square, reciprocal = map(staticmethod, (torch.sqrt, torch.square, torch.reciprocal))
    real, imag, negative = map(staticmethod, (torch.real, torch.imag, torch.neg))
    isnan, isinf, isfinite = map(staticmethod, (torch.isnan, torch.isinf, torch.isfinite))
    isneginf = staticmethod(torch.isneginf)
    add, subtract, multiply = map(staticmethod, (torch.add, torch.subtract, torch.multiply))
    divide, power, fmod = map(staticmethod, (torch.divide, torch.pow, torch.fmod))
    remainder = staticmethod(torch.remainder)
    equal, not_equal = map(staticmethod, (torch.eq, torch.ne))
    less, less_equal = map(staticmethod, (torch.lt, torch.le))
    greater, greater_equal = map(staticmethod, (torch.gt, torch.ge))
    logical_and, logical_or = map(staticmethod, (torch.logical_and, torch.logical_or))
    logical_xor, logical_not = map(staticmethod, (torch.logical_xor, torch.logical_not))
    bitwise_and, bitwise_or = map(staticmethod, (torch.bitwise_and, torch.bitwise_or))
    bitwise_xor, bitwise_not = map(staticmethod, (torch.bitwise_xor, torch.bitwise_not))
    left_shift, right_shift = map(
        staticmethod, (torch.bitwise_left_shift, torch.bitwise_right_shift)
    )

    def abs(self, x: Array) -> Array:
        return x if x.dtype == torch.bool else torch.abs(x)

    def sign(self, x: Array) -> Array:
        """PyTorch has a sign of NaN, 0."""
        return torch.where(x != x, x, torch.sign(x)) if x.is_floating_point() else torch.sign(x)

    def floor(self, x: Array) -> Array:
        return torch.floor(x)

    def ceil(self, x: Array) -> Array:
        return torch.ceil(x)

    def rint(self, x: Array) -> Array:
        return torch.round(x)

    def round(self, x: Array) -> Array:
        return torch.round(x)

    def floor_divide(self, x: Array, y: Array) -> Array:
        """Of integers the least by -1 is itself, where a processor would stop."""
        if not is_integer(self, x):
            return torch.div(x, y, rounding_mode="floor")
        minus = y == -1
        return torch.where(minus, -x, torch.floor_divide(x, torch.where(minus, 1, y)))

    def erf(self, x: Array) -> Array:
        return torch.erf(x)

    def where(self, condition: Array, x: Any, y: Any) -> Array:
        return torch.where(condition, x, y)

    def maximum(self, x: Any, y: Any) -> Array:
        if isinstance(y, torch.Tensor):
            return torch.maximum(x, y) if isinstance(x, torch.Tensor) else y.clamp(min=x)
        return x.clamp(min=y)

    def minimum(self, x: Any, y: Any) -> Array:
        if isinstance(y, torch.Tensor):
            return torch.minimum(x, y) if isinstance(x, torch.Tensor) else y.clamp(max=x)
        return x.clamp(max=y)

    def clip(self, x: Array, low: Any, high: Any) -> Array:
        """Where the bounds cross, the upper one counts."""
        if isinstance(low, torch.Tensor) or isinstance(high, torch.Tensor):
            return self.minimum(self.maximum(x, low), high)
        return torch.clamp(x, low, high)

    # --- products ---

    def matmul(self, x: Array, y: Array) -> Array:
        if x.is_cuda and is_integer(self, x):  # cuBLAS multiplies no integers
            if y.ndim == 1:
                return (x * y).sum(-1, dtype=x.dtype)
            return (x.unsqueeze(-1) * y.unsqueeze(-3 if x.ndim > 1 else 0)).sum(-2, dtype=x.dtype)
        return torch.matmul(x, y)

    def einsum(self, equation: str, *parts: Array) -> Array:
        if parts[0].is_floating_point() or not parts[0].is_cuda:
            return torch.einsum(equation, *parts).to(parts[0].dtype)
        raise Refused("PyTorch has no einsum of integers on this device")

    def trace(self, x: Array, axis1: int, axis2: int, dtype: Any) -> Array:
        return torch.diagonal(x, dim1=axis1, dim2=axis2).sum(-1, dtype=dtype)

    # --- reductions ---

    def sum(self, x: Array, axis: Axes = None, keepdims: bool = False, dtype: Any = None) -> Array:
        return torch.sum(x, dim=axes_of(x, axis), keepdim=keepdims, dtype=dtype)

    def prod(self, x: Array, axis: Axes = None, keepdims: bool = False, dtype: Any = None) -> Array:
        for one in sorted((each % x.ndim for each in axes_of(x, axis)), reverse=True):
            x = torch.prod(x, dim=one, keepdim=keepdims, dtype=dtype)
        return x

    def max(
        self, x: Array, axis: Axes = None, keepdims: bool = False, initial: Any = None
    ) -> Array:
        return self._largest(torch.amax, torch.maximum, x, axis, keepdims, initial)

    def min(
        self, x: Array, axis: Axes = None, keepdims: bool = False, initial: Any = None
    ) -> Array:
        return self._largest(torch.amin, torch.minimum, x, axis, keepdims, initial)

    def _largest(
        self,
        reduce: Callable[..., Array],
        either: Callable[[Array, Array], Array],
        x: Array,
        axis: Axes,
        keepdims: bool,
        initial: Any,
    ) -> Array:
        axes = axes_of(x, axis)
        if initial is not None and any(x.shape[each] == 0 for each in axes):
            kept = [each % x.ndim for each in axes]
            shape = [1 if i in kept else n for i, n in enumerate(x.shape)]
            made = self.asarray(initial, x.dtype).expand(shape)
            return made if keepdims else made.squeeze(tuple(kept))
        made = reduce(x, dim=axes, keepdim=keepdims) if axes else x
        if isinstance(initial, torch.Tensor):
            made = either(made, initial.to(made.dtype))
        return made

    def any(self, x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
        axes = axes_of(x, axis)
        return torch.any(x, dim=axes, keepdim=keepdims) if axes else x

    def all(self, x: Array, axis: Axes = None, keepdims: bool = False) -> Array:
        axes = axes_of(x, axis)
        return torch.all(x, dim=axes, keepdim=keepdims) if axes else x

    def argmax(self, x: Array, axis: int | None = None, keepdims: bool = False) -> Array:
        return torch.argmax(x, dim=axis, keepdim=keepdims)

    def argmin(self, x: Array, axis: int | None = None, keepdims: bool = False) -> Array:
        return torch.argmin(x, dim=axis, keepdim=keepdims)

    def cumsum(self, x: Array, axis: int | None = None, dtype: Any = None) -> Array:
        return torch.cumsum(x.reshape(-1) if axis is None else x, axis or 0, dtype=dtype)

    def cumprod(self, x: Array, axis: int | None = None, dtype: Any = None) -> Array:
        return torch.cumprod(x.reshape(-1) if axis is None else x, axis or 0, dtype=dtype)


def _transformed(function: Callable[..., Array], x: Array, n: int | None, axis: int) -> Array:
    """Without elements there is nothing to transform, which some of the libraries refuse."""
    if prod(x.shape):
        return function(x, n=n, dim=axis)
    shape = list(x.shape)
    shape[axis] = shape[axis] if n is None else n
    if not prod(shape):
        return function(x.new_zeros([max(k, 1) for k in x.shape]), n=n, dim=axis)[
            tuple(slice(k) for k in shape)
        ]
    return function(x.new_zeros(shape), n=n, dim=axis)


@cache
def arrays_on(device: Any, *, bounded: bool = True, narrow: str = "") -> TorchArrays:
    """The namespace for a device."""
    return TorchArrays(device, bounded=bounded, narrow=narrow)


@cache
def _memory(device: Any) -> int:
    return int(torch.cuda.mem_get_info(device)[1]) if device.type == "cuda" else 0


def failure(problem: Exception) -> str | None:
    """The reason, where an exception of PyTorch is about values or sizes."""
    if isinstance(problem, torch.OutOfMemoryError):
        return NO_MEMORY
    if not isinstance(problem, RuntimeError):
        return None
    if CPU_NO_MEMORY in str(problem):
        return NO_MEMORY
    return out_of_range(problem) if any(words in str(problem) for words in OUT_OF_RANGE) else None
