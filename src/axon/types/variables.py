"""Variables: what inference does not know yet, and what it never will before the run.

A variable is compared by identity. Everything the solver learns about one is kept in a `Store`;
the variable itself only knows how old it is, how it may be shown, and at which level it may be
generalised.
"""

from __future__ import annotations

from itertools import count

_ids = count(1)


def made_so_far() -> int:
    """A number that grows by one each time, and by one for each variable made in between."""
    return next(_ids)


class DimVar:
    """A dimension: an integer >= 0.

    `scope` is the function depth it was made at. A `runtime` dimension seen from a lesser depth
    varies inside the tensor (`*`). A flexible one may not stand for run-time dimensions of deeper
    scope, unless they are ragged there. `rank_of` is set when the dimension is the rank of a
    shape.
    """

    __slots__ = ("id", "level", "name", "rank_of", "runtime", "scope", "user")

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        scope: int = 0,
        runtime: bool = False,
        rank_of: ShapeVar | None = None,
    ) -> None:
        self.id = next(_ids)
        self.name = name
        self.level = level
        self.user = user
        self.scope = scope
        self.runtime = runtime
        self.rank_of = rank_of

    def __repr__(self) -> str:
        return f"{self.name or 'd'}#{self.id}"


class ShapeVar:
    """A shape of unknown rank;

    `rank` is the dimension that counts it, made when first asked for.
    """

    __slots__ = ("_dims", "_rank", "id", "level", "name", "runtime", "scope", "user")

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        scope: int = 0,
        runtime: bool = False,
    ) -> None:
        self.id = next(_ids)
        self.name = name
        self.level = level
        self.user = user
        self.scope = scope
        self.runtime = runtime
        self._rank: DimVar | None = None
        self._dims: list[DimVar] = []

    @property
    def rank(self) -> DimVar:
        if self._rank is None:
            self._rank = DimVar("rank", self.level, scope=self.scope, rank_of=self)
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
        """Whether anyone has asked for the rank."""
        return self._rank is not None

    def __repr__(self) -> str:
        return f"{self.name or 's'}#{self.id}"


class ElemVar:
    """An element type not known yet; `allowed` is the set (a bit mask) of those it may be.

    `literal` says that a number literal made it, so that it has a default when nothing asks for a
    type.
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
    """A whole type not known yet. What it comes to stand for is no deeper than its scope.

    `shown` is one with a name that a derivation should show: a parameter, or a user's name. One
    that is `wide` is the type of what functions give and take in turn: each may be another size, so
    that a size there is a number.
    """

    __slots__ = ("id", "level", "name", "scope", "shown", "user", "wide")

    def __init__(
        self,
        name: str = "",
        level: int = 0,
        user: bool = False,
        scope: int = 0,
        wide: bool = False,
    ) -> None:
        self.id = next(_ids)
        self.shown = user
        self.wide = wide
        self.name = name
        self.level = level
        self.user = user
        self.scope = scope

    def __repr__(self) -> str:
        return f"'{self.name or 'a'}#{self.id}"


Var = DimVar | ShapeVar | ElemVar | TypeVar
