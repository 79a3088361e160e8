"""The rules for PyTorch's operators; each family enters its own."""

from axon.importers.torch.rules import pointwise, scalars, shapes

__all__ = ["pointwise", "scalars", "shapes"]
