"""The rules for PyTorch's operators; each family enters its own."""

from axon.importers.torch.rules import (
    activations,
    attention,
    convolution,
    images,
    linalg,
    linear,
    losses,
    norms,
    pointwise,
    pools,
    recurrent,
    scalars,
    shapes,
)

__all__ = [
    "activations",
    "attention",
    "convolution",
    "images",
    "linalg",
    "linear",
    "losses",
    "norms",
    "pointwise",
    "pools",
    "recurrent",
    "scalars",
    "shapes",
]
