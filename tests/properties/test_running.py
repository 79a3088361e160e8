"""Random programs run: what comes out has the shapes that the interpreter says, and where the
interpreter fails, the call is an error.
"""

from __future__ import annotations

import math
from typing import Any

import numpy
from hypothesis import given
from hypothesis import strategies as st

import axon
from axon.driver import check_text
from tests.budget import QUARTER, share
from tests.properties.programs import Fields, Program, Several, Shape, Value, show, text
from tests.properties.structured import structured_programs as programs

FEW = share(1 / 40)


def arguments(shapes: tuple[Shape, ...]) -> list[Any]:
    """Numbers between 0 and 1, the same for the same sizes."""
    return [
        (numpy.arange(math.prod(s), dtype=numpy.float32).reshape(s) * 0.37 + 0.1 * i) % 1
        for i, s in enumerate(shapes)
    ]


def shapes_of(result: Any) -> Value:
    if isinstance(result, tuple):
        return Several(tuple(map(shapes_of, result)))
    if isinstance(result, dict):
        return Fields(tuple((name, shapes_of(part)) for name, part in sorted(result.items())))
    assert result.dtype == numpy.float32, result.dtype
    return tuple(int(size) for size in result.shape)


def outcome(function: Any, shapes: tuple[Shape, ...]) -> tuple[str | None, Any]:
    """The type of what a call gives, and its value; None where it is an error."""
    try:
        result = function(*arguments(shapes))
    except axon.AxonError:
        return None, None
    return show(shapes_of(result)), result


def close(a: Any, b: Any) -> None:
    if isinstance(a, tuple):
        for x, y in zip(a, b, strict=True):
            close(x, y)
    elif isinstance(a, dict):
        assert a.keys() == b.keys()
        for name in a:
            close(a[name], b[name])
    else:
        numpy.testing.assert_allclose(numpy.asarray(a), numpy.asarray(b), rtol=1e-3, atol=1e-4)


@QUARTER
@given(programs())
def test_calls_on_numpy(program: Program) -> None:
    """On the witness and on shapes near it: the interpreter's shapes, or an error as it says."""
    function = axon.compile(program.definition()).f
    for shapes in program.calls:
        made, _ = outcome(function, shapes)
        assert made == program.run(shapes), shapes


@share(1 / 4)
@given(programs())
def test_a_body_means_the_same_wherever_it_stands(program: Program) -> None:
    """Called directly, through another function, and under concrete annotations: one value."""
    shapes = program.calls[0]
    names = ", ".join(p.name for p in program.params)
    net = axon.compile(
        f"{program.definition()}\nthrough = fn ({names}) {{ h = fn ({names}) {{ f({names}) }};"
        f" h({names}) }};"
    )
    made, direct = outcome(net.f, shapes)
    assert made == program.run(shapes)
    again, through = outcome(net.through, shapes)
    assert again == made
    close(direct, through)
    if program.asks_nothing:
        concrete, value = outcome(axon.compile(program.concrete("f", shapes)).f, shapes)
        assert concrete == made
        close(direct, value)


@FEW
@given(programs())
def test_calls_on_jax(program: Program) -> None:
    """The same values on JAX, and the same errors."""
    net = axon.compile(program.definition())
    on_jax = net.on("jax").f
    for shapes in program.calls[:2]:
        made, value = outcome(net.f, shapes)
        again, other = outcome(on_jax, shapes)
        assert again == made, shapes
        if made is not None:
            close(value, other)


@st.composite
def programs_on_rows(draw: st.DrawFn) -> tuple[Program, list[int]]:
    """A program with one result whose first parameter has a first size, and lengths of rows."""
    program = draw(programs(most=4).filter(lambda p: len(p.returned) == 1 and p.calls[0][0] != ()))
    return program, draw(st.lists(st.integers(0, 4), max_size=4))


def on_rows(program: Program) -> str:
    """The program mapped over rows of which the first size varies."""
    (_, *inner), *others = program.calls[0]
    sizes = "".join(f",{size}" for size in inner)
    names = [p.name for p in program.params[1:]]
    more = "".join(f", {n} : f32 {text(s)}" for n, s in zip(names, others, strict=True))
    call = f"f({', '.join(['row', *names])})"
    head = f"rows = fn (x : f32 [count,*{sizes}]{more})"
    return f"{program.definition()}\n{head} {{ map(fn (row) {{ {call} }}, x) }};"


@share(1 / 4)
@given(programs_on_rows())
def test_rows_that_vary(drawn: tuple[Program, list[int]]) -> None:
    """Mapped over rows of varying size, each row has the result that it has alone; where one of
    them has none, the whole is an error.
    """
    program, lengths = drawn
    source = on_rows(program)
    if not check_text(source).ok:
        return
    net = axon.compile(source)
    (_, *inner), *others = program.calls[0]
    rows = arguments(tuple((n, *inner) for n in lengths))
    rest = arguments(tuple(others))
    given_rows = axon.Ragged.from_rows(rows, like=numpy.zeros((0, *inner), numpy.float32))
    try:
        found = net.rows(given_rows, *rest)
    except axon.AxonError:
        return
    alone = [net.f(row, *rest) for row in rows]
    assert len(found) == len(alone)
    for a, b in zip(found, alone, strict=True):
        close(numpy.asarray(a), b)
