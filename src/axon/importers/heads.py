"""Heads of attention, in all formats."""

from __future__ import annotations

from axon.contents import arithmetic as contents
from axon.types import dim as dims
from axon.types.dim import Dim


def groups_of(heads: Dim | None, key_heads: Dim | None) -> Dim:
    """How many heads of queries share one of the keys. If the numbers do not fit, they do not for
    the number of groups that is given here either.
    """
    if heads is None or key_heads is None or key_heads == 0 or contents.same(heads, key_heads):
        return 1
    groups = dims.floordiv(heads, key_heads)
    return max(groups, 1) if isinstance(groups, int) else groups
