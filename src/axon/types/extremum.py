"""Minimum and maximum of dimensions."""

from __future__ import annotations

from axon.types.atoms import Max, Min, make_atom, weight
from axon.types.poly import (
    Dim,
    Mono,
    Poly,
    add,
    combine,
    from_terms,
    lone_atom,
    of_atom,
    scale,
    sub,
    terms_of,
)
from axon.types.sign import is_nonnegative

# What stands beside a nested extremum is copied to each of its parts, if it is no larger than this.
HEAVIEST = 16


def minimum(*dims: Dim) -> Dim:
    return _extremum(Min, dims)


def maximum(*dims: Dim) -> Dim:
    return _extremum(Max, dims)


def _extremum(kind: type[Min] | type[Max], dims: tuple[Dim, ...]) -> Dim:
    """min(p+c, q+c) -> min(p, q) + c; min(p, q) -> p where q - p >= 0; nested ones are flattened,
    unless that would copy much.
    """
    parts: list[Dim] = []
    for dim in dims:
        inner = next((m for m in terms_of(dim) if len(m) == 1 and isinstance(m[0], kind)), None)
        if inner is None or terms_of(dim)[inner] != 1 or weight(dim) > HEAVIEST:
            inside: list[Dim] = [dim]
        else:
            # max(max(p, q) + r, s) -> max(p + r, q + r, s)
            rest = sub(dim, of_atom(inner[0]))
            inside = [add(part, rest) for part in inner[0].args]  # type: ignore[union-attr, arg-type]
        parts.extend(part for part in inside if part not in parts)
    kept: list[Dim] = []
    for part in sorted(parts, key=_form):  # of two that are equal the same one is left
        if any(_covers(kind, other, part) for other in kept):
            continue
        kept = [other for other in kept if not _covers(kind, part, other)]
        kept.append(part)
    if len(kept) == 1:
        return kept[0]
    if len(kept) == 2:
        inner_one = _inner(kind, *kept) or _inner(kind, *kept[::-1])
        if inner_one is not None:
            return inner_one
    monos = dict.fromkeys(m for p in kept for m in terms_of(p))
    offset = from_terms({m: _shared(kind, m, [terms_of(p).get(m, 0) for p in kept]) for m in monos})
    args = sorted((sub(p, offset) for p in kept), key=_dim_order)
    return add(Poly({(make_atom(kind, tuple(args)),): 1}), offset)


def _inner(kind: type[Min] | type[Max], nested: Dim, other: Dim) -> Dim | None:
    """max(min(p, q), r) -> p where p >= r, and p = r wherever q < p; and the dual law."""
    inside = Min if kind is Max else Max
    mono = next((m for m in terms_of(nested) if len(m) == 1 and isinstance(m[0], inside)), None)
    if mono is None or terms_of(nested)[mono] != 1:
        return None
    atom = mono[0]
    assert isinstance(atom, Min | Max)
    rest, sign = sub(nested, of_atom(atom)), 1 if kind is Max else -1
    if len(atom.args) == 2:
        for p, q in (atom.args, atom.args[::-1]):
            above, below = sub(add(p, rest), other), sub(p, q)
            # r - p >= p - q - 1: whenever p is above q, it is not above r
            gap = add(combine(scale(-sign, above), -sign, below), 1)
            if is_nonnegative(scale(sign, above)) and is_nonnegative(gap):
                return add(p, rest)
    return None


def _shared(kind: type[Min] | type[Max], mono: Mono, coefficients: list[int]) -> int:
    """How much of a monomial is factored out; of a nested extremum only what all parts have, since
    the rest of it must not be one that would be flattened.
    """
    if len(mono) == 1 and isinstance(mono[0], kind) and len(set(coefficients)) > 1:
        return 0
    return min(coefficients)


def _covers(kind: type[Min] | type[Max], winner: Dim, loser: Dim) -> bool:
    """Whether the winner makes the loser redundant."""
    return is_nonnegative(sub(loser, winner) if kind is Min else sub(winner, loser))


def added_up(dim: Dim) -> Dim:
    """The dimension with min(p, q) + max(p, q) -> p + q, and p + q - max(p, q) -> min(p, q). These
    are not laws of the normal form: subtracting one part again would give a different form.
    """
    terms = terms_of(dim)
    for mono, count in terms.items():
        atom = mono[0] if len(mono) == 1 else None
        if count < 0 and isinstance(atom, Min | Max) and len(atom.args) == 2:
            left = minimum(*atom.args) if isinstance(atom, Max) else maximum(*atom.args)
            change = sub(add(of_atom(atom), left), add(*atom.args))
            other = combine(dim, -count, change)
            if len(terms_of(other)) < len(terms):
                return added_up(other)
    for mono, count in terms.items():
        high = mono[0] if len(mono) == 1 else None
        if not isinstance(high, Max) or len(high.args) != 2:
            continue
        low = lone_atom(minimum(*high.args))
        other = 0 if low is None else terms.get((low,), 0)
        if low is not None and other * count > 0:
            both = min(count, other, key=abs)
            less = sub(dim, from_terms({mono: both, (low,): both}))
            return added_up(combine(less, both, add(*high.args)))
    return dim


def _form(dim: Dim) -> list[tuple[list[int], int]]:
    """An order of dimensions that does not change if a number is added to them."""
    return sorted([([a.id for a in m], c) for m, c in terms_of(dim).items() if m])


def _dim_order(dim: Dim) -> list[tuple[list[int], int]]:
    return sorted([([a.id for a in m], c) for m, c in terms_of(dim).items()])
