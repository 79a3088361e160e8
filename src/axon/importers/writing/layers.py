"""Layers that repeat in a program, written once as a function.

Two lines are alike if they differ in nothing but tensors. Where some lines are followed by as many
others that are alike, one by one, they are a layer. Its function takes what the lines take from
outside, and its parameters have the types that all the layers have in common, so that it may be
used with more sizes than one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import count
from operator import itemgetter
from string import ascii_lowercase
from typing import Any

from axon.importers.importer import known_shape
from axon.importers.naming import RESERVED, short, word_of_layer
from axon.importers.steps import Called
from axon.importers.writing.layer_runs import LayerRun, of_calls, of_repeat
from axon.importers.writing.line_forms import (
    Operand,
    Place,
    makers,
    operands,
    tokens,
    wiring,
    with_operands,
)
from axon.importers.writing.periodicity import Repeat, find_repeats
from axon.importers.writing.writer import Line, Writer
from axon.ops import OPERATORS
from axon.syntax import ast, mentioned, sizes_mentioned
from axon.types.trees import NOWHERE
from axon.types.type import Tensor, Type, type_variables
from axon.types.variables import DimVar

MOST_PARAMETERS = 48


@dataclass(frozen=True, slots=True)
class Definition:
    """A function of the program: parameters with their types, lines, what it gives, and what must
    hold of its sizes.
    """

    name: str
    params: list[tuple[str, ast.TypeExpr | None]]
    lines: list[Line]
    results: list[ast.Expr]
    where: tuple[ast.Condition, ...] = ()


def found_layers(
    writer: Writer, body: list[Line], outputs: list[str]
) -> tuple[list[Definition], list[Line]]:
    """Functions for the layers that repeat, and the lines with calls of them. Functions of the
    model come first.
    """
    found: list[Definition] = []
    refused: set[Mark] = set()
    while True:
        made = None
        for mark, each in _candidates(writer, body):
            if mark in refused:
                continue
            run = of_repeat(writer, body, each) if isinstance(each, Repeat) else each
            made = _Layer(writer, body, outputs, run).extracted()
            if made is not None:
                break
            refused.add(mark)
        if made is None:
            return found, body
        definition, body = made
        found.append(definition)


Mark = tuple[str, str, int]
"""The identity of a group of lines: a function of the model, the tensor that the first line makes,
and the length.
"""


def _candidates(writer: Writer, body: list[Line]) -> Iterator[tuple[Mark, LayerRun | Repeat]]:
    functions: dict[tuple[str, str], list[Called]] = {}
    for call in writer.importer.calls:
        functions.setdefault((call.domain, call.name), []).append(call)
    for calls in functions.values():
        for each in of_calls(writer, body, calls):
            mark = (each.name, body[each.starts[0]].names[0], each.length)
            yield mark, each
    for repeat in find_repeats(tokens(writer, body)):
        mark = ("", body[repeat.start].names[0], repeat.period)
        yield mark, repeat


# --- one layer -------------------------------------------------------------------------------


@dataclass(slots=True)
class _Layer:
    """A layer on its way from lines to a function."""

    writer: Writer
    body: list[Line]
    outputs: list[str]
    run: LayerRun
    taken: list[list[list[Operand]]] = field(default_factory=list)
    """The operands by copy and line."""
    names: dict[tuple[Any, ...], str] = field(default_factory=dict)

    def extracted(self) -> tuple[Definition, list[Line]] | None:
        copies = self.run.copies(self.body)
        if len(copies) < 2:
            return None
        self.taken = [[operands(self.writer, line) for line in copy] for copy in copies]
        outside = self._outside(copies)
        params = {key: i for i, key in enumerate(dict.fromkeys(outside.values()))}
        shared = {key for key in params if len(set(key)) == 1 and key[0].endswith("()")}
        given = [key for key in params if key not in shared]
        if len(given) > MOST_PARAMETERS:
            return None
        results = self._results(copies)
        if any(self._is_told(copy[o]) for copy in copies for o, _ in results):
            return None
        first = self._named(copies, results)
        types = {key: self._type(key) for key in given}
        if not self._sizes(copies[0]) <= {n for t in types.values() for n in _bare(t)}:
            return None
        called = {name for line in first for name in mentioned(line.expr)}
        called -= {key[0].removesuffix("()") for key in given}
        called |= {key[0].removesuffix("()") for key in shared}
        named = self._parameters(given, {*makers(first), *called})
        lines = self._lines(first, outside, {**named, **{key: key[0] for key in shared}})
        function = self._name(copies, given)
        definition = Definition(
            function,
            [(named[key], types[key]) for key in given],
            lines,
            [ast.Name(first[o].names[part], NOWHERE) for o, part in results],
        )
        calls = [self._call(function, copy, i, given, results) for i, copy in enumerate(copies)]
        return definition, self._with_calls(calls)

    def _with_calls(self, calls: list[Line]) -> list[Line]:
        """The lines with calls in the place of the layers."""
        found: list[Line] = []
        at = 0
        for start, call in sorted(zip(self.run.starts, calls, strict=True), key=itemgetter(0)):
            found += [*self.body[at:start], call]
            at = start + self.run.length
        return [*found, *self.body[at:]]

    def _outside(self, copies: list[list[Line]]) -> dict[Place, tuple[Operand, ...]]:
        """What each copy takes from outside, by line and operand."""
        lines = wiring(self.writer, copies[0])
        return {
            (o, i): tuple(taken[o][i] for taken in self.taken)
            for o, line in enumerate(lines)
            for i, place in enumerate(line)
            if place is None
        }

    def _results(self, copies: list[list[Line]]) -> list[Place]:
        """What is used outside the copy that makes it, be it of one copy only."""
        length = self.run.length
        mine = {at for start in self.run.starts for at in range(start, start + length)}
        used: set[str] = set(self.outputs)
        for at, line in enumerate(self.body):
            if at not in mine:
                used.update(operands(self.writer, line))
        found: dict[Place, None] = {}
        made = [makers(copy) for copy in copies]
        for j, taken in enumerate(self.taken):
            for operand in (operand for line in taken for operand in line):
                if operand not in made[j]:
                    used.add(operand)
        for each in made:
            for name, place in each.items():
                if name in used:
                    found[place] = None
        return sorted(found)

    def _named(self, copies: list[list[Line]], results: list[Place]) -> list[Line]:
        """The lines of the first copy; what has a name only in others has that name."""
        found = list(copies[0])
        for o, part in results:
            names = list(found[o].names)
            names[part] = next(filter(None, (copy[o].names[part] for copy in copies)))
            found[o] = replace(found[o], names=tuple(names))
        return found

    def _is_told(self, line: Line) -> bool:
        """Whether a line makes a shape that only a run knows: no function returns that alone."""
        match line.expr:
            case ast.Call(ast.Name("shape" | "size", _), (ast.Name(name, _),), _, _):
                known = self.writer.known
                return not set(type_variables(self.writer.type(name))) <= known
            case _:
                return False

    # --- types of parameters ---

    def _type(self, key: tuple[Operand, ...]) -> ast.TensorType | None:
        """The type that the arguments have in common; none if they have no rank in common."""
        types = [self._type_of(operand) for operand in key]
        first = types[0]
        if not isinstance(first, Tensor) or not isinstance(first.elem, str):
            return None
        if any(isinstance(type_, Tensor) and type_.elem != first.elem for type_ in types):
            return None
        known = [known_shape(type_) for type_ in types]
        rows = [shape for shape in known if shape is not None]
        if len(rows) < len(known) or len(set(map(len, rows))) > 1:
            return None
        sizes = tuple(self._size(column) for column in zip(*rows, strict=True))
        return ast.TensorType(first.elem, ast.Dims(sizes, NOWHERE), NOWHERE)

    def _type_of(self, operand: Operand) -> Type:
        return self.writer.type(operand.removesuffix("()"))

    def _size(self, column: tuple[Any, ...]) -> ast.DimExpr:
        """A number, or a name: one for each way in which a size goes with the copies."""
        same = len(set(column)) == 1
        if same and isinstance(column[0], int):
            return ast.DimConst(column[0], NOWHERE)
        if same and isinstance(column[0], DimVar) and column[0] in self.writer.known:
            return ast.IndexName(self.writer.names(column[0]), False, NOWHERE)
        if column not in self.names:
            taken = {*self.names.values(), *self.writer.names.taken}
            is_taken = self.writer.importer.is_taken
            self.names[column] = next(n for n in _letters() if n not in taken and not is_taken(n))
        return ast.IndexName(self.names[column], False, NOWHERE)

    def _sizes(self, copy: list[Line]) -> set[str]:
        """The sizes that the lines speak of."""
        known = {self.writer.names.given.get(var) for var in self.writer.known}
        found = {n for line in copy for n in (*mentioned(line.expr), *sizes_mentioned(line.expr))}
        return {name for name in found if name in known}

    # --- writing ---

    def _parameters(
        self, given: list[tuple[Operand, ...]], taken: set[str]
    ) -> dict[tuple[Operand, ...], str]:
        """Names of parameters: those of the first arguments, if nothing else has them."""
        named: dict[tuple[Operand, ...], str] = {}
        taken = {*taken, *self.names.values(), *self.writer.names.taken, *OPERATORS, *RESERVED}
        for key in given:
            base = self._parameter(key[0].removesuffix("()"))
            name = next(n for n in _numbered(base) if n not in taken)
            taken.add(name)
            named[key] = name
        return named

    def _parameter(self, first: str) -> str:
        """What the model's own function calls it, or what it is called in the first layer."""
        own = self.run.parameters.get(self.writer.originals[first])
        return re.sub(r"_\d+$", "", first) if own is None else short(own)

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

            found.append(Line(line.names, with_operands(self.writer, line.expr, change), line.node))
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
            word = word_of_layer(self.writer.originals[x], self.writer.originals[y])
            if word:
                words[word] += 1
        base = words.most_common(1)[0][0] if words else "layer"
        if self.run.name:
            base = short(self.run.name)
        importer = self.writer.importer
        name = next(n for n in _numbered(base) if not importer.is_taken(n) and n != "model")
        importer.taken.add(name)
        return name


def _bare(type_: ast.TensorType | None) -> set[str]:
    """The sizes that stand by themselves in the type of a parameter."""
    items = type_.shape.items if type_ is not None and isinstance(type_.shape, ast.Dims) else ()
    return {item.name for item in items if isinstance(item, ast.IndexName)}


def _expression(operand: Operand) -> ast.Expr:
    name = ast.Name(operand.removesuffix("()"), NOWHERE)
    return ast.Call(name, (), (), NOWHERE) if operand.endswith("()") else name


def _numbered(base: str) -> Iterator[str]:
    yield base
    for number in count(2):
        yield f"{base}_{number}"


def _letters() -> Iterator[str]:
    yield from ascii_lowercase
    for number in count(1):
        for letter in ascii_lowercase:
            yield f"{letter}{number}"
