"""Contents follow operators: what the table says of elements is what the operators compute."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

from axon.backends.numpy_arrays import NumpyArrays
from axon.contents.applied import Applied
from axon.contents.arithmetic import is_symbol
from axon.contents.operators import CONTENTS, CONTENTS_OF_PARTS
from axon.contents.singles import shortest, single
from axon.contents.values import MOST_CONTENTS, Contents, vector
from axon.ops import OPERATORS
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.variables import DimVar

DTYPES: dict[str, Any] = {
    "bool": bool,
    "i32": "i4",
    "i64": "i8",
    "u8": "u1",
    "f32": "f4",
    "f64": "f8",
}

ONE: list[tuple[str, str, dict[str, Any]]] = [
    ("identity", "i64", {}), ("negate", "i64", {}), ("abs", "i32", {}), ("sign", "i64", {}),
    ("square", "i64", {}), ("square", "f32", {}), ("floor", "f32", {}), ("ceil", "f64", {}),
    ("sqrt", "f32", {}), ("logical_not", "bool", {}),
    ("cast", "i64", {"to": "f32"}), ("cast", "f32", {"to": "i64"}), ("cast", "i64", {"to": "bool"}),
    ("cast", "bool", {"to": "i32"}), ("sum", "i64", {}),
    ("sum", "i64", {"axis": [1], "keep": True}),
    ("prod", "i64", {"axis": (0, -1)}), ("max", "i64", {"axis": [-1]}), ("min", "f32", {"axis": 0}),
    ("any", "bool", {"axis": [1]}), ("all", "bool", {"axis": [0, 2], "keep": True}),
    ("index", "i64", {"i": -1, "axis": 1}), ("slice", "i64", {"start": 1}),
    ("slice", "i64", {"start": -1, "stop": -9, "step": -1, "axis": 1}),
    ("slice", "f32", {"stop": 99, "step": 2, "axis": -1}), ("reverse", "i64", {"axis": 2}),
    ("flatten", "i64", {}), ("flatten", "i64", {"axis": -1}), ("transpose", "i64", {}),
    ("transpose", "i64", {"perm": [1, 2, 0]}), ("expand_dims", "i64", {"axis": [0, -1]}),
    ("tile", "i64", {"reps": [2, 1, 3]}), ("tile", "i64", {"reps": (2,)}),
    ("one_hot", "u8", {"depth": 3, "to": "i64"}), ("one_hot", "u8", {"depth": 4, "axis": 0}),
]  # fmt: skip
ARITHMETIC = ("+", "-", "*", "/", "mod", "trunc_divide", "maximum", "minimum")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
TWO = [
    *((name, elem) for name in ARITHMETIC for elem in ("i32", "i64")),
    *((name, "f32") for name in ("+", "-", "*", "/", "maximum", "minimum")),
    *((name, elem) for name in COMPARISONS for elem in ("i64", "f32")),
    *((name, "bool") for name in ("logical_and", "logical_or", "logical_xor", "==")),
]
SHAPED = [("reshape", [6, 2]), ("reshape", []), ("broadcast_to", [5, 2, 3, 2]), ("expand", [3, 1])]


class Known:
    """An argument: its contents, or its shape alone."""

    def __init__(self, held: Contents | None, word: Any = None) -> None:
        self.held, self.word = held, word

    def contents(self, scope: Any) -> Contents | None:
        return self.held

    def shape(self, scope: Any) -> Any:
        return self.word


class Sizes:
    """Sizes are not negative, and nothing else is known of them."""

    def __init__(self) -> None:
        self.limits: list[Dim] = []
        self.guards: list[Dim] = []

    def is_size(self, dim: Dim) -> bool:
        return dims.is_nonnegative(dim)

    def guard(self, dim: Dim) -> None:
        self.guards.append(dim)


def follow(name: str, *args: Any, scope: Sizes | None = None, **attributes: Any) -> Contents | None:
    parts = [arg if isinstance(arg, Known) else Known(arg) for arg in args]
    return CONTENTS[name](Applied(name, parts, attributes, scope or Sizes()))


def held(array: Any, elem: str) -> Contents:
    return Contents(elem, array.shape, tuple(array.ravel().tolist()))


def made(name: str, *args: Any, **attributes: Any) -> Any:
    """What the operator computes."""
    operator = OPERATORS[name]
    assert operator.meaning is not None
    given = {**operator.defaults, **attributes}
    for key in ("axis", "perm", "reps"):
        if isinstance(given.get(key), int | list) and key + name not in SINGLE_AXES:
            given[key] = tuple(numpy.atleast_1d(given[key]).tolist())
    return operator.meaning(NumpyArrays(), *args, **given)


SINGLE_AXES = {
    "axis" + name
    for name in ("index", "slice", "reverse", "flatten", "one_hot", "concat", "stack", "gather")
}


def random(elem: str, shape: tuple[int, ...], seed: int = 0) -> Any:
    numbers = numpy.random.default_rng(seed).integers(-4, 5, shape)
    if elem == "bool":
        return numbers > 0
    if elem.startswith("u"):
        return numpy.abs(numbers).astype(DTYPES[elem])
    return (numbers * (0.7 if elem.startswith("f") else 1)).astype(DTYPES[elem])


def agree(found: Contents | None, wanted: Any, partly: bool = False) -> None:
    assert found is not None
    assert found.shape == wanted.shape
    assert found.elem == "" or wanted.dtype == DTYPES[found.elem]
    for item, number in zip(found.items, wanted.ravel().tolist(), strict=True):
        if partly and item is None:
            continue
        assert item == number and type(item) is type(number), (found.items, wanted)


@pytest.mark.parametrize(("name", "elem", "attributes"), ONE)
def test_of_one_tensor(name: str, elem: str, attributes: dict[str, Any]) -> None:
    x = random(elem, (2, 3, 2))
    x = numpy.abs(x) if name == "sqrt" else x
    agree(follow(name, held(x, elem), **attributes), made(name, x, **attributes))


@pytest.mark.parametrize(("name", "elem"), TWO)
def test_of_two_tensors(name: str, elem: str) -> None:
    for seed in range(4):
        x, y = random(elem, (2, 3), seed), random(elem, (3,), seed + 9)
        divides = name in ("/", "mod", "trunc_divide")
        with numpy.errstate(all="ignore"):
            wanted = made(name, x, y)
        found = follow(name, held(x, elem), held(y, elem))
        agree(found, wanted, partly=divides)
        if divides and found is not None:  # by zero nothing is known
            unknown = [item is None for item in found.items]
            assert unknown == numpy.broadcast_to(y == 0, x.shape).ravel().tolist()


@pytest.mark.parametrize(("name", "elem"), [(name, elem) for name, elem in TWO if elem == "i64"])
def test_sizes_among_the_elements(name: str, elem: str) -> None:
    """What is said of sizes that are not known holds for each of them."""
    n, m = DimVar("n", 1), DimVar("m", 1)
    items = [n, m, dims.add(n, 1), dims.sub(n, m), dims.scale(-1, n), 2, 0, -3, None]
    for a in range(5):
        for b in range(5):
            values = {n: a, m: b}
            for x in items:
                for y in items:
                    _compare(name, x, y, values)


def _compare(name: str, x: Any, y: Any, values: dict[DimVar, int]) -> None:
    scope = Sizes()
    found = follow(name, vector([x], "i64"), vector([y], "i64"), scope=scope)
    if found is None or x is None or y is None:
        assert found is None or found.items == (None,)
        return
    if any((dims.evaluate(guard, values) or 0) < 0 for guard in scope.guards):
        return
    numbers = [numpy.array([dims.evaluate(each, values)], "i8") for each in (x, y)]
    item = found.items[0]
    if item is None or ((numbers[1] == 0).all() and name in ("/", "mod", "trunc_divide")):
        return
    number = dims.evaluate(item, values) if is_symbol(item) else item
    assert number == made(name, *numbers).tolist()[0], (name, x, y, values, item)


@pytest.mark.parametrize(("name", "sizes"), SHAPED)
def test_under_a_shape(name: str, sizes: list[int]) -> None:
    x = random("i64", (2, 3, 2) if sizes else (1, 1))
    if name == "expand":
        wanted = numpy.broadcast_to(x, numpy.broadcast_shapes(x.shape, tuple(sizes)))
    else:
        wanted = made(name, x, tuple(sizes))
    agree(follow(name, held(x, "i64"), vector(sizes)), wanted)


def test_several_tensors() -> None:
    x, y, i = random("i64", (2, 3)), random("i64", (2, 3), 1), numpy.array([[0, -1]])
    for axis in (0, 1, -1):
        for name, other in (("concat", y), ("stack", y), ("gather", i)):
            found = follow(name, held(x, "i64"), held(other, "i64"), axis=axis)
            agree(found, made(name, x, other, axis=axis))
        attributes = {"sizes": [1, x.shape[axis] - 1], "axis": axis}
        applied = Applied("split", [Known(held(x, "i64"))], attributes, Sizes())
        for part, wanted in zip(
            CONTENTS_OF_PARTS["split"](applied), numpy.split(x, [1], axis), strict=True
        ):
            agree(part, wanted)
    where = follow("where", held(x > 0, "bool"), held(x, "i64"), held(y, "i64"))
    agree(where, numpy.where(x > 0, x, y))
    agree(follow("range", vector([7]), step=3), numpy.arange(0, 7, 3))
    agree(follow("range", vector([2]), vector([5]), to="i32"), numpy.arange(2, 5, dtype="i4"))
    agree(follow("full", vector([2, 2]), held(numpy.array(5), "i64")), numpy.full((2, 2), 5))
    agree(follow("zeros", vector([2])), numpy.zeros(2, "f4"))
    agree(follow("ones", vector([]), to="i64"), numpy.ones((), "i8"))
    agree(follow("squeeze", held(x[None, :, None], "i64"), axis=[0, -2]), x)
    agree(follow("max", held(x, "i64"), held(y, "i64")), numpy.maximum(x, y))
    powers = follow("pow", held(x, "i64"), held(y, "i64"))
    agree(powers, made("pow", x, y), partly=True)
    assert powers is not None and sum(item is None for item in powers.items) == (y < 0).sum()


def test_the_table_is_of_operators() -> None:
    assert {*CONTENTS, *CONTENTS_OF_PARTS} <= set(OPERATORS)


def test_what_is_not_known_in_part() -> None:
    n = DimVar("n", 1)
    found = follow("concat", Known(vector([n], "i64")), Known(None, (2,)))
    assert found == Contents("i64", (3,), (n, None, None))
    assert follow("concat", Known(vector([n], "i64")), Known(None, (n,))) is None
    assert follow("shape", Known(None, (n, 3))) == Contents("i64", (2,), (n, 3))
    assert follow("size", Known(None, (n, 3)), axis=1) == Contents("i64", (), (3,))
    assert follow("rank", Known(None, (n, 3))) == Contents("i64", (), (2,))
    chosen = follow("where", vector([None, None], "bool"), vector([n, 1]), vector([n, 2]))
    assert chosen is not None and chosen.items == (n, None)


def test_what_is_impossible_or_large_is_not_known() -> None:
    x = held(random("i64", (2, 3)), "i64")
    assert follow("gather", x, vector([3]), axis=1) is None
    assert follow("concat", x, vector([1]), axis=0) is None
    assert follow("transpose", x, perm=[0, 0]) is None
    assert follow("squeeze", x, axis=[0]) is None
    assert follow("reshape", x, vector([4])) is None
    assert follow("slice", x, stop=DimVar("n", 1)) is None
    assert follow("tile", x, reps=[MOST_CONTENTS, 1]) is None
    assert follow("range", vector([MOST_CONTENTS + 1])) is None
    assert follow("full", vector([1 << 40, 0]), vector([1])) == Contents("", (1 << 40, 0), ())
    assert follow("+", held(numpy.array([127]), "i8"), held(numpy.array([1]), "i8")) == Contents(
        "i8", (1,), (None,)
    )


def test_numbers_as_f32_has_them() -> None:
    for x in (0.1, 1e-45, 3.5e38, -1 / 3, 16777217.0, 0.0, -0.0, 1.17549435e-38, 2.0**-126 * 1.5):
        with numpy.errstate(over="ignore"):
            wanted = numpy.float32(x)
        assert single(x) == wanted
        assert shortest(float(wanted)) == float(str(wanted))
