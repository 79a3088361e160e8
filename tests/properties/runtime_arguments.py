"""Arguments for programs with run-time and ragged sizes: parameters, and arrays for them.

Elements are small whole numbers, so that sums are exact; how many of them are equal, and how many
are zero, is what run-time sizes depend on.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

import numpy

from tests.properties.trees import Param
from tests.properties.values import Array, Rag, Tensor, Value

SIZES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 5)
LENGTHS = (0, 1, 2, 2, 3, 4)
DTYPES = {"f32": numpy.float32, "i64": numpy.int64, "bool": numpy.bool_}


@dataclass(frozen=True, slots=True)
class Kind:
    """What a parameter is given: an element type, and for each dimension a name or `*`; `said` if
    the annotation says so.
    """

    elem: str
    dims: tuple[str | int, ...]
    said: bool

    def param(self, name: str) -> Param:
        return Param(name, self.elem, self.dims if self.said else None)


FORMS: list[tuple[str | int, ...]] = [
    ("v",), ("v",), ("v",), ("v",), ("v", "v"), ("v", "v"), ("v", 2), (), ("v", "v", "v"),
]  # fmt: skip
RAGGED: list[tuple[str | int, ...]] = [
    ("v", "*"), ("v", "*"), ("v", "*"), ("v", "*", 3), ("v", "*", "*"), ("v", 2, "*"),
]  # fmt: skip


def draw_open_kinds(random: Random) -> list[Kind]:
    """One or two parameters of which nothing is said: their ranks are for inference to find."""
    elem = random.choice(("f32", "i64"))
    forms = [random.choice(FORMS[:6]) for _ in range(random.choice((1, 1, 2)))]
    return [
        Kind(elem, tuple(f"{'nmk'[i]}{j}" for j in range(len(form))), False)
        for i, form in enumerate(forms)
    ]


def draw_kinds(random: Random) -> list[Kind]:
    """One to three parameters; some sizes have one name."""
    kinds: list[Kind] = []
    known: list[str] = []
    often = random.choice((0, 0, 0.4, 0.4, 0.7))
    for i in range(random.choice((1, 2, 2, 3))):
        ragged = random.random() < often
        elem = "f32" if random.random() < 0.8 else "i64"
        dims: list[str | int] = []
        said = random.random() < (0.85 if ragged else 0.6)
        for j, dim in enumerate(random.choice(RAGGED if ragged else FORMS)):
            if dim == "v":
                again = known and said and random.random() < 0.35
                dim = random.choice(known) if again else f"{'nmk'[i]}{j or ''}"
                if said and dim not in known:
                    known.append(dim)
            dims.append(dim)
        if kinds and random.random() < 0.3:
            dims = list(kinds[-1].dims)
            if not (said and kinds[-1].said):
                dims = [d if not isinstance(d, str) or d == "*" else d + "'" for d in dims]
        kinds.append(Kind(elem, tuple(dims), said))
    return kinds


def draw_arguments(random: Random, kinds: list[Kind], sizes: dict[str, int]) -> tuple[Value, ...]:
    style = random.choice(("any", "any", "distinct", "one", "few"))
    return tuple(_tensor(random, kind, sizes, style) for kind in kinds)


def draw_sizes(random: Random, kinds: list[Kind]) -> dict[str, int]:
    """Sizes that are often equal, so that strict operators fit."""
    common = random.choice(SIZES[1:])
    names = [d for kind in kinds for d in kind.dims if isinstance(d, str) and d != "*"]
    return {
        name: common if random.random() < 0.6 else random.choice(SIZES)
        for name in dict.fromkeys(names)
    }


def other_sizes(random: Random, sizes: dict[str, int]) -> dict[str, int]:
    """The same sizes, or near ones."""
    kind = random.randrange(4)
    if kind == 0 or not sizes:
        return sizes
    if kind == 1:
        old, new = random.choice(list(sizes.values())), random.choice(SIZES)
        return {name: new if size == old else size for name, size in sizes.items()}
    if kind == 2:
        changed = random.choice(list(sizes))
        return sizes | {changed: random.choice(SIZES)}
    return {name: random.choice(SIZES) for name in sizes}


def _tensor(random: Random, kind: Kind, sizes: dict[str, int], style: str) -> Tensor:
    return _level(random, kind.dims, sizes, DTYPES[kind.elem], style)


def _level(
    random: Random, dims: tuple[str | int, ...], sizes: dict[str, int], dtype: Any, style: str
) -> Tensor:
    if "*" not in dims:
        shape = tuple(d if isinstance(d, int) else sizes[d] for d in dims)
        return _elements(random, shape, dtype, style)
    head, *rest = dims
    n = head if isinstance(head, int) else random.choice(LENGTHS) if head == "*" else sizes[head]
    if rest[0] == "*" and len(rest) >= 1 and n > 1 and head != "*":
        lengths = _different(random, n)
    else:
        lengths = [random.choice(LENGTHS) for _ in range(max(n, 1))]

    def row(length: int) -> Tensor:
        inner = ("_", *rest[1:]) if rest[0] == "*" else tuple(rest)
        return _level(random, inner, sizes | {"_": length}, dtype, style)

    rows = tuple(row(lengths[i]) for i in range(n))
    return Rag(rows, rows[0] if rows else row(0))


def _different(random: Random, n: int) -> list[int]:
    while True:
        lengths = [random.choice(LENGTHS) for _ in range(n)]
        if len(set(lengths)) > 1:
            return lengths


def _elements(random: Random, shape: tuple[int, ...], dtype: Any, style: str) -> Array:
    count = int(numpy.prod(shape))
    if style == "distinct":
        values = random.sample(range(count + 3), count)
    elif style == "one":
        values = [random.randrange(3)] * count
    elif style == "few":
        values = [random.randrange(2) for _ in range(count)]
    else:
        values = [random.randrange(4) for _ in range(count)]
    return numpy.array(values, dtype).reshape(shape)
