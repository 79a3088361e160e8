"""Every example of every operator runs: the same values on two backends, and what is inferred.

An example is a program whose parameters say their types. Sizes are chosen for the names in them,
the arguments are random, and the result is compared with the type that the example promises at
these sizes.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy
import pytest

import axon
from axon.driver import check_text
from axon.ops import OPERATORS
from axon.ops.examples import Example, examples, lift
from tests.run.support import BACKENDS, OTHER, plain

SIZES = {"n": 4, "k": 2, "h": 5, "w": 6, "b": 3, "c": 3, "m": 2, "r": 3, "s": 3, "d": 4, "v": 7}
"""What the names of dimensions stand for; any other is 3."""

LARGEST = 500_000
"""Sizes that examples write down may be those of real networks; these are cut down."""

CUT = {224: 23, 112: 14, 64: 8}

ELEMENTS: dict[str, Any] = {
    "bool": bool, "i32": numpy.int32, "i64": numpy.int64, "u8": numpy.uint8, "u32": numpy.uint32,
    "f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "f32": numpy.float32, "f64": numpy.float64,
}  # fmt: skip

CLOSE = {"f16": 1e-2, "bf16": 6e-2, "f32": 2e-5, "f64": 1e-12}

PAIRS = [(name, e) for name, op in OPERATORS.items() for e in examples(op.rule.__doc__ or "")]
RUN_TIME = re.compile(r"\?\w+")


@dataclass(frozen=True)
class Param:
    name: str
    elem: str
    dims: tuple[str, ...]

    def shape(self, sizes: dict[str, int]) -> tuple[int, ...]:
        return tuple(int(d) if d.isdigit() else sizes[d] for d in self.dims)


def params(example: Example) -> list[Param]:
    found = []
    for text in lift(example.call)[0]:
        parts = re.fullmatch(r"([\w']+) : (\w+)(?: \[([\w,]*)\])?", text)
        assert parts is not None, text
        dims = tuple(d for d in (parts[3] or "").split(",") if d)
        found.append(Param(parts[1], parts[2], dims))
    return found


def sizes(found: list[Param]) -> dict[str, int]:
    return {d: SIZES.get(d, 3) for p in found for d in p.dims if not d.isdigit()}


def smaller(example: Example) -> Example:
    """The example with the sizes of a small network, if its arguments are large."""
    large = any(numpy.prod(p.shape(sizes(params(example)))) > LARGEST for p in params(example))
    if not large:
        return example

    def cut(found: re.Match[str]) -> str:
        return str(CUT.get(int(found[0]), int(found[0])))

    call = re.sub(r"(?<=[\[,])\d+(?=[\],])", cut, example.call)
    return Example(call, "")


def argument(
    param: Param, shape: tuple[int, ...], random: numpy.random.Generator, most: int
) -> Any:
    """Numbers that every operator is defined for: floats in (0, 1), indices that are in range."""
    if param.elem == "bool":
        return random.random(shape) < 0.5
    if param.elem.startswith(("i", "u")):
        return random.integers(most // 2, most + 1, shape).astype(dtype(param.elem))
    return random.uniform(0.1, 0.9, shape).astype(dtype(param.elem))


def dtype(elem: str) -> Any:
    return numpy.dtype(ELEMENTS[elem])


def shown(value: Any) -> str:
    """The type of a result, as Axon writes it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))})"
    (elem,) = (name for name, kind in ELEMENTS.items() if value.dtype == kind)
    return elem + (f" [{','.join(map(str, value.shape))}]" if value.shape else "")


def fits(made: str, inferred: str) -> bool:
    """Whether a type is an inferred one; a run-time size may be any, and a run-time shape."""
    shapes = [
        r"\d+".join(re.escape(part) for part in RUN_TIME.split(text))
        for text in re.split(r" \?\w+", inferred)
    ]
    pattern = r"( \[[\d,]*\])?".join(shapes)
    return re.fullmatch(pattern, made) is not None


def same(a: Any, b: Any) -> None:
    if isinstance(a, tuple):
        assert isinstance(b, tuple) and len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            same(x, y)
        return
    left, right = numpy.asarray(a), numpy.asarray(b)
    assert left.dtype == right.dtype
    assert left.shape == right.shape
    within = CLOSE.get(shown(left).partition(" ")[0])
    if within is not None:
        wide = left.astype(numpy.float64), right.astype(numpy.float64)
        numpy.testing.assert_allclose(*wide, rtol=within, atol=within)
    else:
        numpy.testing.assert_array_equal(left, right)


NOTHING_THERE = {
    ("gather", "v"),
    ("gather_elements", "n"),
    ("scatter", "n"),
    ("gather_nd", "v"),
    ("gather_nd", "h"),
    ("gather_nd", "w"),
}
"""An operator, and a dimension that must not be empty: an index would be out of range there, which
JAX does not tell.
"""

WINDOWED = ("max_pool", "argmax_pool")
"""Operators with an example whose window does not fit into an input of size one."""

SILENT = ("indexing", "scatter")
"""The families of operators with indices."""


def test_all_operators_have_examples() -> None:
    assert {name for name, _ in PAIRS} == set(OPERATORS)


def run(operator: str, example: Example, chosen: dict[str, int]) -> None:
    """On both backends, at these sizes; where inference says that it cannot be, it is an error."""
    net = axon.compile(example.program)
    function = net.function("example")
    assert function is not None
    found = params(example)
    random = numpy.random.default_rng(zlib.crc32(example.call.encode()))
    most = min(2, *(max(size, 1) - 1 for size in chosen.values()), 2)
    args = [argument(p, p.shape(chosen), random, most) for p in found]
    types = {p.name: f"{p.elem} [{','.join(map(str, p.shape(chosen)))}]" for p in found}
    try:
        inferred = function.specialize(**types)
    except axon.ArgumentError:
        assert 0 in chosen.values() or operator in WINDOWED
        for backend in BACKENDS:
            with pytest.raises(axon.ArgumentError):
                net.on(backend).example(*args)
        return
    assert all("?" in condition for condition in inferred.where), "what a run checks, no more"
    result = inferred.type.split(" -> ", 1)[1]
    if (operator, *(d for d, size in chosen.items() if size == 0)) in NOTHING_THERE:
        silent = OTHER == "jax" and OPERATORS[operator].family in SILENT
        for backend in BACKENDS[: 1 if silent else 2]:
            with pytest.raises(axon.AxonError):
                net.on(backend).example(*args)
        return
    on_numpy = function(*args)
    assert fits(shown(on_numpy), result), (shown(on_numpy), result)
    on_other = plain(net.on(OTHER).example(*args))
    assert fits(shown(on_other), result), (shown(on_other), result)
    same(on_numpy, on_other)


@pytest.mark.parametrize(
    ("operator", "example"), PAIRS, ids=[f"{name}: {example.call}" for name, example in PAIRS]
)
def test_example(operator: str, example: Example) -> None:
    example = smaller(example)
    run(operator, example, sizes(params(example)))


@pytest.mark.parametrize("elem", ["bf16", "f64", "i32"])
@pytest.mark.parametrize("operator", OPERATORS)
def test_examples_at_other_element_types(operator: str, elem: str) -> None:
    """Those that are well typed there; an index stays one."""
    for example in (smaller(e) for name, e in PAIRS if name == operator):
        call = re.sub(r": f(32|64)\b", f": {elem}", example.call)
        other = Example(call, "")
        if call != example.call and check_text(other.program).ok:
            run(operator, other, sizes(params(other)))


EMPTY = [(name, e, dim) for name, e in PAIRS for dim in sizes(params(e))]


@pytest.mark.parametrize(
    ("operator", "example", "dim"),
    EMPTY,
    ids=[f"{name}: {e.call} at {d}=0" for name, e, d in EMPTY],
)
def test_example_without_elements(operator: str, example: Example, dim: str) -> None:
    run(operator, example, {**sizes(params(example)), dim: 0})


@pytest.mark.parametrize(
    ("operator", "example"),
    [(name, e) for name, e in PAIRS if sizes(params(e))],
    ids=[f"{name}: {e.call}" for name, e in PAIRS if sizes(params(e))],
)
def test_example_with_sizes_of_one(operator: str, example: Example) -> None:
    run(operator, example, dict.fromkeys(sizes(params(example)), 1))
