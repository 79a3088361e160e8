"""What is derived of a call on PyTorch, for kernels that have fewer derivatives than PyTorch."""

from __future__ import annotations

import torch
from torch.autograd import forward_ad

from axon.ops.arrays import Array


def is_transformed() -> bool:
    """Whether derivatives along a direction are asked for, or a transform of `torch.func` runs."""
    return bool(forward_ad._current_level >= 0 or torch._C._are_functorch_transforms_active())


def is_eager() -> bool:
    """Whether a tensor made now is an ordinary one: no program is traced, nothing is transformed,
    and derivatives may be taken of what is computed with it later.
    """
    return not (
        torch.compiler.is_compiling()
        or torch.is_inference_mode_enabled()
        or torch._C._len_torch_dispatch_stack()
        or is_transformed()
    )


def is_derived(*tensors: Array) -> bool:
    """Whether the derivatives by some of these are asked for."""
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)
