"""The rules for PyTorch's operators; each family enters its own."""

from axon.importers.torch.rules import (
    creating,
    indexing,
    joining,
    ordering,
    pointwise,
    reductions,
    scalars,
    shapes,
    slicing,
)

__all__ = [
    "creating",
    "indexing",
    "joining",
    "ordering",
    "pointwise",
    "reductions",
    "scalars",
    "shapes",
    "slicing",
]
