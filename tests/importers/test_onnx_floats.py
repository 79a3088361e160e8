"""Sizes that a model computes in floating point: what they are, and up to where that holds."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy
import pytest
from onnx import TensorProto, helper

import axon
from axon.contents import arithmetic as contents
from axon.contents import reals as floats
from axon.contents.reals import Real
from axon.importers.reporting.report import Report
from axon.importers.writing.program import write_program
from axon.types import dim as dims
from axon.types.variables import DimVar
from tests.importers.onnx_models import import_model, infer_model, model, node, value

TYPES: dict[str, Any] = {"f32": numpy.float32, "f64": numpy.float64, "f16": numpy.float16}
INT64 = TensorProto.INT64
KINDS = {"f32": TensorProto.FLOAT, "f64": TensorProto.DOUBLE, "f16": TensorProto.FLOAT16}
Steps = list[tuple[str, float]]


def chain(steps: Steps, size: int | str = "n", elem: str = "f32", declared: Any = None) -> Any:
    """Zeros, as many as a float that was made of a size by these operators."""
    nodes = [node("Shape", "x", "s", end=1), node("Cast", "s", "f0", to=KINDS[elem])]
    weights = {}
    for i, (op, number) in enumerate(steps):
        weights[f"w{i}"] = numpy.array([number], TYPES[elem])
        inputs = f"f{i}" if op in ("Floor", "Ceil", "Neg") else f"f{i} w{i}"
        nodes.append(node(op, inputs, f"f{i + 1}"))
    nodes += [
        node("Cast", f"f{len(steps)}", "i", to=TensorProto.INT64),
        node("ConstantOfShape", "i", "y"),
    ]
    return model(nodes, {"x": [size, 0]}, {"y": declared}, weights)


def found(made: Any) -> Report:
    return infer_model(made, "m")


def size_of(steps: Steps, **options: Any) -> Any:
    """The size of what comes of a size `n`; None if it is not known."""
    report = found(chain(steps, **options))
    assert report.ok
    (size,) = report.tensors["y"].shape or (None,)
    return size if isinstance(size, int) or "n" in str(size) else None


def empty(n: int) -> Any:
    return numpy.zeros((n, 0), numpy.float32)


STRIDED: Steps = [("Sub", 3), ("Div", 3), ("Add", 1), ("Ceil", 0)]
"""How many windows fit, as convolutions are padded: ceil((n - 3) / 3 + 1)."""


# --- what is followed ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "size"),
    [
        ([], "n"),
        ([("Div", 4), ("Floor", 0)], "n/4"),
        ([("Div", 3), ("Ceil", 0)], "(n+2)/3"),
        ([("Div", 3)], "n/3"),
        ([("Mul", 2)], "2*n"),
        ([("Mul", 1.5), ("Floor", 0)], "n + n/2"),
        ([("Div", 0.5)], "2*n"),
        ([("Neg", 0), ("Div", -3), ("Ceil", 0)], "(n+2)/3"),
        ([("Max", 2)], "max(n,2)"),
        ([("Min", 2.5), ("Ceil", 0)], "min(2*n+1,6)/2"),
        (STRIDED, "(n+2)/3"),
    ],
)
@pytest.mark.parametrize("elem", ["f32", "f64"])
def test_a_size_that_is_a_fraction(steps: Steps, size: str, elem: str) -> None:
    assert size_of(steps, elem=elem) == size


@pytest.mark.parametrize(
    "steps",
    [
        [("Mul", 0.1)],  # no float is a tenth
        [("Div", 0.1)],
        [("Mul", 1 / 3)],
        [("Div", 3), ("Mul", 3)],  # 3 * (n / 3) may be less than n
        [("Div", 3), ("Max", 1)],
        [("Add", 2.0**30)],  # above what floats have, whatever the size
        [("Mul", numpy.inf)],
        [("Div", 0)],
        [("Mul", 15)] * 9,
    ],
)
def test_a_size_that_rests_on_rounding(steps: Steps) -> None:
    assert size_of(steps) is None


def test_halves_are_not_followed() -> None:
    """They are rounded above 2048."""
    assert size_of([], elem="f16") is None


def test_products_of_sizes_are_not_followed() -> None:
    """They are soon above what floats have, and often right all the same."""
    nodes = [
        node("Size", "x", "s"),
        node("Cast", "s", "f", to=TensorProto.FLOAT),
        node("Cast", "f", "i", to=INT64),
        node("Reshape", "i one", "r"),
        node("ConstantOfShape", "r", "y"),
    ]
    made = model(nodes, {"x": ["n", "m"]}, {"y": None}, {"one": numpy.array([1])})
    report = found(made)
    assert report.tensors["y"].shape not in (("m*n",), ("n*m",))
    assert report.guards == ()


def test_numbers_are_rounded_as_floats_are() -> None:
    assert size_of([("Div", 3), ("Ceil", 0)], size=100) == 34
    assert size_of([("Div", 3), ("Floor", 0)], size=100) == 33
    assert size_of([], size=(1 << 24) + 1) == 1 << 24


# --- up to where -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("steps", "guards"),
    [
        ([], ("n <= 16777216",)),
        ([("Div", 2), ("Ceil", 0)], ("n <= 16777216",)),
        ([("Div", 3), ("Floor", 0)], ("n <= 16777215",)),
        (STRIDED, ("n <= 8388607",)),  # it is rounded twice
        ([("Mul", 1.5), ("Floor", 0)], ("3*n <= 16777216",)),
        ([("Mul", 4)], ("n <= 16777216",)),
    ],
)
def test_what_is_taken_for_granted_is_a_guard(steps: Steps, guards: tuple[str, ...]) -> None:
    made = chain(steps)
    assert found(made).guards == guards
    assert f"where {', '.join(guards)}" in write_program(import_model(made, "m")).text


def test_who_does_not_use_it_as_an_integer_asks_for_nothing() -> None:
    nodes = [
        node("Shape", "x", "s", end=1),
        node("Cast", "s", "f", to=TensorProto.FLOAT),
        node("Div", "x f", "y"),
    ]
    made = model(nodes, {"x": ["n", 3]}, {"y": None})
    assert found(made).guards == ()
    assert "where" not in write_program(import_model(made, "m")).text


def test_a_run_up_to_the_limit_has_the_size_of_the_model() -> None:
    """One more, and f32 would make another size of it: that is said before anything is computed."""
    program = axon.from_onnx(chain([("Div", 2**20), ("Floor", 0)]))
    assert program.model(empty(1 << 24)).shape == (16,)
    assert program.model(empty((1 << 24) - 1)).shape == (15,)
    with pytest.raises(axon.AxonError, match="16777216"):
        program.model(empty((1 << 24) + 1))


def test_past_the_limit_a_model_makes_another_size() -> None:
    """What the guard is for: n - (n as a float) is not 0."""
    past = (1 << 24) + 1
    assert int(numpy.float32(past)) == past - 1
    assert found(chain([], size=past)).tensors["y"].shape == (past - 1,)
    program = axon.from_onnx(chain([]))
    with pytest.raises(axon.AxonError):
        program.model(empty(past))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, 640, 1001])
def test_a_run_has_the_size_of_the_model(n: int) -> None:
    made = axon.from_onnx(chain(STRIDED)).model(empty(n))
    assert made.shape == (int(numpy.ceil(numpy.float32(n - 3) / numpy.float32(3) + 1)),)


def test_many_limits_end() -> None:
    nodes = [node("Shape", "x", "s"), node("Cast", "s", "f", to=TensorProto.FLOAT)]
    nodes += [node("Cast", "f", "i", to=INT64), node("ConstantOfShape", "i", "y")]
    made = model(nodes, {"x": [f"n{i}" for i in range(100)]}, {"y": None})
    report = found(made)
    assert report.ok
    assert len(report.guards) == floats.MOST_LIMITS


# --- where else they go ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "last",
    [
        [node("Range", "zero f one", "y")],
        [node("ReduceProd", "fs", "p", keepdims=1), node("Exp", "p", "y")],
        [node("OneHot", "s f zeros", "y")],
        [node("Resize", "x - scales", "y")],
        [node("Less", "f one", "c"), node("Where", "c f one", "y")],
        [node("Equal", "f f", "y")],
        [node("Mod", "f one", "y", fmod=1)],
        [node("Cast", "f", "y", to=TensorProto.BOOL)],
        [node("Cast", "f", "h", to=TensorProto.FLOAT16), node("Cast", "h", "y", to=INT64)],
        [node("Cast", "f", "d", to=TensorProto.DOUBLE), node("Cast", "d", "y", to=INT64)],
        [node("Neg", "f", "m"), node("Abs", "m", "y")],
        [node("Sub", "f f", "z"), node("Div", "f z", "y")],
    ],
)
def test_floats_go_anywhere(last: list[Any]) -> None:
    nodes = [
        node("Shape", "x", "s"),
        node("Cast", "s", "fs", to=TensorProto.FLOAT),
        node("Gather", "fs first", "f"),
        node("Concat", "fs", "scales", axis=0),
        *last,
    ]
    weights = {
        "first": numpy.array(0),
        "zero": numpy.array(0, numpy.float32),
        "one": numpy.array(1, numpy.float32),
        "zeros": numpy.zeros(2, numpy.float32),
    }
    made = model(nodes, {"x": ["n", "m"]}, {"y": None}, weights)
    imported = import_model(made, "m")
    assert not imported.importer.malformed
    assert not imported.importer.unsupported
    write_program(imported)


def test_a_branch_asks_for_nothing_outside() -> None:
    """What it takes for granted holds only if it runs."""
    then = helper.make_graph(
        [node("Cast", "f", "i", to=INT64), node("ConstantOfShape", "i", "a")],
        "then",
        [],
        [value("a", None)],
    )
    fallback = helper.make_graph([node("Relu", "x", "b")], "otherwise", [], [value("b", None)])
    nodes = [
        node("Shape", "x", "s"),
        node("Cast", "s", "f", to=TensorProto.FLOAT),
        helper.make_node("If", ["c"], ["y"], then_branch=then, else_branch=fallback),
    ]
    inputs = [value("x", ["n"]), value("c", [], TensorProto.BOOL)]
    assert found(model(nodes, inputs, {"y": None})).guards == ()


def test_a_wrong_annotation_of_such_a_size_is_reported() -> None:
    (warning,) = found(chain(STRIDED, declared=["n"])).diagnostics
    assert warning.code == "AX501"
    assert "the graph makes it f32 [(n+2)/3]" in warning.message
    assert found(chain(STRIDED, declared=["(n + 2)//3"])).diagnostics == ()


# --- that it is true -------------------------------------------------------------------------

NUMBERS = (1, 2, 3, 4, 5, 7, 8, 10, 12, 0.5, 1.5, 0.25, 2.5, 640, 1024, 1e6, -1, -3, 0.1, 2.0**23)
SYMBOLIC: dict[str, Any] = {
    "+": contents.add, "-": contents.sub, "*": contents.mul, "/": contents.ratio,
    "min": contents.least, "max": contents.greatest,
    "floor": lambda x, _: contents.floor(x), "ceil": lambda x, _: contents.ceil(x),
    "from": lambda x, c: contents.sub(c, x),
}  # fmt: skip
CONCRETE: dict[str, Any] = {
    "+": numpy.add, "-": numpy.subtract, "*": numpy.multiply, "/": numpy.divide,
    "min": numpy.minimum, "max": numpy.maximum,
    "floor": lambda x, _: numpy.floor(x), "ceil": lambda x, _: numpy.ceil(x),
    "from": lambda x, c: c - x,
}  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_what_is_said_is_what_floats_make_of_it(seed: int) -> None:
    """Chains of arithmetic at random, for small sizes and for those next to the limit."""
    random = Random(seed)
    elem = random.choice(["f32", "f32", "f64"])
    n = DimVar("n", 1)
    start = dims.floordiv(
        dims.add(dims.scale(random.choice([1, 1, 3]), n), -2), random.choice([1, 2])
    )
    steps = [
        (random.choice(list(SYMBOLIC)), random.choice(NUMBERS)) for _ in range(random.randint(1, 5))
    ]
    made: Any = floats.as_float(start, elem)
    for op, number in steps:
        made = None if made is None else SYMBOLIC[op](made, float(TYPES[elem](number)))
    limits = floats.conditions(made) if isinstance(made, Real) else None
    if limits is None:
        return
    size = contents.towards_zero(made.top, made.bottom, dims.is_nonnegative)
    last = _last(n, limits)
    near = [max(last - i, 0) for i in range(100)]
    for given in (*range(50), *near, *(random.randrange(last + 1) for _ in range(100))):
        if all((dims.evaluate(limit, {n: given}) or 0) >= 0 for limit in limits):
            x = TYPES[elem](dims.evaluate(start, {n: given}))
            for op, number in steps:
                x = CONCRETE[op](x, TYPES[elem](number))
            assert int(x) == dims.evaluate(size, {n: given}), (elem, steps, given)


def _last(n: DimVar, limits: list[Any]) -> int:
    """The largest size within the limits."""
    low, high = 0, 1 << 60
    while high - low > 1:
        middle = (low + high) // 2
        if all((dims.evaluate(limit, {n: middle}) or 0) >= 0 for limit in limits):
            low = middle
        else:
            high = middle
    return low
