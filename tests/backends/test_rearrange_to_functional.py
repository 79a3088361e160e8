"""What the operators do that join, cut, pick, make and slide, and those that take functions: the
values against plain loops, and the shapes and element types against inference; on each backend.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest

from axon.driver import check_text
from axon.inference.constructs.attributes import AttributeReader
from axon.ops import OPERATORS
from axon.ops.examples import lift
from axon.source import Source
from axon.syntax import ast, parse_expression
from axon.types.elements import BIT, CLASSES

pytest.importorskip("ml_dtypes")

BACKENDS = {"numpy": set(BIT), "jax": {"bool", "i8", "u64", "bf16", "f32"}}
"""And the element types that are tried on each: JAX compiles for every one."""


@contextmanager
def arrays(backend: str) -> Iterator[Any]:
    """A backend's array namespace, in the context that programs run in."""
    pytest.importorskip(backend)
    module = __import__(f"axon.backends.{backend}_arrays", fromlist=["ARRAYS"])
    with module.ARRAYS.context():
        yield module.ARRAYS


# --- one use of an operator ------------------------------------------------------------------


@dataclass(frozen=True)
class Use:
    """A call as in an operator's examples, with sizes that are numbers.

    Its `formula` takes the tensors and gives the values. Where the call says f32 stands each of the
    element types of a class. `given` are the arguments that are not made up.
    """

    call: str
    formula: Callable[..., Any]
    elements: str = "f32"
    given: dict[str, Any] = field(default_factory=dict)

    def each(self, among: set[str]) -> Iterator[Use]:
        names = [e for e in BIT if BIT[e] & CLASSES.get(self.elements, 0) and e in among]
        for name in names or [self.elements]:
            yield Use(re.sub(r"\bf32\b", name, self.call), self.formula, name, self.given)

    def inputs(self, xp: Any) -> dict[str, Any]:
        random = np.random.default_rng(1)
        found: dict[str, Any] = {}
        for param in lift(self.call)[0]:
            name, type_ = param.split(" : ", 1)
            if "->" in type_:
                found[name] = self.given[name]
                continue
            [(element, sizes)] = tensors(type_)
            values = self.given.get(name)
            if values is None:
                low = 0 if element[0] in "bu" and element != "bf16" else -4
                values = random.integers(low, 2 if element == "bool" else 5, sizes)
                values = values / 2 if "f" in element else values
            with np.errstate(over="ignore"):
                found[name] = np.asarray(values).reshape(sizes).astype(xp.element(element))
        return found

    def run(self, xp: Any, inputs: dict[str, Any]) -> Any:
        tree, _ = parse_expression(Source("call", lift(self.call)[1]))
        assert isinstance(tree, ast.Call) and isinstance(tree.function, ast.Name)
        operator = OPERATORS[tree.function.name]
        values = AttributeReader(lambda _: None).read(operator, tree.attributes, tree)
        assert values is not None and operator.meaning is not None
        args = [argument(arg, inputs) for arg in tree.args]
        return operator.meaning(xp, *args, **operator.defaults | values)

    def results(self) -> list[tuple[str, tuple[int, ...]]]:
        """The element types and the shapes that inference tells; -1 is a run-time size."""
        params, body = lift(self.call)
        checked = check_text(f"use = fn ({', '.join(params)}) {{ {body} }};")
        assert checked.ok, (self.call, checked.diagnostics)
        text = checked.signatures[0].signature
        depth, end = 0, 0
        for end in range(len(text)):
            depth += (text[end] == "(") - (text[end] == ")")
            if depth == 0 and text.startswith(" -> ", end):
                break
        return tensors(text[end + 4 :])


def tensors(text: str) -> list[tuple[str, tuple[int, ...]]]:
    found = re.findall(r"\b([iuf]\d+|bf16|bool)\b(?: \[([^]]*)\])?", text)
    return [
        (element, tuple(-1 if "?" in n else int(n) for n in sizes.split(",") if n))
        for element, sizes in found
    ]


def argument(expr: ast.Expr, inputs: dict[str, Any]) -> Any:
    match expr:
        case ast.Name(name=name):
            return inputs[name]
        case ast.ListExpr(items=items):
            return tuple(argument(item, inputs) for item in items)
        case ast.Number(value=value):
            return value
        case _:
            raise AssertionError(expr)


def flat(value: Any) -> list[Any]:
    return [x for part in value for x in flat(part)] if isinstance(value, tuple) else [value]


def exactly(values: Any) -> Any:
    """Numbers in which nothing is rounded."""
    if not isinstance(values, np.ndarray):
        return values
    kind = "bool" if values.dtype == bool else "int64" if values.dtype.kind in "iu" else "float64"
    return values.astype(kind)


# --- formulas, element by element ------------------------------------------------------------


def build(shape: tuple[int, ...], at: Callable[..., Any]) -> Any:
    """The array with `at(i, j, …)` at each place."""
    values = [at(*place) for place in np.ndindex(*shape)]
    return np.array(values).reshape(shape) if values else np.zeros(shape)


Ints = tuple[int, ...]


def seen(x: Any, places: Ints, steps: Ints, before: Ints, gaps: Ints, window: Ints) -> Any:
    """What each window holds: the place in the window, and the elements there of all channels."""
    for inside in np.ndindex(*window):
        sides = zip(places, steps, before, gaps, inside, strict=True)
        at = [p * s - b + g * w for p, s, b, g, w in sides]
        if all(0 <= i < n for i, n in zip(at, x.shape[2:], strict=True)):
            yield inside, at


def convolved(
    places: Ints, stride: Ints, before: Ints, dilation: Ints, groups: int = 1
) -> Callable[..., Any]:
    def formula(x: Any, f: Any, bias: Any = None) -> Any:
        inner, outer = f.shape[1], f.shape[0] // groups

        def at(n: int, k: int, *place: int) -> Any:
            total = 0 if bias is None else bias[k]
            for inside, source in seen(x, place, stride, before, dilation, f.shape[2:]):
                for c in range(inner):
                    total += x[(n, k // outer * inner + c, *source)] * f[(k, c, *inside)]
            return total

        return build((len(x), len(f), *places), at)

    return formula


def transposed(
    places: Ints, stride: Ints, before: Ints, dilation: Ints, groups: int = 1
) -> Callable[..., Any]:
    def formula(x: Any, f: Any, bias: Any = None) -> Any:
        inner, outer = f.shape[0] // groups, f.shape[1]
        y = np.zeros((len(x), groups * outer, *places), x.dtype)
        for n, c, k in product(range(len(x)), range(len(f)), range(outer)):
            for source in np.ndindex(*x.shape[2:]):
                for inside in np.ndindex(*f.shape[2:]):
                    steps = zip(source, stride, inside, dilation, before, strict=True)
                    at = [i * s + w * d - b for i, s, w, d, b in steps]
                    if all(0 <= i < m for i, m in zip(at, places, strict=True)):
                        target = (n, c // inner * outer + k, *at)
                        y[target] += x[(n, c, *source)] * f[(c, k, *inside)]
        return y if bias is None else y + bias.reshape(-1, *[1] * len(places))

    return formula


def pooled(
    combine: Callable[[list[Any]], Any],
    places: Ints,
    window: Ints,
    stride: Ints,
    before: Ints,
    dilation: Ints = (1, 1),
) -> Callable[[Any], Any]:
    def at(x: Any, n: int, c: int, *place: int) -> Any:
        inside = seen(x, place, stride, before, dilation, window)
        return combine([x[(n, c, *source)] for _, source in inside])

    return lambda x: build((*x.shape[:2], *places), lambda *place: at(x, *place))


def mean(values: list[Any]) -> Any:
    return sum(values) / len(values)


def stretched(x: Any, factor: int) -> Any:
    """Along the last axis, by straight lines between the middles."""
    n = x.shape[-1]
    middles = (np.arange(n * factor) + 0.5) / factor - 0.5
    rows = [np.interp(middles, np.arange(n), row) for row in x.reshape(-1, n)]
    return np.array(rows).reshape(*x.shape[:-1], n * factor)


def ordered(x: Any, descending: bool = False) -> Any:
    """Where the elements of each row come from, smallest or largest first, ties as they were."""
    sign = -1 if descending else 1
    rows = [sorted(range(x.shape[-1]), key=lambda i: sign * row[i]) for row in x]
    return np.array(rows, int).reshape(x.shape)


def picked(x: Any, order: Any) -> Any:
    return build(order.shape, lambda i, j: x[i, order[i, j]])


def scattered(combine: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    def formula(x: Any, i: Any, rows: Any) -> Any:
        y = x.copy()
        for number, row in zip(i, rows, strict=True):
            y[number] = combine(y[number], row)
        return y

    return formula


MODES: list[tuple[str, Callable[[Any, Any], Any], str]] = [
    ("set", lambda old, new: new, "any"),
    ("add", lambda old, new: old + new, "num"),
    ("mul", lambda old, new: old * new, "num"),
    ("min", np.minimum, "num"),
    ("max", np.maximum, "num"),
]
TIES = [[2, 1, 2, 1, 0, 2], [0, 0, 1, 3, 1, 0]]
SAME = [3, -1, 3, 0]

REARRANGE = [
    Use("concat(x : f32 [2,3], y : f32 [4,3])", lambda x, y: np.vstack([x, y]), "any"),
    Use("concat(x : f32 [2,3], axis=-1)", lambda x: x),
    Use(
        "concat(x : f32 [2,1], y : f32 [2,0], z : f32 [2,2], axis=1)",
        lambda x, y, z: np.hstack([x, z]),
    ),
    Use("stack(x : f32 [2,3], y : f32 [2,3], axis=-1)", lambda x, y: np.dstack([x, y]), "any"),
    Use("stack(x : f32, y : f32)", lambda x, y: np.array([x, y])),
    Use("split(x : f32 [2,6], parts=3, axis=1)", lambda x: (x[:, :2], x[:, 2:4], x[:, 4:]), "any"),
    Use("split(x : f32 [5,2], sizes=[2,0,3])", lambda x: (x[:2], x[:0], x[2:])),
    Use("split(x : f32 [0,2], parts=2)", lambda x: (x, x)),
    Use("split(x : f32 [3], parts=1)", lambda x: x),
    Use("reshape(x : f32 [2,6], [3,4])", lambda x: x.ravel().reshape(3, 4), "any"),
    Use("reshape(x : f32 [0,6], [3,0])", lambda x: np.zeros((3, 0))),
    Use("flatten(x : f32 [2,3,2])", lambda x: x.ravel(), "any"),
    Use("flatten(x : f32 [2,3,2], axis=2)", lambda x: x.reshape(6, 2)),
    Use("flatten(x : f32 [2,3,2], axis=-1)", lambda x: x.reshape(6, 2)),
    Use("flatten(x : f32 [2,0,3], axis=0)", lambda x: np.zeros((1, 0))),
    Use("flatten(x : f32 [0,0,3], axis=-1)", lambda x: np.zeros((0, 3))),
    Use("squeeze(x : f32 [1,3,1], axis=[0,-1])", lambda x: x[0, :, 0], "any"),
    Use("expand_dims(x : f32 [2,3], axis=[1,-1])", lambda x: x[:, None, :, None], "any"),
    Use("expand_dims(x : f32, axis=0)", lambda x: x[None]),
    Use("broadcast_to(x : f32 [3,1], [2,3,4])", lambda x: x + np.zeros((2, 3, 4)), "any"),
    Use("broadcast_to(x : f32 [3,1], [3,0])", lambda x: np.zeros((3, 0))),
    Use("tile(x : f32 [2,3], reps=[2,2])", lambda x: np.block([[x, x], [x, x]]), "any"),
    Use("tile(x : f32 [2,3], reps=3)", lambda x: np.hstack([x, x, x])),
    Use("tile(x : f32 [2,3], reps=[0,1])", lambda x: x[:0]),
    Use("repeat(x : f32 [2,3], times=2, axis=1)", lambda x: x[:, [0, 0, 1, 1, 2, 2]], "any"),
    Use("repeat(x : f32 [2], times=0)", lambda x: x[:0]),
    Use("repeat(x : f32 [0,2], times=3)", lambda x: x),
    Use(
        "pad(x : f32 [2,3,1], pad=[[1,0],[0,2]], value=1)",
        lambda x: build(
            (3, 5, 1), lambda i, j, k: x[i - 1, j, k] if i > 0 and j < 3 else np.ones((), x.dtype)
        ),
        "any",
    ),
    Use("pad(x : f32 [2,3], before=1, after=1, axis=-1)", lambda x: np.pad(x, [(0, 0), (1, 1)])),
    Use("pad(x : f32 [0], after=2, value=-inf)", lambda x: np.array([-np.inf] * 2), "float"),
    *(
        Use(f"pad(x : {element} [0], after=1, value={value})", lambda x, y=expected: [y])
        for element, value, expected in [
            ("u8", "-1", 0),
            ("i8", "1000", 127),
            ("i64", "inf", 2**63 - 1),
            ("i32", "-2.5", -2),
        ]
    ),
    Use("reverse(x : f32 [3,2])", lambda x: x[::-1], "any"),
    Use("reverse(x : f32 [2,0], axis=1)", lambda x: x),
    Use("roll(x : f32 [2,3], by=-4, axis=1)", lambda x: x[:, [1, 2, 0]], "any"),
    Use("roll(x : f32 [0,3], by=1)", lambda x: x),
]


def sliced(**bounds: int) -> Use:
    attributes = "".join(f", {name}={value}" for name, value in bounds.items())
    chosen = slice(*(bounds.get(name) for name in ("start", "stop", "step")))
    return Use(f"slice(x : f32 [3,7]{attributes}, axis=1)", lambda x: x[:, chosen])


INDEXING = [
    *(
        sliced(start=start, stop=stop, step=step)
        for start, stop, step in product((-9, -3, 0, 5), (-8, -1, 2, 9), (1, 3, -1, -2))
    ),
    *(sliced(start=start, step=step) for start, step in product((-9, -1, 2), (1, -1))),
    *(sliced(stop=stop, step=step) for stop, step in product((-9, -1, 2), (1, -1))),
    Use("slice(x : f32 [7], step=-1)", lambda x: x[::-1], "any"),
    Use("slice(x : f32 [0,2], stop=3)", lambda x: x),
    Use("ensure_rank(x : f32 [3,2], least=1)", lambda x: x, "any"),
    Use("index(x : f32 [3,2], i=-1)", lambda x: x[2], "any"),
    Use("index(x : f32 [3,2,0], i=1, axis=-2)", lambda x: x[:, 1]),
    Use("index(x : f32 [3], i=1)", lambda x: x[1]),
    Use(
        "gather(x : f32 [4,2], i : i64 [2,3])",
        lambda x, i: build((2, 3, 2), lambda a, b, c: x[i[a, b], c]),
        "any",
        {"i": [[0, 3, -1], [-4, 2, 2]]},
    ),
    Use("gather(x : i32 [200,2], i : f32 [2])", lambda x, i: x[[3, 1]], "int", {"i": [3, 1]}),
    Use("gather(x : i32 [200], i : i8 [2])", lambda x, i: x[[199, 72]], given={"i": [-1, -128]}),
    Use("gather(x : f32 [2,3], i : i64, axis=1)", lambda x, i: x[:, 2], given={"i": 2}),
    Use("gather(x : f32 [0,3], i : i64 [0,2])", lambda x, i: np.zeros((0, 2, 3))),
    Use(
        "gather_elements(x : f32 [2,3], i : u8 [2,2], axis=1)",
        picked,
        "any",
        {"i": [[2, 0], [1, 1]]},
    ),
    Use(
        "gather_elements(x : f32 [2,3], i : i64 [1,3])",
        lambda x, i: np.array([[x[0, 0], x[1, 1], x[1, 2]]]),
        given={"i": [[0, 1, -1]]},
    ),
    Use("gather_elements(x : f32 [0,3], i : i64 [0,3])", lambda x, i: x),
    *(
        Use(
            f'scatter(x : f32 [4,2], i : i64 [4], rows : f32 [4,2], mode="{mode}")',
            scattered(combine),
            elements,
            {"i": SAME},
        )
        for mode, combine, elements in MODES
    ),
    Use(
        "scatter(x : f32 [2,4], i : u8 [4], rows : f32 [2,4], axis=-1)",
        lambda x, i, rows: scattered(lambda old, new: new)(x.T, i, rows.T).T,
        given={"i": [3, 3, 0, 3]},
    ),
    Use("scatter(x : f32 [2,4], i : i64 [0], rows : f32 [0,4])", lambda x, i, rows: x),
    Use("scatter(x : f32 [0,4], i : i64 [0], rows : f32 [0,4])", lambda x, i, rows: x),
    Use(
        "one_hot(x : i8 [4], depth=3, to=f32)",
        lambda x: build((4, 3), lambda i, j: int(x[i] == j)),
        "any",
        {"x": [2, 0, -1, 3]},
    ),
    Use(
        "one_hot(x : f32 [2], depth=200, axis=0)",
        lambda x: build((200, 2), lambda i, j: float(x[j] == i)),
        "int",
        {"x": [2, 100]},
    ),
    Use("one_hot(x : i64 [2,0], depth=3, axis=1)", lambda x: np.zeros((2, 3, 0))),
    Use("one_hot(x : i64 [2], depth=0)", lambda x: np.zeros((2, 0))),
    Use("sort(x : f32 [2,6])", lambda x: picked(x, ordered(x)), "num"),
    Use("sort(x : f32 [2,6], descending=true)", lambda x: picked(x, ordered(x, True)), "num"),
    Use("sort(x : f32 [3,2], axis=0)", lambda x: picked(x.T, ordered(x.T)).T),
    Use("sort(x : f32 [3,0])", lambda x: x),
    Use("argsort(x : f32 [2,6])", ordered, "num", {"x": TIES}),
    Use("argsort(x : f32 [2,6], descending=true)", lambda x: ordered(x, True), "num", {"x": TIES}),
    Use("argsort(x : f32 [0,3], axis=0, descending=true)", lambda x: x),
    Use(
        "top_k(x : f32 [2,6], k=4)",
        lambda x: (picked(x, ordered(x, True)[:, :4]), ordered(x, True)[:, :4]),
        "num",
        {"x": TIES},
    ),
    Use(
        "top_k(x : f32 [6,2], k=2, axis=0, largest=false)",
        lambda x: (picked(x.T, ordered(x.T)[:, :2]).T, ordered(x.T)[:, :2].T),
        given={"x": np.transpose(TIES)},
    ),
    Use("top_k(x : f32 [2,0], k=0)", lambda x: (x, x)),
    Use("nonzero(x : f32 [6])", lambda x: np.array([i for i in range(6) if x[i] != 0]), "any"),
    Use("nonzero(x : f32 [0])", lambda x: x),
    Use("unique(x : f32 [9])", lambda x: np.array(sorted(set(x.tolist()))), "any"),
    Use("unique(x : f32 [0])", lambda x: x),
    Use(
        "unique(x : f32 [4])",
        lambda x: np.array([0, np.inf, np.nan]),
        "float",
        {"x": [np.nan, np.inf, np.nan, 0]},
    ),
    Use(
        "compress(x : f32 [2,3], mask : bool [3], axis=-1)",
        lambda x, mask: x[:, [0, 2]],
        "any",
        {"mask": [True, False, True]},
    ),
    Use("compress(x : f32 [0,3], mask : bool [0])", lambda x, mask: x),
]

VALUES = [
    Use("identity(x : f32 [2,3])", lambda x: x, "any"),
    Use(
        "where(c : bool [2,1], x : f32 [3], y : f32)",
        lambda c, x, y: build((2, 3), lambda i, j: x[j] if c[i, 0] else y),
        "any",
    ),
    *(Use(f"cast(x : f32 [7], to={to})", lambda x: x, "num") for to in ("f64", "i64")),
    *(Use(f"cast(x : bool [2,2], to={to})", lambda x: x.astype(int)) for to in BIT),
    Use("cast(x : f32 [5], to=bool)", lambda x: x != 0, "any"),
    Use("cast_like(x : f32 [7], y : i64 [2])", lambda x, y: x, "num"),
    Use("cast(x : i64 [3], to=u8)", lambda x: np.array([255, 0, 1]), given={"x": [-1, 256, 257]}),
    *(
        Use(
            f"cast(x : f32 [7], to={to})",
            lambda x, low=low, high=high: np.array(
                [0, 1, max(low, -1), high, low, high, low], object
            ),
            "float",
            {"x": [np.nan, 1.9, -1.9, 1e30, -1e30, np.inf, -np.inf]},
        )
        for to, low, high in [
            (name, int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))
            for name, dtype in [("i8", "int8"), ("i64", "int64"), ("u64", "uint64")]
        ]
    ),
    Use("range(5, to=f32)", lambda: np.arange(5), "num"),
    Use("range(2, 9, step=3)", lambda: [2, 5, 8]),
    Use("range(4, 2)", list),
    Use("range(0)", list),
    Use("range(4099, 4101, to=f16)", lambda: [4100, 4100]),
    Use("zeros([2,3], to=f32)", lambda: np.zeros((2, 3)), "any"),
    Use("ones([2,0,3], to=f32)", lambda: np.zeros((2, 0, 3)), "any"),
    Use("ones([2], to=f32)", lambda: np.ones(2), "any"),
    Use("full([2,3], x : f32)", lambda x: np.array([[x] * 3] * 2), "any"),
    Use("zeros_like(x : f32 [2,3])", lambda x: np.zeros((2, 3)), "any"),
    Use("ones_like(x : f32 [2,3])", lambda x: np.ones((2, 3)), "any"),
    Use("eye(3, to=f32)", lambda: build((3, 3), lambda i, j: int(i == j)), "any"),
    Use("eye(0)", lambda: np.zeros((0, 0))),
]

CONVOLUTION = [
    Use(
        "conv(x : f32 [2,2,5,4], f : f32 [3,2,3,2])",
        convolved((3, 3), (1, 1), (0, 0), (1, 1)),
        "num",
    ),
    Use(
        "conv(x : f32 [2,4,7], f : f32 [6,2,3], b : f32 [6], stride=2, pad=[1,2], groups=2)",
        convolved((4,), (2,), (1,), (1,), 2),
        "num",
    ),
    Use(
        "conv(x : f32 [1,2,5,6], f : f32 [1,2,2,2], stride=[2,3], dilation=[1,2], pad=[1,0,0,2])",
        convolved((3, 2), (2, 3), (1, 0), (1, 2)),
    ),
    Use(
        'conv(x : f32 [1,1,5,4], f : f32 [1,1,2,4], pad="same")',
        convolved((5, 4), (1, 1), (0, 1), (1, 1)),
    ),
    Use(
        'conv(x : f32 [1,1,7,7], f : f32 [1,1,4,1], pad="same", stride=[2,3])',
        convolved((4, 3), (2, 3), (1, 0), (1, 1)),
    ),
    Use(
        "conv(x : f32 [1,1,2,3,2], f : f32 [1,1,2,2,2])",
        convolved((1, 2, 1), (1, 1, 1), (0, 0, 0), (1, 1, 1)),
    ),
    Use("conv(x : f32 [0,2,5], f : f32 [3,2,2])", lambda x, f: np.zeros((0, 3, 4))),
    Use("conv(x : f32 [2,0,5], f : f32 [3,0,2])", lambda x, f: np.zeros((2, 3, 4))),
    Use("conv(x : f32 [0,1,3], f : f32 [3,1,3])", lambda x, f: np.zeros((0, 3, 1))),
    Use('conv(x : f32 [2,1,0], f : f32 [3,1,3], pad="same")', lambda x, f: np.zeros((2, 3, 0))),
    Use(
        "conv_transpose(x : f32 [2,2,3,2], f : f32 [2,3,2,3])",
        transposed((4, 4), (1, 1), (0, 0), (1, 1)),
        "num",
    ),
    Use(
        "conv_transpose(x : f32 [1,4,3], f : f32 [4,2,3], b : f32 [4], stride=2, pad=1, "
        "output_pad=1, groups=2)",
        transposed((6,), (2,), (1,), (1,), 2),
        "num",
    ),
    Use(
        "conv_transpose(x : f32 [1,1,3,3], f : f32 [1,2,2,2], stride=[1,3], pad=[1,0,0,2], "
        "dilation=[2,1])",
        transposed((4, 6), (1, 3), (1, 0), (2, 1)),
    ),
    Use(
        "conv_transpose(x : f32 [1,1,4,4], f : f32 [1,1,1,2], pad=[1,2], stride=2)",
        transposed((5, 4), (2, 2), (1, 2), (1, 1)),
    ),
    Use(
        'conv_transpose(x : f32 [1,1,3,3], f : f32 [1,1,4,1], stride=[1,2], pad="same")',
        transposed((3, 6), (1, 2), (1, 0), (1, 1)),
    ),
    Use(
        "conv_transpose(x : f32 [1,2,0], f : f32 [2,3,4], b : f32 [3], stride=2)",
        lambda x, f, b: np.stack([b, b], 1)[None],
    ),
    Use("conv_transpose(x : f32 [1,0,2], f : f32 [0,3,1])", lambda x, f: np.zeros((1, 3, 2))),
    Use(
        "max_pool(x : f32 [2,2,5,4], window=2)", pooled(max, (2, 2), (2, 2), (2, 2), (0, 0)), "num"
    ),
    Use(
        "max_pool(x : f32 [1,2,5,6], window=[3,2], stride=[2,1], pad=[1,1,1,0])",
        pooled(max, (3, 6), (3, 2), (2, 1), (1, 1)),
        "num",
    ),
    Use(
        "max_pool(x : f32 [1,1,5,6], window=3, stride=2, dilation=[2,1], ceil_mode=true)",
        pooled(max, (1, 3), (3, 3), (2, 2), (0, 0), (2, 1)),
    ),
    Use(
        "max_pool(x : f32 [1,1,3,4], window=2, stride=3, pad=1, ceil_mode=true)",
        pooled(max, (2, 2), (2, 2), (3, 3), (1, 1)),
    ),
    Use(
        'max_pool(x : f32 [1,1,5,4], window=2, stride=1, pad="same")',
        pooled(max, (5, 4), (2, 2), (1, 1), (0, 0)),
    ),
    Use("max_pool(x : f32 [1,0,4,4], window=2)", lambda x: np.zeros((1, 0, 2, 2))),
    Use("max_pool(x : f32 [1,0,2,4], window=2)", lambda x: np.zeros((1, 0, 1, 2))),
    Use(
        "avg_pool(x : f32 [2,2,5,4], window=2, pad=1)",
        pooled(mean, (3, 3), (2, 2), (2, 2), (1, 1)),
        "float",
    ),
    Use(
        "avg_pool(x : f32 [1,2,5,4], window=2, pad=1, count_pad=true)",
        pooled(lambda values: sum(values) / 4, (3, 3), (2, 2), (2, 2), (1, 1)),
    ),
    Use(
        "avg_pool(x : f32 [1,1,1,4], window=[1,3], stride=2, ceil_mode=true, count_pad=true)",
        pooled(mean, (1, 2), (1, 3), (2, 2), (0, 0)),
    ),
    Use(
        "avg_pool(x : f32 [1,1,1,4], window=[1,3], stride=2, pad=[0,1], ceil_mode=true, "
        "count_pad=true)",
        lambda x: np.array(
            [x[0, 0, 0, :2].sum() / 3, x[0, 0, 0, 1:].sum() / 3, x[0, 0, 0, 3] / 2]
        ).reshape(1, 1, 1, 3),
    ),
    Use("avg_pool(x : f32 [0,2,2,4], window=2)", lambda x: np.zeros((0, 2, 1, 2))),
    Use(
        "avg_pool(x : f32 [1,1,1,40000], window=[1,40000])",
        lambda x: np.full((1, 1, 1, 1), 4.0),
        "float",
        {"x": [4] * 40000},
    ),
    Use("global_max_pool(x : f32 [2,3,4,2])", lambda x: x.max((2, 3)), "num"),
    Use("global_max_pool(x : f32 [2,3,4], keep=true)", lambda x: x.max(2, keepdims=True)),
    Use("global_max_pool(x : f32 [2,3])", lambda x: x),
    Use("global_max_pool(x : f32 [2,3,0])", lambda x: np.full((2, 3), -np.inf)),
    Use("global_avg_pool(x : f32 [2,3,4,2])", lambda x: x.sum((2, 3)) / 8, "float"),
    Use(
        "global_avg_pool(x : f32 [2,3,4,2], keep=true)",
        lambda x: x.sum((2, 3), keepdims=True) / 8,
    ),
    Use("global_avg_pool(x : f32 [0,3,4])", lambda x: np.zeros((0, 3))),
    Use(
        "upsample(x : f32 [1,2,2,3], scale=[3,2])",
        lambda x: build((1, 2, 6, 6), lambda n, c, i, j: x[n, c, i // 3, j // 2]),
        "float",
    ),
    Use('upsample(x : f32 [2,2,3], scale=4, mode="linear")', lambda x: stretched(x, 4), "float"),
    Use(
        'upsample(x : f32 [1,2,2,3], scale=[3,2], mode="linear")',
        lambda x: stretched(stretched(x, 2).swapaxes(2, 3), 3).swapaxes(2, 3),
    ),
    Use('upsample(x : f32 [1,2,1], scale=3, mode="linear")', lambda x: stretched(x, 3)),
    Use('upsample(x : f32 [1,2,0], scale=3, mode="linear")', lambda x: x),
]


# --- operators that take functions -----------------------------------------------------------


def known(function: Callable[..., Any], **attributes: object) -> Callable[..., Any]:
    """A function about which a caller says more."""

    def wrapped(*args: Any) -> Any:
        return function(*args)

    for name, value in attributes.items():
        setattr(wrapped, name, value)
    return wrapped


def folded(function: Callable[[Any, Any], Any], running: bool = False) -> Callable[..., Any]:
    """Along the rows of the last axis, one after another."""

    def formula(e: Any, x: Any) -> Any:
        rows = [list(accumulate(x[i], function, initial=e[()])) for i in np.ndindex(x.shape[:-1])]
        if running:
            return np.array([row[1:] for row in rows]).reshape(x.shape)
        return np.array([row[-1] for row in rows]).reshape(x.shape[:-1])

    return formula


def strange(a: Any, b: Any) -> Any:
    """A scalar function that only scalars can be given to."""
    assert a.shape == b.shape == ()
    return (a.reshape(1, 1) @ b.reshape(1, 1)).reshape(()) + b


def halved(a: Any, b: Any) -> Any:
    return a / 2 + b


PLAIN: list[tuple[str, Callable[[Any, Any], Any], str]] = [
    ("+", lambda a, b: a + b, "num"),
    ("*", lambda a, b: a * b, "num"),
    ("max", lambda a, b: max(a, b), "num"),
    ("minimum", lambda a, b: min(a, b), "num"),
    ("logical_and", lambda a, b: a & b, "bool"),
    ("logical_or", lambda a, b: a | b, "bool"),
]

FUNCTIONAL = (
    [
        Use(
            f"{use}(f : (f32, f32) -> f32, e : f32, x : f32 [2,{n}], axis=-1)",
            folded(function, use == "scan"),
            elements,
            # not what it does, so not called either
            {"f": known(np.not_equal, array_reduction=OPERATORS[name].traits.array_reduction)},
        )
        for name, function, elements in PLAIN
        for use, n in [("reduce", 5), ("reduce", 0), ("scan", 5), ("scan", 0)]
        if use == "reduce" or name in "+*"
    ]
    + [
        Use(
            f"{use}(f : (f32, f32) -> f32, e : f32, x : f32 [{sizes}], axis=-1)",
            folded(formula, use == "scan"),
            given={"f": function},
        )
        for use in ("reduce", "scan")
        for sizes in ("2,5", "5", "2,2,3", "2,0", "0,3")
        for function, formula in [
            (strange, lambda a, b: a * b + b),
            (known(halved, elementwise=True), halved),
            (known(lambda a, b: b, elementwise=True), lambda a, b: b),
        ]
    ]
    + [
        Use(
            "reduce(f : (f32, f32) -> f32, e : f32, x : f32 [2,3,2], axis=1, keep=true)",
            lambda e, x: e + x.sum(1, keepdims=True),
            given={"f": function},
        )
        for function in (
            known(np.subtract, array_reduction="sum"),
            known(lambda a, b: a + b, elementwise=True),
        )
    ]
    + [
        Use(
            "map(f : f32 [3] -> f32 [2], x : f32 [4,3])",
            lambda x: x[:, :2] * 2,
            "any",
            {"f": lambda row: row[:2] + row[:2]},
        ),
        Use(
            "map(f : (f32 [3], f32) -> f32, x : f32 [4,3], y : f32 [4])",
            lambda x, y: x[:, 0] + y,
            given={"f": lambda row, y: row[0] + y},
        ),
        Use(
            "map(f : f32 [3] -> f32 [2], x : f32 [0,3])",
            lambda x: np.zeros((0, 2)),
            given={"f": lambda row: row[:2]},
        ),
        Use(
            "loop(h : f32 [2], f : (f32 [2], f32 [2]) -> (f32 [2], f32), x : f32 [3,2])",
            lambda h, x: (h + x.sum(0), (h + np.cumsum(x, 0))[:, 0]),
            "num",
            {"f": lambda h, row: (h + row, h[0] + row[0])},
        ),
        Use(
            "loop(h : f32 [2], f : (f32 [2], f32 [2]) -> (f32 [2], f32), x : f32 [0,2])",
            lambda h, x: (h, np.zeros(0)),
            given={"f": lambda h, row: (h + row, h[0])},
        ),
        Use(
            "fold(h : f32, f : (f32, f32 [2]) -> f32, x : f32 [3,2])",
            lambda h, x: h + x[:, 0].sum(),
            "num",
            {"f": lambda h, row: h + row[0]},
        ),
        Use(
            "fold(h : f32, f : (f32, f32 [2]) -> f32, x : f32 [0,2])",
            lambda h, x: h,
            given={"f": lambda h, row: h + row[0]},
        ),
        Use(
            "cond(c : bool, f : () -> f32 [2], g : () -> f32 [2])",
            lambda c: np.array([1, 2]) if c else np.array([3, 4]),
            given={"f": lambda: np.array([1, 2], "f4"), "g": lambda: np.array([3, 4], "f4")},
        ),
        Use(
            "iterate(x : f32 [3], f : f32 [3] -> bool, g : f32 [3] -> f32 [3])",
            lambda x: x + max(0, np.ceil(9 - x[0])),
            given={"f": lambda x: x[0] < 9, "g": lambda x: x + 1},
        ),
    ]
)

USES = [*REARRANGE, *INDEXING, *VALUES, *CONVOLUTION, *FUNCTIONAL]

TOLERANCE = {"f16": 2e-3, "bf16": 2e-2, "f32": 1e-6, "f64": 1e-14}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("use", USES, ids=lambda use: use.call)
def test_values_shapes_and_element_types(backend: str, use: Use) -> None:
    with arrays(backend) as xp:
        uses = list(use.each(BACKENDS[backend]))
        inputs = [one.inputs(xp) for one in uses]
        tensors = [{k: v for k, v in one.items() if not callable(v)} for one in inputs]

        def run(given: list[dict[str, Any]]) -> list[Any]:
            return [o.run(xp, i | g) for o, i, g in zip(uses, inputs, given, strict=True)]

        if backend == "jax" and not re.match("nonzero|unique|compress", use.call):
            import jax

            made = jax.jit(run)(tensors)  # of all element types at once
        else:
            made = run([{k: xp.asarray(v) for k, v in each.items()} for each in tensors])
        for one, each, found in zip(uses, tensors, made, strict=True):
            results = flat(found)
            expected = flat(one.formula(*[exactly(v) for v in each.values()]))
            types = one.results()
            assert len(results) == len(expected) == len(types), one.call
            for result, value, (element, sizes) in zip(results, expected, types, strict=True):
                assert result.dtype == xp.element(element), one.call
                wanted = np.asarray(value)
                if element[0] in "iu" and wanted.dtype != object:
                    wanted = np.trunc(wanted) if wanted.dtype.kind == "f" else wanted
                wanted = wanted.astype(result.dtype)
                assert len(sizes) == len(result.shape), one.call
                assert all(n in (-1, m) for n, m in zip(sizes, result.shape, strict=True)), one.call
                if element in TOLERANCE:
                    np.testing.assert_allclose(
                        np.asarray(result, float),
                        np.asarray(wanted, float),
                        rtol=TOLERANCE[element],
                        atol=TOLERANCE[element],
                        err_msg=one.call,
                    )
                else:
                    np.testing.assert_array_equal(np.asarray(result), wanted, one.call)


def test_every_operator_of_these_families_is_used() -> None:
    families = {"rearrange", "indexing", "values", "convolution", "functional"}
    mine = {operator.name for operator in OPERATORS.values() if operator.family in families}
    used = {use.call.partition("(")[0] for use in USES}
    assert mine - used == {"shape", "size", "rank"}
    assert all((OPERATORS[name].meaning is None) == (name not in used) for name in mine)


@pytest.mark.parametrize(
    "call",
    [
        "gather(x : f32 [3,2], i : i64 [1])",
        "gather_elements(x : f32 [3,1], i : i64 [1,1])",
        "scatter(x : f32 [3,2], i : i64 [1], rows : f32 [1,2])",
        'scatter(x : f32 [3,2], i : i64 [1], rows : f32 [1,2], mode="add")',
    ],
)
@pytest.mark.parametrize("number", [3, -4])
def test_on_numpy_there_must_be_a_row_for_each_number(call: str, number: int) -> None:
    with arrays("numpy") as xp:
        use = Use(call, lambda: None, given={"i": [[number]]})
        with pytest.raises(IndexError):
            use.run(xp, use.inputs(xp))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("element", ["f16", "bf16", "f32", "f64"])
def test_nan_comes_last_and_zeros_are_equal(backend: str, element: str) -> None:
    given = {"x": [np.nan, 0.0, -0.0, np.inf, -np.inf, np.nan, -1.0]}
    for call, expected in [
        ("argsort(x : f32 [7])", [4, 6, 1, 2, 3, 0, 5]),
        ("argsort(x : f32 [7], descending=true)", [0, 5, 3, 1, 2, 6, 4]),
    ]:
        with arrays(backend) as xp:
            [use] = Use(call, list, element, given).each(set())
            inputs = {k: xp.asarray(v) for k, v in use.inputs(xp).items()}
            assert use.run(xp, inputs).tolist() == expected
