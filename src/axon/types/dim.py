"""Dimensions: integer polynomials in normal form, so that equal dimensions are equal values.

    Dim  = int | DimVar | Poly                 a constant, a variable, anything else
    Poly = sum of coefficient * monomial       a monomial is a product of atoms, () the empty one
    Atom = DimVar | FloorDiv | Min | Max | Size | Vast

`a mod b` is `a - b*(a/b)`. Only the functions below make a `Poly` or an atom; they keep the normal
form.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from math import gcd
from weakref import WeakValueDictionary

from axon.types.variables import DimVar, ShapeVar

# Past these a product is not worth keeping: see Vast.
MOST_TERMS = 4096
HIGHEST_DEGREE = 64
MOST_BITS = 8192


class Poly:
    """A polynomial that is neither a constant nor a lone variable. Immutable."""

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: dict[Mono, int]) -> None:
        self.terms = terms
        self._hash = hash(frozenset(terms.items()))

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Poly) and self._hash == other._hash and self.terms == other.terms
        )

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return " + ".join(
            "*".join([str(c), *map(repr, m)]) if m else str(c) for m, c in self.terms.items()
        )


class _Node:
    """An atom with arguments.

    Interned: the same arguments give the same object, so `is` is equality.
    """

    __slots__ = ("__weakref__", "args", "id")

    def __init__(self, args: tuple[Dim | ShapeVar, ...]) -> None:
        self.args = args
        self.id = next(_node_ids)

    def __repr__(self) -> str:
        return f"{type(self).__name__}{self.args}"


class FloorDiv(_Node):
    """`numerator / divisor`, rounded down; the divisor is at least one."""

    __slots__ = ()
    args: tuple[Dim, Dim]


class Min(_Node):
    __slots__ = ()
    args: tuple[Dim, ...]


class Max(_Node):
    __slots__ = ()
    args: tuple[Dim, ...]


class Size(_Node):
    """The number of elements of a shape variable."""

    __slots__ = ()
    args: tuple[ShapeVar]


class Vast(_Node):
    """A size of which only that it exists is kept, since it grew out of hand; equal to no other."""

    __slots__ = ()
    args: tuple[()]


Atom = DimVar | FloorDiv | Min | Max | Size | Vast
Mono = tuple[Atom, ...]
Dim = int | DimVar | Poly

# Compound atoms count from far above any variable, so that atoms have one order.
_node_ids = count(1 << 60)
_nodes: WeakValueDictionary[tuple[object, ...], _Node] = WeakValueDictionary()


def _atom(kind: type[_Node], args: tuple[Dim | ShapeVar, ...]) -> Atom:
    key = (kind, args)
    node = _nodes.get(key)
    if node is None:
        node = _nodes[key] = kind(args)
    assert isinstance(node, FloorDiv | Min | Max | Size)
    return node


def _atom_order(atom: Atom) -> int:
    return atom.id


# --- polynomials ---------------------------------------------------------------------------------


def terms_of(dim: Dim) -> dict[Mono, int]:
    """The polynomial as a table; not to be changed."""
    if isinstance(dim, Poly):
        return dim.terms
    if isinstance(dim, int):
        return {(): dim} if dim else {}
    return {(dim,): 1}


def from_terms(terms: dict[Mono, int]) -> Dim:
    """The dimension with these terms; takes the table over."""
    if 0 in terms.values():
        terms = {m: c for m, c in terms.items() if c}
    if len(terms) < 2:
        for mono, coefficient in terms.items():
            if not mono:
                return coefficient
            if coefficient == 1 and len(mono) == 1 and isinstance(mono[0], DimVar):
                return mono[0]
            break
        else:
            return 0
    return Poly(terms)


def of_atom(atom: Atom) -> Dim:
    return atom if isinstance(atom, DimVar) else Poly({(atom,): 1})


def add(left: Dim, right: Dim) -> Dim:
    return combine(left, 1, right)


def sub(left: Dim, right: Dim) -> Dim:
    return combine(left, -1, right)


def combine(left: Dim, factor: int, right: Dim) -> Dim:
    """left + factor * right."""
    if isinstance(left, int) and isinstance(right, int):
        return left + factor * right
    terms = dict(terms_of(left))
    for mono, coefficient in terms_of(right).items():
        terms[mono] = terms.get(mono, 0) + factor * coefficient
    return from_terms(terms)


def vast() -> Dim:
    return Poly({(Vast(()),): 1})


def is_vast(dim: Dim) -> bool:
    return isinstance(dim, Poly) and any(isinstance(a, Vast) for m in dim.terms for a in m)


def scale(factor: int, dim: Dim) -> Dim:
    if factor == 1:
        return dim
    if isinstance(dim, int):
        large = factor.bit_length() + dim.bit_length() > MOST_BITS
        return vast() if large and factor and dim else factor * dim
    if factor.bit_length() > MOST_BITS:
        return vast()
    return from_terms({m: factor * c for m, c in terms_of(dim).items()})


def mul(left: Dim, right: Dim) -> Dim:
    if isinstance(left, int):
        return scale(left, right)
    if isinstance(right, int):
        return scale(right, left)
    if (
        is_vast(left)
        or is_vast(right)
        or len(terms_of(left)) * len(terms_of(right)) > MOST_TERMS
        or max(map(len, terms_of(left))) + max(map(len, terms_of(right))) > HIGHEST_DEGREE
        or max(_bits(left), _bits(right)) > MOST_BITS
    ):
        return vast()
    terms: dict[Mono, int] = {}
    for m1, c1 in terms_of(left).items():
        for m2, c2 in terms_of(right).items():
            mono = _times(m1, m2)
            terms[mono] = terms.get(mono, 0) + c1 * c2
    return from_terms(terms)


def _bits(dim: Dim) -> int:
    return max(c.bit_length() for c in terms_of(dim).values())


def _times(left: Mono, right: Mono) -> Mono:
    if not left:
        return right
    if not right:
        return left
    return tuple(sorted(left + right, key=_atom_order))


def product(dims: list[Dim]) -> Dim:
    total: Dim = 1
    for dim in dims:
        total = mul(total, dim)
    return total


# --- floor division
# ----------------------------------------------------------------------------------


def floordiv(numerator: Dim, divisor: Dim) -> Dim:
    """numerator / divisor, rounded down, in normal form.

    The divisor is at least one (a guard elsewhere sees to it).
    """
    if isinstance(divisor, int):
        if isinstance(numerator, int) and divisor:
            return numerator // divisor
        if divisor > 0:
            return _floordiv_constant(numerator, divisor)
        if divisor < 0:
            return _floordiv_constant(scale(-1, numerator), -divisor)
        return Poly({(_atom(FloorDiv, (numerator, 0)),): 1})
    return _floordiv_symbolic(numerator, divisor)


def _floordiv_constant(numerator: Dim, divisor: int) -> Dim:
    whole: dict[Mono, int] = {}
    while True:
        # (d*p + r)/d -> p + r/d, every coefficient of r in 0..d-1
        rest: dict[Mono, int] = {}
        for mono, coefficient in terms_of(numerator).items():
            quotient, remainder = divmod(coefficient, divisor)
            if quotient:
                whole[mono] = whole.get(mono, 0) + quotient
            if remainder:
                rest[mono] = remainder
        constant = rest.pop((), 0)
        if not rest:
            return from_terms(whole)
        # (g*p + c)/(g*d) -> (p + c/g)/d
        common = gcd(divisor, *rest.values())
        if common > 1:
            rest = {m: c // common for m, c in rest.items()}
            constant //= common
            divisor //= common
            if divisor == 1:
                return add(from_terms(whole), from_terms({**rest, (): constant}))
        # (p/a + q)/d -> (p + a*q)/(a*d), where there is one such p/a
        inner = [
            m[0]
            for m, c in rest.items()
            if c == 1
            and len(m) == 1
            and isinstance(m[0], FloorDiv)
            and isinstance(m[0].args[1], int)
        ]
        if len(inner) != 1 or inner[0].args[1] == 0:
            break
        top, bottom = inner[0].args
        assert isinstance(bottom, int)
        del rest[(inner[0],)]
        rest[()] = constant
        numerator = combine(top, bottom, from_terms(rest))
        divisor *= bottom
    rest[()] = constant
    key: Mono = (_atom(FloorDiv, (from_terms(rest), divisor)),)
    whole[key] = whole.get(key, 0) + 1
    return from_terms(whole)


def _floordiv_symbolic(numerator: Dim, divisor: Dim) -> Dim:
    if numerator == 0:
        return 0
    top, bottom = terms_of(numerator), terms_of(divisor)
    whole: dict[Mono, int] = {}
    rest = top
    if len(bottom) == 1:
        # (d*p + r)/d -> p + r/d
        ((lead, unit),) = bottom.items()
        rest = {}
        for mono, coefficient in top.items():
            quotient = divide(mono, lead) if coefficient % unit == 0 else None
            if quotient is None:
                rest[mono] = coefficient
            else:
                whole[quotient] = whole.get(quotient, 0) + coefficient // unit
    else:
        # (k*d)/d -> k
        mono, coefficient = next(iter(bottom.items()))
        factor = top.get(mono, 0) // coefficient
        if factor and combine(numerator, -factor, divisor) == 0:
            return factor
    if not rest:
        return from_terms(whole)
    shared = shared_factor(list(rest) + list(bottom))
    if shared:
        # (h*p)/(h*q) -> p/q
        rest = {without_factor(m, shared): c for m, c in rest.items()}
        bottom = {without_factor(m, shared): c for m, c in bottom.items()}
    top_dim, bottom_dim = from_terms(dict(rest)), from_terms(dict(bottom))
    if len(rest) == 1:
        # (p/a)/b -> p/(a*b)
        ((mono, coefficient),) = rest.items()
        if coefficient == 1 and len(mono) == 1 and isinstance(mono[0], FloorDiv):
            inner_top, inner_bottom = mono[0].args
            return add(from_terms(whole), floordiv(inner_top, mul(inner_bottom, bottom_dim)))
    if shared and isinstance(bottom_dim, int):
        return add(from_terms(whole), floordiv(top_dim, bottom_dim))
    key: Mono = (_atom(FloorDiv, (top_dim, bottom_dim)),)
    whole[key] = whole.get(key, 0) + 1
    return from_terms(whole)


def divide(mono: Mono, factor: Mono) -> Mono | None:
    """mono / factor, if it divides."""
    rest = list(mono)
    for atom in factor:
        if atom not in rest:
            return None
        rest.remove(atom)
    return tuple(rest)


def without_factor(mono: Mono, factor: Mono) -> Mono:
    quotient = divide(mono, factor)
    assert quotient is not None
    return quotient


def shared_factor(monos: list[Mono]) -> Mono:
    """The atoms that divide every monomial."""
    shared = list(monos[0])
    for mono in monos[1:]:
        rest = list(mono)
        kept = []
        for atom in shared:
            if atom in rest:
                rest.remove(atom)
                kept.append(atom)
        shared = kept
        if not shared:
            break
    return tuple(shared)


def mod(left: Dim, right: Dim) -> Dim:
    """left mod right, as left - right * (left / right)."""
    return sub(left, mul(right, floordiv(left, right)))


# --- min and max
# -------------------------------------------------------------------------------------


def minimum(*dims: Dim) -> Dim:
    return _extremum(Min, dims)


def maximum(*dims: Dim) -> Dim:
    return _extremum(Max, dims)


def _extremum(kind: type[Min] | type[Max], dims: tuple[Dim, ...]) -> Dim:
    """min(p+c, q+c) -> min(p, q) + c;

    Min(p, q) -> p where q - p >= 0; nested ones are flattened.
    """
    parts: list[Dim] = []
    for dim in dims:
        inner = next((m for m in terms_of(dim) if len(m) == 1 and isinstance(m[0], kind)), None)
        if inner is None or terms_of(dim)[inner] != 1:
            inside: list[Dim] = [dim]
        else:
            # max(max(p, q) + r, s) -> max(p + r, q + r, s)
            rest = sub(dim, of_atom(inner[0]))
            inside = [add(part, rest) for part in inner[0].args]  # type: ignore[union-attr, arg-type]
        parts.extend(part for part in inside if part not in parts)
    kept: list[Dim] = []
    for part in parts:
        if any(_covers(kind, other, part) for other in kept):
            continue
        kept = [other for other in kept if not _covers(kind, part, other)]
        kept.append(part)
    if len(kept) == 1:
        return kept[0]
    monos = dict.fromkeys(m for p in kept for m in terms_of(p))
    offset = from_terms({m: min(terms_of(p).get(m, 0) for p in kept) for m in monos})
    args = sorted((sub(p, offset) for p in kept), key=_dim_order)
    return add(Poly({(_atom(kind, tuple(args)),): 1}), offset)


def _covers(kind: type[Min] | type[Max], winner: Dim, loser: Dim) -> bool:
    """Whether the winner makes the loser superfluous."""
    return is_nonnegative(sub(loser, winner) if kind is Min else sub(winner, loser))


def _dim_order(dim: Dim) -> list[tuple[list[int], int]]:
    return sorted(([a.id for a in m], c) for m, c in terms_of(dim).items())


def _lone_atom(dim: Dim) -> Atom | None:
    if isinstance(dim, Poly) and len(dim.terms) == 1:
        ((mono, coefficient),) = dim.terms.items()
        if coefficient == 1 and len(mono) == 1:
            return mono[0]
    return None


def of_size(shape: ShapeVar) -> Dim:
    """The number of elements of a shape variable."""
    return Poly({(_atom(Size, (shape,)),): 1})


# --- signs
# -------------------------------------------------------------------------------------------


def is_nonnegative(dim: Dim, depth: int = 3) -> bool:
    """Whether the dimension is >= 0 for all sizes >= 0. False means: not known to be."""
    if isinstance(dim, int):
        return dim >= 0
    if isinstance(dim, DimVar):
        return True
    if all(c > 0 and all(_atom_nonnegative(a) for a in m) for m, c in dim.terms.items()):
        return True
    if depth == 0:
        return False
    compound = [m for m in dim.terms if len(m) == 1 and isinstance(m[0], FloorDiv | Min | Max)]
    return any(_bounded(dim, m, dim.terms[m], depth - 1) for m in compound[:4])


def _bounded(dim: Dim, mono: Mono, coefficient: int, depth: int) -> bool:
    """Replace one atom by a bound that makes the dimension smaller, and look again."""
    atom = mono[0]
    rest = from_terms({m: c for m, c in terms_of(dim).items() if m != mono})
    match atom:
        case FloorDiv(args=(top, bottom)) if isinstance(bottom, int) and bottom > 0:
            # p/d <= p/d exactly, and >= (p - d + 1)/d; multiply by d
            bound = top if coefficient < 0 else sub(top, bottom - 1)
            return is_nonnegative(combine(scale(bottom, rest), coefficient, bound), depth)
        case Min(args=parts) if coefficient < 0:
            return any(is_nonnegative(combine(rest, coefficient, p), depth) for p in parts)
        case Max(args=parts) if coefficient > 0:
            return any(is_nonnegative(combine(rest, coefficient, p), depth) for p in parts)
        case Min(args=parts) | Max(args=parts):
            return all(is_nonnegative(combine(rest, coefficient, p), depth) for p in parts)
        case _:
            return False


def _atom_nonnegative(atom: Atom) -> bool:
    match atom:
        case FloorDiv(args=(top, bottom)):
            return is_nonnegative(top, 1) and (not isinstance(bottom, int) or bottom > 0)
        case Min(args=parts):
            return all(is_nonnegative(p, 1) for p in parts)
        case Max(args=parts):
            return any(is_nonnegative(p, 1) for p in parts)
        case _:
            return True


def is_not_one(dim: Dim) -> bool:
    """Whether the dimension is certainly not 1: it is at least 2, or 0, or never 1 modulo
    something.
    """
    if isinstance(dim, int):
        return dim != 1
    if isinstance(dim, DimVar):
        return False
    constant = dim.terms.get((), 0)
    common = gcd(*(c for m, c in dim.terms.items() if m))
    return (constant - 1) % common != 0 or is_nonnegative(sub(dim, 2))


# --- reading off
# -----------------------------------------------------------------------------------------


def variables(dim: Dim) -> Iterator[DimVar | ShapeVar]:
    """Every variable in the dimension, inside atoms too; some may come twice."""
    if isinstance(dim, DimVar):
        yield dim
    elif isinstance(dim, Poly):
        for mono in dim.terms:
            for atom in mono:
                if isinstance(atom, DimVar):
                    yield atom
                else:
                    for arg in atom.args:
                        if isinstance(arg, ShapeVar):
                            yield arg
                        else:
                            yield from variables(arg)


Lookup = Callable[[DimVar], Dim]


def substitute(dim: Dim, lookup: Lookup, size: Callable[[ShapeVar], Dim]) -> Dim:
    """The dimension with its variables replaced, in normal form again."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        return lookup(dim)
    result: dict[Mono, int] = {}
    changed = False
    for mono, coefficient in dim.terms.items():
        images = [replace_atom(a, lookup, size) for a in mono]
        if all(_is_atom(i, a) for i, a in zip(images, mono, strict=True)):
            result[mono] = result.get(mono, 0) + coefficient
            continue
        changed = True
        for m, c in terms_of(product(images)).items():
            result[m] = result.get(m, 0) + coefficient * c
    return from_terms(result) if changed else dim


def _is_atom(image: Dim, atom: Atom) -> bool:
    return image is atom or _lone_atom(image) is atom


def replace_atom(atom: Atom, lookup: Lookup, size: Callable[[ShapeVar], Dim]) -> Dim:
    match atom:
        case DimVar():
            return lookup(atom)
        case FloorDiv(args=(top, bottom)):
            return floordiv(substitute(top, lookup, size), substitute(bottom, lookup, size))
        case Min(args=parts):
            return minimum(*(substitute(p, lookup, size) for p in parts))
        case Max(args=parts):
            return maximum(*(substitute(p, lookup, size) for p in parts))
        case Size(args=(shape,)):
            return size(shape)
        case Vast():
            return of_atom(atom)


def evaluate(dim: Dim, values: dict[DimVar, int]) -> int | None:
    """The value of the dimension, or None where it divides by zero or a variable has no value."""
    if isinstance(dim, int):
        return dim
    if isinstance(dim, DimVar):
        return values.get(dim)
    total = 0
    for mono, coefficient in dim.terms.items():
        for atom in mono:
            value = _evaluate_atom(atom, values)
            if value is None:
                return None
            coefficient *= value
        total += coefficient
    return total


def _evaluate_atom(atom: Atom, values: dict[DimVar, int]) -> int | None:
    if isinstance(atom, DimVar):
        return values.get(atom)
    if isinstance(atom, Size | Vast):
        return None
    parts = [evaluate(part, values) for part in atom.args]
    if any(part is None for part in parts):
        return None
    numbers = [part for part in parts if part is not None]
    if isinstance(atom, FloorDiv):
        return numbers[0] // numbers[1] if numbers[1] else None
    return min(numbers) if isinstance(atom, Min) else max(numbers)
