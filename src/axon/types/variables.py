"""Variables: what inference does not know yet, and what it never will before the run.

A variable is compared by identity. Everything the solver learns about one is kept in a `Store`; the
variable itself has only its age, its display name, and the level at which it may be generalised.

Scopes count half levels. The body of a function at depth `d` makes sizes of scope `2d`; the
arguments of each call have scope `2d - 1`, one less, so that the two can be distinguished.
"""

from __future__ import annotations

from itertools import count

_ids = count(1)


def made_so_far() -> int:
    """A number that grows by one each time, and by one for each variable made in between."""
    return next(_ids)


def given_at(depth: int) -> int:
    """The scope of the arguments of each call of a function at this depth."""
    return 2 * depth - 1


def made_at(depth: int) -> int:
    """The scope of the sizes that the body of a function at this depth makes."""
    return 2 * depth


class DimVar:
    """A dimension: an integer >= 0.

    A `runtime` dimension is known only to the run: `scope` states which call makes or receives it.
    One that varies inside a tensor is written `*`, and stands for all the sizes: `over` is the
    number of dimensions before it that these may differ over, 0 for one size. `derived` states that
    a run-time dimension follows from others, so that equating it with something is no check of its
    own; a `row` size is that of one row of a tensor where it varies.

    The scope of a flexible dimension states for which run-time dimensions it may stand: for those
    of no deeper scope. `rank_of` is set when the dimension is the rank of a shape.
    """

    __slots__ = (
        "derived",
        "id",
        "level",
        "name",
        "over",
        "rank_of",
        "row",
        "runtime",
        "scope",
        "user",
    )

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        scope: int = 0,
        runtime: bool = False,
        rank_of: ShapeVar | None = None,
        over: int = 0,
        derived: bool = False,
        row: bool = False,
    ) -> None:
        self.id = next(_ids)
        self.name = name
        self.level = level
        self.user = user
        self.scope = scope
        self.runtime = runtime
        self.rank_of = rank_of
        self.over = over
        self.derived = derived
        self.row = row

    def __repr__(self) -> str:
        return f"{self.name or 'd'}#{self.id}"


class ShapeVar:
    """A shape of unknown rank; `rank` is its rank as a dimension, made on demand. A run-time shape
    that is `derived` follows from others: its parts are no check.
    """

    __slots__ = ("_dims", "_rank", "derived", "id", "level", "name", "runtime", "scope", "user")

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        scope: int = 0,
        runtime: bool = False,
        derived: bool = False,
    ) -> None:
        self.id = next(_ids)
        self.name = name
        self.level = level
        self.user = user
        self.scope = scope
        self.runtime = runtime
        self.derived = derived
        self._rank: DimVar | None = None
        self._dims: list[DimVar] = []

    @property
    def rank(self) -> DimVar:
        if self._rank is None:
            self._rank = DimVar("rank", self.level, scope=self.scope, rank_of=self)
            self._rank.id = self.id  # of two equal ranks the one goes whose shape goes
        return self._rank

    def dims(self, rank: int) -> tuple[DimVar, ...]:
        """The dimensions of the shape when it has this rank: the same ones at each call, so that a
        replay agrees.
        """
        while len(self._dims) < rank:
            self._dims.append(DimVar(self.name, self.level, scope=self.scope, runtime=self.runtime))
        return tuple(self._dims[:rank])

    @property
    def has_rank(self) -> bool:
        """Whether the rank has been used."""
        return self._rank is not None

    def __repr__(self) -> str:
        return f"{self.name or 's'}#{self.id}"


class ElemVar:
    """An element type not known yet; `allowed` is the set (a bit mask) of those it may be.

    `literal` states that a number literal made it, so that it has a default when nothing decides
    it.
    """

    __slots__ = ("allowed", "id", "level", "literal", "name", "stated", "user")

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        allowed: int = -1,
        literal: str = "",
    ) -> None:
        self.id = next(_ids)
        self.name = name
        self.level = level
        self.user = user
        self.allowed = allowed
        self.literal = literal
        self.stated = False

    def __repr__(self) -> str:
        return f"{self.name or 't'}#{self.id}"


class TypeVar:
    """A type not known yet. Its value has no deeper scope than its own.

    `shown` is one with a name that a derivation should show: a parameter, or a user's name. One
    that is `wide` is the type of what functions return and take in turn: each may be a different
    size, so that a size there is a number. A `row` stands for the other fields of a record.
    """

    __slots__ = ("id", "level", "name", "row", "scope", "shown", "user", "wide")

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        scope: int = 0,
        wide: bool = False,
        row: bool = False,
    ) -> None:
        self.id = next(_ids)
        self.shown = user
        self.wide = wide
        self.row = row
        self.name = name
        self.level = level
        self.user = user
        self.scope = scope

    def __repr__(self) -> str:
        return f"'{self.name or 'a'}#{self.id}"


Var = DimVar | ShapeVar | ElemVar | TypeVar


def is_ragged(var: Var) -> bool:
    """Whether a size varies inside a tensor."""
    return isinstance(var, DimVar) and var.over > 0


def owner(var: DimVar | ShapeVar) -> DimVar | ShapeVar:
    """A rank belongs to its shape."""
    return var.rank_of if isinstance(var, DimVar) and var.rank_of is not None else var
