"""The most dimensions that operators take: what PyTorch's checks say of an input of unknown rank.

The least are in the types of Axon's operators, which take any number of dimensions in front.
"""

from __future__ import annotations

from axon.importers.node import Made, Rule
from axon.importers.torch.node import TorchNode
from axon.solver.constraints import Origin
from axon.types import dim as dims
from axon.types.type import AtLeast, Tensor, shape_rank
from axon.types.variables import ShapeVar

SPATIAL = {"1d": 1, "2d": 2, "3d": 3}
WINDOWS = (
    "conv", "conv_transpose", "max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool",
    "_adaptive_avg_pool", "lp_pool", "fractional_max_pool", "max_unpool",
)  # fmt: skip
"""Those that take one batch, or none, of channels of so many spatial dimensions."""
RESAMPLED = ("upsample_nearest", "_upsample_nearest_exact", "upsample_linear", "upsample_bilinear",
             "upsample_bicubic", "upsample_trilinear", "_upsample_bilinear2d_aa",
             "_upsample_bicubic2d_aa")  # fmt: skip
"""Those that take just one batch."""
MOST: dict[str, tuple[tuple[str, ...], int]] = {
    **{
        f"{name}{end}": (("input", "self"), n + 2)
        for name in (*WINDOWS, *RESAMPLED)
        for end, n in SPATIAL.items()
    },
    "max_pool1d_with_indices": (("self",), 3),
    "max_pool2d_with_indices": (("self",), 4),
    "max_pool3d_with_indices": (("self",), 5),
    "im2col": (("self",), 4), "col2im": (("self",), 3),
    "bmm": (("self", "mat2"), 3), "baddbmm": (("batch1", "batch2"), 3),
    "mm": (("self", "mat2"), 2), "addmm": (("mat1", "mat2", "self"), 2),
    "mv": (("self",), 2), "dot": (("self", "tensor"), 1),
    "grid_sampler": (("input", "grid"), 5), "grid_sampler_2d": (("input", "grid"), 4),
    "lstm": (("input",), 3), "gru": (("input",), 3), "rnn_tanh": (("input",), 3),
    "rnn_relu": (("input",), 3), "stft": (("self",), 2),
    "t": (("self",), 2), "t_copy": (("self",), 2),
}  # fmt: skip
BY_LENGTH = {
    "permute": (("self",), "dims"), "permute_copy": (("self",), "dims"),
    "expand": (("self",), "size"), "expand_copy": (("self",), "size"),
    "repeat": (("self",), "repeats"),
}  # fmt: skip
"""The rank is no more than the length of a list."""


def limited(name: str, rule: Rule) -> Rule:
    """The rule of an operator, which takes tensors of so many dimensions and no more."""
    if name not in MOST and name not in BY_LENGTH:
        return rule

    def with_limit(node: TorchNode) -> Made:
        if name in MOST:
            arguments, most = MOST[name]
        else:
            arguments, listed = BY_LENGTH[name]
            found = node.argument(listed)
            most = len(found) if isinstance(found, tuple) else 1
        for argument in arguments:
            at_most(node, argument, most)
        return rule(node)

    return with_limit  # type: ignore[return-value]


def at_most(node: TorchNode, argument: str, most: int) -> None:
    """A tensor that is an argument has no more dimensions than this."""
    at = node.index(argument)
    if at is None or node.rank(at) is not None:
        return
    type_ = node.importer.type(node.inputs[at])
    if isinstance(type_, Tensor):
        origin = Origin("size", node.span, node.operator)
        state, slack = node.importer.state, dims.sub(most, shape_rank(type_.shape))
        state.post(AtLeast(slack, silent=True), origin)
        for item in type_.shape:
            if isinstance(item, ShapeVar):
                state.store.count_in_words(item)  # what is broadcast to it has no more
        state.store.run()
