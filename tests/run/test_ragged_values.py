"""Every operator along every axis of every kind of ragged tensor, against nested lists.

A program is refused when it is checked, or gives what the lists give. Where rows are ragged
themselves, a call may be refused too, by an AX105 with a place: a type does not tell such rows from
matrices. Nothing else may happen.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy
import pytest

import axon
from tests.run import ragged_reference as lists
from tests.run.ragged_reference import PATTERNS, Pattern, Tree
from tests.run.support import BACKENDS

Leaf = Callable[[Any, int], Any]


class NoReference(Exception):
    """The lists do not say what this would be, so no program should give it."""


@dataclass(frozen=True, slots=True)
class Case:
    """`of` is what the program computes, from the lists and an axis."""

    body: str
    of: Callable[[Tree, int], Tree]


def on_leaves(body: str, leaf: Leaf, rows: Callable[[list[Tree]], Tree] | None = None) -> Case:
    """An operator along an axis of the arrays; `rows` is the same along an axis of lists."""

    def of(tree: Tree, axis: int) -> Tree:
        if not isinstance(tree, list):
            return leaf(tree, axis)
        if axis > 0:
            return [of(row, axis - 1) for row in tree]
        if rows is None:
            raise NoReference
        return rows(tree)

    return Case(body, of)


def pointwise(body: str, function: Callable[[Any], Any]) -> Case:
    return Case(body, lambda tree, axis: lists.each(function, tree))


def softmax(x: Any, axis: int) -> Any:
    with numpy.errstate(all="ignore"):
        e = numpy.exp(x - x.max(axis=axis, keepdims=True, initial=-numpy.inf))
        return e / e.sum(axis=axis, keepdims=True)


def logsumexp(x: Any, axis: int) -> Any:
    with numpy.errstate(all="ignore"):
        return numpy.log(numpy.exp(x).sum(axis=axis))


def reduced(name: str, leaf: Leaf) -> list[Case]:
    """A reduction, with and without the axis that goes."""
    return [
        on_leaves(f"{name}(x, axis={{axis}})", leaf),
        on_leaves(
            f"{name}(x, axis={{axis}}, keep=true)",
            lambda x, axis: numpy.expand_dims(leaf(x, axis), axis),
        ),
    ]


def mean(x: Any, axis: int) -> Any:
    with numpy.errstate(all="ignore"):
        return x.sum(axis=axis) / numpy.float32(x.shape[axis])


def variance(x: Any, axis: int) -> Any:
    with numpy.errstate(all="ignore"):
        away = x - x.sum(axis=axis, keepdims=True) / numpy.float32(x.shape[axis])
        return (away * away).sum(axis=axis) / numpy.float32(x.shape[axis])


def rms_norm(x: Any, axis: int) -> Any:
    with numpy.errstate(all="ignore"):
        square = (x * x).sum(axis=axis, keepdims=True) / numpy.float32(x.shape[axis])
        return x / numpy.sqrt(square + numpy.float32(1e-5))


def padded(x: Any, axis: int) -> Any:
    return numpy.pad(x, [(1, 2) if i == axis else (0, 0) for i in range(x.ndim)])


def place(x: Any, axis: int, find: Any) -> Any:
    kept = [n for i, n in enumerate(x.shape) if i != axis]
    return numpy.zeros(kept, "i8") if 0 in kept else find(x, axis=axis)


CASES: list[Case] = [
    pointwise("relu(x)", lambda x: numpy.maximum(x, 0)),
    pointwise("x * 2f + 1f", lambda x: x * 2 + 1),
    pointwise("x + x", lambda x: x + x),
    pointwise("max(x, -x)", abs),
    pointwise("where(x > 0f, x, 1f)", lambda x: numpy.where(x > 0, x, 1)),
    pointwise("cast(x, to=i32)", lambda x: x.astype("i4")),
    pointwise("x == x", lambda x: x == x),
    pointwise("x + zeros(shape(x))", lambda x: x),
    pointwise("zeros_like(x) + ones(shape(x))", lambda x: x * 0 + 1),
    pointwise("broadcast_to(2f, shape(x))", lambda x: x * 0 + 2),
    pointwise("full(shape(x), 3f)", lambda x: x * 0 + 3),
    pointwise("x + broadcast_to(x, shape(x))", lambda x: x + x),
    pointwise("map(relu, x)", lambda x: numpy.maximum(x, 0)),
    pointwise("map(fn (r) { r + r }, x)", lambda x: x + x),
    pointwise("map(fn (r) { r + zeros(shape(r)) }, x)", lambda x: x),
    pointwise("map(fn (r) { r + r }, x) - x", lambda x: x),
    pointwise("dequantise(cast(x, to=i8), 1f, 0)", lambda x: x.astype("i1").astype("f4")),
    *reduced("sum", lambda x, axis: x.sum(axis=axis)),
    *reduced("mean", mean),
    *reduced("prod", lambda x, axis: x.prod(axis=axis)),
    *reduced("max", lambda x, axis: x.max(axis=axis, initial=-numpy.inf)),
    *reduced("min", lambda x, axis: x.min(axis=axis, initial=numpy.inf)),
    *reduced("argmax", lambda x, axis: place(x, axis, numpy.argmax)),
    *reduced("argmin", lambda x, axis: place(x, axis, numpy.argmin)),
    *reduced("variance", variance),
    *reduced("norm", lambda x, axis: numpy.sqrt((x * x).sum(axis=axis))),
    *reduced("logsumexp", logsumexp),
    on_leaves("any(x > 1f, axis={axis})", lambda x, axis: (x > 1).any(axis=axis)),
    on_leaves("all(x > 1f, axis={axis})", lambda x, axis: (x > 1).all(axis=axis)),
    on_leaves("reduce(+, 0f, x, axis={axis})", lambda x, axis: x.sum(axis=axis)),
    on_leaves(
        "reduce(fn (a, b) { a + b * b }, 0f, x, axis={axis})", lambda x, a: (x * x).sum(axis=a)
    ),
    on_leaves("scan(+, 1f, x, axis={axis})", lambda x, axis: 1 + x.cumsum(axis=axis)),
    on_leaves("cumsum(x, axis={axis})", lambda x, axis: x.cumsum(axis=axis)),
    on_leaves("cumprod(x, axis={axis})", lambda x, axis: x.cumprod(axis=axis)),
    on_leaves("softmax(x, axis={axis})", softmax),
    on_leaves("sort(x, axis={axis})", numpy.sort),
    on_leaves("argsort(x, axis={axis})", lambda x, axis: numpy.argsort(x, axis, kind="stable")),
    on_leaves("reverse(x, axis={axis})", numpy.flip, lambda rows: rows[::-1]),
    on_leaves("roll(x, by=1, axis={axis})", lambda x, axis: numpy.roll(x, 1, axis)),
    on_leaves(
        "slice(x, start=1, axis={axis})",
        lambda x, axis: x[(slice(None),) * axis + (slice(1, None),)],
        lambda rows: rows[1:],
    ),
    on_leaves(
        "slice(x, stop=-1, axis={axis})",
        lambda x, axis: x[(slice(None),) * axis + (slice(None, -1),)],
        lambda rows: rows[:-1],
    ),
    on_leaves(
        "slice(x, step=-2, axis={axis})",
        lambda x, axis: x[(slice(None),) * axis + (slice(None, None, -2),)],
        lambda rows: rows[::-2],
    ),
    on_leaves(
        "index(x, i=0, axis={axis})",
        lambda x, axis: x[(slice(None),) * axis + (0,)],
        lambda rows: rows[0],
    ),
    on_leaves("repeat(x, times=2, axis={axis})", lambda x, axis: numpy.repeat(x, 2, axis)),
    on_leaves("pad(x, before=1, after=2, axis={axis})", padded),
    on_leaves("gather(x, range(1), axis={axis})", lambda x, axis: numpy.take(x, [0], axis)),
    Case("concat(x, x, axis={axis})", lambda tree, axis: lists.concat([tree, tree], axis)),
    Case("stack(x, x + 1f, axis={axis})", lambda tree, axis: lists.stack(
        [tree, lists.each(lambda x: x + 1, tree)], axis)),
    Case("expand_dims(x, axis={axis})", lists.expand),
    Case("expand_dims(x, axis={axis}) + 1f", lambda tree, axis: lists.expand(
        lists.each(lambda x: x + 1, tree), axis)),
    Case("squeeze(expand_dims(x, axis={axis}), axis={axis})", lambda tree, axis: tree),
    Case("sum(expand_dims(x, axis={axis}), axis={axis})", lambda tree, axis: tree),
]  # fmt: skip


def total(tree: Tree) -> Any:
    return sum((leaf.sum(dtype="f8") for leaf in lists.leaves(tree)), numpy.float64(0))


def by_row(body: str, function: Callable[[Tree], Tree]) -> Case:
    return Case(body, lambda tree, axis: [function(row) for row in tree])


def no_reference(tree: Tree, axis: int) -> Tree:
    raise NoReference


def summed_in_front(tree: Tree, axis: int) -> Any:
    """The sum of two dimensions at the front, if that is all that varies."""
    if not tree or any(isinstance(row, list) for row in tree):
        raise NoReference
    return sum((row.sum(axis=0) for row in tree[1:]), tree[0].sum(axis=0))


def tiled(tree: Tree, axis: int) -> Tree:
    """Twice, along the dimension before the last one."""
    if isinstance(tree, list):
        if lists.is_matrix(tree):
            raise NoReference
        return [tiled(row, axis) for row in tree]
    return numpy.concatenate([tree, tree], -2)


WHOLE: list[Case] = [
    Case("sum(x)", lambda tree, axis: total(tree)),
    Case("max(x)", lambda tree, axis: max(
        (leaf.max(initial=-numpy.inf) for leaf in lists.leaves(tree)), default=-numpy.inf)),
    Case("any(x > 1f)", lambda tree, axis: any((x > 1).any() for x in lists.leaves(tree))),
    by_row("map(sum, x)", total),
    by_row("map(fn (r) { sum(r) }, x)", total),
    by_row("map(fn (r) { r * sum(r) }, x)", lambda r: lists.each(lambda x: x * total(r), r)),
    by_row("map(reverse, x)", lambda r: r[::-1]),
    by_row("map(fn (r) { reverse(r) }, x)", lambda r: r[::-1]),
    by_row("map(fn (r) { concat(r, r) }, x)", lambda r: lists.concat([r, r], 0)),
    by_row("map(fn (r) { stack(r, r) }, x)", lambda r: [r, r]),
    by_row("map(fn (r) { expand_dims(r, axis=0) }, x)", lambda r: [r]),
    by_row("map(fn (r) { size(r, axis=0) }, x)", len),
    by_row("map(fn (r) { softmax(r) }, x)", lambda r: lists.each(
        lambda x: softmax(x, x.ndim - 1), r)),
    by_row("map(fn (r) { cumsum(r, axis=-1) }, x)", lambda r: lists.each(
        lambda x: x.cumsum(axis=-1), r)),
    by_row("map(fn (r) { map(fn (q) { sum(q) }, r) }, x)", lambda r: [total(q) for q in r]),
    by_row("map(fn (r) { map(fn (q) { q * 2f }, r) }, x)", lambda r: lists.each(
        lambda x: x * 2, r)),
    by_row("map(fn (r) { map(fn (q) { q + zeros(shape(q)) }, r) }, x)", lambda r: r),
    by_row("map(fn (r) { map(reverse, r) }, x)", lambda r: [q[::-1] for q in r]),
    by_row("map(fn (r) { sum(r, axis=-1) }, x)", lambda r: lists.each(
        lambda x: x.sum(axis=-1), r)),
    Case("map(fn (c) { x * c }, ones([2]))", lambda tree, axis: [tree, tree]),
    Case("fold(0f, fn (s, r) { s + sum(r) }, x)", lambda tree, axis: total(tree)),
    Case("sum(map(fn (r) { expand_dims(r, axis=0) }, x))", lambda tree, axis: total(tree)),
    Case("tile(x, reps=[2])", lambda tree, axis: lists.each(
        lambda x: numpy.tile(x, [1] * (x.ndim - 1) + [2]), tree)),
    Case("sum(x, axis=[0,1])", summed_in_front),
    Case("sum(x, axis=[0,1], keep=true)", lambda tree, axis: [[summed_in_front(tree, axis)]]),
    Case("stack(x, x)", lambda tree, axis: [tree, tree]),
    Case("map(fn (r) { map(fn (q) { q + 1f }, r) }, stack(x, x))", lambda tree, axis: [
        lists.each(lambda x: x + 1, tree)] * 2),
    Case("squeeze(expand_dims(x, axis=[0,-1]), axis=[0,-1])", lambda tree, axis: tree),
    Case("cond(sum(x) > 0f, fn () { x }, fn () { x * 2f })", lambda tree, axis: lists.each(
        lambda x: x if total(tree) > 0 else x * 2, tree)),
    Case("sum(x) * size(x, axis=0)", lambda tree, axis: total(tree) * len(tree)),
    Case("sum(flatten(x))", no_reference),
    Case("tile(x, reps=[2,1])", tiled),
    Case("tril(x)", lambda tree, axis: lists.each_matrix(numpy.tril, tree)),
]  # fmt: skip


# --- what comes of it ----------------------------------------------------------------------------


def same(found: Any, expected: Any) -> bool:
    """Nested lists of numbers; an empty list has no rows, whatever they would be."""
    if isinstance(found, list) or isinstance(expected, list):
        return (
            isinstance(found, list)
            and isinstance(expected, list)
            and len(found) == len(expected)
            and all(map(same, found, expected))
        )
    return bool(numpy.isclose(found, expected, rtol=1e-4, atol=1e-5, equal_nan=True))


def as_lists(value: Any) -> Any:
    return value.to_list() if isinstance(value, axon.Ragged) else numpy.asarray(value).tolist()


def written(tree: Tree) -> Any:
    """As a caller would write it: the rows as lists."""
    return [written(row) for row in tree] if isinstance(tree, list) else tree.tolist()


def expectation(case: Case, tree: Tree, axis: int, rank: int) -> Any:
    """What the lists give: None if an index is not there, or `NoReference`."""
    try:
        return lists.plain(case.of(tree, axis % (rank + adds_an_axis(case))))
    except NoReference:
        return NoReference
    except (ValueError, IndexError):
        return None


def adds_an_axis(case: Case) -> bool:
    return "expand" in case.body or "stack" in case.body


def outcome(case: Case, pattern: Pattern, tree: Tree, axis: int, net: Any) -> str:
    """What comes of a call: right, refused, or a sentence that says what is wrong."""
    expected = expectation(case, tree, axis, len(pattern.dims))
    if expected is NoReference and pattern.nested:  # rows that are matrices by chance
        expected = expectation(case, lists.evened(tree), axis, len(pattern.dims))
    vague = any(leaf.ndim > 1 and leaf.size == 0 for leaf in lists.leaves(tree)) or (
        pattern.nested and any(not lists.plain(row) for row in tree)
    )
    given = tree if vague and not pattern.nested and tree else written(tree)
    try:
        found = as_lists(net.f(given))
    except axon.ArgumentError as error:
        codes = {d.code for d in error.diagnostics}
        return "refused" if codes == {"AX105"} and pattern.nested else f"not called: {error}"
    except axon.RunError as error:  # a list does not tell how wide a matrix without rows is
        return "refused" if expected is None or vague else f"fails: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    if expected is NoReference:
        unknown = not tree or (pattern.nested and any(not lists.plain(row) for row in tree))
        return "refused" if unknown else f"no reference, but gives {found}"
    if vague if expected is None else same(found, expected):
        return "right"
    return f"gives {found}, and should give {expected}"


def axes_of(case: Case, pattern: Pattern) -> list[int]:
    if "{axis}" not in case.body:
        return [0]
    rank = len(pattern.dims) + adds_an_axis(case)
    return list(range(-rank, rank))


def tried(
    cases: list[Case], chance: random.Random, backend: str, counts: tuple[int, ...], share: float
) -> tuple[Counter[str], list[str]]:
    """What came of all cases, and what was wrong."""
    found: Counter[str] = Counter()
    wrong: list[str] = []
    for case in cases:
        for pattern in PATTERNS:
            for axis in axes_of(case, pattern):
                if chance.random() > share:
                    continue
                body = case.body.replace("{axis}", str(axis))
                program = f"f = fn (x : f32 [{pattern.text}]) {{ {body} }};"
                checked = axon.check_text(program)
                if not checked.ok:
                    found["not checked"] += 1
                    continue
                net = axon.compile(program, backend=backend)
                for count in counts:
                    tree = lists.made(pattern, count, chance)
                    what = outcome(case, pattern, tree, axis, net)
                    found[what if what in ("right", "refused") else "wrong"] += 1
                    if what not in ("right", "refused"):
                        wrong.append(f"{program}\n  on {written(tree)}\n  {what}")
    return found, wrong


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_operator_along_every_axis(backend: str) -> None:
    share = 0.4 if backend == "numpy" else 0.015
    found, wrong = tried(CASES + WHOLE, random.Random(backend), backend, (0, 1, 3), share)
    assert not wrong, "\n".join(wrong[:10])
    assert found["right"] > (1500 if backend == "numpy" else 40), found
