"""Dimensions that are known not to be negative, since no run gets far in which they are."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.types import dim as dims
from axon.types.dim import Dim

MOST_SLACKS = 64


@dataclass(slots=True)
class Sizes:
    """`some` are sizes of tensors; `slacks` are what inputs have beside windows, which fit in, and
    `unsure` what was asked for and is not known.
    """

    some: set[Dim] = field(default_factory=set)
    slacks: dict[Dim, None] = field(default_factory=dict)
    unsure: set[Dim] = field(default_factory=set)

    def has(self, dim: Dim) -> bool:
        """Whether it is one of them, or no less than one."""
        if dim in self.some:
            return True
        slacks = list(self.slacks)[:MOST_SLACKS]
        return any(dims.is_nonnegative(dims.sub(dim, slack)) for slack in slacks)

    def surer(self) -> Sizes | None:
        """What is known in the end, if it answers a question that came before: a model may compute
        with a size before any tensor has it.
        """
        if not any(map(self.has, self.unsure)):
            return None
        return Sizes(self.some, self.slacks)
