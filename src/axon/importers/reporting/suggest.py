"""Inputs that a model would accept, where its signature leaves their ranks open.

They are found by trying: small ranks first, then sizes that are the same. What was tried is
inferred with to be sure that it fits, and the simplest is taken: a suggestion, and never a fact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from axon.importers.imported import Imported, import_operations
from axon.importers.importer import known_shape
from axon.inference.generalise.schemes import is_silent, resolved
from axon.types.type import Tensor, Type, relation_variables, type_variables
from axon.types.variables import DimVar, Var

LARGEST_RANK = 5
MOST_NODES = 60_000
"""Nodes that are looked at in all: what is larger has fewer tries."""
MOST_TRIES = 12
A_ONE = 100

Score = tuple[int, ...]


def suggest(name: str, found: Imported, forget: bool) -> dict[str, Type]:
    """The simplest types of the inputs whose rank is open; nothing where none was found."""
    open_ = [n for n in found.inputs if found.importer.shape(n) is None]
    if not open_ or found.importer.state.store.conflicts:
        return {}
    best = _Search(name, found, forget, open_).best()
    if best is None:
        return {}
    return {n: best.type(n) for n in open_ if best.importer.shape(n) is not None}


@dataclass(slots=True)
class _Search:
    name: str
    found: Imported
    forget: bool
    open: list[str]
    spent: int = 0

    def best(self) -> Imported | None:
        """One rank for all of the open inputs, the first that leaves no conditions or else the one
        that leaves the fewest; if none fits, one for each.
        """
        if self.found.format.batched:
            return self._batched()
        found: list[tuple[Score, Imported]] = []
        for rank in range(1, LARGEST_RANK + 1):
            if found and (self.spent > MOST_NODES or found[-1][0][:2] == (0, 0)):
                break
            tried = self._tried(self._of_ranks(dict.fromkeys(self.open, rank)))
            if tried is not None:
                tried = self._same_sizes(tried)
                found.append((self._score(tried), tried))
        if found:
            return min(found, key=lambda each: each[0])[1]
        ranks = self._one_by_one()
        start = self._tried(self._of_ranks(ranks)) if ranks else None
        return None if start is None else self._same_sizes(start)

    # --- inputs with a batch in front ---

    def _batched(self) -> Imported | None:
        """The ranks that leave the least open. Of those that leave the same the largest has a
        batch, unless there is no end of them: then two sizes are a batch of rows.
        """
        best: list[tuple[Score, int, Imported]] = []
        for number, ranks in enumerate(self._usual()):
            if best and self.spent > MOST_NODES:
                break
            tried = self._tried(self._of_ranks(ranks))
            if tried is None:
                continue
            tried = self._same_sizes(tried)
            found = self._score(tried), number, tried
            if best and found[0] < best[0][0]:
                best = []
            if not best or found[0] == best[0][0]:
                best.append(found)
        if not best:
            ranks = self._one_by_one()
            start = self._tried(self._of_ranks(ranks)) if ranks else None
            return None if start is None else self._same_sizes(start)
        _, last, chosen = best[-1]
        if last % LARGEST_RANK == LARGEST_RANK - 1 and len(best) > 1:
            _, _, chosen = best[1] if best[0][1] == 0 else best[0]
        return self._better(chosen)

    def _usual(self) -> Iterator[dict[str, int]]:
        """Ranks that inputs of a model may have together: those of other integers for integers;
        one for all; one more for those that have features.
        """
        like = self._like_others()
        for rank in range(1, LARGEST_RANK + 1):
            yield {**dict.fromkeys(self.open, rank), **like}
        if len({self._is_whole(n) for n in self.open}) > 1:
            for rank in range(1, LARGEST_RANK):
                yield {n: rank if self._is_whole(n) else rank + 1 for n in self.open}

    def _like_others(self) -> dict[str, int]:
        """The ranks of inputs of integers, where another such input has one."""
        whole = [n for n in self.found.inputs if self._is_whole(n)]
        shapes = [self.found.importer.shape(n) for n in whole]
        known = [len(shape) for shape in shapes if shape is not None]
        return {n: max(known) for n in self.open if n in whole} if known else {}

    def _is_whole(self, name: str) -> bool:
        """Whether an input has integers, or truth values."""
        type_ = self.found.type(name)
        elem = type_.elem if isinstance(type_, Tensor) else None
        return isinstance(elem, str) and elem[0] in "iub" and elem != "bf16"

    def _better(self, best: Imported) -> Imported:
        """The same with one dimension less for an input where that leaves less open."""
        score, like = self._score(best), self._like_others()
        for name in [n for n in self.open if n not in like]:
            shape = best.importer.shape(name)
            for rank in range(len(shape or ()) - 1, 0, -1):
                if self.spent > MOST_NODES or score == (0, 0, 0):
                    return best
                ranks = {n: len(best.importer.shape(n) or ()) for n in self.open} | {name: rank}
                tried = self._tried(self._of_ranks(ranks))
                tried = None if tried is None else self._same_sizes(tried)
                if tried is not None and self._score(tried) < score:
                    best, score = tried, self._score(tried)
        return best

    # --- ranks ---

    def _one_by_one(self) -> dict[str, int]:
        """A rank for each input, the first that fits beside those before it."""
        ranks: dict[str, int] = {}
        for each in self.open:
            for rank in range(LARGEST_RANK + 1):
                if self._tried(self._of_ranks({**ranks, each: rank})) is not None:
                    ranks[each] = rank
                    break
        return ranks

    def _of_ranks(self, ranks: dict[str, int]) -> dict[str, Type]:
        said: dict[str, Type] = {}
        for each, rank in ranks.items():
            type_ = self.found.type(each)
            elem = type_.elem if isinstance(type_, Tensor) else self.found.importer.unknown().elem
            said[each] = Tensor(elem, tuple(DimVar("", 1) for _ in range(rank)))
        return said

    # --- sizes ---

    def _same_sizes(self, best: Imported) -> Imported:
        """The model with sizes of its inputs taken for the same where that leaves less open."""
        score = self._score(best)
        tries = MOST_TRIES
        while score > (0, 0, 0):
            for a, b in _related_sizes(best, self.open):
                tries -= 1
                if tries < 0 or self.spent > MOST_NODES:
                    return best
                tried = self._tried({n: _with(best.type(n), a, b) for n in best.inputs})
                if tried is not None and self._score(tried) < score:
                    best, score = tried, self._score(tried)
                    break
            else:
                return best
        return best

    def _score(self, tried: Imported) -> Score:
        """How much is left open: tensors without a rank, conditions, tensors of sizes that the
        inputs do not tell. A size that must be 1, as what does not fit is broadcast away, is worse
        than a condition.
        """
        types = [tried.type(n) for n in tried.inputs]
        told: set[Var] = {v for type_ in types for v in type_variables(type_)}
        ones = sum(t.shape.count(1) for t in types if isinstance(t, Tensor))
        state = tried.importer.state
        seen: dict[int, tuple[int, int]] = {}
        ranks = sizes = 0
        for type_ in tried.importer.types.values():
            if id(type_) not in seen:
                known = state.resolve(type_)
                own = not set(type_variables(known)) <= told
                seen[id(type_)] = int(known_shape(known) is None), int(own)
            ranks += seen[id(type_)][0]
            sizes += seen[id(type_)][1]
        conditions = sum(not is_silent(c.relation) for c in state.store.waiting)
        return ranks, conditions + A_ONE * ones, sizes

    def _tried(self, said: dict[str, Type]) -> Imported | None:
        """The model with inputs of these types, if it makes sense."""
        model = self.found.model
        self.spent += len(model.graph.operations)
        tried = import_operations(
            model, self.found.format, self.name, self.forget, said, reasons=False, program=False
        )
        importer, before = tried.importer, self.found.importer
        wrong = importer.state.store.conflicts or importer.state.diagnostics
        if wrong or tried.emptied():
            return None
        return None if importer.unsupported.keys() - before.unsupported else tried


def _related_sizes(tried: Imported, open_: list[str]) -> Iterator[tuple[DimVar, DimVar]]:
    """Pairs of sizes of two inputs, one of them open, that some condition is about: first those
    that stand in the same place.
    """
    types = [tried.type(n) for n in tried.inputs]
    mine = {v for n in open_ for v in type_variables(tried.type(n)) if isinstance(v, DimVar)}
    groups: dict[Var, Var] = {}

    def root(var: Var) -> Var:
        while var in groups:
            var = groups[var]
        return var

    state = tried.importer.state
    for constraint in state.store.waiting:
        roots = {root(v) for v in relation_variables(resolved(state, constraint.relation))}
        first = next(iter(roots), None)
        groups.update((other, first) for other in roots if first is not None and other != first)
    shapes = [t.shape for t in types if isinstance(t, Tensor)]
    pairs = {
        (a, b): i != j
        for left, right in combinations(shapes, 2)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if isinstance(a, DimVar) and isinstance(b, DimVar) and a != b and (a in mine or b in mine)
    }
    for a, b in sorted(pairs, key=lambda pair: pairs[pair]):
        if root(a) == root(b):
            yield a, b


def _with(type_: Type, a: DimVar, b: DimVar) -> Type:
    """The type with one size taken for another."""
    if not isinstance(type_, Tensor):
        return type_
    return Tensor(type_.elem, tuple(a if item == b else item for item in type_.shape))
