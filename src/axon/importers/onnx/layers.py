"""Layers that come again in a program, written once as a function.

Two lines are alike if they differ in nothing but tensors. Where some lines are followed by as many
others that are alike, one by one, they are a layer. Its function takes what the lines take from
outside, and its parameters have the types that all the layers have in common, so that it may be
used with more sizes than one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from string import ascii_lowercase
from typing import Any

import numpy

from axon.importers.onnx.build import RESERVED
from axon.importers.onnx.lines import Line, Writer
from axon.importers.onnx.repeats import Repeat, repeats
from axon.ops import OPERATORS
from axon.source import Source, Span
from axon.syntax import ast, mentioned, print_expr, replaced
from axon.types.type import Tensor, Type
from axon.types.variables import DimVar, ShapeVar

NOWHERE = Span(Source("", ""), 0, 0)
HOLE = "·"
MOST_PARAMETERS = 48

Operand = str
"""A tensor by its name, or a weight as its call: `x`, `w()`."""


@dataclass(frozen=True, slots=True)
class Definition:
    """A function of the program: parameters with their types, lines, and what it gives."""

    name: str
    params: list[tuple[str, str]]
    lines: list[Line]
    results: list[str]


def found_layers(
    writer: Writer, body: list[Line], outputs: list[str]
) -> tuple[list[Definition], list[Line]]:
    """Functions for the layers that come again, and the lines with calls of them."""
    found: list[Definition] = []
    refused: set[tuple[str, int]] = set()
    while True:
        forms = [_form(writer, line) for line in body]
        tokens = _tokens(forms)
        done = False
        for repeat in repeats(tokens):
            mark = (body[repeat.start].names[0], repeat.period)
            if mark in refused:
                continue
            made = _Layer(writer, body, outputs, repeat).extracted()
            if made is None:
                refused.add(mark)
                continue
            definition, body = made
            found.append(definition)
            done = True
            break
        if not done:
            return found, body


# --- lines that are alike --------------------------------------------------------------------


def _form(writer: Writer, line: Line) -> tuple[int, str]:
    """What a line is but for the tensors in it."""
    holes = _with(writer, line.expr, lambda _: HOLE)
    return len(line.names), print_expr(holes)


def _tokens(forms: list[tuple[int, str]]) -> Any:
    numbers: dict[tuple[int, str], int] = {}
    return numpy.array([numbers.setdefault(form, len(numbers)) for form in forms], numpy.int64)


def _with(writer: Writer, expr: ast.Expr, change: Any) -> ast.Expr:
    """The expression with its operands changed, from the first to the last."""

    def go(part: ast.Expr) -> ast.Expr:
        match part:
            case ast.Name(name, _) if name in writer.originals:
                return ast.Name(change(name), NOWHERE)
            case ast.Call(ast.Name(name, _), (), (), _) if name in writer.weights:
                return ast.Name(change(f"{name}()"), NOWHERE)
            case _:
                return part

    return replaced(expr, go)


def operands(writer: Writer, line: Line) -> list[Operand]:
    """The tensors and weights that a line takes, in its order."""
    found: list[Operand] = []

    def take(operand: Operand) -> str:
        found.append(operand)
        return HOLE

    _with(writer, line.expr, take)
    return found


# --- one layer -------------------------------------------------------------------------------

Place = tuple[int, int]
"""Which line of a layer makes a tensor, and as which of its parts."""


@dataclass(slots=True)
class _Layer:
    """A layer on its way from lines to a function."""

    writer: Writer
    body: list[Line]
    outputs: list[str]
    repeat: Repeat
    taken: list[list[list[Operand]]] = field(default_factory=list)
    """The operands by copy and line."""
    names: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def extracted(self) -> tuple[Definition, list[Line]] | None:
        start, period = self._aligned(), self.repeat.period
        copies = [
            self.body[at : at + period] for at in range(start, self.repeat.end - period + 1, period)
        ]
        copies, start = self._alike(copies, start)
        if len(copies) < 2:
            return None
        self.taken = [[operands(self.writer, line) for line in copy] for copy in copies]
        end = start + len(copies) * period
        makers = _makers(copies[0])
        outside = self._outside(copies)
        params = {key: i for i, key in enumerate(dict.fromkeys(outside.values()))}
        shared = {key for key in params if len(set(key)) == 1 and key[0].endswith("()")}
        given = [key for key in params if key not in shared]
        if len(given) > MOST_PARAMETERS:
            return None
        results = self._results(copies, start)
        types = {key: self._type(key) for key in given}
        if not self._sizes(copies[0]) <= {n for t in types.values() for n in _bare(t)}:
            return None
        named = self._parameters(given, {*makers, *(key[0].removesuffix("()") for key in shared)})
        lines = self._lines(copies[0], outside, {**named, **{key: key[0] for key in shared}})
        function = self._name(copies, given)
        definition = Definition(
            function,
            [(named[key], types[key]) for key in given],
            lines,
            [copies[0][o].names[part] for o, part in results],
        )
        calls = [self._call(function, copy, i, given, results) for i, copy in enumerate(copies)]
        return definition, [*self.body[:start], *calls, *self.body[end:]]

    def _aligned(self) -> int:
        """Where layers begin: where the fewest tensors go from one to the next."""
        start, period = self.repeat.start, self.repeat.period
        last: dict[str, int] = {}
        for i, line in enumerate(self.body[start : start + 3 * period], start):
            for operand in operands(self.writer, line):
                last[operand] = i
        best = (10**9, 0)
        for at in range(start, min(start + period, self.repeat.end - 2 * period) + 1):
            made = [name for line in self.body[at : at + period] for name in line.names]
            width = sum(last.get(name, -1) >= at + period for name in made)
            best = min(best, (width, at))
        return best[1]

    def _alike(self, copies: list[list[Line]], start: int) -> tuple[list[list[Line]], int]:
        """The longest stretch of copies that are wired alike inside."""
        wiring = [self._wiring(copy) for copy in copies]
        best, at = (0, 0), 0
        while at < len(wiring):
            end = at
            while end < len(wiring) and wiring[end] == wiring[at]:
                end += 1
            best = max(best, (end - at, -at))
            at = end
        length, first = best[0], -best[1]
        return copies[first : first + length], start + first * self.repeat.period

    def _wiring(self, copy: list[Line]) -> list[list[Place | None]]:
        makers: dict[str, Place] = {}
        found = []
        for o, line in enumerate(copy):
            found.append([makers.get(operand) for operand in operands(self.writer, line)])
            makers.update((name, (o, part)) for part, name in enumerate(line.names) if name)
        return found

    def _outside(self, copies: list[list[Line]]) -> dict[Place, tuple[Operand, ...]]:
        """What each copy takes from outside, by line and operand."""
        inside = self._wiring(copies[0])
        return {
            (o, i): tuple(taken[o][i] for taken in self.taken)
            for o, line in enumerate(inside)
            for i, place in enumerate(line)
            if place is None
        }

    def _results(self, copies: list[list[Line]], start: int) -> list[Place]:
        """What is used outside the copy that makes it, be it of one copy only."""
        period = self.repeat.period
        end = start + len(copies) * period
        used: set[str] = set(self.outputs)
        for line in (*self.body[:start], *self.body[end:]):
            used.update(operands(self.writer, line))
        found: dict[Place, None] = {}
        makers = [_makers(copy) for copy in copies]
        for j, taken in enumerate(self.taken):
            for operand in (operand for line in taken for operand in line):
                if operand not in makers[j]:
                    used.add(operand)
        for each in makers:
            for name, place in each.items():
                if name in used:
                    found[place] = None
        return sorted(found)

    # --- types of parameters ---

    def _type(self, key: tuple[Operand, ...]) -> str:
        """The type that the arguments have in common; none if they have no rank in common."""
        types = [self._type_of(operand) for operand in key]
        first = types[0]
        if not isinstance(first, Tensor) or not isinstance(first.elem, str):
            return ""
        rows: list[tuple[Any, ...]] = []
        for type_ in types:
            if not isinstance(type_, Tensor) or type_.elem != first.elem:
                return ""
            if any(isinstance(item, ShapeVar) for item in type_.shape):
                return ""
            rows.append(type_.shape)
        if len({len(row) for row in rows}) > 1:
            return ""
        sizes = ",".join(self._size(column) for column in zip(*rows, strict=True))
        return f"{first.elem} [{sizes}]"

    def _type_of(self, operand: Operand) -> Type:
        return self.writer.type(operand.removesuffix("()"))

    def _size(self, column: tuple[Any, ...]) -> str:
        """A number, or a name: one for each way in which a size goes with the copies."""
        same = len(set(column)) == 1
        if same and isinstance(column[0], int):
            return str(column[0])
        if same and isinstance(column[0], DimVar) and column[0] in self.writer.known:
            return self.writer.names(column[0])
        if column not in self.names:
            taken = {*self.names.values(), *self.writer.importer.taken, *self.writer.names.taken}
            self.names[column] = next(name for name in _letters() if name not in taken)
        return self.names[column]

    def _sizes(self, copy: list[Line]) -> set[str]:
        """The sizes that the lines speak of."""
        known = {self.writer.names.given.get(var) for var in self.writer.known}
        return {name for line in copy for name in mentioned(line.expr) if name in known}

    # --- writing ---

    def _parameters(
        self, given: list[tuple[Operand, ...]], inside: set[str]
    ) -> dict[tuple[Operand, ...], str]:
        """Names of parameters: those of the first arguments, if nothing else has them."""
        named: dict[tuple[Operand, ...], str] = {}
        taken = {*inside, *self.names.values(), *OPERATORS, *RESERVED}
        for key in given:
            base = re.sub(r"_\d+$", "", key[0].removesuffix("()"))
            name = next(n for n in _numbered(base) if n not in taken)
            taken.add(name)
            named[key] = name
        return named

    def _lines(
        self,
        copy: list[Line],
        outside: dict[Place, tuple[Operand, ...]],
        named: dict[tuple[Operand, ...], str],
    ) -> list[Line]:
        found = []
        for o, line in enumerate(copy):
            position = count()

            def change(operand: Operand, o: int = o, at: Iterator[int] = position) -> str:
                key = outside.get((o, next(at)))
                return operand if key is None else named[key]

            found.append(Line(line.names, _with(self.writer, line.expr, change), line.node))
        return found

    def _call(
        self,
        function: str,
        copy: list[Line],
        index: int,
        given: list[tuple[Operand, ...]],
        results: list[Place],
    ) -> Line:
        args = tuple(_expression(key[index]) for key in given)
        call = ast.Call(ast.Name(function, NOWHERE), args, (), NOWHERE)
        return Line(tuple(copy[o].names[part] for o, part in results), call, copy[0].node)

    def _name(self, copies: list[list[Line]], given: list[tuple[Operand, ...]]) -> str:
        """The word before the number in which the names of tensors differ: layer, block …"""
        words: Counter[str] = Counter()
        pairs = [(key[0].removesuffix("()"), key[1].removesuffix("()")) for key in given]
        for a, b in zip(copies[0], copies[1], strict=True):
            pairs += [(x, y) for x, y in zip(a.names, b.names, strict=True) if x and y]
        for x, y in pairs:
            word = _counted(self.writer.originals[x], self.writer.originals[y])
            if word:
                words[word] += 1
        base = words.most_common(1)[0][0] if words else "layer"
        taken = self.writer.importer.taken
        name = next(n for n in _numbered(base) if n not in taken)
        taken.add(name)
        return name


def _makers(copy: list[Line]) -> dict[str, Place]:
    makers: dict[str, Place] = {}
    for o, line in enumerate(copy):
        makers.update((name, (o, part)) for part, name in enumerate(line.names) if name)
    return makers


def _bare(type_: str) -> set[str]:
    """The sizes that a parameter of this type tells."""
    _, _, shape = type_.partition(" ")
    return set(shape.strip("[]").split(","))


def _expression(operand: Operand) -> ast.Expr:
    name = ast.Name(operand.removesuffix("()"), NOWHERE)
    return ast.Call(name, (), (), NOWHERE) if operand.endswith("()") else name


def _counted(a: str, b: str) -> str:
    """`block` for `net.blocks.0.query` and `net.blocks.1.query`."""
    first, second = re.split(r"[./]", a), re.split(r"[./]", b)
    if len(first) < 2 or "::" in a:
        return ""
    before = ""
    for x, y in zip(first, second, strict=False):
        if x != y:
            stem = re.sub(r"[_:]*\d+$", "", x)
            if re.sub(r"[_:]*\d+$", "", y) != stem:
                return ""
            word = re.sub(r"(?<=[a-z]{3})s$", "", re.sub(r"\W", "", stem or before))
            return word if len(word) > 2 and not word[0].isdigit() else "layer"
        before = x
    return ""


def _numbered(base: str) -> Iterator[str]:
    yield base
    for number in count(2):
        yield f"{base}_{number}"


def _letters() -> Iterator[str]:
    yield from ascii_lowercase
    for number in count(1):
        for letter in ascii_lowercase:
            yield f"{letter}{number}"
