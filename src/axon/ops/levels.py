"""Levels: over which dimensions of a value each of its sizes varies.

A size that all rows share varies over none: (). The rows of `f32 [n,*,3]` make its levels ((),
(0,), ()). Where `f32 [n,*,*]` has rows that are ragged themselves, they are ((), (0,), (0, 1)); if
each row is a matrix, ((), (0,), (0,)). Two ragged tensors `f32 [n,*]` in a stack `f32 [2,n,*]` vary
over its second dimension: ((), (), (1,)). A tuple of values has a list of levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from axon.ops.operator import Operator
from axon.ops.rows import core, rows_of
from axon.ops.traits import Calls, RowRule
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Fn, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar, TypeVar

Over = tuple[int, ...]
"""The dimensions that a size varies over, in their order."""

Levels = tuple[Over, ...]
LevelTree = Levels | list["LevelTree"]
Alike = tuple[bool, ...] | list["Alike"]


class WorksAlong(Exception):
    """An operator works along an axis that a ragged dimension varies over."""

    text = "works along an axis that a ragged dimension varies over"
    label = "varies over this axis"
    help: str | None = None


class DrawnTogether(WorksAlong):
    """An operator draws random numbers for rows that vary with one key."""

    text = "one key is for one tensor, and the rows of this one vary in size"
    label = "rows that vary"
    help = "give each row a key of its own: `map(fn (row, k) { … }, x, split_key(key, n))`"


def levels_of_type(type_: Type) -> LevelTree:
    """The levels that the type of a value implies."""
    match type_:
        case Tuple(items):
            return [levels_of_type(item) for item in items]
        case Tensor(_, shape) | ShapeValue(shape):
            return tuple(tuple(range(_level_of(item))) for item in shape)
        case _:
            return ()


def _level_of(item: Dim | ShapeVar) -> int:
    variables = () if isinstance(item, ShapeVar) else dims.variables(item)
    return max((v.over for v in variables if isinstance(v, DimVar)), default=0)


def rows_level(tree: LevelTree) -> LevelTree:
    """Each size that varies as one of a row: the least that a type may mean."""
    if isinstance(tree, list):
        return [rows_level(part) for part in tree]
    return tuple(over[:1] for over in tree)


def depth(over: Over) -> int:
    """The number of leading dimensions that contain all those that a size varies over."""
    return over[-1] + 1 if over else 0


def uniform(type_: Type) -> LevelTree:
    """The levels of a value of this type in which nothing varies."""
    if isinstance(type_, Tuple):
        return [uniform(item) for item in type_.items]
    return ((),) * len(type_.shape) if isinstance(type_, Tensor | ShapeValue) else ()


def varies(tree: LevelTree) -> bool:
    return any(map(varies, tree)) if isinstance(tree, list) else any(tree)


def join(a: LevelTree, b: LevelTree) -> LevelTree:
    """The levels of a value that may have either."""
    if isinstance(a, list) and isinstance(b, list):
        return [join(x, y) for x, y in zip(a, b, strict=True)]
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(_both, a, b))
    return a if varies(a) else b


def _both(*overs: Over) -> Over:
    return tuple(sorted({axis for over in overs for axis in over}))


def row(tree: LevelTree) -> LevelTree:
    """The levels of a row."""
    if isinstance(tree, list):
        return [row(part) for part in tree]
    return tuple(tuple(axis - 1 for axis in over if axis) for over in tree[1:])


def stacked(tree: LevelTree, alike: Alike = ()) -> LevelTree:
    """The levels of a tensor with such rows, as far as the rows determine them. `alike` states
    which sizes are the same in all rows.
    """
    if isinstance(tree, list):
        parts = alike if isinstance(alike, list) else [() for _ in tree]
        return [stacked(part, each) for part, each in zip(tree, parts, strict=True)]
    levels: list[Over] = [()]
    for i, over in enumerate(tree):
        same = i < len(alike) and alike[i]
        inner = tuple(axis + 1 for axis in over)
        levels.append(inner if same or not inner else (0, *inner))
    return tuple(levels)


# --- operators ---------------------------------------------------------------------------------


def first_by_row(operator: Operator, count: int) -> int:
    """The index of the first of `count` operands whose rows are passed to a function; so are those
    of all operands after it.
    """
    match operator.traits.calls:
        case Calls.EACH_ROW:
            return 1
        case Calls.STATE | Calls.STATE_AND_OUTPUT:
            return 2
        case Calls.WHILE | Calls.BRANCH | None:
            return count


def made(
    operator: Operator,
    attributes: Mapping[str, object],
    type_: Fn,
    written: Type,
    trees: Sequence[LevelTree],
) -> LevelTree:
    """The levels of an operator's result for operands of these levels; not for operators that pass
    rows to a function.
    """
    if not any(map(varies, trees)):
        return uniform(type_.result)
    at_end = core(operator, len(trees))
    if at_end is not None:
        return _broadcast(trees, at_end)
    match operator.traits.rows:
        case RowRule.STACKED | RowRule.AXES_INSERTED:
            return _with_axes(_axes(attributes), trees)
        case RowRule.AXES_REMOVED:
            return _without_axes(_axes(attributes), trees[0])
        case RowRule.EVEN:
            return uniform(type_.result)
        case RowRule.DRAWN if len(trees) > 1:
            raise DrawnTogether
        case RowRule.REDUCTION if goes_flat(operator, attributes, trees):
            return uniform(type_.result)
        case _:
            return _by_signature(operator, type_, written, trees)


def _axes(attributes: Mapping[str, object]) -> tuple[int, ...]:
    axis = attributes.get("axis", 0)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(each) for each in axes)


def _broadcast(trees: Sequence[LevelTree], at_end: int) -> Levels:
    """Dimensions are aligned from the right, and sizes still vary over the same ones."""
    flat = [tree for tree in trees if isinstance(tree, tuple)]
    rank = max(map(len, flat))
    result: list[Over] = [()] * rank
    for i, tree in enumerate(flat):
        more = rank - len(tree)
        if any(depth(over) > len(tree) - at_end for over in tree):
            raise WorksAlong
        for axis, over in enumerate(tree):
            contracted = at_end and axis == len(tree) - (1 if i == 0 else 2)
            if not contracted:
                shifted = tuple(each + more for each in over)
                result[axis + more] = _both(result[axis + more], shifted)
    return tuple(result)


def _without_axes(axes: tuple[int, ...], tree: LevelTree) -> Levels:
    """The levels after removing dimensions."""
    assert isinstance(tree, tuple)
    gone = {axis % len(tree) for axis in axes}
    kept = [axis for axis in range(len(tree)) if axis not in gone]
    return tuple(
        tuple(kept.index(each) for each in tree[axis] if each not in gone) for axis in kept
    )


def _with_axes(axes: tuple[int, ...], trees: Sequence[LevelTree]) -> Levels:
    """The levels after inserting dimensions."""
    tree = trees[0]
    for other in trees[1:]:
        tree = join(tree, other)
    assert isinstance(tree, tuple)
    rank = len(tree) + len(axes)
    new = {axis % rank for axis in axes}
    places = [axis for axis in range(rank) if axis not in new]
    result: list[Over] = [()] * rank
    for axis, over in enumerate(tree):
        result[places[axis]] = tuple(places[each] for each in over)
    return tuple(result)


def goes_flat(
    operator: Operator, attributes: Mapping[str, object], trees: Sequence[LevelTree]
) -> int | None:
    """For a reduction of all sizes that vary and all dimensions they vary over: the number of
    leading dimensions that it treats as one.
    """
    if operator.traits.rows is not RowRule.REDUCTION or len(trees) > 1:
        return None
    tree = trees[0]
    if not isinstance(tree, tuple) or not any(tree):
        return None
    rank = len(tree)
    axes = range(rank) if attributes.get("axis") is None else _axes(attributes)
    gone = {axis % rank for axis in axes}
    last = max(i for i, over in enumerate(tree) if over)
    front = next((i for i in range(rank) if i not in gone), rank)
    return front if front > last else None


def _by_signature(
    operator: Operator, type_: Fn, written: Type, trees: Sequence[LevelTree]
) -> LevelTree:
    """Row by row, if in the signature the dimensions that sizes vary over are a batch."""
    if isinstance(written, Fn) and isinstance(written.result, TypeVar):  # what it is given
        return trees[written.params.index(written.result)]
    rows = rows_of(operator, type_, written)
    levels: dict[object, Over] = {}
    one_matrix = operator.traits.rows is RowRule.TRIANGLE  # it knows which row of it is where
    for i, tree in enumerate(trees):
        if not varies(tree):
            continue
        word = rows.operands[i]
        if isinstance(tree, list) or word is None:
            raise WorksAlong
        in_shape = isinstance(type_.params[i], ShapeValue)
        if in_shape and operator.traits.rows is not RowRule.FILLED_SHAPE:
            raise WorksAlong
        if not one_matrix and not in_shape and max(map(depth, tree)) > rows.batch(i):
            raise WorksAlong
        for label, over in zip(word, tree, strict=True):
            if over and label.after and not one_matrix:
                raise WorksAlong
            for name in label.names:
                levels[name] = _both(levels.get(name, ()), over)
    found = (
        tuple(_both(*(levels.get(name, ()) for name in label.names)) for label in word or ())
        for word in rows.results
    )
    return _as_tree(type_.result, found)


def _as_tree(type_: Type, parts: Iterator[Levels]) -> LevelTree:
    if isinstance(type_, Tuple):
        return [_as_tree(item, parts) for item in type_.items]
    return next(parts)
