"""What is said of a call whose arguments do not fit: each label states what its argument has."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import floats


def said(program: str, *args: object) -> str:
    with pytest.raises(axon.ArgumentError) as caught:
        axon.compile(program).f(*args)
    return str(caught.value)


def labels(program: str, *args: object) -> dict[str, str]:
    """The labels of the first problem, by the text that they point to."""
    with pytest.raises(axon.ArgumentError) as caught:
        axon.compile(program).f(*args)
    return {label.span.text: label.text for label in caught.value.diagnostics[0].labels}


@pytest.mark.parametrize("product", ["x @ w", "matmul(x, w)"])
def test_inner_sizes_are_those_of_the_arguments(product: str) -> None:
    program = f"f = fn (x, w) {{ {product} }};"
    assert labels(program, floats(2, 3), floats(4, 5)) == {
        "x": "last size 3: `x` is f32 [2,3] at the call",
        "w": "second-last size 4: `w` is f32 [4,5] at the call",
    }
    assert "the inner sizes differ, 3 and 4" in said(program, floats(2, 3), floats(4, 5))


def test_concat() -> None:
    found = labels("f = fn (x, y) { concat(x, y) };", floats(2, 3), floats(4, 5))
    assert found["x"].startswith("last size 3") and found["y"].startswith("last size 5")


@pytest.mark.parametrize("sizes", [(4, 3), (3, 4), (4, 4)])
def test_layer_norm(sizes: tuple[int, int]) -> None:
    given = floats(2, 3), floats(sizes[0]), floats(sizes[1])
    found = labels("f = fn (x, g, b) { layer_norm(x, g, b) };", *given)
    assert found.pop("x") == "last size 3: `x` is f32 [2,3] at the call"
    ((name, text),) = found.items()
    assert text == f"first size 4: `{name}` is f32 [4] at the call"


def test_rank_of_a_vector() -> None:
    text = said("f = fn (x) { transpose(x) };", floats(3))
    assert "argument 1 has shape [3], where at least 2 dimensions are expected" in text
    assert "`x` is f32 [3] at the call" in text


def test_ranks_in_an_annotated_call() -> None:
    text = said("f = fn (x : f32 [b,n], w : f32 [n,m]) { x @ w };", floats(2, 3), floats(5))
    assert "f: argument 2 has shape [5], where 2 dimensions are expected" in text


def test_annotated_parameters() -> None:
    program = "f = fn (x : f32 [b,n], w : f32 [n,m]) { x @ w };"
    assert labels(program, floats(2, 3), floats(4, 5)) == {
        "x : f32 [b,n]": "second size 3: `x` is f32 [2,3] at the call",
        "w : f32 [n,m]": "first size 4: `w` is f32 [4,5] at the call",
    }


def test_a_tuple_is_told_of() -> None:
    found = labels("f = fn (p) { x, w = p; x @ w };", (floats(2, 3), floats(4, 5)))
    assert found["w"] == "second-last size 4: `p` is (f32 [2,3], f32 [4,5]) at the call"


@pytest.mark.parametrize(
    ("program", "given", "sizes"),
    [
        ("f = fn (x, w) { x @ w };", [(2, 3), (4, 5)], "b=2 from x, c=3 from x"),
        ("f = fn (x, w) { matmul(x, w) };", [(7, 2, 3), (6, 3, 5)], "a[0]=7 from x, b=2 from x"),
        ("f = fn (x, y) { concat(x, y, axis=1) };", [(2, 3), (4, 3)], "a=2 from x, b=3 from x"),
        ("f = fn (x, w) { conv(x, w) };", [(1, 3, 8, 8), (4, 2, 3, 3)], "a=1 from x, b=3 from x"),
        ("f = fn (x, y) { x + y };", [(2, 3), (4,)], "a[0]=2 from x, a[1]=3 from x, b[0]=4 from y"),
        ("f = fn (p, y) { x, w = p; x @ w };", [((2, 3), (4, 5)), (1,)], "b=2 from p[0], c=3"),
    ],
)
def test_names_are_those_that_infer_shows(
    program: str, given: list[tuple[Any, ...]], sizes: str
) -> None:
    args = [tuple(floats(*s) for s in g) if isinstance(g[0], tuple) else floats(*g) for g in given]
    assert sizes in said(program, *args)


def test_the_body_of_a_function_that_is_given() -> None:
    """What it is given is told before what it asks for."""
    program = "f = fn (x, y) { fold(y, fn (s, r) { max(s, r) }, x) };"
    text = said(program, floats(3, 4), floats(3))
    assert "max: the sizes differ, 3 and 4" in text
    found = labels(program, floats(3, 4), floats(3))
    assert found["s"] == "last size 3" and found["r"] == "last size 4"
    assert found["x"] == "last size 4: `x` is f32 [3,4] at the call"


def test_one_mistake_is_told_once() -> None:
    program = "f = fn (w, xs, h0) { loop(h0, fn (h, x) { y = concat(h, x) @ w; y, y }, xs) };"
    with pytest.raises(axon.ArgumentError) as caught:
        axon.compile(program).f(floats(7, 4), floats(5, 2), floats(4))
    assert [d.code for d in caught.value.diagnostics] == ["AX102"]
    assert "@: argument 1 has shape [6], where at least 2 dimensions" in str(caught.value)


def test_no_names_of_signatures_of_operators() -> None:
    """`p@[m,k]` is how `@` is declared, `[d0,a]@after` how `sum` and `concat` are."""
    programs: list[tuple[str, list[object]]] = [
        ("f = fn (x) { map(fn (r) { r @ x }, x) };", [floats(3, 4)]),
        ("f = fn (x) { sum(x, axis=2) };", [floats(3, 4)]),
        ("f = fn (x, y) { concat(x, y, axis=1) };", [floats(3), floats(3)]),
        ("f = fn (x, y) { matmul(x, y) };", [floats(3), floats(3, 4)]),
        ("f = fn (x) { split(x, parts=2) };", [floats(3, 4)]),
        ("f = fn (x) { reshape(x, [2,-1]) };", [floats(7)]),
    ]
    for program, args in programs:
        text = said(program, *args)
        for name in ("d0", "after", "@[", "]@", "p@", "2*n"):
            assert name not in text.partition("error[")[2].replace(program, ""), text


def test_a_size_given_as_a_number() -> None:
    text = said("f = fn (x, i : i64 [k]) { gather(x, i), max(x, x) + zeros([4]) };", floats(3), [0])
    assert "sizes 3 and 4 do not broadcast" in text and "`x` is f32 [3] at the call" in text


def test_an_element_type_is_told_at_the_operator() -> None:
    found = labels("f = fn (x, i) { gather(x, i) };", floats(3, 4), numpy.ones(2, numpy.float32))
    assert found == {"i": "f32 here"}


@pytest.mark.parametrize("condition", ["rank(s) >= 1", "rank(s) = 1", "rank(s) = rank(q) + 1"])
def test_conditions_on_ranks_are_checked(condition: str) -> None:
    """The ranks of arguments are known before the condition is read."""
    program = f"f = fn (x : f32 s, y : f32 q) where {condition} {{ sum(x) + sum(y) }};"
    axon.compile(program).f(floats(3), floats())
    assert "does not hold" in said(program, floats(), floats())


def test_a_shape_of_one_dimension_stays_a_shape_further_in() -> None:
    """Its name was taken for that of a dimension where a function further in uses it."""
    program = "f = fn (x : f32 s) { g = fn (y : f32 s) { y + 1f }; g(g(x)) };"
    assert axon.compile(program).f(floats(3)).shape == (3,)


def test_the_shape_that_a_reshape_is_given_says_nothing_of_its_input() -> None:
    program = "f = fn (x, b) { x + reshape(b, [1,-1,1,1]) };"
    text = said(program, floats(1, 4, 6, 6), floats(5))
    assert "+: sizes 4 and 5 do not broadcast" in text
    found = labels(program, floats(1, 4, 6, 6), floats(5))
    assert found["reshape(b, [1,-1,1,1])"] == "shape [1,5,1,1]"
    assert found["b"] == "`b` is f32 [5] at the call" and "[1,-1,1,1]" not in found


@pytest.mark.parametrize(
    ("program", "divisor"),
    [
        ("f = fn (x : f32 [n]) { zeros([10 / n]) };", "n"),
        ("f = fn (x : f32 [n]) { k = 10 / n; zeros([k]) };", "n"),
        ("f = fn (x : f32 [n]) { reshape(zeros([12]), [n, -1]) };", "n"),
    ],
)
def test_a_divisor_that_is_zero(program: str, divisor: str) -> None:
    text = said(program, floats(0))
    assert "AX107" in text and f"a size is divided by {divisor}, which is 0" in text
    assert "would be -1" not in text
