"""What the exporter says of the sizes of inputs: ranges of symbols, and conditions as Python text.

The text is parsed and never run. What is not arithmetic on sizes says nothing here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import add, eq, floordiv, ge, gt, le, lt, mod, mul, ne, sub

from axon.importers.operations import Arithmetic, Size
from axon.importers.torch.document import Document
from axon.importers.torch.dynamic.input_sizes import InputSizes

LONGEST = 10_000
MOST_NODES = 2_000
MOST_CONDITIONS = 1_000
LARGEST = 1 << 128
"""No number on the way is larger: conditions are tried on small sizes."""
NO_BOUND = 1 << 62
Sizes = Mapping[str, int]
"""Sizes by their names, `x[0]`."""
ARITHMETIC: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: add, ast.Sub: sub, ast.Mult: mul, ast.FloorDiv: floordiv, ast.Mod: mod,
}  # fmt: skip
COMPARISONS: dict[type[ast.AST], Callable[[int, int], bool]] = {
    ast.Eq: eq, ast.NotEq: ne, ast.Lt: lt, ast.LtE: le, ast.Gt: gt, ast.GtE: ge,
}  # fmt: skip
EXTREMA: dict[str, Callable[..., int]] = {"Max": max, "max": max, "Min": min, "min": min}
INFIX: dict[str, Callable[[int, int], int]] = {
    "+": add, "*": mul, "//": floordiv, "mod": mod, "min": min, "max": max,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the exporter's conditions, in its own words with our names of sizes."""

    text: str
    about: frozenset[str]
    holds: Callable[[Sizes], bool | None]
    """Whether it holds for some sizes; None if that cannot be told."""


class _NotArithmetic(Exception):
    """The text says more than arithmetic on sizes."""


def conditions(program: Document, given: InputSizes) -> list[Condition]:
    """All of the exporter's conditions on the sizes of inputs; raises `WrongDocument`."""
    names = {each.name for each in given.every()}
    found = [*_ranges(program, given), *_shared(given)]
    listed = program.find("guards_code")
    for each in listed.items()[:MOST_CONDITIONS] if listed is not None else ():
        guard = guard_of(each.text(), names)
        if guard is not None:
            found.append(guard)
    return found


# --- texts ---


def guard_of(text: str, names: set[str]) -> Condition | None:
    """A condition as Python text; None if it cannot be read, or is not on known sizes."""
    if len(text) > LONGEST:
        return None
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if sum(1 for _ in ast.walk(tree)) > MOST_NODES:
        return None
    about: set[str] = set()
    try:
        shown = _shown(tree, about)
    except (_NotArithmetic, RecursionError):
        return None
    if not about or not about <= names:
        return None

    def holds(sizes: Sizes) -> bool | None:
        try:
            return bool(_value(tree, sizes))
        except (_NotArithmetic, ZeroDivisionError, KeyError, RecursionError):
            return None

    return Condition(shown, frozenset(about), holds)


def size_name(tree: ast.AST) -> str | None:
    """`x[1]` of `L['x'].size()[1]`, or of `L['x'].shape[1]`."""
    match tree:
        case ast.Subscript(value=ast.Call(func=ast.Attribute(value, "size"), args=[]), slice=index):
            pass
        case ast.Subscript(value=ast.Attribute(value, "shape"), slice=index):
            pass
        case _:
            return None
    path = _path(value)
    if path is None or not isinstance(index, ast.Constant) or type(index.value) is not int:
        return None
    return f"{path}[{index.value}]"


def _path(tree: ast.AST) -> str | None:
    """What an input is called: `L['x']`, or a part of one, `L['x'][0]`, which is `x_0`."""
    parts: list[str] = []
    while isinstance(tree, ast.Subscript):
        if not isinstance(tree.slice, ast.Constant):
            return None
        parts.append(str(tree.slice.value))
        tree = tree.value
    if not isinstance(tree, ast.Name) or tree.id != "L" or not parts:
        return None
    return "_".join(reversed(parts))


def _value(tree: ast.AST, sizes: Sizes) -> int:
    """What an expression is for some sizes; a condition is 1 or 0."""
    name = size_name(tree)
    if name is not None:
        return sizes[name]
    match tree:
        case ast.Constant(int(value)):
            return value
        case ast.UnaryOp(ast.USub(), operand):
            return -_value(operand, sizes)
        case ast.UnaryOp(ast.Not(), operand):
            return int(not _value(operand, sizes))
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            found = ARITHMETIC[type(operator)](_value(left, sizes), _value(right, sizes))
            if abs(found) > LARGEST:
                raise _NotArithmetic
            return found
        case ast.Compare(left, operators, others):
            sides = [_value(each, sizes) for each in (left, *others)]
            pairs = zip(operators, sides, sides[1:], strict=False)
            return int(all(COMPARISONS[type(each)](a, b) for each, a, b in pairs))
        case ast.BoolOp(operator, values):
            every = [bool(_value(each, sizes)) for each in values]
            return int(all(every) if isinstance(operator, ast.And) else any(every))
        case ast.Call(func=ast.Name(function), args=args) if function in EXTREMA and args:
            return EXTREMA[function]([_value(each, sizes) for each in args])
        case _:
            raise _NotArithmetic


def _shown(tree: ast.AST, about: set[str]) -> str:
    """The expression with our names of sizes, which are collected; raises `_NotArithmetic`."""
    name = size_name(tree)
    if name is not None:
        about.add(name)
        return name
    match tree:
        case ast.Constant(int(value)):
            return str(value)
        case ast.UnaryOp(ast.USub(), operand):
            return f"-{_shown(operand, about)}"
        case ast.UnaryOp(ast.Not(), operand):
            return f"not ({_shown(operand, about)})"
        case ast.BinOp(left, operator, right) if type(operator) in ARITHMETIC:
            sides = (_bracketed(left, about), _bracketed(right, about))
            sign = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
            return f" {sign[type(operator)]} ".join(sides)
        case ast.Compare(left, operators, others):
            signs = {
                ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">",
                ast.GtE: ">=",
            }  # fmt: skip
            text = _shown(left, about)
            for each, side in zip(operators, others, strict=True):
                if type(each) not in signs:
                    raise _NotArithmetic
                text += f" {signs[type(each)]} {_shown(side, about)}"
            return text
        case ast.BoolOp(operator, values):
            word = " and " if isinstance(operator, ast.And) else " or "
            return word.join(f"({_shown(each, about)})" for each in values)
        case ast.Call(func=ast.Name(function), args=args) if function in EXTREMA and args:
            return f"{function.lower()}({', '.join(_shown(each, about) for each in args)})"
        case _:
            raise _NotArithmetic


def _bracketed(tree: ast.AST, about: set[str]) -> str:
    text = _shown(tree, about)
    return f"({text})" if isinstance(tree, ast.BinOp) else text


# --- symbols ---


def _ranges(program: Document, given: InputSizes) -> Iterator[Condition]:
    """The bounds of symbols, as those of the first size that each of them is."""
    ranges = program.find("range_constraints")
    for symbol, bounds in ranges.entries() if ranges is not None else ():
        of = next((each.name for each in given.every() if each.declared == symbol), None)
        if of is None:
            continue
        least, most = _limit(bounds, "min_val"), _limit(bounds, "max_val")
        if least is not None:
            yield _bound(of, f"{of} >= {least}", ge, least)
        if most is not None:
            yield _bound(of, f"{of} <= {most}", le, most)


def _limit(bounds: Document, key: str) -> int | None:
    """A bound that says something of a size."""
    found = bounds.find(key)
    limit = 0 if found is None else found.integer()
    return limit if 0 < limit < NO_BOUND else None


def _bound(name: str, text: str, compare: Callable[[int, int], bool], n: int) -> Condition:
    return Condition(text, frozenset({name}), lambda sizes: compare(sizes[name], n))


def _shared(given: InputSizes) -> Iterator[Condition]:
    """Sizes that have one symbol are equal, and others are what is computed from it."""
    first: dict[str, str] = {}
    for each in given.every():
        if isinstance(each.declared, str):
            own = first.setdefault(each.declared, each.name)
            if own != each.name:
                yield _equal(own, each.name)
    for each in given.every():
        size = each.declared
        if isinstance(size, Arithmetic):
            whole = _multiple(size)
            if whole is not None:
                yield _multiple_of(each.name, whole)


def _equal(one: str, other: str) -> Condition:
    return Condition(
        f"{one} == {other}", frozenset({one, other}), lambda sizes: sizes[one] == sizes[other]
    )


def _multiple_of(name: str, n: int) -> Condition:
    return Condition(f"{name} % {n} == 0", frozenset({name}), lambda sizes: sizes[name] % n == 0)


def _multiple(size: Size) -> int | None:
    """The number that `8*s` is a multiple of."""
    match size:
        case Arithmetic("*", int(n), str()) | Arithmetic("*", str(), int(n)) if n > 0:
            return n
        case _:
            return None
