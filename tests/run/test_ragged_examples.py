"""Every example of every operator with a size that varies: what is accepted gives, for each row,
what the operator gives for a batch of that row alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import axon
from axon.ops import OPERATORS
from axon.ops.examples import Example, examples, lift
from tests.backends.test_every_operator import SIZES, Param, argument, params, smaller

NO_BATCH = {"tril", "triu", "stack", "expand_dims", "squeeze", "shape", "size", "rank"}
"""What knows the place of a row among the others, puts something before all of them, or makes
sizes.
"""

CHOSEN = [
    (name, smaller(example))
    for name, operator in OPERATORS.items()
    for example in examples(operator.rule.__doc__ or "")
    if operator.family != "functional" and name not in NO_BATCH
]
ROWS = "rows"
"""What the first dimension of a tensor that varies is called."""


@dataclass(frozen=True)
class Variant:
    """An example in which a dimension varies, and the same in which it does not."""

    varying: tuple[Param, ...]
    body: str

    def program(self, star: str) -> str:
        typed = ", ".join(f"{p.name} : {p.elem} [{','.join(p.dims)}]" for p in self.varying)
        return f"f = fn ({typed}) {{ {self.body} }};".replace("*", star, typed.count("*"))


def variants(example: Example) -> Iterator[Variant]:
    found, body = params(example), lift(example.call)[1]
    for dim in dict.fromkeys(d for p in found for d in p.dims[1:]):
        firsts = {p.dims[0] for p in found if dim in p.dims[1:]}
        if len(firsts) > 1 or (re.search(rf"\b{dim}\b", body) and not dim.isdigit()):
            continue
        (first,) = firsts
        changed = tuple(
            Param(
                p.name,
                p.elem,
                tuple(
                    ROWS if i == 0 and d == first and (dim in p.dims[1:] or not d.isdigit())
                    else "*" if i and d == dim and p.dims[0] == first
                    else d
                    for i, d in enumerate(p.dims)
                ),
            )
            for p in found
        )  # fmt: skip
        yield Variant(changed, body)


def size_of(dim: str, star: int) -> int:
    return star if dim == "*" else int(dim) if dim.isdigit() else SIZES.get(dim, 3)


def given(
    variant: Variant, stars: list[int], random: numpy.random.Generator
) -> tuple[list[Any], list[list[Any]]]:
    """The arguments, and those for each row alone."""
    whole: list[Any] = []
    alone: list[list[Any]] = [[] for _ in stars]
    for param in variant.varying:
        rows = []
        for star in stars:
            shape = tuple(size_of(d, star) for d in param.dims[1:])
            rows.append(argument(param, shape, random, 1))
        if "*" in param.dims:
            varying = axon.backends.ragged.Varying(tuple(d == "*" for d in param.dims[1:]))
            whole.append(axon.Ragged.from_rows(rows, rows[0], varying))
        elif param.dims[:1] == (ROWS,):
            whole.append(numpy.stack(rows))
        else:
            shape = tuple(size_of(d, stars[0]) for d in param.dims)
            whole.append(argument(param, shape, random, 1))
        for i, row in enumerate(rows):
            alone[i].append(row[None] if param.dims[:1] == (ROWS,) else whole[-1])
    return whole, alone


def plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(plain(part) for part in value)
    return list(value.on_host()) if isinstance(value, axon.Ragged) else list(numpy.asarray(value))


def agree(found: Any, expected: list[Any], what: str) -> None:
    if isinstance(expected[0], tuple):
        for i, part in enumerate(found):
            agree(part, [each[i] for each in expected], what)
        return
    assert len(found) == len(expected), what
    for row, alone in zip(found, expected, strict=True):
        alone = numpy.asarray(alone)[0]
        assert numpy.shape(row) == alone.shape, what
        numpy.testing.assert_allclose(
            numpy.asarray(row, "f8"), numpy.asarray(alone, "f8"), 2e-2, 1e-4, err_msg=what
        )


def compare(variant: Variant, seed: int) -> int:
    """How many calls could be compared."""
    program = variant.program("*")
    if not axon.check_text(program).ok:
        return 0
    net, dense = axon.compile(program), axon.compile(variant.program("star"))
    compared = 0
    for lengths in ([4, 4, 4], [4, 6, 8], [12, 4, 5], [3, 3], [1]):
        whole, alone = given(variant, lengths, numpy.random.default_rng(seed))
        try:
            expected = [dense.f(*args) for args in alone]
        except Exception:  # such rows do not fit, whatever the reason
            continue
        if not isinstance(expected[0], tuple) and not numpy.ndim(expected[0]):
            continue
        try:
            found = net.f(*whole)
        except axon.ArgumentError as error:
            if "works along" in str(error):
                raise
            continue  # the other arguments do not fit rows that vary
        agree(plain(found), expected, program)
        compared += 1
    return compared


@pytest.mark.parametrize(("name", "example"), CHOSEN, ids=lambda x: getattr(x, "call", x))
def test_each_row_alone(name: str, example: Example) -> None:
    for variant in variants(example):
        compare(variant, len(example.call))


def test_much_is_compared() -> None:
    found = [compare(v, 1) for _, example in CHOSEN[::5] for v in variants(example)]
    assert sum(found) > 60
