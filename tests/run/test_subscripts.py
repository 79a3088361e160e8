"""Subscripts take what NumPy's take, and refuse what NumPy's refuse: the text between the brackets
is the same in both languages.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis.strategies import randoms

import axon
from tests.budget import EIGHTH
from tests.run.support import BACKENDS, close, on_both, plain

X = numpy.arange(60, dtype=numpy.float32).reshape(3, 4, 5)
IDS = numpy.array([[2, 0], [-1, 1]])
MASK = numpy.array([True, False, True])
WIDE = numpy.arange(12).reshape(3, 4) % 3 == 0

PLAIN = [
    *("0", "-1", "1, 2", "1, 2, 3", "..., 0", "0, ..., -1", ":, 1", ":, :, 1"),
    *("1:", ":2", "1:2", "-2:", ":-1", "::2", "::-1", "2:0:-1", "-1:-9:-2", "5:", ":-7", "2:1"),
    *("..., 1:3", ":, ::2, ::-2", "0, :, 1:", "...", ":", "::", ":, ...", "..., :, :"),
    *("None", ":, None", "..., None", "None, 0, None, ..., None", ":, None, 1:, None, 0"),
    *("None, :", "None, None, 0"),
]  # fmt: skip
TENSORS = [
    *("ids", ":, ids", "..., ids", "ids, 1:", "1:, ids, None", "..., ids, None, :2", "None, ids"),
    *("[0, 2]", ":, [1]", "mask", "mask, 1:, ::2", "mask, None, ..., None", "wide", "wide, 1:"),
    *("None, wide", "..., mask3, :, :", "x > 30", "x == x", "ids[0]", "ids[..., 0]", "mask[::-1]"),
]  # fmt: skip
REFUSED = ["3", "-4", "0, 0, 0, 0", "..., 5", ":, :, :, :", ":, ..., :, :, 1:", "1, ..., :, :, 0"]


def taken(text: str, x: Any) -> Any:
    names = {"x": x, "ids": IDS, "mask": MASK, "mask3": MASK, "wide": WIDE}
    return eval(f"x[{text}]", {}, names)


@pytest.mark.parametrize("declared", ["", " : f32 [3,4,5]", " : t [n]@s"])
@pytest.mark.parametrize("text", PLAIN)
def test_parts(text: str, declared: str) -> None:
    close(plain(on_both(f"f = fn (x{declared}) {{ x[{text}] }};", X)), taken(text, X))


@pytest.mark.parametrize("text", TENSORS)
def test_by_tensors(text: str) -> None:
    params = "x, ids : i64 [a,b], mask : bool [c], wide : bool w, mask3 : bool m"
    program = f"f = fn ({params}) {{ x[{text}] }};"
    close(plain(on_both(program, X, IDS, MASK, WIDE, MASK)), taken(text, X))


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_there(text: str) -> None:
    with pytest.raises(IndexError):
        taken(text, X)
    assert not axon.check_text(f"f = fn (x : f32 [3,4,5]) {{ x[{text}] }};").ok
    with pytest.raises(axon.AxonError):
        axon.compile(f"f = fn (x) {{ x[{text}] }};").f(X)


BOUNDS = [
    "k:",
    ":k",
    "k",
    "-k:",
    ":-k",
    "-k",
    "::k",
    "::-k",
    "k:n-k",
    "n-k:",
    "-k:n",
    "k::k",
    "-k::-1",
]


@pytest.mark.parametrize(
    "text", [*BOUNDS, "-k-1:", ":-(k+1)", "k - 1", "n // 2", "n // 2:", "n % 2"]
)
def test_bounds_that_are_sizes(text: str) -> None:
    """A size that is 0 is no place from the end; a size that is negative is none."""
    net = axon.compile(f"f = fn (x : f32 [n,m], y : f32 [k]) {{ x[{text}] }};")
    for n in range(5):
        for k in range(1, 5):
            x, y = numpy.arange(3.0 * n, dtype=numpy.float32).reshape(n, 3), numpy.ones(k, "f")
            try:
                expected = eval(f"x[{text}]", {}, {"x": x, "n": n, "k": k})
            except IndexError:
                expected = None
            if expected is None or ("n-k" in text and n < k):
                with pytest.raises(axon.AxonError):
                    net.f(x, y)
            else:
                close(plain(net.f(x, y)), expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_sizes_that_only_the_run_knows(backend: str) -> None:
    program = "f = fn (x : f32 [n], y : f32 [m]) { k = size(nonzero(y)); x[k:], x[-k:], x[k] };"
    net = axon.compile(program, backend=backend)
    x, y = numpy.arange(5, dtype=numpy.float32), numpy.array([0, 1, 1], numpy.float32)
    close(plain(net.f(x, y)), (x[2:], x[-2:], x[2]))
    with pytest.raises(axon.AxonError, match="does not hold"):
        net.f(x[:2], y)
    with pytest.raises(axon.AxonError):
        net.f(x, 0 * y)  # -0 is no place from the end


def test_shapes_and_sizes() -> None:
    program = "f = fn (x) { s = shape(x); zeros([s[0], s[-1]]), reshape(x, s[::-1]), ones(s[1:]) };"
    known = str(axon.compile(program).f.specialize(x="f32 [a,b,c]"))
    assert known.endswith("f32 [a,b,c] -> (f32 [a,c], f32 [c,b,a], f32 [b,c])")
    found = on_both(program, X)
    shapes = [part.shape for part in plain(found)]
    assert shapes == [(3, 5), (5, 4, 3), (4, 5)]


def test_a_line_begins_anew() -> None:
    """A bracket on the next line is a list, and a `;` is missing before it."""
    found = axon.check_text("f = fn (x) {\n  y = x\n  [0, 1]\n};")
    assert [d.code for d in found.diagnostics] == ["AX002"]


def test_the_value_is_computed_once() -> None:
    net = axon.compile("op f : f32 [n] -> f32 [n];\ng = fn (x) { f(x)[1:][0] };")
    calls: list[int] = []

    def f(x: Any) -> Any:
        calls.append(1)
        return x

    net.implement("f", f)
    assert float(net.g(numpy.array([1.0, 2.0], numpy.float32))) == 2.0
    assert calls == [1]


# --- anything --------------------------------------------------------------------------------


def item(random: Random) -> str:
    def bound() -> str:
        return random.choice(["", "", str(random.randint(-5, 5))])

    match random.randrange(6):
        case 0 | 1:
            return str(random.randint(-4, 3))
        case 2 | 3:
            step = random.choice(["", "", ":", f":{random.choice([-3, -2, -1, 1, 2, 3])}"])
            return f"{bound()}:{bound()}{step}"
        case 4:
            return ":"
        case _:
            return "None"


def subscript(random: Random) -> str:
    items = [item(random) for _ in range(random.randint(1, 4))]
    if random.random() < 0.5:
        items.insert(random.randint(0, len(items)), "...")
    return ", ".join(items)


@EIGHTH
@given(randoms(use_true_random=False))
def test_any_subscript(random: Random) -> None:
    """The declared type is refused exactly where NumPy refuses, else the type is NumPy's; without
    a type, the same is found at the call.
    """
    for _ in range(3):
        text = subscript(random)
        shape = tuple(random.randint(0, 4) for _ in range(random.randint(0, 4)))
        x = numpy.arange(numpy.prod(shape, dtype=int), dtype=numpy.float32).reshape(shape)
        known = f"f = fn (x : f32 {list(shape)}) {{ x[{text}] }};"
        sizes = ",".join(f"n{i}" for i in range(len(shape)))
        try:
            expected = eval(f"x[{text}]", {}, {"x": x})
        except IndexError:
            assert not axon.check_text(known).ok, (text, shape)
            for declared in ("", f" : f32 [{sizes}]"):
                program = f"f = fn (x{declared}) {{ x[{text}] }};"
                if axon.check_text(program).ok:
                    with pytest.raises(axon.AxonError):
                        axon.compile(program).f(x)
            continue
        wanted = f" {list(expected.shape)}".replace(" ", "") if expected.shape else ""
        net = axon.compile(known)
        assert net.f.signature.split(" -> ")[1] == f"f32 {wanted}".rstrip(), (text, shape)
        for declared in ("", f" : f32 [{sizes}]"):
            close(plain(axon.compile(f"f = fn (x{declared}) {{ x[{text}] }};").f(x)), expected)


@pytest.mark.parametrize(
    ("program", "place"),
    [
        ("f = fn (x : f32 [n], i : i64) { x[i:] };", "x[i:]"),
        ("f = fn (x : f32 [n], i : i64) { reshape(x, [i, 2]) };", "[i, 2]"),
        ("f = fn (x : f32 [n], i : i64) { g = fn (y) { zeros([y]) }; g(i) };", "g(i)"),
    ],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_size_below_zero_has_a_place(program: str, place: str, backend: str) -> None:
    net = axon.compile(program, backend=backend)
    with pytest.raises(axon.AxonError) as caught:
        net.f(numpy.ones(4, "float32"), -2)
    (problem,) = caught.value.diagnostics
    assert problem.message == "a size was computed to be -2, below zero"
    assert problem.span is not None and problem.span.start >= program.index(place)


@pytest.mark.parametrize("subscript", ["i - 3", "i - 3:", ":i - 3", "i - 3:n"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_difference_of_sizes_does_not_count_from_the_end(subscript: str, backend: str) -> None:
    program = f"f = fn (x : f32 [n], i : dim i) {{ x[{subscript}] }};"
    net = axon.compile(program, backend=backend)
    net.f(numpy.ones(3, "float32"), 4)
    with pytest.raises(axon.ArgumentError, match="i >= 3 does not hold for i = 1") as caught:
        net.f(numpy.ones(3, "float32"), 1)
    (problem,) = caught.value.diagnostics
    assert problem.span is not None and problem.span.text == "i - 3"
