"""One operator in a function of all rows: on all at once, else in groups of rows of equal sizes,
else row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from math import prod
from typing import Any

import numpy

from axon.backends.ragged import Ragged, RaggedError
from axon.backends.row_sizes import NotAligned, varies
from axon.backends.segments.arrays import INSTEAD
from axon.backends.segments.calls import either
from axon.backends.segments.frames import (
    Frame,
    InParts,
    NotFlat,
    Parted,
    TooLarge,
    Unrelated,
)
from axon.backends.segments.groups import nested, parted, settled, sizes_of, some_rows
from axon.backends.segments.namespace import flat_arrays
from axon.backends.segments.rows import Grouped, Rows, by_row, innermost, rows_of
from axon.backends.segments.traced_sizes import Traced
from axon.ops.arrays import Meaning, Value
from axon.ops.traits import RowRule
from axon.source import Span

NEAR = 1 << 19
"""How many elements a matrix of all rows of a part should have at most, so that it stays near."""

UNFIT = (NotFlat, NotAligned, RaggedError)
"""What a meaning raises that does with values of rows what can be done with arrays only. A library
that traces has errors of its own for it (`tracing_errors`).
"""


@dataclass(slots=True, eq=False)
class Step:
    """An operator at its place in the program. `usual` is what it does to arrays, `meaning` the
    same in terms of the namespace, and `around` what is done around that where the library does not
    compute with the elements. Where it was applied row by row when it ran, `loops` says why.
    If its function makes a value in which several sizes differ, the rows go to it `in_parts`, or
    that value is in tiles, if the library takes such and the function does with it.
    """

    operator: str
    meaning: Meaning
    usual: Meaning
    rows: RowRule
    span: Span | None
    around: Callable[[Meaning], Meaning] | None = field(default=None)
    loops: str = field(default="")
    in_parts: bool = field(default=False)
    in_tiles: bool = field(default=True)


def apply(step: Step, xp: Any, /, *args: Any, **attributes: Any) -> Value:
    frame: Frame | None = None
    simple = True
    for arg in args:
        if type(arg) is Rows:
            if frame is None or arg.frame.depth > frame.depth:
                frame = arg.frame
            simple = simple and not isinstance(arg.values, Rows)
        elif not hasattr(arg, "dtype") or isinstance(arg, Ragged):
            simple = False
    if not simple or frame is None:
        if any(isinstance(arg, Ragged) for arg in args):
            raise NotFlat("a ragged tensor from outside")
        if any(map(varies, args)):
            raise NotFlat("sizes of rows from outside")
        frame = innermost([*args, *attributes.values()])
        if frame is None and not any(map(_is_function, args)):
            return step.usual(xp, *args, **attributes)
    keys, why = None, ""
    if simple or not any(map(_in_parts, args)):
        if not simple and step.rows is RowRule.EVEN and any(map(nested, args)):
            raise NotFlat("rows of one size after all")
        try:
            return _meant(step, xp, args, attributes)
        except (TooLarge, InParts, Unrelated):
            raise
        except Parted as found:
            keys = found.labels if found.frame is frame else None
            why = str(found)
        except (*UNFIT, *xp.tracing_errors) as problem:
            why = _why(problem, xp)
    if frame is None:
        raise NotFlat("a function inside uses what differs")
    if isinstance(keys, Traced):
        return _both(step, xp, frame, args, attributes, keys)
    if frame.whole:
        raise NotFlat(why or step.operator)
    return _in_groups(step, xp, frame, args, attributes, keys, why)


def _why(problem: Exception, xp: Any) -> str:
    """The reason in words; a library that traces has words for its own users."""
    if isinstance(problem, xp.tracing_errors):
        return "it looks at values that there are only when it runs"
    return str(problem)


def _both(
    step: Step, xp: Any, frame: Frame, args: Any, attributes: dict[str, Any], chosen: Traced
) -> Value:
    """As if all rows decided in the one way, and as if in the other; of each row what it decides.
    What is traced has no rows yet that could be parted.
    """
    made = []
    for answer in (True, False):
        frame.assumed.append((chosen, answer))
        try:
            made.append(apply(step, xp, *args, **attributes))
        finally:
            frame.assumed.pop()
    return either(flat_arrays(xp), Rows(frame, chosen.array), *made)


def _meant(step: Step, xp: Any, args: Any, attributes: dict[str, Any]) -> Value:
    meaning, instead = step.meaning, INSTEAD.get(step.meaning)
    if instead is not None:
        meaning = partial(_in_place_of, instead, meaning)
    return _called(step, meaning, xp, args, attributes)


def _in_place_of(instead: Any, usual: Meaning, flat: Any, *args: Any, **attributes: Any) -> Value:
    return instead(flat, usual, *args, **attributes)


def _called(step: Step, meaning: Meaning, xp: Any, args: Any, attributes: Any) -> Value:
    if step.around is not None:
        meaning = step.around(meaning)
    return meaning(flat_arrays(xp), *args, **attributes)


def _is_function(x: Any) -> bool:
    return callable(x) and not hasattr(x, "array_reduction")


def _in_parts(x: Any) -> bool:
    return isinstance(x, Grouped) or (isinstance(x, tuple) and any(map(_in_parts, x)))


def _in_groups(
    step: Step,
    xp: Any,
    frame: Frame,
    args: Any,
    attributes: dict[str, Any],
    keys: Any,
    why: str = "",
) -> Value:
    if keys is None:
        columns = sizes_of([*args, *attributes.values()], frame)
        if any(isinstance(column, Traced) for column in columns):
            raise NotFlat(why or step.operator)
        keys = numpy.stack(columns, axis=1) if columns else numpy.zeros((frame.count, 1), int)
    found: list[tuple[Any, Value]] = []
    for members in _parts_of(frame, args, keys):
        part = Frame(frame.arrays, len(members), frame, members)
        given = [some_rows(a, members, part, frame) for a in args]
        named = {k: some_rows(v, members, part, frame) for k, v in attributes.items()}
        found.append((members, _one_group(step, xp, part, given, named)))
    if not found:
        raise NotFlat("no rows")
    return reassembled(frame, found)


def _parts_of(frame: Frame, args: Any, keys: Any) -> list[Any]:
    """The parts of the rows: those there are already, if they are fine enough."""
    for arg in args:
        if isinstance(arg, Grouped) and arg.frame is frame:
            parts = [members for members, _ in arg.parts]
            if all((keys[m] == keys[m[0]]).all() for m in parts):
                return parts
    return parted(frame, keys)


def _one_group(step: Step, xp: Any, frame: Frame, args: list[Any], named: dict[str, Any]) -> Value:
    try:
        return _called(step, step.meaning, xp, args, named)
    except (TooLarge, InParts, Unrelated):
        raise
    except Parted as found:
        if found.frame is not frame:
            raise
        return _in_groups(step, xp, frame, args, named, found.labels)
    except (*UNFIT, *xp.tracing_errors) as problem:
        why = _why(problem, xp)
        if any(map(_is_function, args)):
            raise
    sizes = sizes_of([*args, *named.values()], frame)
    if sizes:  # parted by something else than the sizes
        return _in_groups(step, xp, frame, args, named, None)
    step.loops = why
    rows = []
    for i in range(frame.count):
        given = [_row(arg, i) for arg in args]
        rows.append(step.usual(xp, *given, **{k: _row(v, i) for k, v in named.items()}))
    return reassembled(
        frame, [(numpy.array([i]), _alone(frame, row)) for i, row in enumerate(rows)]
    )


def _row(x: Any, index: int) -> Any:
    if isinstance(x, tuple | list):
        return type(x)(_row(part, index) for part in x)
    if isinstance(x, Rows):
        return x.values[index]
    return x


def _alone(frame: Frame, row: Any) -> Value:
    """What one row has, as a value of one row."""
    if isinstance(row, tuple):
        return tuple(_alone(frame, part) for part in row)
    return Rows(Frame(frame.arrays, 1), frame.arrays.xp.asarray(row)[None])


def reassembled(frame: Frame, parts: list[tuple[Any, Value]]) -> Value:
    first = parts[0][1]
    if isinstance(first, tuple):
        return tuple(
            reassembled(frame, [(members, value[i]) for members, value in parts])
            for i in range(len(first))
        )
    if len(parts) == 1 and not by_row(first):
        return first
    made = settled(frame, [each for part in parts for each in _in_one_part(frame, *part)])
    if frame.undivided and (isinstance(made, Grouped) or _is_large(made)):
        raise InParts("several sizes differ")
    return made


def _is_large(x: Any) -> bool:
    """Whether rows of equal sizes were put together to more than stays near."""
    return x.segments is None and prod(x.values.shape) > NEAR and x.ndim > 1


def _in_one_part(frame: Frame, members: Any, value: Any) -> list[tuple[Any, Rows]]:
    """What some rows have, which may be in parts themselves."""
    if isinstance(value, Grouped) and value.frame is not frame:
        return [(members[some], part) for some, part in value.parts]
    return [(members, _own(frame, members, value))]


def _own(frame: Frame, members: Any, value: Any) -> Rows:
    """What some rows have; one may be the same for all of them."""
    if isinstance(value, Rows) and value.frame is not frame:
        return value
    return rows_of(value, Frame(frame.arrays, len(members)))
