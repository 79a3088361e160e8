"""Signatures as they are printed, compared with the values of a call.

The text is read again here, by a reader of a few lines, so that what is compared is what a user
sees.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import product

import numpy

from tests.properties.values import Rag, Size, Sizes, Tensor, Value, is_tensor, rank


class Differs(Exception):
    """A value is not of the printed type."""


class Open(Exception):
    """What is printed does not decide it."""


@dataclass(slots=True)
class Sizing:
    """What names stand for in one call. Those that are `varying` are broadcast with rows: they may
    stand for sizes that vary.
    """

    dims: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, tuple[int | None, ...]] = field(default_factory=dict)
    elems: dict[str, str] = field(default_factory=dict)
    varying: set[str] = field(default_factory=set)


# --- reading -------------------------------------------------------------------------------------


def pieces(text: str, at: str) -> list[str]:
    """Cut at a separator that stands in no bracket."""
    found, depth, start = [], 0, 0
    i = 0
    while i < len(text):
        c = text[i]
        if c in "([{":
            depth += 1
        elif c in ")]}" and text[i - 1 : i + 1] != "->":
            depth -= 1
        elif depth == 0 and text.startswith(at, i):
            found.append(text[start:i].strip())
            start = i + len(at)
            i = start
            continue
        i += 1
    return [*found, text[start:].strip()]


def params_and_result(signature: str) -> tuple[list[str], str]:
    """The types of the parameters and of the result, as text."""
    first, *rest = pieces(signature, " -> ")
    inside = first[1:-1] if first.startswith("(") else first
    params = [p for p in pieces(inside, ",") if p]
    return params, " -> ".join(rest)


def is_tuple(type_: str) -> bool:
    return type_.startswith("(") and len(pieces(type_, " -> ")) == 1


def tensor_type(type_: str) -> tuple[str, list[str]]:
    """The element type, and the shape as a list of dimensions and shape variables `@s`."""
    elem, _, shape = type_.partition(" ")
    items: list[str] = []
    for word in pieces(shape, "@") if shape else []:
        if word.startswith("["):
            items += [d for d in pieces(word[1:-1], ",") if d]
        else:
            items.append("@" + word)
    return elem, items


NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9']*")


def evaluate(text: str, sizing: Sizing) -> int:
    """A dimension as a number."""
    code = text.replace("//", "/").replace("/", "//").replace(" mod ", " % ").replace("?", "")

    def size_of(name: str) -> str:
        if name in ("max", "min", "size", "rank"):
            return name
        if name in sizing.dims:
            return str(sizing.dims[name])
        if name in sizing.shapes:
            return repr(sizing.shapes[name])
        raise Open

    code = NAME.sub(lambda m: size_of(m[0]), code)
    try:
        return int(eval(code, {"max": max, "min": min, "size": _size, "rank": len}))
    except (SyntaxError, TypeError, ZeroDivisionError):
        raise Open from None


def _size(shape: tuple[int, ...]) -> int:
    return int(numpy.prod(shape))


# --- values --------------------------------------------------------------------------------------


def fit(type_: str, value: Value, sizing: Sizing) -> None:
    """Compare a value with a type; names that are not known yet stand for what is found."""
    if type_.startswith("{"):
        fit_record(type_, value, sizing)
        return
    if is_tuple(type_):
        items = pieces(type_[1:-1], ",")
        if not isinstance(value, tuple) or len(items) != len(value):
            raise Differs(f"{type_} is not a tuple of {value!r}")
        for item, part in zip(items, value, strict=True):
            fit(item, part, sizing)
        return
    if type_.startswith(("dim ", "shape ")) or isinstance(value, Size | Sizes):
        return
    if " " not in type_ and type_ not in ELEMENTS.values():
        return  # any type at all
    if not is_tensor(value):
        raise Differs(f"{type_} is no tensor")
    elem, items = tensor_type(type_)
    found = ELEMENTS[_dtype(value).kind]
    known = elem if elem in ELEMENTS.values() else sizing.elems.setdefault(elem, found)
    if known != found:
        raise Differs(f"elements are {found}, printed {known}")
    fit_shape(items, value, sizing)


def fit_record(type_: str, value: Value, sizing: Sizing) -> None:
    """A record has the fields of its type, and others if that has a row."""
    row, bar, fields = type_[1:-1].partition("|")
    named = pieces(fields if bar else row, ",")
    types = dict(each.split(" : ", 1) for each in named if each)
    if not isinstance(value, dict) or not types.keys() <= value.keys():
        raise Differs(f"{type_} is not a record of {value!r}")
    if not bar and types.keys() != value.keys():
        raise Differs(f"{type_} has not the fields of {value!r}")
    for name, part in types.items():
        fit(part, value[name], sizing)


ELEMENTS = {"f": "f32", "i": "i64", "b": "bool"}


def _dtype(value: Tensor) -> numpy.dtype[numpy.generic]:
    return (
        _dtype(value.rows[0] if value.rows else value.like)
        if isinstance(value, Rag)
        else (value.dtype)
    )


def levels(value: Tensor) -> list[set[int]]:
    """For each dimension, all the sizes that it has."""
    found: list[set[int]] = [set() for _ in range(rank(value))]

    def visit(part: Tensor, depth: int) -> None:
        if not isinstance(part, Rag):
            for i, n in enumerate(part.shape):
                found[depth + i].add(int(n))
                if n == 0:
                    break
            return
        found[depth].add(len(part.rows))
        for row in part.rows:
            visit(row, depth + 1)

    visit(value, 0)
    return found


def fit_shape(items: list[str], value: Tensor, sizing: Sizing) -> None:
    found = levels(value)
    items = without_variables(items, len(found), found, sizing)
    if len(items) != len(found):
        raise Differs(f"rank {len(found)}, printed {items}")
    late = []
    for item, here in zip(items, found, strict=True):
        if not here or item.startswith("*"):
            continue
        if len(here) > 1 and sizing.varying.issuperset({*NAME.findall(item)} - WORDS):
            continue
        if len(here) > 1:
            raise Differs(f"the size printed as {item} varies: {sorted(here)}")
        (n,) = here
        name = item.removeprefix("?")
        if NAME.fullmatch(name) and name not in sizing.dims:
            sizing.dims[name] = n
        else:
            late.append((item, n))
    for item, n in late:
        try:
            expected = evaluate(item, sizing)
        except Open:
            continue
        if expected != n:
            raise Differs(f"the size printed as {item} is {expected} by the arguments, and {n}")


def without_variables(
    items: list[str], rank: int, found: list[set[int]], sizing: Sizing
) -> list[str]:
    """The dimensions of a shape; one shape variable that is not known yet takes what is left."""
    spread: list[str] = []
    for item in items:
        known = sizing.shapes.get(item[1:]) if item.startswith("@") else None
        spread += [item] if known is None else map(_constant, known)
    variables = [i for i, item in enumerate(spread) if item.startswith("@")]
    if not variables:
        return spread
    if len(variables) > 1:
        raise Open
    (i,) = variables
    inner = rank - (len(spread) - 1)
    if inner < 0:
        raise Differs(f"rank {rank} is less than {items} says")
    shape = tuple(_only(each) for each in found[i : i + inner])
    sizing.shapes[spread[i][1:]] = shape
    return [*spread[:i], *map(_constant, shape), *spread[i + 1 :]]


def _constant(size: int | None) -> str:
    return "*" if size is None else str(size)


def _only(found: set[int]) -> int | None:
    return min(found) if len(found) == 1 else None


# --- conditions ----------------------------------------------------------------------------------


def holds(condition: str, sizing: Sizing) -> bool:
    """Whether there are sizes for what is not known with which a condition holds."""
    if ROWS.search(condition):
        return True  # a condition on rows that vary
    unknown = [
        n for n in dict.fromkeys(NAME.findall(condition))
        if n not in sizing.dims and n not in sizing.shapes and n not in WORDS
    ]  # fmt: skip
    free = [n for n in unknown if re.search(rf"\?{re.escape(n)}(?![\w'])", condition)]
    if unknown != free or len(free) > 2:
        return True
    try:
        return any(
            truth(
                condition, Sizing(sizing.dims | dict(zip(free, sizes, strict=True)), sizing.shapes)
            )
            for sizes in product(_candidates(sizing), repeat=len(free))
        )
    except Open:
        return True


def _candidates(sizing: Sizing) -> list[int]:
    """Small sizes, and the number of elements of each shape."""
    counts = {_size(tuple(filter(None, shape))) for shape in sizing.shapes.values()}
    return sorted({*range(30), *sizing.dims.values(), *counts})


def broadcast_with_rows(conditions: Iterable[str]) -> set[str]:
    """The names in conditions that speak of rows."""
    found = [NAME.findall(each) for each in conditions if ROWS.search(each)]
    return {name for names in found for name in names} - WORDS


ROWS = re.compile(r"(?<![\w)'])\*")
WORDS = {"broadcast", "max", "min", "size", "rank", "mod", "uniform", "num", "float", "int"}


SIGNS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "!=": operator.ne,
    "=": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


def truth(condition: str, sizing: Sizing) -> bool:
    for sign in SIGNS:
        sides = pieces(condition, f" {sign} ")
        if len(sides) == 2:
            left, right = (side(s, sizing) for s in sides)
            if left is None or right is None:
                return False
            if isinstance(left, tuple) and isinstance(right, tuple):
                return left == right
            if isinstance(left, tuple) or isinstance(right, tuple):
                raise Open
            return SIGNS[sign](left, right)
    if condition.startswith("broadcast("):
        return side(condition, sizing) is not None
    raise Open


def side(text: str, sizing: Sizing) -> int | tuple[int, ...] | None:
    """A dimension or a shape; None for a broadcast that is not possible."""
    if text.startswith("broadcast(") and text.endswith(")"):
        found = [side(p, sizing) for p in pieces(text[len("broadcast(") : -1], ",")]
        if any(f is None for f in found):
            return None
        shapes = [f if isinstance(f, tuple) else (f,) for f in found]
        try:
            made = tuple(numpy.broadcast_shapes(*shapes))  # type: ignore[arg-type]
        except ValueError:
            return None
        return made if isinstance(found[0], tuple) else made[0]
    if "@" in text or text.startswith("[") or text in sizing.shapes:
        words: list[int] = []
        for word in pieces(text, "@"):
            if word.startswith("["):
                words += [evaluate(d, sizing) for d in pieces(word[1:-1], ",") if d]
            elif word in sizing.shapes and None not in sizing.shapes[word]:
                words += [n for n in sizing.shapes[word] if n is not None]
            else:
                raise Open
        return tuple(words)
    return evaluate(text, sizing)
