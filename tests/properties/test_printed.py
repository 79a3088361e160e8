"""The reader of printed signatures sees what does not fit, so that the properties that use it are
not empty.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from tests.properties.printed import Differs, Sizing, fit, holds, params_and_result, pieces
from tests.properties.values import Rag


def floats(*shape: int) -> Any:
    return numpy.zeros(shape, numpy.float32)


def ragged(*lengths: int) -> Rag:
    rows = tuple(map(floats, lengths))
    return Rag(rows, floats(0))


def test_a_signature_is_cut_up() -> None:
    assert params_and_result("(f32 [n,m], t a@[b]) -> (f32 [?k], t a)") == (
        ["f32 [n,m]", "t a@[b]"],
        "(f32 [?k], t a)",
    )
    assert params_and_result("((a) -> b, a) -> b") == (["(a) -> b", "a"], "b")
    assert pieces("max(a, b), c", ",") == ["max(a, b)", "c"]


@pytest.mark.parametrize(
    ("param", "result", "value"),
    [
        ("f32 [n,3]", "f32 [n]", floats(2)),
        ("f32 [n,3]", "f32 [2*n+1,?a]", floats(5, 9)),
        ("f32 [n,3]", "f32 [n,*]", ragged(1, 2)),
        ("t a@[b]", "t a", floats(2)),
        ("t a@[b]", "(t a@[b,b], t [])", (floats(2, 3, 3), floats())),
        ("t s", "t [size(s)]", floats(6)),
        ("f32 [n,3]", "f32 [max(n-4,0)]", floats(0)),
    ],
)
def test_what_fits(param: str, result: str, value: Any) -> None:
    sizing = Sizing()
    fit(param, floats(2, 3), sizing)
    fit(result, value, sizing)


@pytest.mark.parametrize(
    ("result", "value"),
    [
        ("f32 [n]", floats(3)),
        ("f32 [n]", floats(2, 1)),
        ("i64 [n]", floats(2)),
        ("f32 [n,?a]", ragged(1, 2)),
        ("f32 [n,m]", ragged(3, 2)),
        ("(f32, f32)", floats()),
        ("(f32 [?a], f32 [?a])", (floats(1), floats(2))),
    ],
)
def test_what_does_not_fit(result: str, value: Any) -> None:
    sizing = Sizing()
    fit("f32 [n,m]", floats(2, 3), sizing)
    with pytest.raises(Differs):
        fit(result, value, sizing)


@pytest.mark.parametrize(
    ("condition", "true"),
    [
        ("n >= 2", True),
        ("m = 2*n", False),
        ("?k = n", True),
        ("2*?k = m", False),
        ("m mod 2 = 1", True),
        ("[m] = broadcast([n], [m])", False),
        ("s = broadcast(s, [m])", True),
        ("m = broadcast(m, 1)", True),
        ("[n]@s = [2,2,3]", True),
    ],
)
def test_conditions(condition: str, true: bool) -> None:
    assert holds(condition, Sizing({"n": 2, "m": 3}, {"s": (2, 3)})) == true
