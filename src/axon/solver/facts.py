"""Facts: required inequalities, and what they decide: `min(n,512)` is `n` where `n <= 512`."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from axon.solver.constraints import Constraint
from axon.types import dim as dims
from axon.types.dim import Dim, Max, Min, Mono
from axon.types.variables import DimVar, ShapeVar

MOST_FACTS = 8


class Facts:
    """Dimensions known not to be negative, by the variables in them.

    Only sums of variables are kept: assumptions do not simplify them. An assumption is lent by a
    waiting constraint and taken back when that is processed again, so no condition can imply
    itself.
    """

    __slots__ = ("_by_variable", "_clipped", "_lent", "_tightest", "_time")

    def __init__(self) -> None:
        self._by_variable: dict[DimVar | ShapeVar, dict[Constraint, Dim]] = {}
        self._lent: dict[Constraint, Dim] = {}
        self._tightest: dict[DimVar | ShapeVar, list[Dim]] = {}
        self._clipped: dict[Dim, Dim] = {}
        self._time = 0

    @property
    def any(self) -> bool:
        return bool(self._lent)

    def assume(self, dim: Dim, by: Constraint) -> None:
        """A waiting constraint requires `dim >= 0`, so it may be used."""
        terms = dims.terms_of(dim)
        if all(len(m) <= 1 and all(isinstance(a, DimVar) for a in m) for m in terms):
            self._lent[by] = dim
            self._clipped.clear()
            for var in set(dims.variables(dim)):
                self._tightest.pop(var, None)
                facts = self._by_variable.setdefault(var, {})
                if len(facts) == MOST_FACTS:  # drop a weaker one
                    less = (c for c, fact in facts.items() if _is_number(dims.sub(fact, dim)))
                    facts.pop(next(less, by), None)
                if len(facts) < MOST_FACTS:
                    facts[by] = dim

    def lent(self, by: Constraint) -> Dim | None:
        """The assumption that the constraint lends, if it is a sum of variables."""
        return self._lent.get(by)

    def forget(self, by: Constraint) -> None:
        """Take back what the constraint lent."""
        self._clipped.clear()
        for var in set(dims.variables(self._lent.pop(by, 0))):
            self._tightest.pop(var, None)
            self._by_variable[var].pop(by, None)

    def clip(self, dim: Dim, known: Callable[[Dim], Dim], time: int = 0) -> Dim:
        """The dimension without the parts of a `min` or `max` that the facts rule out; `known`
        substitutes the bindings, which differ at another `time`.
        """
        if next(_extrema(dim), None) is None:
            return dim
        if time != self._time:
            self._clipped.clear()
            self._time = time
        found = self._clipped.get(dim)
        if found is None:
            found = self._clipped[dim] = self._clip(dim, known)
        return found

    def _clip(self, dim: Dim, known: Callable[[Dim], Dim]) -> Dim:
        for mono, atom in _extrema(dim):
            inner = [self.clip(part, known, self._time) for part in atom.args]
            parts = list(inner)
            for part in inner:  # one after the other: of two equal parts one stays
                if self._rules_out(part, [p for p in parts if p is not part], atom, known):
                    parts.remove(part)
            whole = dims.minimum if isinstance(atom, Min) else dims.maximum
            if tuple(parts) != atom.args and whole(*parts) != dims.of_atom(atom):
                change = dims.sub(whole(*parts), dims.of_atom(atom))
                others = dims.from_terms({dims.without_factor(mono, (atom,)): 1})
                clipped = dims.combine(dim, dims.terms_of(dim)[mono], dims.mul(others, change))
                return self.clip(clipped, known, self._time)
        return dim

    def _rules_out(
        self, part: Dim, others: list[Dim], atom: Min | Max, known: Callable[[Dim], Dim]
    ) -> bool:
        sign = 1 if isinstance(atom, Min) else -1
        for other in others:
            gap = dims.scale(sign, dims.sub(part, other))
            for var in dict.fromkeys(dims.variables(gap)):
                for fact in self._facts(var):
                    if dims.is_nonnegative(dims.sub(gap, known(fact))):
                        return True
        return False

    def _facts(self, var: DimVar | ShapeVar) -> list[Dim]:
        """The facts about a variable; of `n >= 2` and `n >= 3`, the second."""
        found = self._tightest.get(var)
        if found is None:
            tightest: dict[frozenset[tuple[Mono, int]], Dim] = {}
            for fact in self._by_variable.get(var, {}).values():
                terms = dims.terms_of(fact)
                key = frozenset(item for item in terms.items() if item[0])
                other = tightest.get(key)
                if other is None or terms.get((), 0) < dims.terms_of(other).get((), 0):
                    tightest[key] = fact
            found = self._tightest[var] = list(tightest.values())
        return found


def _extrema(dim: Dim) -> Iterator[tuple[Mono, Min | Max]]:
    """The monomials that have a `min` or a `max` among their factors, and the first one."""
    for mono in dims.terms_of(dim):
        for atom in mono:
            if isinstance(atom, Min | Max):
                yield mono, atom
                break


def _is_number(dim: Dim) -> bool:
    """Whether a dimension is a number, and not negative."""
    return isinstance(dim, int) and dim >= 0
