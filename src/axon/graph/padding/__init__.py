"""Padding: the same program on tensors that are padded to larger sizes, so that one compiled
program serves many. See `padded.py`.
"""

from axon.graph.padding.padded import Padded, kind_of, padded_graph
from axon.graph.padding.sizes import NotPadded

__all__ = ["NotPadded", "Padded", "kind_of", "padded_graph"]
