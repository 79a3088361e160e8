"""What the operators from `pointwise` to `normalise` do: values against formulas that are written
apart from them, the element types and the shapes that the signatures promise, and empty tensors.
"""

from __future__ import annotations

import ast
import functools
import itertools
import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from axon.backends import numpy_arrays
from axon.ops import OPERATORS
from axon.ops.arrays import Array
from axon.ops.examples import Example, examples, lift
from axon.types.elements import ELEMENTS

FAMILIES = ("pointwise", "elementary", "activations", "linear", "reductions", "normalise")
NAMES = [name for name, operator in OPERATORS.items() if operator.family in FAMILIES]
FLOATS = ("f16", "bf16", "f32", "f64")
NUMBERS = ELEMENTS[1:]
INTEGERS = tuple(name for name in NUMBERS if name not in FLOATS)
FEW = ("i32", "u8", "bf16", "f32")
"""Of those, enough to try on a backend that compiles for each."""

EPS = {"f16": 2.0**-10, "bf16": 2.0**-7, "f32": 2.0**-23, "f64": 2.0**-52}
inf, nan = math.inf, math.nan


@pytest.fixture(params=["numpy", "jax"])
def xp(request: pytest.FixtureRequest) -> Iterator[Any]:
    arrays: Any = numpy_arrays.ARRAYS
    if request.param == "jax":
        pytest.importorskip("jax")
        from axon.backends import jax_arrays

        arrays = jax_arrays.ARRAYS
    with arrays.context():
        yield arrays


def call(xp: Any, name: str, attributes: dict[str, Any]) -> Callable[..., Array]:
    """What the operator does with arrays."""
    operator = OPERATORS[name]
    assert operator.meaning is not None
    return functools.partial(operator.meaning, xp, **(operator.defaults | attributes))


def apply(xp: Any, name: str, *args: Any, element: str = "f32", **attributes: Any) -> Array:
    """The operator on numbers or arrays of one element type, compiled where the backend compiles,
    as a NumPy array."""
    function = call(xp, name, attributes)
    if xp is not numpy_arrays.ARRAYS:
        function = pytest.importorskip("jax").jit(function)
    kind = numpy_arrays.element(element)
    return np.asarray(function(*(np.asarray(arg).astype(kind) for arg in args)))


def rule(name: str, arity: int, **attributes: Any) -> str:
    signature = OPERATORS[name].signature(arity, attributes)
    assert isinstance(signature, str), signature
    return signature


def allowed(signature: str) -> tuple[str, ...]:
    """The element types that a signature is for."""
    if signature.lstrip("(").startswith("bool"):
        return ("bool",)
    found = re.search(r"where \w+ : (\w+)", signature)
    classes = {"num": NUMBERS, "float": FLOATS, "int": INTEGERS}
    return classes[found[1]] if found else ELEMENTS


def given(signature: str, element: str) -> str:
    """The element type of the result."""
    result = signature.partition("-> ")[2].split()[0]
    return result if result in ELEMENTS else element


def same(found: Array, expected: Any, element: str, places: float = 8) -> None:
    """Equal up to some last places; `expected` in full precision."""
    assert found.dtype == numpy_arrays.element(element)
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    if element in EPS:
        tolerance = places * EPS[element]
        np.testing.assert_allclose(found.astype("f8"), expected, tolerance, tolerance)
    else:
        np.testing.assert_array_equal(found, expected)


def test_every_operator_has_a_meaning() -> None:
    assert [name for name in NAMES if OPERATORS[name].meaning is None] == []
    tested = {*NUMERIC, *REAL, *LOGIC, "trunc_divide"}
    assert [name for name in NAMES if name not in tested] == []


# --- values ----------------------------------------------------------------------------------

# Arguments that every element type holds exactly, attributes, and the result in plain NumPy.
Case = tuple[tuple[Any, ...], dict[str, Any], Callable[..., Any]]

A = np.array([[1, 5, 2], [4, 3, 6]])
B = np.array([[2, 1, 3]])
SQUARE = np.arange(1, 10).reshape(3, 3)
BATCH = np.arange(12).reshape(2, 2, 3) % 4

NUMERIC: dict[str, list[Case]] = {
    "+": [((A, B), {}, lambda a, b: a + b), ((A, 3), {}, lambda a, b: a + 3)],
    "-": [((A + 3, B), {}, lambda a, b: a - b)],
    "*": [((A, B), {}, lambda a, b: a * b)],
    "pow": [((B, A % 4), {}, lambda a, b: a**b)],
    "mod": [((A, B), {}, lambda a, b: a % b)],
    "//": [((A, B), {}, lambda a, b: a // b), ((A, 4), {}, lambda a, b: a // 4)],
    "maximum": [((A, B), {}, np.maximum)],
    "minimum": [((A, B), {}, np.minimum)],
    "==": [((A, B), {}, lambda a, b: a == b)],
    "!=": [((A, B), {}, lambda a, b: a != b)],
    "<": [((A, B), {}, lambda a, b: a < b)],
    "<=": [((A, B), {}, lambda a, b: a <= b)],
    ">": [((A, B), {}, lambda a, b: a > b)],
    ">=": [((A, B), {}, lambda a, b: a >= b)],
    "square": [((A,), {}, lambda a: a * a)],
    "abs": [((A,), {}, lambda a: a)],
    "sign": [((A - 1,), {}, lambda a: np.minimum(a, 1))],
    "clip": [
        ((A,), {"min": 2, "max": 5}, lambda a: np.clip(a, 2, 5)),
        ((A,), {"min": 2}, lambda a: np.clip(a, 2, 9)),
        ((A,), {"max": 5.0}, lambda a: np.clip(a, 0, 5)),
    ],
    "relu": [((A,), {}, lambda a: a)],
    "matmul": [((BATCH, BATCH.swapaxes(1, 2)), {}, np.matmul)],
    "@": [((BATCH, B.T), {}, np.matmul), ((SQUARE[:2], BATCH.swapaxes(1, 2)), {}, np.matmul)],
    "project": [((B[0], A.T), {}, np.dot), ((BATCH, A.T), {}, np.dot)],
    "transpose": [
        ((BATCH,), {}, lambda x: np.stack([m.T for m in x])),
        ((BATCH,), {"perm": (2, 0, 1)}, lambda x: np.moveaxis(x, 2, 0)),
        ((BATCH,), {"perm": (-1, 0, -2)}, lambda x: np.moveaxis(x, 2, 0)),
    ],
    "dot": [((A[0], B[0]), {}, lambda a, b: (a * b).sum())],
    "outer": [((A[0], B[0, :2]), {}, np.outer)],
    "trace": [
        ((SQUARE,), {}, lambda x: x[0, 0] + x[1, 1] + x[2, 2]),
        ((BATCH[:, :, :2],), {}, lambda x: x[:, 0, 0] + x[:, 1, 1]),
    ],
    "tril": [
        ((SQUARE,), {}, lambda x: x * [[1, 0, 0], [1, 1, 0], [1, 1, 1]]),
        ((BATCH,), {"k": -1}, lambda x: x * [[0, 0, 0], [1, 0, 0]]),
    ],
    "triu": [
        ((SQUARE,), {}, lambda x: x * [[1, 1, 1], [0, 1, 1], [0, 0, 1]]),
        ((BATCH,), {"k": 1}, lambda x: x * [[0, 1, 1], [0, 0, 1]]),
    ],
    "einsum": [
        ((A, A), {"equation": "ij,kj->ik"}, lambda a, b: a @ b.T),
        ((SQUARE,), {"equation": "ii -> i"}, np.diag),
        ((SQUARE,), {"equation": "ij->"}, np.sum),
        ((B[0], A, [1, 2]), {"equation": "a,Ba,B->"}, lambda a, b, c: (b @ a) @ c),
        ((BATCH, A.T), {"equation": "...ik,kj->...ij"}, np.matmul),
        ((BATCH[:1], BATCH), {"equation": "...i,...i->..."}, lambda a, b: (a * b).sum(-1)),
    ],
    "sum": [
        ((A,), {}, np.sum),
        ((BATCH,), {"axis": (1,)}, lambda x: x[:, 0] + x[:, 1]),
        ((BATCH,), {"axis": (0, -1), "keep": True}, lambda x: x.sum((0, 2), keepdims=True)),
    ],
    "prod": [((B,), {}, lambda x: 6), ((BATCH + 1,), {"axis": (1,)}, lambda x: x[:, 0] * x[:, 1])],
    "max": [
        ((A,), {}, lambda x: 6),
        ((A,), {"axis": (1,), "keep": True}, lambda x: [[5], [6]]),
        ((A, A[::-1]), {}, lambda a, b: np.where(a > b, a, b)),
    ],
    "min": [
        ((A,), {}, lambda x: 1),
        ((A,), {"axis": (0,)}, lambda x: [1, 3, 2]),
        ((A, A[::-1]), {}, lambda a, b: np.where(a < b, a, b)),
    ],
    "argmax": [
        ((A,), {}, lambda x: 5),
        ((A % 4,), {"axis": -1}, lambda x: [2, 1]),
        ((A,), {"axis": 0, "keep": True}, lambda x: [[1, 0, 1]]),
        (([2, 7, 7],), {"axis": 0}, lambda x: 1),
    ],
    "argmin": [((A,), {}, lambda x: 0), ((A,), {"axis": 1}, lambda x: [0, 1])],
    "cumsum": [
        ((A,), {}, lambda x: [x[0], x[0] + x[1]]),
        ((A,), {"axis": -1}, lambda x: np.array([[1, 6, 8], [4, 7, 13]])),
    ],
    "cumprod": [((A,), {"axis": 1}, lambda x: [[1, 5, 10], [4, 12, 72]])],
    "dropout": [((A,), {"rate": 0.9}, lambda x: x)],
}

LOGIC: dict[str, list[Case]] = {
    "logical_and": [(([1, 1, 0], [[1], [0]]), {}, lambda a, b: [[1, 1, 0], [0, 0, 0]])],
    "logical_or": [(([1, 1, 0], [[1], [0]]), {}, lambda a, b: [[1, 1, 1], [1, 1, 0]])],
    "logical_xor": [(([1, 1, 0], [[1], [0]]), {}, lambda a, b: [[0, 0, 1], [1, 1, 0]])],
    "logical_not": [(([1, 0],), {}, lambda a: [0, 1])],
    "any": [
        (([[0, 1], [0, 0]],), {}, lambda x: True),
        (([[0, 1], [0, 0]],), {"axis": (1,), "keep": True}, lambda x: [[1], [0]]),
    ],
    "all": [
        (([[0, 1], [1, 1]],), {}, lambda x: False),
        (([[0, 1], [1, 1]],), {"axis": (-1,)}, lambda x: [0, 1]),
    ],
    "==": [(([1, 0], [1, 1]), {}, lambda a, b: [1, 0])],
    "!=": [(([1, 0], [1, 1]), {}, lambda a, b: [0, 1])],
    "tril": [((np.ones((2, 2)),), {}, lambda x: [[1, 0], [1, 1]])],
    "triu": [((np.ones((2, 2)),), {"k": 1}, lambda x: [[0, 1], [0, 0]])],
}

X = np.array([[-2.5, -1, -0.25], [0, 0.5, 3]])
V = np.array([0.5, 2, -1])
IMAGE = np.linspace(-2, 3, 32)[np.random.default_rng(0).permutation(32)].reshape(2, 4, 2, 2)
IMAGE = np.round(IMAGE * 8) / 8


def each(function: Callable[[float], float], x: Array = X) -> list[Case]:
    """One number at a time."""
    return [((x,), {}, lambda values: np.vectorize(function)(values))]


def normal(x: Array, axis: tuple[int, ...], epsilon: float = 1e-5) -> Array:
    return (x - x.mean(axis, keepdims=True)) / np.sqrt(x.var(axis, keepdims=True) + epsilon)


def across(vector: Any) -> Array:
    """Along the channels of an image."""
    return np.asarray(vector)[:, None, None]


C4 = np.array([1, 2, -1, 0.5])

REAL: dict[str, list[Case]] = {
    "/": [((X, V), {}, lambda a, b: a * (1 / b)), ((X, 4), {}, lambda a, b: a / 4)],
    "negate": each(lambda x: -x),
    "pow": [((np.abs(X) + 0.5, V), {}, lambda a, b: np.exp(b * np.log(a)))],
    "mod": [((X, V), {}, lambda a, b: a - b * np.floor(a / b))],
    "fmod": [((X, V), {}, lambda a, b: a - b * np.trunc(a / b))],
    "exp": each(math.exp),
    "expm1": each(math.expm1, X / 64),
    "log": each(math.log, np.abs(X) + 0.25),
    "log1p": each(math.log1p, X / 64),
    "sqrt": each(math.sqrt, np.abs(X)),
    "rsqrt": each(lambda x: 1 / math.sqrt(x), np.abs(X) + 0.25),
    "reciprocal": each(lambda x: 1 / x, X + 0.125),
    "sin": each(math.sin),
    "cos": each(math.cos),
    "tan": each(math.tan),
    "asin": each(math.asin, X / 4),
    "acos": each(math.acos, X / 4),
    "atan": each(math.atan),
    "sinh": each(math.sinh),
    "cosh": each(math.cosh),
    "asinh": each(math.asinh),
    "acosh": each(math.acosh, np.abs(X) + 1),
    "atanh": each(math.atanh, X / 4),
    "erf": each(math.erf),
    "abs": each(abs),
    "sign": each(lambda x: math.copysign(1.0, x) if x else 0.0),
    "floor": each(math.floor),
    "ceil": each(math.ceil),
    "round": each(round, np.array([-2.5, -1.5, -0.25, 0.5, 1.5, 2.75])),
    "clip": [((X,), {"min": -0.5, "max": 0.25}, lambda x: np.clip(x, -0.5, 0.25))],
    "isnan": [(([nan, inf, 0],), {}, lambda x: [1, 0, 0])],
    "isinf": [(([nan, -inf, inf, 0],), {}, lambda x: [0, 1, 1, 0])],
    "relu": each(lambda x: max(x, 0.0)),
    "leaky_relu": [
        ((X,), {}, lambda x: np.where(x < 0, 0.01 * x, x)),
        ((X,), {"slope": 0.25}, lambda x: np.where(x < 0, x / 4, x)),
    ],
    "elu": [
        ((X,), {}, lambda x: np.where(x < 0, np.exp(x) - 1, x)),
        ((X,), {"alpha": 2}, lambda x: np.where(x < 0, 2 * (np.exp(x) - 1), x)),
    ],
    "selu": each(
        lambda x: 1.0507009873554805 * (x if x > 0 else 1.6732632423543772 * (math.exp(x) - 1))
    ),
    "gelu": [
        *each(lambda x: x * 0.5 * math.erfc(-x / math.sqrt(2))),
        (
            (X,),
            {"approximate": "tanh"},
            lambda x: x / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
        ),
    ],
    "celu": [((X,), {"alpha": 2}, lambda x: np.where(x < 0, 2 * (np.exp(x / 2) - 1), x))],
    "thresholded_relu": [
        ((X,), {}, lambda x: x * (x > 1)),
        ((X,), {"threshold": 0.25}, lambda x: x * (x > 0.25)),
    ],
    "shrink": [
        ((X,), {}, lambda x: x * (np.abs(x) > 0.5)),
        ((X,), {"bias": 0.25, "threshold": 1}, lambda x: np.trunc(x / 2.5) * (abs(x) - 0.25)),
    ],
    "mish": each(lambda x: x * math.tanh(math.log(1 + math.exp(x)))),
    "softsign": each(lambda x: x / (1 + abs(x))),
    "silu": each(lambda x: x / (1 + math.exp(-x))),
    "softplus": each(lambda x: math.log(1 + math.exp(x))),
    "sigmoid": each(lambda x: 1 / (1 + math.exp(-x))),
    "tanh": each(math.tanh),
    "hard_sigmoid": [
        ((X * 2,), {}, lambda x: np.clip(x / 6 + 0.5, 0, 1)),
        ((X,), {"alpha": 0.25, "beta": 0.5}, lambda x: np.clip(x / 4 + 0.5, 0, 1)),
    ],
    "hard_swish": each(lambda x: x * min(max(x + 3, 0), 6) / 6, X * 2),
    "max": [((X,), {"axis": (0,)}, lambda x: [0, 0.5, 3])],
    "mean": [
        ((X,), {}, np.mean),
        ((X,), {"axis": (1,), "keep": True}, lambda x: x.mean(1)[:, None]),
    ],
    "variance": [
        ((X,), {}, np.var),
        ((X,), {"axis": (-1,), "correction": 1}, lambda x: np.var(x, axis=1, ddof=1)),
        ((IMAGE,), {"axis": (2, 3), "keep": True}, lambda x: x.var((2, 3), keepdims=True)),
    ],
    "norm": [
        ((X,), {}, lambda x: math.sqrt((x * x).sum())),
        ((X,), {"axis": (1,), "p": 1}, lambda x: np.abs(x).sum(1)),
        ((X,), {"axis": (0,), "p": 3.0, "keep": True}, lambda x: np.cbrt(sum(abs(x) ** 3))[None]),
        ((X,), {"axis": (1,), "p": inf}, lambda x: [2.5, 3]),
        ((X,), {"axis": (1,), "p": -inf}, lambda x: [0.25, 0]),
        ((X,), {"axis": (1,), "p": 0}, lambda x: [3, 2]),
    ],
    "logsumexp": [
        ((X,), {}, lambda x: math.log(np.exp(x).sum())),
        ((X,), {"axis": (0,), "keep": True}, lambda x: np.log(np.exp(x).sum(0))[None]),
    ],
    "softmax": [
        ((X,), {}, lambda x: np.exp(x) / np.exp(x).sum(1)[:, None]),
        ((X,), {"axis": 0}, lambda x: np.exp(x) / np.exp(x).sum(0)),
    ],
    "log_softmax": [((X,), {"axis": 0}, lambda x: x - np.log(np.exp(x).sum(0)))],
    "layer_norm": [
        ((X,), {}, lambda x: normal(x, (1,))),
        ((X, V), {"epsilon": 0.5}, lambda x, s: normal(x, (1,), 0.5) * s),
        ((X, V, V + 1), {}, lambda x, s, b: normal(x, (1,)) * s + b),
    ],
    "rms_norm": [
        ((X,), {}, lambda x: x / np.sqrt((x * x).mean(1) + 1e-6)[:, None]),
        ((X, V), {}, lambda x, s: x / np.sqrt((x * x).mean(1) + 1e-6)[:, None] * s),
    ],
    "local_response_norm": [
        (
            (IMAGE,),
            {"size": 2, "alpha": 2, "beta": 1},
            lambda x: x / (1 + x * x + np.concatenate([x[:, 1:] ** 2, 0 * x[:, :1]], axis=1)),
        ),
    ],
    "det": [((X[None, :, :2],), {}, lambda m: m[:, 0, 0] * m[:, 1, 1] - m[:, 0, 1] * m[:, 1, 0])],
    "batch_norm": [
        (
            (IMAGE, C4, C4 + 1, C4 / 2, np.abs(C4)),
            {},
            lambda x, g, b, m, v: (x - across(m)) / across(np.sqrt(v + 1e-5) / g) + across(b),
        ),
        (
            (IMAGE[:, :, 0, 0], C4, C4 + 1, C4 / 2, np.abs(C4)),
            {"epsilon": 0.5},
            lambda x, g, b, m, v: (x - m) / np.sqrt(v + 0.5) * g + b,
        ),
    ],
    "instance_norm": [
        ((IMAGE,), {}, lambda x: normal(x, (2, 3))),
        ((IMAGE, C4, C4 + 1), {}, lambda x, s, b: normal(x, (2, 3)) * across(s) + across(b)),
        ((IMAGE[:, :, 0, 0],), {}, lambda x: 0 * x),
    ],
    "group_norm": [
        (
            (IMAGE, C4, C4 + 1),
            {"groups": 2},
            lambda x, s, b: (
                np.concatenate([normal(part, (1, 2, 3)) for part in (x[:, :2], x[:, 2:])], axis=1)
                * across(s)
                + across(b)
            ),
        ),
        ((IMAGE,), {"groups": 1, "epsilon": 0.5}, lambda x: normal(x, (1, 2, 3), 0.5)),
        ((IMAGE,), {"groups": 4}, lambda x: normal(x, (2, 3))),
    ],
}  # fmt: skip


def check(xp: Any, name: str, case: Case, element: str) -> None:
    args, attributes, formula = case
    signature = rule(name, len(args), **attributes)
    assert element in allowed(signature)
    kind = numpy_arrays.element(element)
    exact = [np.asarray(arg).astype(kind).astype("f8" if element in EPS else "i8") for arg in args]
    found = apply(xp, name, *args, element=element, **attributes)
    same(found, formula(*exact), given(signature, element))


@pytest.mark.parametrize("name", NUMERIC)
def test_numbers(xp: Any, name: str) -> None:
    elements = NUMBERS if xp is numpy_arrays.ARRAYS else FEW
    for case, element in itertools.product(NUMERIC[name], elements):
        check(xp, name, case, element)


@pytest.mark.parametrize("name", REAL)
def test_floats(xp: Any, name: str) -> None:
    elements = FLOATS if xp is numpy_arrays.ARRAYS else ("f16", "f64")
    for case, element in itertools.product(REAL[name], elements):
        check(xp, name, case, element)


@pytest.mark.parametrize("name", LOGIC)
def test_logic(xp: Any, name: str) -> None:
    for case in LOGIC[name]:
        check(xp, name, case, "bool")


# --- what integers do ------------------------------------------------------------------------


@pytest.mark.parametrize("element", ["i8", "i32", "i64"])
def test_integers_divide_down(xp: Any, element: str) -> None:
    a, b = np.meshgrid([-7, -6, 0, 6, 7], [-3, -2, 2, 3])
    same(apply(xp, "/", a, b, element=element), a // b, element)
    same(apply(xp, "//", a, b, element=element), a // b, element)
    same(apply(xp, "//", a, 0, element=element), 0 * a, element)
    same(apply(xp, "mod", a, b, element=element), a % b, element)
    same(apply(xp, "/", a, 0, element=element), 0 * a, element)
    same(apply(xp, "mod", a, 0, element=element), 0 * a, element)
    towards_zero = np.trunc(a / b).astype(a.dtype)
    same(apply(xp, "trunc_divide", a, b, element=element), towards_zero, element)
    same(apply(xp, "trunc_divide", a, 0, element=element), 0 * a, element)


@pytest.mark.parametrize("element", [e for e in NUMBERS if e not in EPS])
def test_integers_wrap_around(xp: Any, element: str) -> None:
    kind = np.iinfo(numpy_arrays.element(element))
    low, high = np.array([kind.min], kind.dtype), np.array([kind.max], kind.dtype)
    for name, args, expected in [
        ("+", (high, [1]), kind.min),
        ("-", (low, [1]), kind.max),
        ("sum", ([high[0], 1],), kind.min),
        ("negate", (low,), kind.min),
        ("square", (high,), 1),
        ("@", ([[high[0], 1]], [[1], [1]]), kind.min),
        ("pow", (high, [2]), 1),
    ]:
        found = apply(xp, name, *(np.asarray(a, kind.dtype) for a in args), element=element)
        assert found.dtype == kind.dtype, name
        assert found.reshape(()) == expected, name


def test_an_integer_to_a_negative_power(xp: Any) -> None:
    found = apply(xp, "pow", [-2, -1, 0, 1, 2, -1, 3], [-1, -1, -1, -3, -2, -2, 2], element="i32")
    same(found, [0, -1, 0, 1, 0, 1, 9], "i32")


@pytest.mark.parametrize(
    ("element", "bounds", "expected"),
    [
        ("i32", {"min": -0.5, "max": 1.5}, [0, 0, 1, 1]),
        ("i32", {"min": -inf, "max": 0.5}, [-3, 0, 0, 0]),
        ("u8", {"min": -7, "max": 300}, [253, 0, 1, 5]),
        ("u8", {"min": 1000}, [255] * 4),
        ("i64", {"max": 2.0**63}, [-3, 0, 1, 5]),
        ("f16", {"max": 1e9}, [-3, 0, 1, 5]),
    ],
)
def test_bounds_that_no_element_is(
    xp: Any, element: str, bounds: dict[str, float], expected: list[int]
) -> None:
    values = np.array([-3, 0, 1, 5])
    attributes = {"min": None, "max": None} | bounds
    same(apply(xp, "clip", values, element=element, **attributes), expected, element)


# --- the ends of the floats ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sigmoid", [0, 0.5, 1]),
        ("softplus", [0, math.log(2), 1e4]),
        ("silu", [0, 0, 1e4]),
        ("elu", [-1, 0, 1e4]),
        ("gelu", [0, 0, 1e4]),
        ("softmax", [0, 0, 1]),
        ("log_softmax", [-2e4, -1e4, 0]),
        ("logsumexp", 1e4),
        ("tanh", [-1, 0, 1]),
    ],
)
def test_large_numbers_do_not_overflow(xp: Any, name: str, expected: Any) -> None:
    for element in FLOATS:
        same(apply(xp, name, [-1e4, 0, 1e4], element=element), expected, element)


def test_small_parts_are_not_lost(xp: Any) -> None:
    for name in ("sigmoid", "softplus"):
        found = apply(xp, name, [-30.0], element="f64")
        np.testing.assert_allclose(found, [math.exp(-30)], rtol=1e-12)
    np.testing.assert_allclose(apply(xp, "variance", [1e4, 1e4 + 1, 1e4 + 2]), 2 / 3, rtol=1e-6)


def test_half_precision_does_not_run_over(xp: Any) -> None:
    big = np.full(4096, 30.0)
    for element in ("f16", "bf16"):
        same(apply(xp, "mean", big, element=element), 30.0, element)
        same(apply(xp, "variance", [-300.0, 300, 0, 0], element=element), 45000.0, element)
        same(apply(xp, "norm", [300.0, 400.0], element=element), 500.0, element)
        same(apply(xp, "layer_norm", [[-300.0, 300.0]], element=element), [[-1.0, 1]], element)
        same(apply(xp, "sum", np.full(4096, 1.0), element=element), 4096.0, element)
        same(apply(xp, "dot", np.ones(4096), np.ones(4096), element=element), 4096.0, element)


def test_not_a_number_stays(xp: Any) -> None:
    for name in ("relu", "sigmoid", "max", "min", "logsumexp", "norm", "sign", "hard_swish"):
        assert np.isnan(apply(xp, name, [1.0, nan])).any(), name
    assert np.isnan(apply(xp, "maximum", [nan], [1.0])).all()
    assert np.isnan(apply(xp, "clip", [nan], min=0, max=1)).all()
    assert apply(xp, "logsumexp", [-inf, -inf]) == -inf
    assert apply(xp, "logsumexp", [-inf, inf]) == inf
    assert np.isnan(apply(xp, "softmax", [-inf, -inf])).all()


# --- nothing ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "element", "expected"),
    [
        ("sum", "i32", 0),
        ("sum", "f16", 0),
        ("prod", "f32", 1),
        ("max", "f32", -inf),
        ("max", "bf16", -inf),
        ("max", "i8", -128),
        ("max", "u64", 0),
        ("min", "f64", inf),
        ("min", "i64", 2**63 - 1),
        ("min", "u64", 2**64 - 1),
        ("mean", "f16", nan),
        ("mean", "f32", nan),
        ("variance", "f32", nan),
        ("norm", "f32", 0),
        ("logsumexp", "f32", -inf),
        ("any", "bool", False),
        ("all", "bool", True),
    ],
)
def test_reductions_of_nothing(xp: Any, name: str, element: str, expected: Any) -> None:
    empty = np.zeros((2, 0))
    same(apply(xp, name, empty, element=element), np.asarray(expected), element)
    full = np.full((2,), expected)
    same(apply(xp, name, empty, element=element, axis=(1,)), full, element)
    same(apply(xp, name, empty, element=element, axis=(-1,), keep=True), full[:, None], element)
    same(apply(xp, name, empty, element=element, axis=(0,)), full[:0], element)


def test_a_position_in_nothing(xp: Any) -> None:
    same(apply(xp, "argmax", np.zeros((0, 2)), axis=1), np.zeros(0), "i64")
    same(apply(xp, "argmin", np.zeros((2, 0)), axis=0, keep=True), np.zeros((1, 0)), "i64")
    with pytest.raises(ValueError, match="empty"):
        apply(xp, "argmax", np.zeros((2, 0)), axis=1)


def test_single_numbers_of_numpy() -> None:
    """What NumPy gives for a tensor without dimensions is no array, but may be an argument."""
    arrays: Any = numpy_arrays.ARRAYS
    for name, element in itertools.product({*NUMERIC, *REAL}, ("f32", "bf16")):
        arity = len((REAL.get(name) or NUMERIC[name])[0][0])
        family = OPERATORS[name].family
        if family in ("linear", "normalise") or name.startswith(("arg", "cum")):
            continue
        attributes = {"min": 0, "max": 2} if name == "clip" else {}
        number = numpy_arrays.element(element).type(1)
        with arrays.context():
            found = call(arrays, name, attributes)(*[number] * arity)
        assert found.dtype == numpy_arrays.element(given(rule(name, arity, **attributes), element))
        assert found.shape == ()


def test_a_sample_of_one_has_no_variance(xp: Any) -> None:
    assert np.isnan(apply(xp, "variance", [3.0], correction=1))
    assert np.isnan(apply(xp, "variance", [3.0], correction=2))


# --- the examples: shapes and element types --------------------------------------------------

EXAMPLES = [(name, example) for name in NAMES for example in examples(OPERATORS[name].doc)]


def read(example: Example, sizes: dict[str, int]) -> tuple[list[tuple[int, ...]], tuple[int, ...]]:
    """The shapes of the arguments and of the result, for some sizes."""

    def shape(text: str) -> tuple[int, ...]:
        inside = text.partition("[")[2].rstrip("]")
        return tuple(int(sizes.get(size, size)) for size in inside.split(",") if size)

    params, _ = lift(example.call)
    return [shape(param) for param in params], shape(example.expected)


def attributes_of(name: str, example: Example) -> dict[str, Any]:
    operator, found = OPERATORS[name], dict[str, Any]()
    for key, text in re.findall(r'(\w+)=("[^"]*"|\[[^]]*\]|[^,)]+)', example.call):
        value = ast.literal_eval(text.replace("true", "True").replace("false", "False"))
        many = operator.attributes[key].startswith("Ints")
        found[key] = tuple(np.atleast_1d(value).tolist()) if many else value
    return found


@pytest.mark.parametrize(
    ("name", "example"), EXAMPLES, ids=[f"{name} {e.call}" for name, e in EXAMPLES]
)
def test_shapes_and_element_types(xp: Any, name: str, example: Example) -> None:
    """With sizes that differ, that are all one, and that are all zero."""
    attributes = attributes_of(name, example)
    names = sorted(set(re.findall(r"\b[a-z]\b", " ".join(lift(example.call)[0]))))
    choices = [
        dict(zip(names, range(2, 9), strict=False)),
        *(dict.fromkeys(names, k) for k in (1, 0)),
    ]
    for sizes in choices:
        args, result = read(example, sizes)
        signature = rule(name, len(args), **attributes)
        for element in allowed(signature):
            kind = xp.element(element)
            function = call(xp, name, attributes)
            if xp is numpy_arrays.ARRAYS:
                found = function(*(np.ones(shape, kind) for shape in args))
            else:
                jax = pytest.importorskip("jax")
                found = jax.eval_shape(function, *(jax.ShapeDtypeStruct(s, kind) for s in args))
            assert found.shape == result
            assert found.dtype == xp.element(given(signature, element))
