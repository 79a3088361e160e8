"""The rules for PyTorch's operators; each family enters its own."""

from axon.importers.torch.rules import control  # noqa: F401
from axon.importers.torch.rules.layers import (  # noqa: F401
    activations,
    attention,
    bags,
    convolution,
    images,
    linear,
    losses,
    norms,
    pools,
    recurrent,
    regions,
)
from axon.importers.torch.rules.numbers import (  # noqa: F401
    complex_numbers,
    counting,
    functions,
    linalg,
    pointwise,
    reductions,
    scalars,
    signal,
)
from axon.importers.torch.rules.tensors import (  # noqa: F401
    copies,
    creating,
    diagonals,
    indexing,
    joining,
    masks,
    ordering,
    scattering,
    shapes,
    slicing,
)
