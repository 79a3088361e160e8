"""Ranks of inputs by cases: where conditions leave a few, and the model contradicts itself under
all of them but one, that is the rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from axon.importers.importer import Importer
from axon.inference.generalise.schemes import resolved
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, Tensor, Type, shape_rank
from axon.types.variables import DimVar, ShapeVar

MOST_CASES = 6
"""Ranks of one input that are tried."""
MOST_NODES = 60_000
"""Nodes that are looked at in all."""

Try = Callable[[dict[str, Type]], Importer]


@dataclass(slots=True)
class Cases:
    """`attempt` infers the model with types for some of its inputs."""

    attempt: Try
    spent: int = 0

    def decided(self, found: Importer, inputs: Sequence[str]) -> dict[str, Type]:
        """The inputs of which only one rank makes sense, as that many sizes."""
        made: dict[str, Type] = {}
        for name in inputs:
            type_ = found.type(name)
            ranks = possible_ranks(found, type_)
            if not isinstance(type_, Tensor) or not 1 < len(ranks) <= MOST_CASES:
                continue
            left = []
            for rank in ranks:
                case = Tensor(type_.elem, tuple(DimVar("", 1) for _ in range(rank)))
                if self._makes_sense(found, {**made, name: case}):
                    left.append(case)
                if len(left) > 1:
                    break
            if len(left) == 1:
                made[name] = left[0]
        return made

    def _makes_sense(self, found: Importer, said: dict[str, Type]) -> bool:
        """Whether nothing contradicts these types; what would take too long may make sense."""
        self.spent += len(found.operations)
        if self.spent > MOST_NODES:
            return True
        state = self.attempt(said).state
        return not (state.store.conflicts or state.diagnostics)


def possible_ranks(found: Importer, type_: Type) -> range:
    """The ranks that conditions leave to a tensor of unknown rank; none if there is no end."""
    if not isinstance(type_, Tensor):
        return range(0)
    state = found.state
    whole = state.store.dim(shape_rank(type_.shape))
    ranks = [v for v in dims.variables(whole) if isinstance(v, DimVar)]
    known = _ends(whole, ranks[0]) if len(ranks) == 1 else None
    if known is None or known[0] != 1:
        return range(0)
    (rank,), least, most = ranks, 0, -1
    for constraint in state.store.waiting:
        relation = resolved(state, constraint.relation)
        ends = _ends(relation.dim, rank) if isinstance(relation, AtLeast) else None
        if ends is None:
            continue
        scale, offset = ends
        if scale > 0:
            least = max(least, -(offset // scale))
        elif most < 0 or offset // -scale < most:
            most = max(offset // -scale, 0)
    first = sum(not isinstance(item, ShapeVar) for item in type_.shape)
    return range(max(known[1] + least, first), known[1] + most + 1) if most >= 0 else range(0)


def _ends(dim: Dim, rank: DimVar) -> tuple[int, int] | None:
    """`a` and `b` of `a*rank + b`, if a dimension is that."""
    terms = dict(dims.terms_of(dim))
    offset, scale = terms.pop((), 0), terms.pop((rank,), 0)
    return (scale, offset) if scale and not terms else None
