"""What `torch.export` takes of what a program takes: sizes that share a `Dim`, multiples, bounds.

While it traces, PyTorch decides for every size that is computed whether it is 1, and keeps the
decision: what is 2 or more in the example is 2 or more in the program. Its own conditions are in
the archive, if it was asked to leave sizes open. A `Dim` whose range allows more is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from itertools import pairwise
from math import lcm

from axon.importers.torch.dynamic.arguments import DimSpec, Range
from axon.importers.torch.dynamic.conditions import Condition
from axon.importers.torch.dynamic.input_sizes import InputSize, InputSizes
from axon.importers.torch.dynamic.plainer import bound, multiple_of
from axon.importers.torch.dynamic.search import Found, Settled, settled
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation, Tensor
from axon.types.variables import DimVar

MULTIPLES = (2, 3, 4, 6, 7, 8, 14, 16, 32, 64)
MOST_TRIES = 40
"""Of multiples, in all."""
MOST_SIZES = 400
"""Computed sizes that are looked at, for one `Dim`."""
BEYOND = 16
"""Sizes above the least one that are tried, too."""
Numbers = dict[DimVar, int]


@dataclass(slots=True)
class Exportable:
    """The argument's sizes in terms of `Dim`s; of those whose conditions hang together otherwise
    the last ones stay as they are in the example.
    """

    found: Found
    given: InputSizes
    said: list[Condition]
    specs: dict[str, dict[int, DimSpec]] = field(init=False)
    ranges: dict[str, Range] = field(init=False)
    left_out: list[str] = field(default_factory=list)
    """Free sizes that stay as they are."""
    _settled: Settled = field(init=False)
    _tries: int = MOST_TRIES

    def state(self, free: Collection[str], relations: list[Relation], fixed: Numbers) -> None:
        """Find them for the sizes that are free, from what is left to be checked of sizes."""
        fixed, named = dict(fixed), []
        for each in self.given.every():
            if each.name in free and each.example > 1:
                named.append(each)
        same = [*_pairs(relations, self.given.examples), *_shared(named)]
        self._settled = settled(self.found, fixed, same)
        while hard := [each for each in named if _is_hard(self._settled, each.var)]:
            if not self._as_multiple(hard[-1], fixed, same):
                fixed[hard[-1].var] = hard[-1].example
                named.remove(hard[-1])
                self.left_out.append(hard[-1].name)
                self._settled = settled(self.found, fixed, same)
        self.specs = {name: {} for name in self.given.sizes}
        roots: dict[DimVar, str] = {}
        for size in named:
            spec = _linear(self._settled, roots, size)
            if spec is not None:
                self.specs[size.input][size.axis] = spec
        self.ranges = {name: self._range(var) for var, name in roots.items()}

    def _as_multiple(self, size: InputSize, fixed: Numbers, same: list[tuple[DimVar, Dim]]) -> bool:
        """Whether the conditions on a size can be said if it is a multiple of some number."""
        for number in MULTIPLES:
            if size.example % number or size.example == number:
                continue
            if self._tries == 0:
                return False
            self._tries -= 1
            part: tuple[DimVar, Dim] = (size.var, dims.mul(number, DimVar(size.name, 1)))
            tried = settled(self.found, fixed, [*same, part])
            if not _is_hard(tried, size.var):
                same.append(part)
                self._settled = tried
                return True
        return False

    # --- bounds ---

    def _range(self, var: DimVar) -> Range:
        """The bounds of a `Dim`, which may be a part of the variable that sizes are computed from:
        those of the program, and above what PyTorch has for 1.
        """
        own = _range(self._settled, var)
        whole = _whole(self._settled, var)
        start = self._example(var)
        if start is None or start // whole < 2:
            return own
        holds = self._holding(var)
        if not holds(start):
            return own
        least, most = own.least or 1, start // whole
        while least < most:  # what is not 1 for a size is not for a larger one
            middle = (least + most) // 2
            if holds(middle * whole):
                most = middle
            else:
                least = middle + 1
        last = own.most if own.most is not None else least + BEYOND
        for more in range(least, min(last, start // whole, least + BEYOND)):
            if not holds(more * whole):
                least = more + 1
        return Range(least if least > 2 or own.least else None, own.most)

    def _example(self, var: DimVar) -> int | None:
        """The number that a variable is where the exporter ran."""
        return _solved(self.given, self._settled.values, self.given.examples).get(var)

    def _holding(self, var: DimVar) -> Callable[[int], bool]:
        """Whether PyTorch's own conditions hold with a number for one variable, and no size that is
        computed from it is below 2.
        """
        start = _solved(self.given, self._settled.values, self.given.examples)
        values = {each.var: self.found.value(each.var) for each in self.given.every()}
        about = {
            each.name
            for each in self.given.every()
            if var in dims.variables(self._settled.values[each.var])
        }
        conditions = [each for each in self.said if not each.about.isdisjoint(about)]

        def numbers(n: int) -> tuple[dict[str, int], Numbers]:
            named: dict[str, int] = {}
            sizes: Numbers = {}
            for each in self.given.every():
                size = dims.evaluate(self._settled.values[each.var], {**start, var: n})
                sizes[each.var] = named[each.name] = each.example if size is None else size
            return named, _solved(self.given, values, sizes) | sizes

        begun, known = numbers(start[var])
        conditions = [each for each in conditions if each.holds(begun) is True]
        changed = numbers(start[var] + _whole(self._settled, var))[1]
        moved = {v for v, n in known.items() if changed.get(v) != n}
        computed = [
            d
            for d in self._computed()
            if not moved.isdisjoint(dims.variables(d)) and (dims.evaluate(d, known) or 0) > 1
        ]

        def holds(n: int) -> bool:
            named, sizes = numbers(n)
            return all(each.holds(named) is not False for each in conditions) and all(
                (size := dims.evaluate(each, sizes)) is None or size > 1
                for each in computed[:MOST_SIZES]
            )

        return holds

    def _computed(self) -> list[Dim]:
        """The sizes of tensors that are computed from those of inputs."""
        importer = self.found.imported.importer
        found: dict[Dim, None] = {}
        for type_ in {id(each): each for each in importer.types.values()}.values():
            known = importer.state.resolve(type_)
            if isinstance(known, Tensor):
                found.update(
                    (size, None) for size in known.shape if isinstance(size, DimVar | dims.Poly)
                )
        return list(found)


def _solved(given: InputSizes, values: dict[DimVar, Dim], sizes: Numbers) -> Numbers:
    """The numbers of the variables that sizes are computed from."""
    found: Numbers = {}
    for each in given.every():
        variables = [v for v in dims.variables(values[each.var]) if isinstance(v, DimVar)]
        if len(variables) != 1:
            continue
        terms = bound(values[each.var], variables[0])
        if terms is not None and (sizes[each.var] - terms[1]) % terms[0] == 0:
            found.setdefault(variables[0], (sizes[each.var] - terms[1]) // terms[0])
    return found


def _pairs(relations: list[Relation], examples: Numbers) -> list[tuple[DimVar, Dim]]:
    """Sizes that are broadcast to each other, and are the same in the example."""
    found: list[tuple[DimVar, Dim]] = []
    for relation in relations:
        if not isinstance(relation, DimBroadcast):
            continue
        sizes = [part for part in relation.parts if isinstance(part, DimVar)]
        for one, other in pairwise([v for v in sizes if examples.get(v, 1) > 1]):
            if examples[one] == examples[other]:
                found.append((one, other))
    return found


def _shared(named: list[InputSize]) -> list[tuple[DimVar, Dim]]:
    """Sizes that PyTorch has one symbol for."""
    first: dict[str, InputSize] = {}
    found: list[tuple[DimVar, Dim]] = []
    for each in named:
        if isinstance(each.declared, str):
            own = first.setdefault(each.declared, each)
            if own is not each:
                found.append((own.var, each.var))
    return found


def _is_hard(found: Settled, var: DimVar) -> bool:
    """Whether there are conditions that neither bounds nor multiples say."""
    return any(
        isinstance(r, DimEq | DimBroadcast) and multiple_of(r, var) is None
        for r in found.about(var)
    )


def _whole(found: Settled, var: DimVar) -> int:
    """What the conditions ask a variable to be a multiple of."""
    return lcm(*[n for r in found.about_root(var) if (n := multiple_of(r, var)) is not None])


def _range(found: Settled, var: DimVar) -> Range:
    """The bounds of a size that are numbers."""
    least: int | None = None
    most: int | None = None
    for relation in found.relations:
        ends = bound(relation.dim, var) if isinstance(relation, AtLeast) else None
        if ends is not None and ends[0] > 0:
            least = max(least or 0, -(ends[1] // ends[0]))
        elif ends is not None:
            last = ends[1] // -ends[0]
            most = last if most is None else min(most, last)
    whole = _whole(found, var)
    least = None if least is None else -(-least // whole)
    most = None if most is None else most // whole
    return Range(None if not least or least < 2 else least, most)


def _linear(found: Settled, roots: dict[DimVar, str], size: InputSize) -> DimSpec | None:
    """A size in terms of one `Dim`, `8*d + 1`; None if it is something else."""
    value = found.values[size.var]
    variables = {v for v in dims.variables(value) if isinstance(v, DimVar)}
    if len(variables) != 1 or isinstance(value, int):
        return None
    (var,) = variables
    terms = bound(value, var)
    if terms is None or terms[0] < 1:
        return None
    whole = _whole(found, var)
    base = f"{size.input}_{size.axis}"
    name = roots.setdefault(var, base if (terms, whole) == ((1, 0), 1) else f"_{base}")
    return DimSpec(name, terms[0] * whole, terms[1])
