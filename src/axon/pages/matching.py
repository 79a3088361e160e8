"""What the variables of a function's own type stand for at a call of it."""

from __future__ import annotations

from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.quotient import exact_quotient
from axon.types.type import (
    DimValue,
    Fn,
    Record,
    Renaming,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar

ROUNDS = 2
Products = list[tuple[Dim, Dim]]


def matched(own: Type, here: Type, outer: Renaming) -> Renaming:
    """The substitution that makes one type the other, as far as it can be read off: a size that
    only occurs in a product keeps its own name. `outer` is that of the functions around.
    """
    found = Renaming(dict(outer.dims), dict(outer.shapes), dict(outer.elems), dict(outer.types))
    products: list[tuple[Dim, Dim]] = []
    _match(found, own, here, products)
    for _ in range(ROUNDS):
        for size, known in products:
            _match_product(found, size, known)
    return found


def unchanged() -> Renaming:
    return Renaming({}, {}, {}, {})


def _match(found: Renaming, own: Type, here: Type, products: Products) -> None:
    match own, here:
        case Tensor(elem, shape), Tensor(known, given):
            if isinstance(elem, ElemVar):
                found.elems.setdefault(elem, known)
            _match_shape(found, shape, given, products)
        case ShapeValue(shape), ShapeValue(given):
            _match_shape(found, shape, given, products)
        case DimValue(dim), DimValue(given_dim):
            if isinstance(dim, DimVar):
                found.dims.setdefault(dim, given_dim)
        case TypeVar(), _:
            found.types.setdefault(own, here)
        case Record(), Record():
            fields = here.fields
            for name, type_ in own.fields.items():
                if name in fields:
                    _match(found, type_, fields[name], products)
        case Tuple(items), Tuple(others) if len(items) == len(others):
            for item, other in zip(items, others, strict=True):
                _match(found, item, other, products)
        case Fn(params, result), Fn(others, other) if len(params) == len(others):
            for param, given_param in zip(params, others, strict=True):
                _match(found, param, given_param, products)
            _match(found, result, other, products)
        case _:
            pass


def _match_shape(found: Renaming, own: Shape, here: Shape, products: Products) -> None:
    """A word with one open part takes what its fixed parts leave over."""
    opened = [i for i, item in enumerate(own) if isinstance(item, ShapeVar)]
    if len(opened) > 1 or (not opened and len(own) != len(here)) or len(own) - 1 > len(here):
        return
    if opened:
        at, after = opened[0], len(own) - opened[0] - 1
        middle = here[at : len(here) - after]
        if any(isinstance(item, ShapeVar) for item in (*here[:at], *here[len(here) - after :])):
            return
        var = own[at]
        assert isinstance(var, ShapeVar)
        found.shapes.setdefault(var, middle)
        pairs = [*zip(own[:at], here, strict=False)]
        pairs += zip(own[at + 1 :], here[len(here) - after :], strict=True)
    else:
        pairs = [*zip(own, here, strict=True)]
    for item, other in pairs:
        if isinstance(item, DimVar) and not isinstance(other, ShapeVar) and item.rank_of is None:
            found.dims.setdefault(item, other)
        elif isinstance(item, Poly) and not isinstance(other, ShapeVar):
            products.append((item, other))


def _match_product(found: Renaming, size: Dim, known: Dim) -> None:
    """Of `a*b` where `a` is known, and the whole is, `b` is too."""
    open_ = [v for v in dims.variables(size) if v not in found.dims]
    if len(open_) != 1 or open_[0] in dims.variables(known):
        return
    (var,) = open_
    terms = dims.terms_of(found.dim(size))
    if len(terms) == 1 and not isinstance(var, ShapeVar):
        ((mono, coefficient),) = terms.items()
        if mono.count(var) == 1:
            rest = tuple(atom for atom in mono if atom is not var)
            quotient = exact_quotient(known, dims.from_terms({rest: coefficient}))
            if quotient is not None:
                found.dims[var] = quotient
