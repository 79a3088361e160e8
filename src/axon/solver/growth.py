"""Growth: the value of a variable is substituted wherever it occurs, so that `p1 = p0@p0`, `p2 =
p1@p1`, … would double at each step.

Where a binding would grow past a bound the variable keeps its name, and the equation waits.
"""

from __future__ import annotations

from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.type import Shape
from axon.types.variables import DimVar, ShapeVar

# The most items of a word, and the most quotients and minima that a size is written with.
LONGEST_SHAPE = 1024
HEAVIEST = 256


class Growth:
    """`spread` bounds how often a variable occurs in the value of any other one, if more than
    once.
    """

    __slots__ = ("spread",)

    def __init__(self) -> None:
        self.spread: dict[DimVar | ShapeVar, int] = {}

    def allows(self, var: DimVar | ShapeVar, value: Dim | Shape) -> bool:
        """Whether sizes stay within the bound if the variable is bound to the value."""
        if isinstance(value, tuple):
            return self.spread.get(var, 1) * len(value) <= LONGEST_SHAPE
        return isinstance(value, int) or self.spread.get(var, 1) * dims.weight(value) <= HEAVIEST

    def count(self, var: DimVar | ShapeVar, value: Dim | Shape) -> None:
        """Record that the variable is bound to the value."""
        here = self.spread.get(var, 1)
        found: dict[DimVar | ShapeVar, int] = {}
        if isinstance(value, tuple):
            for item in value:
                if isinstance(item, ShapeVar):
                    found[item] = found.get(item, 0) + here
        elif here > 1 or isinstance(value, Poly):
            times = here * (1 + dims.weight(value))
            if times > 1:
                found = dict.fromkeys(dims.variables(value), times)
        for inner, times in found.items():
            if times > self.spread.get(inner, 1):
                self.spread[inner] = times
