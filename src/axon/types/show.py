"""Dimensions, shapes, types and relations as text that Axon reads back.

A user's names are kept; other variables are named in order of appearance: element types t, u, v …,
everything else a, b, c ….
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count
from string import ascii_lowercase
from typing import NamedTuple

from axon.syntax.print_types import print_record
from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Mono, Size, Vast
from axon.types.quotient import factors
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    DimValue,
    Either,
    Fn,
    HasRank,
    Record,
    Relation,
    RowOf,
    Shape,
    ShapeEq,
    ShapeValue,
    Stacked,
    Tensor,
    Tuple,
    Type,
    Uniform,
    Unknown,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, Var, is_ragged

MOST_SUMMED = 4
"""A sum of so many terms may be a product of sums."""

# What needs no parentheses: a name, a number, a call.
_SIMPLE = re.compile(r"\??\w+'*(\[\d+\])?|\w+\([^()]*\)")


class Quotient(NamedTuple):
    """`top / bottom` or `top mod bottom`, as it is written."""

    op: str
    top: Dim
    bottom: Dim


class Term(NamedTuple):
    """A product as it is written: its factors in order, their texts, and a number."""

    factors: tuple[Atom | Quotient, ...]
    texts: tuple[str, ...]
    coefficient: int


def _letters(alphabet: str) -> Iterator[str]:
    yield from alphabet
    for number in count(1):
        for letter in alphabet:
            yield f"{letter}{number}"


@dataclass(slots=True)
class Names:
    """Names for variables, assigned on demand.

    `hints` prefers the names that signatures used.
    """

    hints: bool = False
    given: dict[Var, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    _elem: Iterator[str] = field(default_factory=lambda: _letters("tuvwxyz"))
    _index: Iterator[str] = field(default_factory=lambda: _letters(ascii_lowercase))
    _numbers: dict[str, int] = field(default_factory=dict)
    """The least number that may be free, behind a name that is taken."""

    def reserve(self, variables: Iterable[Var]) -> None:
        """Reserve the user's names before any other is assigned."""
        for var in variables:
            if var.user and var not in self.given and var.name not in self.taken:
                self.given[var] = var.name
                self.taken.add(var.name)

    def __call__(self, var: Var) -> str:
        name = self.given.get(var)
        if name is None:
            name = self.given[var] = self._fresh(var)
            self.taken.add(name)
        return name

    def _fresh(self, var: Var) -> str:
        if self.hints and var.name:
            if var.name not in self.taken:
                return var.name
            number = self._numbers.get(var.name, 1)
            while f"{var.name}{number}" in self.taken:
                number += 1
            self._numbers[var.name] = number
            return f"{var.name}{number}"
        pool = self._elem if isinstance(var, ElemVar) else self._index
        return next(name for name in pool if name not in self.taken)


@dataclass(frozen=True, slots=True)
class Show:
    """The notation: names and options for writing dimensions, types and relations."""

    names: Names = field(default_factory=Names)
    paper: bool = False
    mods: bool = True
    """Whether a remainder is written with `mod`, which expressions do not have."""
    shared: frozenset[Var] = frozenset()
    """The sizes that vary and have a name here, since they are in more than one place."""
    named: bool = False
    """Whether all sizes that vary have names, and what is computed from them is written out."""
    seen: dict[Dim, list[str]] = field(default_factory=dict, repr=False)
    """Dimensions as they were written, in tokens between which there may be space."""

    # --- dimensions ---

    def dim(self, dim: Dim, spaced: bool = False) -> str:
        if isinstance(dim, int):
            return str(dim)
        if isinstance(dim, DimVar):
            return self._var(dim) if not dim.over else self._star(dim)
        tokens = self.seen.get(dim)
        if tokens is None:
            tokens = self.seen[dim] = self._compound(dim)
        return (" " if spaced else "").join(tokens)

    def _star(self, dim: DimVar) -> str:
        return f"*{self.names(dim)}" if self.named or dim in self.shared else "*"

    def _compound(self, dim: Dim) -> list[str]:
        if self._ragged(dim) and not self.named:
            return ["*"]
        inside = as_one_extremum(dim)
        if inside is not None:
            return [self._extremum(*inside)]
        return [self._prefix(dim)] if self.paper else self._product(dim) or self._sum(dim)

    def _product(self, dim: Dim) -> list[str]:
        """A long sum as a product of quotients, `f*((h-1)/2)*((w-1)/2)`, if it is one."""
        terms = dims.terms_of(dim)
        if len(terms) < MOST_SUMMED or not any(
            len(mono) > 1 and any(isinstance(atom, FloorDiv) for atom in mono) for mono in terms
        ):
            return []
        found = factors(dim)
        if len(found) == 1:
            return []
        return [
            "*".join(sorted(map(self._operand, found), key=lambda text: (text[0] == "(", text)))
        ]

    def _extremum(self, word: str, parts: list[Dim]) -> str:
        texts = [self.dim(part) for part in sorted(parts, key=lambda p: isinstance(p, int))]
        return f"{word}({','.join(texts)})"

    def _ragged(self, dim: Dim) -> bool:
        return any(is_ragged(v) for v in dims.variables(dim))

    def _var(self, var: DimVar | ShapeVar) -> str:
        if isinstance(var, DimVar) and var.rank_of is not None:
            return f"rank({self.names(var.rank_of)})"
        return f"?{self.names(var)}" if var.runtime and not is_ragged(var) else self.names(var)

    def terms(self, dim: Dim) -> list[Term]:
        """Positive terms first, higher degrees first, in order of names, constants last; `mod` is
        recognised.
        """
        rest, found = (dim, []) if self.paper or not self.mods else _mods(dim)
        terms = [
            Term((Quotient("mod", top, bottom),), (self._quotient(top, " mod ", bottom),), c)
            for top, bottom, c in found
        ]
        inside = None if self.paper else _into_division(rest)
        if inside is not None:
            top, bottom, rest = inside
            quotient = self._quotient(top, "/", bottom)
            terms.append(Term((Quotient("/", top, bottom),), (quotient,), 1))
        for mono, coefficient in dims.terms_of(rest).items():
            terms.append(self._term(mono, coefficient))
        # constants come last, unless every other term is negative
        falling = all(t.coefficient < 0 for t in terms if t.factors)
        terms.sort(
            key=lambda t: (
                not t.factors and not falling,
                t.coefficient < 0,
                -len(t.factors),
                t.texts,
            )
        )
        return terms

    def _quotient(self, top: Dim, op: str, bottom: Dim) -> str:
        return f"{self._operand(top)}{op}{self._operand(bottom)}"

    def _term(self, mono: Mono, coefficient: int) -> Term:
        alone = len(mono) == 1 and abs(coefficient) == 1
        texts = [self._atom(atom, alone) for atom in mono]
        order = sorted(range(len(mono)), key=lambda i: (texts[i][0] == "(", texts[i]))
        return Term(tuple([mono[i] for i in order]), tuple([texts[i] for i in order]), coefficient)

    def _sum(self, dim: Dim) -> list[str]:
        out: list[str] = []
        for term in self.terms(dim):
            texts, coefficient = term.texts, term.coefficient
            size = abs(coefficient)
            if texts and " mod " in texts[0]:
                texts = (f"({texts[0]})",)
            body = "*".join(texts if size == 1 and texts else (str(size), *texts))
            if out:
                out += ("-" if coefficient < 0 else "+", body)
            elif coefficient < 0:
                out.append(f"-({body})" if size == 1 and "/" in body else f"-{body}")
            else:
                out.append(body)
        return out or ["0"]

    def _atom(self, atom: Atom, alone: bool) -> str:
        match atom:
            case DimVar():
                return self._var(atom)
            case Size(args=(shape,)):
                return f"size({self._var(shape)})"
            case Vast():
                return "vast"
            case FloorDiv(args=(top, bottom)) if self.paper:
                return f"(/ {self.dim(top)} {self.dim(bottom)})"
            case FloorDiv(args=(top, bottom)):
                text = f"{self._operand(top)}/{self._operand(bottom)}"
                return text if alone else f"({text})"
            case Min(args=parts) | Max(args=parts):
                return self._extremum("min" if isinstance(atom, Min) else "max", list(parts))

    def _operand(self, dim: Dim) -> str:
        text = self.dim(dim)
        return text if _SIMPLE.fullmatch(text) else f"({text})"

    def _prefix(self, dim: Dim) -> str:
        """The paper's notation: (+ (- h r) 1)."""
        out = ""
        for term in self.terms(dim):
            texts, coefficient = term.texts, term.coefficient
            size = abs(coefficient)
            parts = texts if size == 1 and texts else (*texts, str(size))
            body = parts[0]
            for part in parts[1:]:
                body = f"(* {body} {part})"
            if not out:
                out = body if coefficient > 0 else f"(- 0 {body})"
            else:
                out = f"({'+' if coefficient > 0 else '-'} {out} {body})"
        return out or "0"

    # --- shapes and types ---

    def shape(self, shape: Shape) -> str:
        parts: list[str] = []
        run: list[str] = []
        for item in shape:
            if isinstance(item, ShapeVar):
                if run:
                    parts.append(f"[{','.join(run)}]")
                    run = []
                parts.append(self._var(item))
            else:
                run.append(self.dim(item))
        if run or not parts:
            parts.append(f"[{','.join(run)}]")
        return "@".join(parts)

    def type(self, type_: Type, nested: bool = False) -> str:
        if isinstance(type_, Tensor):
            elem, shape = type_.elem, type_.shape
            if isinstance(elem, str):
                return elem if not shape else f"{elem} {self.shape(shape)}"
            return f"{self.names(elem)} {self.shape(shape)}"
        match type_:
            case TypeVar():
                return self.names(type_)
            case Record(items, names, rest):
                fields = zip(names, map(self.type, items), strict=True)
                return print_record(list(fields), "" if rest is None else self.names(rest))
            case Tuple(items):
                return f"({', '.join(self.type(item) for item in items)})"
            case Fn(params, result):
                left = ", ".join(self.params(type_))
                if nested or len(params) != 1 or type(params[0]) in (Fn, Tuple):
                    left = f"({left})"
                return f"{left} -> {self.type(result, nested=True)}"
            case ShapeValue(shape):
                return f"shape {self.shape(shape)}"
            case DimValue(dim):
                return f"dim {self._operand(dim)}"
            case Unknown():
                return "?"

    def params(self, fn: Fn) -> list[str]:
        """The types of the parameters, one by one."""
        return [self.type(param, nested=True) for param in fn.params]

    # --- relations ---

    def relation(self, relation: Relation, hidden: frozenset[Var] = frozenset()) -> str:
        """A condition. A broadcast with a hidden result only states that its parts are
        compatible.
        """
        match relation:
            case ShapeEq(left, right):
                return f"{self.shape(left)} = {self.shape(right)}"
            case DimEq(left, right):
                return self._balanced(dims.sub(left, right), "=", "=")
            case AtLeast(dim, _):
                return self._balanced(dim, ">=", "<=")
            case Broadcast(result, parts):
                text = f"broadcast({', '.join(self.shape(p) for p in parts)})"
                return text if _lone(result) in hidden else f"{self.shape(result)} = {text}"
            case DimBroadcast(dim, dim_parts):
                text = f"broadcast({', '.join(self.dim(p) for p in dim_parts)})"
                return text if dim in hidden else f"{self.dim(dim)} = {text}"
            case Uniform(shape):
                return f"uniform({self.shape(shape)})"
            case RowOf(row, rest, _):
                return f"{self.shape(row)} is a row of {self.shape(rest)}"
            case HasRank(var):
                return f"rank({self.names(var)})"

    def stacked(self, stacked: Stacked) -> str:
        whole, row = self.names(stacked.whole), self.names(stacked.row)
        return f"{whole} = [{self.dim(stacked.size)}]@{row}"

    def either(self, either: Either) -> str:
        return (
            f"{self.dim(either.size)} = either({self.dim(either.left)}, {self.dim(either.right)})"
        )

    def check(self, relation: Relation) -> str:
        """A run-time check: an equation keeps the size that the run makes on the left."""
        if isinstance(relation, DimEq) and relation.right != 0:
            return f"{self.dim(relation.left, True)} = {self.dim(relation.right, True)}"
        return self.relation(relation)

    def _balanced(self, dim: Dim, op: str, flipped: str) -> str:
        multiple = multiple_of_mod(dim) if op == "=" else None
        if multiple is not None:
            factor, top, bottom = multiple
            text = f"{self._operand(top)} mod {self._operand(bottom)}"
            return f"{text} = 0" if factor == 1 else f"{self.dim(factor)}*({text}) = 0"
        left, op, right = balanced(dim, op, flipped)
        return f"{self.dim(left, spaced=True)} {op} {self.dim(right, spaced=True)}"


def balanced(dim: Dim, op: str, flipped: str) -> tuple[Dim, str, Dim]:
    """`dim op 0` with positive terms only, the side that is named first on the left."""
    left = {m: c for m, c in dims.terms_of(dim).items() if c > 0}
    right = {m: -c for m, c in dims.terms_of(dim).items() if c < 0}
    swap = not any(left) and any(right)
    if op == "=" and any(left) and any(right):
        swap = len(right) == 1 and len(left) > 1
    if swap:
        left, right, op = right, left, flipped
    return dims.from_terms(left), op, dims.from_terms(right)


def as_one_extremum(dim: Dim) -> tuple[str, list[Dim]] | None:
    """`max(n,2) - 2` is written `max(n-2,0)`: where there is one such atom the rest goes inside."""
    found = [
        (m[0], c)
        for m, c in dims.terms_of(dim).items()
        if len(m) == 1 and isinstance(m[0], Min | Max)
    ]
    if len(found) != 1 or found[0][1] != 1:
        return None
    atom = found[0][0]
    assert isinstance(atom, Min | Max)
    rest = dims.sub(dim, dims.of_atom(atom))
    return "min" if isinstance(atom, Min) else "max", [dims.add(p, rest) for p in atom.args]


def _into_division(dim: Dim) -> tuple[Dim, int, Dim] | None:
    """`(h+r)/2 - r` is written `(h-r)/2`: the multiple that the normal form took out goes
    back in.
    """
    found = [m for m in dims.terms_of(dim) if len(m) == 1 and isinstance(m[0], FloorDiv)]
    if len(found) != 1 or dims.terms_of(dim)[found[0]] != 1:
        return None
    atom = found[0][0]
    assert isinstance(atom, FloorDiv)
    top, bottom = atom.args
    if not isinstance(bottom, int):
        return None
    rest = dims.sub(dim, dims.of_atom(atom))
    back = {m: c for m, c in dims.terms_of(rest).items() if m and c < 0 and m in dims.terms_of(top)}
    if not back:
        return None
    moved = dims.from_terms(back)
    return dims.combine(top, bottom, moved), bottom, dims.sub(rest, moved)


def _lone(shape: Shape) -> Var | None:
    return shape[0] if len(shape) == 1 and isinstance(shape[0], ShapeVar) else None


def multiple_of_mod(dim: Dim) -> tuple[Dim, Dim, Dim] | None:
    """`b*d - 8*b*(d/8)` is `b * (d mod 8)`: the factor, and the two sides of the `mod`."""
    for mono in dims.terms_of(dim):
        for atom in mono:
            if not isinstance(atom, FloorDiv):
                continue
            top, bottom = atom.args
            if len(dims.terms_of(bottom)) != 1:
                continue
            ((lead, _),) = dims.terms_of(bottom).items()
            rest = dims.divide(dims.without_factor(mono, (atom,)), lead)
            if rest is None:
                continue
            factor = dims.from_terms({rest: 1})
            product = dims.mul(factor, dims.mod(top, bottom))
            if dim in (product, dims.scale(-1, product)):
                return factor, top, bottom
    return None


def _mods(dim: Dim) -> tuple[Dim, list[tuple[Dim, Dim, int]]]:
    """Split off `c * (p mod k)`, which the normal form holds as `c*p - c*k*(p/k)`."""
    found: list[tuple[Dim, Dim, int]] = []
    for mono, coefficient in dims.terms_of(dim).items():
        if len(mono) != 1 or not isinstance(mono[0], FloorDiv):
            continue
        top, bottom = mono[0].args
        if not isinstance(bottom, int) or bottom <= 0 or coefficient % bottom:
            continue
        factor = -coefficient // bottom
        have = dims.terms_of(dim)
        if factor > 0 and all(have.get(m) == factor * c for m, c in dims.terms_of(top).items()):
            found.append((top, bottom, factor))
            dim = dims.combine(dim, -factor, dims.mod(top, bottom))
    return dim, found
