"""The element types on PyTorch, and tensors from and to NumPy's arrays."""

from __future__ import annotations

from typing import Any

import numpy
import torch

DTYPES: dict[str, Any] = {
    "bool": torch.bool,
    "i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64,
    "u8": torch.uint8, "u16": torch.uint16, "u32": torch.uint32, "u64": torch.uint64,
    "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
}  # fmt: skip

NAMES = {dtype: name for name, dtype in DTYPES.items()}

KINDS: dict[Any, str] = {
    dtype: "f" if name.startswith("b") and name != "bool" else name[0]
    for name, dtype in DTYPES.items()
} | {torch.complex64: "c", torch.complex128: "c"}


def from_host(array: Any, device: Any) -> Any:
    """A tensor with the elements of an array of NumPy, which keeps its own."""
    if array.dtype.name == "bfloat16":
        return from_host(array.view(numpy.int16), device).view(torch.bfloat16)
    to_device = torch.device(device).type != "cpu"
    if to_device and array.flags.c_contiguous and array.flags.writeable:
        return torch.from_numpy(array).to(device)  # which copies
    return torch.from_numpy(numpy.array(array, order="C")).to(device)


def to_host(tensor: Any) -> Any:
    """An array of NumPy with the elements of a tensor."""
    tensor = tensor.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()
