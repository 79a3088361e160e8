"""Where the sizes of a value vary: over how many of its first dimensions.

Level 0 is a size that all rows share. The rows of `f32 [n,*,3]` make its levels (0, 1, 0). Where
`f32 [n,*,*]` holds rows that are ragged themselves, they are (0, 1, 2); if each row is a matrix,
(0, 1, 1). Of a tuple of values there is a list of levels.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from axon.ops.operator import Operator
from axon.ops.rows import core, rows_of
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Fn, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar, TypeVar

Levels = tuple[int, ...]
LevelTree = Levels | list["LevelTree"]

MADE_IN_A_SHAPE = frozenset({"zeros", "ones", "full"})
"""What makes a tensor of a shape, in which each row may have its own."""

TAKE_FUNCTIONS = frozenset({"map", "fold", "loop", "iterate", "cond"})
"""What a function is given rows by, and gives rows to."""


class WorksAlong(Exception):
    """An operator works along an axis that a ragged dimension varies over."""


def levels_of_type(type_: Type) -> LevelTree:
    """What the type of a value says."""
    match type_:
        case Tuple(items):
            return [levels_of_type(item) for item in items]
        case Tensor(_, shape) | ShapeValue(shape):
            return tuple(_level_of(item) for item in shape)
        case _:
            return ()


def _level_of(item: Dim | ShapeVar) -> int:
    variables = () if isinstance(item, ShapeVar) else dims.variables(item)
    return max((v.over for v in variables if isinstance(v, DimVar)), default=0)


def rows_level(tree: LevelTree) -> LevelTree:
    """Each size that varies as one of a row: the least that a type may mean."""
    if isinstance(tree, list):
        return [rows_level(part) for part in tree]
    return tuple(min(level, 1) for level in tree)


def uniform(type_: Type) -> LevelTree:
    """The levels of a value of this type in which nothing varies."""
    if isinstance(type_, Tuple):
        return [uniform(item) for item in type_.items]
    return (0,) * len(type_.shape) if isinstance(type_, Tensor | ShapeValue) else ()


def varies(tree: LevelTree) -> bool:
    return any(map(varies, tree)) if isinstance(tree, list) else any(tree)


def join(a: LevelTree, b: LevelTree) -> LevelTree:
    """What may be the one or the other."""
    if isinstance(a, list) and isinstance(b, list):
        return [join(x, y) for x, y in zip(a, b, strict=True)]
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(max, a, b))
    return a if varies(a) else b


def row(tree: LevelTree) -> LevelTree:
    """The levels of a row."""
    if isinstance(tree, list):
        return [row(part) for part in tree]
    return tuple(max(level - 1, 0) for level in tree[1:])


def stacked(tree: LevelTree) -> LevelTree:
    """The levels of a tensor with such rows, as far as the rows tell."""
    if isinstance(tree, list):
        return [stacked(part) for part in tree]
    return 0, *(level + 1 if level else 0 for level in tree)


# --- operators ---------------------------------------------------------------------------------


def made(
    operator: Operator,
    attributes: Mapping[str, object],
    type_: Fn,
    written: Type,
    trees: Sequence[LevelTree],
) -> LevelTree:
    """The levels of what an operator makes of operands of these levels; not for those that give
    rows to a function.
    """
    if not any(map(varies, trees)):
        return uniform(type_.result)
    at_end = core(operator, len(trees))
    if at_end is not None:
        return _broadcast(trees, at_end)
    if operator.name in ("expand_dims", "squeeze", "stack"):
        return _moved(operator.name, _axes(attributes), trees)
    if operator.name == "measured" or goes_flat(operator, attributes, trees):
        return uniform(type_.result)
    return _by_signature(operator, type_, written, trees)


def _axes(attributes: Mapping[str, object]) -> tuple[int, ...]:
    axis = attributes.get("axis", 0)
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(int(each) for each in axes)


def _broadcast(trees: Sequence[LevelTree], at_end: int) -> Levels:
    """Dimensions are aligned from the right, and what varies over some of them still does."""
    flat = [tree for tree in trees if isinstance(tree, tuple)]
    rank = max(map(len, flat))
    result = [0] * rank
    for i, tree in enumerate(flat):
        more = rank - len(tree)
        if any(level > len(tree) - at_end for level in tree):
            raise WorksAlong
        for axis, level in enumerate(tree):
            contracted = at_end and axis == len(tree) - (1 if i == 0 else 2)
            if level and not contracted:
                result[axis + more] = max(result[axis + more], level + more)
    return tuple(result)


def _moved(name: str, axes: tuple[int, ...], trees: Sequence[LevelTree]) -> Levels:
    """What puts dimensions of its own between the others, or takes some away."""
    tree = trees[0]
    for other in trees[1:]:
        tree = join(tree, other)
    assert isinstance(tree, tuple)
    if name == "squeeze":
        gone = {axis % len(tree) for axis in axes}
        kept = [axis for axis in range(len(tree)) if axis not in gone]
        return tuple(sum(i < tree[axis] for i in kept) for axis in kept)
    rank = len(tree) + len(axes)
    new = {axis % rank for axis in axes}
    places = [axis for axis in range(rank) if axis not in new]
    result = [0] * rank
    for axis, level in enumerate(tree):
        result[places[axis]] = places[level - 1] + 1 if level else 0
    return tuple(result)


def goes_flat(
    operator: Operator, attributes: Mapping[str, object], trees: Sequence[LevelTree]
) -> int | None:
    """A reduction of all that varies, and of what it varies over: how many dimensions at the front
    are one, for it.
    """
    if operator.family != "reductions" or len(trees) > 1 or "keep" not in operator.attributes:
        return None
    tree = trees[0]
    if not isinstance(tree, tuple) or not any(tree):
        return None
    rank = len(tree)
    axes = range(rank) if attributes.get("axis") is None else _axes(attributes)
    gone = {axis % rank for axis in axes}
    last = max(i for i, level in enumerate(tree) if level)
    front = next((i for i in range(rank) if i not in gone), rank)
    return front if front > last else None


def _by_signature(
    operator: Operator, type_: Fn, written: Type, trees: Sequence[LevelTree]
) -> LevelTree:
    """Row by row, if the signature says that what sizes vary over is a batch."""
    if isinstance(written, Fn) and isinstance(written.result, TypeVar):  # what it is given
        return trees[written.params.index(written.result)]
    rows = rows_of(operator, type_, written)
    levels: dict[object, int] = {}
    one_matrix = operator.name in ("tril", "triu")  # they know which row of it is where
    for i, tree in enumerate(trees):
        if not varies(tree):
            continue
        word = rows.operands[i]
        if isinstance(tree, list) or word is None:
            raise WorksAlong
        in_shape = isinstance(type_.params[i], ShapeValue)
        if in_shape and operator.name not in MADE_IN_A_SHAPE:
            raise WorksAlong
        if not one_matrix and not in_shape and max(tree) > rows.batch(i):
            raise WorksAlong
        for label, level in zip(word, tree, strict=True):
            if level and label.after and not one_matrix:
                raise WorksAlong
            for name in label.names:
                levels[name] = max(levels.get(name, 0), level)
    found = (
        tuple(max((levels.get(n, 0) for n in label.names), default=0) for label in word or ())
        for word in rows.results
    )
    return _as_tree(type_.result, found)


def _as_tree(type_: Type, parts: Iterator[Levels]) -> LevelTree:
    if isinstance(type_, Tuple):
        return [_as_tree(item, parts) for item in type_.items]
    return next(parts)
