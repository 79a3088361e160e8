"""Sums and means of rows of a table: one for each bag of numbers of rows."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.operations import Unsupported
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule

MODES = {0: "bag_sums", 1: "bag_means"}


@rule("_embedding_bag", "_embedding_bag_forward_only", "embedding_bag")
def embedding_bag(node: TorchNode) -> None:
    """The numbers are in one list, and others tell where each bag begins."""
    mode = node.integer("mode", 0) or 0
    weight, numbers, begins = (node.x(name) for name in ("weight", "indices", "offsets"))
    if node.rank_of("indices") != 1:
        raise Unsupported(f"{node.operator} of other than a list")
    if node.flag("include_last_offset"):
        begins = node.call("slice", begins, stop=-1)
    rows: Expression = node.call("gather", weight, numbers)
    if node.index("per_sample_weights") is not None:
        wide = node.call("expand_dims", node.x("per_sample_weights"), axis=[1])
        rows = node.call("*", rows, wide)
    made = node.call(MODES.get(mode, "bag_sums"), rows, begins)
    padding = node.integer("padding_idx", -1)
    exact = mode in MODES and padding == -1
    node.set_outputs(made if exact else node.type_of(made))
