"""Where one constraint of a conflict disagrees with the others."""

from __future__ import annotations

from dataclasses import dataclass

from axon.solver.constraints import Constraint
from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Shape, ShapeEq
from axon.types.variables import DimVar, ShapeVar


@dataclass(frozen=True, slots=True)
class Clash:
    """The shape a constraint has here and the one the others want; the first size that differs and
    the other one, its place in the shape, and the name that the operator's signature has for it.
    """

    constraint: Constraint
    here: Shape
    wanted: Shape
    size: Dim | None = None
    other: Dim | None = None
    place: str = ""
    variable: str = ""


def find_clash(core: list[Constraint], constraint: Constraint) -> Clash:
    """Solve the others, then read both sides of this one."""
    others = new_store(levels=False)
    others.post_all([c for c in core if c is not constraint])
    relation = constraint.relation
    if not isinstance(relation, ShapeEq):
        return Clash(constraint, (), ())
    wanted, here = others.word(relation.left), others.word(relation.right)
    if constraint.origin.kind == "result":
        wanted, here = here, wanted
    flexible = any(isinstance(item, ShapeVar) for item in relation.left)
    for from_end in (True, False) if flexible else (False, True):
        found = _mismatch(relation.left, wanted, here, from_end)
        if found is not None:
            size, other, place, variable = found
            return Clash(constraint, here, wanted, size, other, place, variable)
    return Clash(constraint, here, wanted)


def _mismatch(
    written: Shape, wanted: Shape, here: Shape, from_end: bool
) -> tuple[Dim, Dim, str, str] | None:
    """The first pair of sizes that can never be equal, counted from an end as far as it is
    fixed.
    """
    for i in range(min(len(wanted), len(here))):
        at = -1 - i if from_end else i
        a, b = wanted[at], here[at]
        if isinstance(a, ShapeVar) or isinstance(b, ShapeVar):
            return None
        difference = dims.sub(a, b)
        if isinstance(difference, int) and difference != 0:
            return b, a, _ordinal(i, from_end), _name_at(written, at)
    return None


def _name_at(written: Shape, at: int) -> str:
    """The name at a place of the shape as it was written, if nothing of unknown rank is outside
    it.
    """
    outside = written[at:] if at < 0 else written[: at + 1]
    if any(isinstance(item, ShapeVar) for item in outside) or not -len(written) <= at < len(
        written
    ):
        return ""
    item = written[at]
    return item.name if isinstance(item, DimVar) else ""


def _ordinal(i: int, from_end: bool) -> str:
    words = ("", "second", "third", "fourth", "fifth", "sixth")
    if i >= len(words):
        return f"{i + 1}th{'-last' if from_end else ''}"
    if from_end:
        return f"{words[i]}-last" if i else "last"
    return words[i] or "first"
