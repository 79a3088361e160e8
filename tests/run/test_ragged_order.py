"""The order of the elements of each row, and reductions, on NumPy: what they are row by row."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy
import pytest

import axon
from axon.backends.numpy_arrays import NumpyArrays
from axon.backends.segments import keys, numpy_reduce
from axon.backends.segments.frames import Segments
from tests.run.all_rows import row_by_row

INTEGERS = ("i8", "u16", "i32", "u32", "i64", "u64")
FLOATS = ("f16", "bf16", "f32", "f64")


def elements(elem: str, kind: str) -> Any:
    """Elements to choose from: many different ones, few, or the odd ones of the type."""
    dtype, random = NumpyArrays().element(elem), numpy.random.default_rng(1)
    if elem in INTEGERS:
        ends = numpy.iinfo(dtype)
        if kind == "many":
            return random.integers(ends.min, ends.max, 200, dtype, endpoint=True)
        return numpy.array([0, 1, 2] if kind == "few" else [ends.min, ends.max, 0, 1], dtype)
    if kind == "many":
        return (random.normal(size=200) * 100).astype(dtype)
    odd = [] if kind == "few" else [numpy.nan, -numpy.nan, numpy.inf, -numpy.inf]
    return numpy.array([*odd, 0.0, -0.0, 1.0]).astype(dtype)


@pytest.mark.parametrize("kind", ["many", "few", "odd"])
@pytest.mark.parametrize("elem", [*INTEGERS, *FLOATS])
def test_order_is_that_of_the_rows_to_the_bit(elem: str, kind: str) -> None:
    """Equal elements stay in their order, and a zero keeps its sign; in rows that are longer than
    what is sorted at a time, and in many short ones.
    """
    some, random = elements(elem, kind), numpy.random.default_rng(0)
    columns = ("", ()), (",3", (3,))
    for lengths in (random.integers(0, 20, 60), numpy.array([3, 0, keys.NEAR + 9, 1, 2])):
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths)])
        for rest, inner in columns:
            net = axon.compile(
                f"f = fn (x : {elem} [n,*{rest}]) {{ map(fn (r) {{ argsort(r, axis=0),"
                " argsort(r, axis=0, descending=true), sort(r, axis=0),"
                " sort(r, axis=0, descending=true) }, x) };"
            )
            values = random.choice(some, (int(offsets[-1]), *inner))
            x = axon.Ragged.from_packed(values, offsets)
            found = net.f(x)
            with row_by_row():
                expected = net.f(x)
            for a, b in zip(found, expected, strict=True):
                assert a.values.dtype == b.values.dtype
                assert a.values.tobytes() == b.values.tobytes()


REDUCTIONS = ("sum", "prod", "max", "min", "any", "all")


@pytest.mark.parametrize("near", [1, 1 << 17])
@pytest.mark.parametrize("width", [1, 2, 16, 70])
@pytest.mark.parametrize("kind", REDUCTIONS)
def test_reductions_of_many_lengths(
    kind: str, width: int, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows that begin and end anywhere in the blocks that are combined together."""
    monkeypatch.setattr(numpy_reduce, "NEAR", near)
    random = numpy.random.default_rng(width)
    few = numpy.concatenate([random.integers(1, 3, 500), [40]])
    for lengths in (random.integers(1, 80, 50), numpy.arange(70), few, numpy.array([5, 3000, 1])):
        segments = Segments.of_lengths(lengths.astype(numpy.int64))
        values = random.normal(1, 0.1, (segments.total, width)).astype(numpy.float32)
        odd = numpy.array([[numpy.nan], [numpy.inf], [0]], numpy.float32)
        values[random.integers(segments.total, size=3)] = odd
        given = values > 1 if kind in ("any", "all") else values
        with NumpyArrays().context():
            made = numpy_reduce.of_numpy(kind, given, segments, None)
        for i, (first, last) in enumerate(pairwise(segments.offsets.tolist())):
            if last > first:
                with NumpyArrays().context():
                    expected = getattr(numpy, kind)(given[first:last], axis=0)
                numpy.testing.assert_allclose(made[i], expected, rtol=1e-4)
