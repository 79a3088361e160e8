"""Calls of a function for each row: the sizes of one row, and of all rows."""

from __future__ import annotations

from axon.types.dim import variables
from axon.types.poly import Dim
from axon.types.variables import DimVar, ShapeVar, given_at, made_at


class RowCall:
    """A call such as `map`, of a function for each row of a tensor.

    `members` maps the sizes of the entire tensor to those of one row, `wholes` the sizes of one
    call's result to those of all results. They are kept here, so that solving the same relation
    again finds the same variables.
    """

    __slots__ = ("_all_rows", "_computed", "_dims", "_members", "_shapes", "depth")

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self._members: dict[DimVar, DimVar] = {}
        self._all_rows: dict[DimVar, DimVar] = {}
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
            self._all_rows[found] = whole
        return found

    def all_rows(self, member: DimVar) -> DimVar:
        """The sizes of all rows, for a size that each call receives or makes, or one that varies in
        the result of each call.
        """
        found = self._all_rows.get(member)
        if found is None:
            found = self._all_rows[member] = DimVar(
                member.name,
                member.level,
                scope=made_at(self.depth),
                runtime=True,
                over=member.over + 1,
            )
        return found

    def is_made(self, member: DimVar) -> bool:
        """Whether a size is made in each call, and is not that of a row."""
        return self.is_inside(member) and member not in self._all_rows

    def all_of(self, size: Dim) -> DimVar:
        """The sizes of all rows, for one that is computed from what each call makes, or from what
        varies around it: outside the call only these are visible.
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
        """Whether a size may differ between calls."""
        return var.scope > made_at(self.depth)

    @property
    def parts(self) -> int:
        """The number of parts of unknown rank that have variables."""
        return len(self._shapes)

    def shape(self, item: ShapeVar, inside: bool) -> ShapeVar:
        """A variable for the corresponding part of the row's shape, or of the entire tensor's."""
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
