"""Names for sizes that a signature would repeat, or that are long: `[n,h1*w1] where h1 = (h-4)/2`.

A name is given where the signature is shorter with it, to the factors of a long size that are sizes
themselves, and to a size that is very long. What has a name is a size, so it is not negative, and
the signature reads back to an equivalent one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Poly
from axon.types.quotient import exact_quotient
from axon.types.replace import with_atoms
from axon.types.show import MOST_SUMMED, Show
from axon.types.type import Renaming, Shape
from axon.types.variables import DimVar, owner

LONG = 24
"""The number of characters from which on factors of a size are looked for."""
VERY_LONG = 48
"""The number from which on a size has a name even if it occurs once."""
SHORT = 28
"""Of sizes with fewer characters in all, none is worth a name."""
MOST_SIZES = 60


@dataclass(slots=True)
class Naming(Renaming):
    """Replaces sizes by names, and atoms by names where they are part of others."""

    sizes: dict[Dim, Dim] = field(default_factory=dict)
    atoms: dict[Atom, Dim] = field(default_factory=dict)
    named: dict[DimVar, Dim] = field(default_factory=dict)
    """What each name stands for."""

    def dim(self, dim: Dim) -> Dim:
        found = self.sizes.get(dim)
        return with_atoms(dim, self.atoms) if found is None else found

    def definitions(self, show: Show) -> list[str]:
        """`h1 = (h-4)/2`, for each name."""
        return [f"{show.dim(var)} = {show.dim(self._meaning(var))}" for var in self.named]

    def _meaning(self, var: DimVar) -> Dim:
        size = self.named[var]
        return size if dims.lone_atom(size) in self.atoms else with_atoms(size, self.atoms)


def name_sizes(shapes: Iterable[Shape], show: Show) -> Naming:
    """Names for sizes in these shapes; `show` has written them, so their variables have names."""
    naming = Naming({}, {}, {}, {})
    found = Counter(_computed(shapes))
    written = sum(uses * len(show.dim(size)) for size, uses in found.items())
    if written < SHORT or len(found) > MOST_SIZES:
        return naming
    products = _products(found, show)
    parts = {factor for factors in products.values() for factor in factors}
    long = {s for s in found if s not in products and len(show.dim(s)) >= VERY_LONG}
    needed = {size for size in found if size in parts or size in long}
    for size in _worth_a_name(found, needed, products, show):
        var = _named(naming, size, show)
        naming.sizes[size] = var
        atom = dims.lone_atom(size)
        if atom is not None:
            naming.atoms[atom] = var
    for size, factors in products.items():
        naming.sizes.setdefault(size, dims.product(naming.dim(each) for each in factors))
    return naming


def _worth_a_name(
    found: Counter[Dim], needed: set[Dim], products: Collection[Dim], show: Show
) -> list[Dim]:
    """The sizes to name: those that need it, and those with which the signature is shorter. A part
    that several sizes have is named before these.
    """
    written = {s: 1 if s in needed else n for s, n in found.items() if s not in products}
    homes: dict[Dim, list[Dim]] = {}
    for size in written:
        for atom in _atoms(size):
            homes.setdefault(dims.of_atom(atom), []).append(size)
    saved: dict[Dim, int] = {}
    for part, sizes in homes.items():
        if len({*sizes, *({part} & found.keys())}) > 1 and dims.is_nonnegative(part):
            uses = sum(written[size] for size in sizes)
            saved[part] = _saved(show.dim(part), found[part], uses)
    shared = {part: len(show.dim(part)) for part, gain in saved.items() if gain > 0}
    for size, uses in found.items():
        if size not in saved:
            less = sum(shared.get(dims.of_atom(atom), 0) for atom in _atoms(size))
            saved[size] = _saved(show.dim(size)[less:], uses, 0)
    shorter = {size for size, gain in saved.items() if gain > 0}
    if not needed and sum(saved[size] for size in shorter) <= len(" where ") - len(", "):
        return []
    return [size for size in saved if size in needed or size in shorter]


def _saved(text: str, alone: int, inside: int) -> int:
    """How many characters are saved by `, h1 = (h-4)/2` if `h1` stands for it each time, without
    the brackets that it has inside other sizes.
    """
    name = 2
    return (alone + inside) * (len(text) - name) + 2 * inside - len(f",  = {text}") - name


def factor_sizes(shapes: Iterable[Shape], show: Show) -> Naming:
    """Long sizes as products of others, written out: `[n,((h-4)/2)*((w-4)/2)]`."""
    naming = Naming({}, {}, {}, {})
    found = Counter(_computed(shapes))
    for size, factors in _products(found, show).items() if len(found) <= MOST_SIZES else ():
        naming.sizes[size] = dims.product(_in_brackets(each, show) for each in factors)
    return naming


def _in_brackets(factor: Dim, show: Show) -> Dim:
    """A sum as a factor: its text, as if it were a name."""
    if len(dims.terms_of(factor)) < 2:
        return factor
    var, text = DimVar(), show.dim(factor)
    show.names.given[var] = text if show.paper else f"({text})"
    return var


def _products(found: Iterable[Dim], show: Show) -> dict[Dim, list[Dim]]:
    """The sizes that are long and are products of shorter ones, with their factors."""
    products: dict[Dim, list[Dim]] = {}
    by_length = sorted(found, key=lambda size: len(show.dim(size)))
    for at, size in enumerate(by_length):
        if len(show.dim(size)) >= LONG or len(dims.terms_of(size)) >= MOST_SUMMED:
            factors = _factors(size, [other for other in by_length[:at] if other not in products])
            if factors:
                products[size] = factors
    return products


def _computed(shapes: Iterable[Shape]) -> Iterator[Dim]:
    for shape in shapes:
        for item in shape:
            if isinstance(item, Poly) and not any(var.runtime for var in dims.variables(item)):
                yield item


def _factors(size: Dim, others: Iterable[Dim]) -> list[Dim]:
    """Other sizes whose product, times the last one, is this size."""
    factors: list[Dim] = []
    for other in others:
        quotient = exact_quotient(size, other) if len(dims.terms_of(other)) > 1 else None
        if quotient is not None:
            factors.append(other)
            size = quotient
    return [*factors, size] if factors else []


def _atoms(size: Dim) -> Iterator[Atom]:
    """The quotients, minima and maxima in a size that is more than one."""
    if dims.lone_atom(size) is None:
        for mono in dims.terms_of(size):
            yield from (atom for atom in mono if isinstance(atom, FloorDiv | Min | Max))


def _named(naming: Naming, size: Dim, show: Show) -> DimVar:
    """A name for a size, after the first variable in its text: `h1`."""
    names = {show.names(owner(var)).rstrip("'") for var in dims.variables(size)}
    first = next((word for word in re.findall(r"\w+", show.dim(size)) if word in names), "n")
    name = next(n for i in count(1) if (n := f"{first}{i}") not in show.names.taken)
    var = DimVar(name)
    show.names.given[var] = name
    show.names.taken.add(name)
    naming.named[var] = size
    return var
