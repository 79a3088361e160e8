"""Lists that are tensors, and lists that are shapes."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import close, on_both, plain

X = numpy.array([[1.5, -2.0], [0.25, 4.0]], numpy.float32)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("[1.0, 2.0]", numpy.array([1, 2], numpy.float32)),
        ("[[1, 2], [3, 4]]", numpy.array([[1, 2], [3, 4]])),
        ("[[[1]], [[2]]]", numpy.array([[[1]], [[2]]])),
        ("[-1, 2]", numpy.array([-1, 2])),
        ("[true, false]", numpy.array([True, False])),
        ("x * [1, 2]", X * [1, 2]),
        ("x * [-1, n]", X * [-1, 2]),
        ("x * [n, n]", X * [2, 2]),
        ("x @ [[0, 1], [1, 0]]", X @ [[0, 1], [1, 0]]),
        ("[x, x * 2]", numpy.stack([X, X * 2])),
        ("[sum(x), n / 4, n // 4, 1]", numpy.array([3.75, 0.5, 0, 1])),
        ("[x[0, 0], x[1, 1]]", numpy.array([1.5, 4])),
        ("[[x[0, 0], 1], [0, 1]]", numpy.array([[1.5, 1], [0, 1]])),
        ("x[[1, 0]]", X[[1, 0]]),
        ("x[[true, false]]", X[[True, False]]),
        ("zeros([n // 2, 3])", numpy.zeros((1, 3))),
        ("(fn (y) { [y, y * 0.5] })(n / 4)", numpy.array([0.5, 0.25])),
    ],
    ids=str,
)
def test_values(body: str, expected: Any) -> None:
    elem = numpy.float32 if expected.dtype.kind == "f" else expected.dtype
    found = plain(on_both(f"f = fn (x : f32 [n,n]) {{ {body} }};", X))
    close(found, expected.astype(elem))


def test_a_literal_takes_the_element_type_that_is_wanted() -> None:
    net = axon.compile("f = fn (x : t [2]) { x * [1, 2] + [[1, -1], [0, 1]] };")
    for elem in ("float64", "float16", "int8", "int64"):
        x = numpy.array([1, 2], elem)
        close(net.f(x), (x * [1, 2] + [[1, -1], [0, 1]]).astype(elem))


def test_integers_in_a_list_are_sizes_only_where_a_shape_is_wanted() -> None:
    net = axon.compile("f = fn (k : i64) { [k, 1] + 1 };\ng = fn (k : i64) { zeros([k, 2]) };")
    close(net.f(-3), numpy.array([-2, 2]))
    assert net.g.signature == "i64 -> f32 [?a,2]"
    assert net.g(3).shape == (3, 2)
    with pytest.raises(axon.AxonError):
        net.g(-3)


def test_a_long_list() -> None:
    items = list(range(-1, 1000))
    net = axon.compile(f"f = fn (x) {{ x + {items} }};")
    close(net.f(numpy.float32(1)), numpy.array(items, numpy.float32) + 1)
    found = axon.check_text(f"f = [{'0.5, ' * 2000}];")
    assert [d.code for d in found.diagnostics] == ["AX222"]
