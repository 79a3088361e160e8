"""One call of a function for each row: the sizes of a row, and of all rows together."""

from __future__ import annotations

from axon.types.dim import variables
from axon.types.poly import Dim
from axon.types.variables import DimVar, ShapeVar, given_at, made_at


class RowCall:
    """What an operator such as `map` does: it calls a function for each row of a tensor.

    `members` are the sizes of one row by those of the whole tensor, `wholes` the sizes of what the
    calls give by those of what one call gives. They are kept here, so that who solves the same
    relation again finds the same variables.
    """

    __slots__ = ("_computed", "_dims", "_members", "_shapes", "_wholes", "depth")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._members: dict[DimVar, DimVar] = {}
        self._wholes: dict[DimVar, DimVar] = {}
        self._computed: dict[Dim, DimVar] = {}
        self._dims: dict[tuple[Dim, bool], DimVar] = {}
        self._shapes: dict[tuple[ShapeVar, bool], ShapeVar] = {}

    def member(self, whole: DimVar) -> DimVar:
        """The size of one row, for a size that varies from row to row."""
        found = self._members.get(whole)
        if found is None:
            found = self._members[whole] = DimVar(
                whole.name,
                whole.level,
                scope=given_at(self.depth + 1),
                runtime=True,
                over=whole.over - 1,
                row=True,
            )
            self._wholes[found] = whole
        return found

    def whole(self, member: DimVar) -> DimVar:
        """The sizes of all rows, for a size that each call is given or makes, or one that varies in
        what each call gives.
        """
        found = self._wholes.get(member)
        if found is None:
            found = self._wholes[member] = DimVar(
                member.name,
                member.level,
                scope=made_at(self.depth),
                runtime=True,
                over=member.over + 1,
            )
        return found

    def is_made(self, member: DimVar) -> bool:
        """Whether a size is made in each call, and is not that of a row."""
        return self.is_inside(member) and member not in self._wholes

    def all_of(self, size: Dim) -> DimVar:
        """The sizes of all rows, for one that is computed from what each call makes, or from what
        varies around it: who has the rows sees only these.
        """
        found = self._computed.get(size)
        if found is None:
            level = max(v.level for v in variables(size))
            over = max((v.over for v in variables(size) if isinstance(v, DimVar)), default=0)
            found = self._computed[size] = DimVar(
                "", level, scope=made_at(self.depth), runtime=True, over=over + 1
            )
        return found

    def is_inside(self, var: DimVar | ShapeVar) -> bool:
        """Whether a size may be another one in each call."""
        return var.scope > made_at(self.depth)

    @property
    def parts(self) -> int:
        """For how many parts of unknown rank there are variables."""
        return len(self._shapes)

    def shape(self, item: ShapeVar, inside: bool) -> ShapeVar:
        """A variable for what the same part of the row's shape is, or of the whole one's."""
        found = self._shapes.get((item, inside))
        if found is None:
            scope = made_at(self.depth + inside)
            found = self._shapes[item, inside] = ShapeVar("", item.level, scope=scope)
        return found

    def dim(self, item: Dim, level: int, inside: bool) -> DimVar:
        """The same for a size."""
        found = self._dims.get((item, inside))
        if found is None:
            scope = made_at(self.depth + inside)
            found = self._dims[item, inside] = DimVar("", level, scope=scope)
        return found
