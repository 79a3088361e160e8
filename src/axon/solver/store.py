"""The store: bindings, waiting constraints, and the queue between them.

A step processes one constraint under the bindings and does one of five things: drop it, bind a
variable, replace it by simpler constraints, find a conflict, or let it wait for its variables. Each
is an equivalence, so the order of steps does not matter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import islice
from math import gcd
from random import Random
from typing import NamedTuple

from axon.solver.constraints import NOWHERE, Conflict, Constraint, Guard, Origin
from axon.solver.equal import EqualWords
from axon.solver.facts import Facts
from axon.solver.growth import Growth
from axon.types import dim as dims
from axon.types.dim import Dim, Mono, Poly
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    HasRank,
    Relation,
    RowOf,
    Shape,
    ShapeEq,
    relation_variables,
    shape_rank,
    shape_size,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar

MOST_WATCHED = 24

IndexVar = DimVar | ShapeVar
Trace = Callable[[str, Constraint], None]
Step = Callable[["Store", Constraint], None]


class Binding:
    """The value of a variable.

    `value` is kept up to date with later bindings; `given` is the value that was bound.
    """

    __slots__ = ("by", "checked", "given", "time", "value")

    def __init__(self, value: Dim | Shape, by: Constraint, time: int) -> None:
        self.given = value
        self.value = value
        self.by = by
        self.time = time
        self.checked = time


class Mark(NamedTuple):
    """The number of posted constraints, conflicts and guards at some time, and what waited then."""

    posted: int
    conflicts: int
    guards: int
    waiting: frozenset[Constraint]


class Store:
    """All state of the solver.

    `levels` is off in a replay, which must leave the variables unchanged. With `first` the work
    ends at the first conflict. `work` counts the steps, where they are bounded.
    """

    def __init__(
        self,
        step: Step,
        settle: Step,
        trace: Trace | None = None,
        levels: bool = True,
        first: bool = False,
    ) -> None:
        self.bindings: dict[IndexVar, Binding] = {}
        self.waiting: dict[Constraint, None] = {}
        self.conflicts: list[Conflict] = []
        self.guards: list[Guard] = []
        self.posted: list[Constraint] = []
        self.rewrites: dict[Mono, tuple[Dim, Constraint]] = {}
        self.facts = Facts()
        self.sums: dict[frozenset[tuple[Mono, int]], tuple[int, Constraint]] = {}
        self.broadcasts: dict[object, Constraint] = {}
        self.equal = EqualWords(self.word)
        self.growth = Growth()
        self.clock = 0
        self.work = 0
        self._first = first
        self._watchers: dict[IndexVar | Mono, list[Constraint]] = {}
        self._undecided: dict[IndexVar, list[Constraint]] = {}
        self._queue: deque[Constraint] = deque()
        self.in_words: set[ShapeVar] = set()
        self._ranked: set[ShapeVar] = set()
        self._deferred: dict[Constraint, None] = {}
        self._lazy: dict[Constraint, None] = {}
        self._chance: Random | None = None
        self._step = step
        self._settle = settle
        self._trace = trace
        self._levels = levels

    # --- from outside -----------------------------------------------------------------------

    def post(self, relation: Relation, origin: Origin = NOWHERE, depth: int = 0) -> Constraint:
        """Add a constraint and solve as far as possible."""
        constraint = Constraint(relation, origin, depth)
        self.posted.append(constraint)
        self._queue.append(constraint)
        self.run()
        return constraint

    def post_all(self, constraints: Iterable[Constraint]) -> None:
        """Add constraints that were posted elsewhere, for a replay, then solve all of them."""
        for old in constraints:
            constraint = Constraint(old.relation, old.origin, old.depth)
            self.posted.append(constraint)
            self._queue.append(constraint)
        self.run()
        self.review()

    def run(self) -> None:
        queue, deferred, step = self._queue, self._deferred, self._step
        while True:
            while queue:
                step(self, queue.popleft())
            if not deferred:
                break
            constraint, _ = deferred.popitem()
            if constraint.waiting:
                self._settle(self, constraint)

    def end(self) -> None:
        """Process nothing more."""
        self._queue.clear()
        self._deferred.clear()
        self._lazy.clear()

    # --- trying something out -----------------------------------------------------------------

    def mark(self) -> Mark:
        """The current time, to return to with `take_back`."""
        counts = len(self.posted), len(self.conflicts), len(self.guards)
        return Mark(*counts, frozenset(self.waiting))

    def set_aside(self, count: int) -> list[Conflict]:
        """Remove and return the conflicts from this number on. Bindings stay."""
        found = self.conflicts[count:]
        del self.conflicts[count:]
        return found

    def take_back(self, mark: Mark) -> None:
        """Undo everything posted since the mark. Bindings stay, so the constraints must be on
        variables that were made since and that nothing refers to any more.
        """
        del self.posted[mark.posted :], self.guards[mark.guards :]
        self.set_aside(mark.conflicts)
        for constraint in [each for each in self.waiting if each not in mark.waiting]:
            self.unwait(constraint)

    # --- what is known -----------------------------------------------------------------------

    @property
    def is_bare(self) -> bool:
        """Whether no variable is bound."""
        return not (self.bindings or self.rewrites or self.sums or self.facts.any)

    def dim(self, dim: Dim) -> Dim:
        """The dimension under all bindings, in normal form."""
        if isinstance(dim, int):
            return dim
        if isinstance(dim, DimVar):
            dim = self._value(dim)
        else:
            if not self.bindings.keys().isdisjoint(dims.variables(dim)):
                dim = dims.substitute(dim, self._value, self._size)
            if self.rewrites:
                dim = self._rewritten(dim)
        if not isinstance(dim, Poly):
            return dim
        if self.facts.any:
            dim = self.facts.clip(dim, self.unrewritten, self.clock)
        return self._summed(dim) if self.sums else dim

    def _value(self, var: DimVar) -> Dim:
        binding = self.bindings.get(var)
        if binding is None:
            return var
        value = binding.value
        if isinstance(value, int) or (isinstance(value, DimVar) and value not in self.bindings):
            return value
        if binding.checked != self.clock:
            self._refresh(var)
        return binding.value  # type: ignore[return-value]

    def _refresh(self, var: DimVar) -> None:
        """Bring the value up to date, after those it depends on: a loop, since chains may be
        long.
        """
        stack = [var]
        while stack:
            binding = self.bindings[stack[-1]]
            value: Dim = binding.value  # type: ignore[assignment]
            stale = False
            below: list[DimVar] = []
            for inner in dims.variables(value):
                found = self.bindings.get(inner)
                if found is not None:
                    stale = True
                    if found.checked != self.clock and isinstance(inner, DimVar):
                        below.append(inner)
            if below:
                stack.extend(below)
                continue
            if stale:
                binding.value = dims.substitute(value, self._fresh_value, self._size)
            if self.rewrites:
                binding.value = self._rewritten(binding.value)  # type: ignore[arg-type]
            binding.checked = self.clock
            stack.pop()

    def _fresh_value(self, var: DimVar) -> Dim:
        binding = self.bindings.get(var)
        return var if binding is None else binding.value  # type: ignore[return-value]

    def _rewritten(self, dim: Dim) -> Dim:
        """Partial expression simplification: a stuck monomial that equals a constant is that
        constant.
        """
        if not isinstance(dim, Poly) or not any(m in self.rewrites for m in dim.terms):
            return dim
        result: Dim = 0
        for mono, coefficient in dim.terms.items():
            rewrite = self.rewrites.get(mono)
            value = self.dim(rewrite[0]) if rewrite is not None else dims.from_terms({mono: 1})
            result = dims.combine(result, coefficient, value)
        return result

    def _summed(self, dim: Dim) -> Dim:
        """The same for a sum that is a constant, or a multiple of it."""
        if not isinstance(dim, Poly):
            return dim
        terms = {m: c for m, c in dim.terms.items() if m}
        common = gcd(*terms.values())
        for factor in (common, -common):
            known = self.sums.get(frozenset((m, c // factor) for m, c in terms.items()))
            if known is not None:
                return factor * known[0] + dim.terms.get((), 0)
        return dim

    def unrewritten(self, dim: Dim) -> Dim:
        """The dimension under the bindings alone, for the constraints that state the rewrites."""
        if self.bindings.keys().isdisjoint(dims.variables(dim)):
            return dim
        return dims.substitute(dim, self._value, self._size)

    def _size(self, var: ShapeVar) -> Dim:
        """The number of elements of a shape under the bindings; the caller applies rewrites."""
        if var not in self.bindings:
            return dims.of_size(var)
        size = shape_size(self.shape((var,)))
        return dims.substitute(size, self._value, self._size)

    def shape(self, shape: Shape) -> Shape:
        """The word with its bound shape variables replaced; its dimensions are left as they are."""
        bound = self._bound_shape(shape)
        if bound is None:
            return shape
        bindings = self.bindings
        if len(shape) == 1:  # the common case
            value: Shape = bindings[bound].value  # type: ignore[assignment]
            if self._bound_shape(value) is None:
                return value
        word: list[Dim | ShapeVar] = []
        stack = list(reversed(shape))
        while stack:
            item = stack.pop()
            if isinstance(item, ShapeVar) and (binding := bindings.get(item)) is not None:
                stack.extend(reversed(binding.value))  # type: ignore[arg-type]
            else:
                word.append(item)
        result = tuple(word)
        if len(shape) == 1:
            bindings[bound].value = result
        return result

    def _bound_shape(self, shape: Shape) -> ShapeVar | None:
        """The first shape variable in the word that is bound."""
        for item in shape:
            if isinstance(item, ShapeVar) and item in self.bindings:
                return item
        return None

    def word(self, shape: Shape) -> Shape:
        """The word with everything replaced, dimensions too."""
        bindings = self.bindings
        for item in shape:
            if isinstance(item, Poly) or item in bindings:
                break
        else:  # as it is
            return shape
        known = self.shape(shape)
        word = tuple([i if isinstance(i, ShapeVar) else self.dim(i) for i in known])
        return known if word == known else word

    def relation_variables(self, constraint: Constraint) -> set[IndexVar]:
        """The unbound variables that the constraint still mentions."""
        found: set[IndexVar] = set()
        for var in relation_variables(constraint.relation):
            if var not in self.bindings:
                found.add(var)
            elif isinstance(var, DimVar):
                found.update(dims.variables(self.dim(var)))
            else:
                found.update(shape_variables(self.word((var,))))
        return found

    def unsolved(self) -> list[Constraint]:
        """The constraints in the queue, and those that wait."""
        return [*self._queue, *self.waiting]

    # --- what a step may do --------------------------------------------------------------------

    def note(self, rule: str, constraint: Constraint) -> None:
        if self._trace is not None:
            self._trace(rule, constraint)

    def derive(self, rule: str, parent: Constraint, *relations: Relation) -> None:
        """Replace a constraint by simpler ones that are together equivalent to it."""
        for relation in relations:
            made = Constraint(relation, parent.origin, parent.depth, (parent,), rule)
            if isinstance(relation, Broadcast):
                made.fronts = parent.fronts + 1
            self._queue.append(made)
        self.note(rule, parent)

    def imply(self, rule: str, parents: tuple[Constraint, ...], relation: Relation) -> None:
        """Add a consequence; the constraints it follows from stay."""
        depth = parents[0].depth
        if len(parents) > 1:  # where all of them are asked for
            depth = max([parent.depth for parent in parents])
        made = Constraint(relation, parents[0].origin, depth, parents, rule)
        made.fronts = parents[0].fronts
        self._queue.append(made)

    def drop(self, rule: str, constraint: Constraint) -> None:
        """The constraint holds already: there is nothing to do, and nothing to show."""

    def bind(self, rule: str, var: IndexVar, value: Dim | Shape, by: Constraint) -> None:
        """Bind a variable to a value that does not mention it."""
        if isinstance(value, tuple):
            assert isinstance(var, ShapeVar)
            value = self._plain(var, value, by)
        self.clock += 1  # after the last look at what was known without it
        by.time = self.clock
        if isinstance(var, DimVar):
            assert not isinstance(value, tuple)
            if self.growth.spread or isinstance(value, Poly):
                self.growth.count(var, value)
            self.bindings[var] = Binding(value, by, self.clock)
            if var.rank_of is not None:
                self.watch_rank(var.rank_of)
            if var.runtime and not var.derived:
                self.guards.append(Guard(DimEq(var, value), by.origin, by.depth))
            if not dims.is_nonnegative(value):
                self.imply("non-negativity", (by,), AtLeast(value, silent=True))
        else:
            assert isinstance(value, tuple)
            if self.growth.spread or len(value) > 1:
                self.growth.count(var, value)
            self.bindings[var] = Binding(value, by, self.clock)
            if var.runtime and not var.derived:
                self.guards.append(Guard(ShapeEq((var,), value), by.origin, by.depth))
            if var.has_rank:
                self.imply("rank", (by,), DimEq(var.rank, shape_rank(value)))
        if self._levels:
            self._lower(var, value)
        self._wake(var)
        self.note(rule, by)

    def _plain(self, var: ShapeVar, value: Shape, by: Constraint) -> Shape:
        """Name the compound dimensions that must not enter the variable's shape as they are.

        Those with variables of a deeper level would keep them from being generalised; those with a
        size may be circular.
        """
        word = list(value)
        for i, item in enumerate(value):
            if not isinstance(item, Poly) and item not in self.bindings:
                continue
            if isinstance(item, ShapeVar):
                continue
            known = self.dim(item)
            if isinstance(known, Poly) and any(
                v is var or (v.level > var.level and isinstance(item, Poly))
                for v in dims.variables(known)
            ):
                word[i] = fresh = DimVar("", var.level, scope=var.scope)
                self.imply("simplification", (by,), DimEq(fresh, item))
            elif isinstance(known, int) and isinstance(item, Poly):
                word[i] = known  # what it is made of may go round
        return tuple(word)

    def _lower(self, var: IndexVar, value: Dim | Shape) -> None:
        """Variables in the value of an outer variable may not be generalised at a deeper level, nor
        have a deeper scope.
        """
        inner = shape_variables(value) if isinstance(value, tuple) else dims.variables(value)
        for other in inner:
            if other.level > var.level:
                other.level = var.level
            if other.scope > var.scope and not other.runtime:
                other.scope = var.scope

    def conflict(
        self, rule: str, constraint: Constraint, kind: str, left: Dim | Shape, right: Dim | Shape
    ) -> None:
        """The constraint cannot hold. It is set aside and solving goes on without it."""
        self.conflicts.append(Conflict(constraint, kind, left, right, self.clock + 1))
        self.note(rule, constraint)
        if self._first:
            self.end()

    def wait(
        self, constraint: Constraint, variables: Iterable[IndexVar], monos: Iterable[Mono] = ()
    ) -> None:
        """Process the constraint again when one of these is known."""
        constraint.waiting = True
        self.waiting[constraint] = None
        keys: list[IndexVar | Mono] = [*dict.fromkeys(variables), *monos]
        if len(keys) > MOST_WATCHED:
            # many unknowns: any two will do for now, a review sees to the rest (see `review`)
            still = [key for key in constraint.watched if key in self._watchers]
            self._chance = self._chance or Random(0)
            new = self._chance.sample(keys, 2 - len(still))
            constraint.watched = (*still, *new)
            self._lazy[constraint] = None
            keys = new
        for key in keys:
            self._watchers.setdefault(key, []).append(constraint)
        if isinstance(constraint.relation, DimBroadcast):
            for key in keys:
                if not isinstance(key, tuple):
                    self._undecided.setdefault(key, []).append(constraint)

    def _wake(self, key: IndexVar | Mono) -> None:
        for constraint in self._watchers.pop(key, ()):
            if constraint.waiting:
                self.unwait(constraint)
                self._queue.append(constraint)

    def look_again(self, constraint: Constraint) -> None:
        """Process a waiting constraint again: something that it does not watch may decide it."""
        self.unwait(constraint)
        self._queue.append(constraint)

    def review(self) -> None:
        """Process again the constraints that watch only some of what they wait for.

        A sum of a thousand sizes that become known one by one would otherwise be processed a
        thousand times. Two unknowns, chosen at random, are met about log n times in all.
        """
        lazy, self._lazy = self._lazy, {}
        for constraint in lazy:
            if constraint.waiting:
                self.unwait(constraint)
                self._queue.append(constraint)
        self.run()

    def unwait(self, constraint: Constraint) -> None:
        """Remove a constraint from the waiting ones, with what it lent to others."""
        constraint.waiting = False
        self.waiting.pop(constraint, None)
        lent, constraint.lent = constraint.lent, None
        if isinstance(lent, tuple):
            del self.rewrites[lent]
        elif isinstance(lent, frozenset):
            known = self.sums.get(lent)
            if (
                known is not None and known[1] is constraint
            ):  # another constraint may have lent the same
                del self.sums[lent]
        elif isinstance(constraint.relation, AtLeast):
            self.facts.forget(constraint)

    def defer(self, constraint: Constraint) -> None:
        """Process the constraint with the system around it when nothing simpler is left to do."""
        self._deferred[constraint] = None

    def watching(self, key: IndexVar | Mono, most: int | None = None) -> list[Constraint]:
        """The constraints that wait for this, or the first of them."""
        found = (c for c in self._watchers.get(key, ()) if c.waiting)
        return list(islice(found, most))

    def undecided(self, var: IndexVar) -> list[Constraint]:
        """The broadcasts of sizes that wait for this."""
        found = self._undecided.get(var)
        if not found:
            return []
        self._undecided[var] = found = [c for c in found if c.waiting]
        return found

    def lend_sum(self, terms: dict[Mono, int], constant: int, by: Constraint) -> None:
        """`3*n - 2*k = 4` waits: until it is woken, that sum is 4 wherever it is all of a value."""
        key = frozenset(terms.items())
        self.sums[key] = -constant, by
        by.lent = key

    def rewrite(self, mono: Mono, value: Dim, by: Constraint) -> None:
        """From now on the monomial is replaced by the value, as the waiting constraint states."""
        if mono not in self.rewrites and not _mentions(self.dim(value), mono):
            self.rewrites[mono] = value, by
            by.lent = mono
            self.clock += 1
            for constraint in self._watchers.pop(mono, ()):
                if constraint.waiting and constraint is not by:
                    self.unwait(constraint)
                    self._queue.append(constraint)
            self.note("partial expression simplification", by)

    def watch_rank(self, var: ShapeVar) -> None:
        """From now on, when the rank of an unbound shape becomes a number, the shape becomes
        that many dimensions.
        """
        if var not in self._ranked:
            self._ranked.add(var)
            self._queue.append(Constraint(HasRank(var), NOWHERE, 0, (), "rank"))
            for other in self.watching(var):
                if isinstance(other.relation, RowOf) and not other.counted:
                    self.look_again(other)

    def watches_rank(self, var: ShapeVar) -> bool:
        """Whether anything depends on the rank of a shape so far."""
        return var in self._ranked

    def count_in_words(self, var: ShapeVar) -> None:
        """The same, where a word equation uses the rank: then broadcasts use it, too."""
        self.watch_rank(var)
        if var not in self.in_words:
            self.in_words.add(var)
            for other in self.watching(var):
                if isinstance(other.relation, Broadcast) and not other.summed:
                    self.look_again(other)

    def ask_rank(self, var: ShapeVar) -> None:
        """The rank of a shape is needed: a bound shape gets one from now on."""
        binding = self.bindings.get(var)
        if binding is not None and var.rank not in self.bindings:
            self.imply("rank", (binding.by,), DimEq(var.rank, shape_rank(self.shape((var,)))))


def _mentions(dim: Dim | ShapeVar, mono: Mono) -> bool:
    """Whether a monomial is a factor somewhere in a dimension, where substitution is circular."""
    if not isinstance(dim, Poly):
        return False
    factors = set(mono)
    return any(
        factors <= set(each)
        or any(not isinstance(a, DimVar) and any(_mentions(x, mono) for x in a.args) for a in each)
        for each in dim.terms
    )
