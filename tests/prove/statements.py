"""Statements about sizes as text, read twice: by Axon, and by Python for brute force."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product

from axon.source import Source
from axon.syntax import ast, parse_program
from axon.types.conditions import read_conditions
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.type import AtLeast, DimEq, Relation
from axon.types.variables import DimVar

LARGEST = 12


@dataclass(frozen=True, slots=True)
class Statement:
    """`variables` go by their names. What the condition divides by is an assumption, too."""

    text: str
    condition: DimEq | AtLeast
    assumptions: tuple[Relation, ...]
    variables: dict[str, DimVar]
    holds: Callable[..., bool]
    assumed: Callable[..., bool]

    def fails_at(self, values: Mapping[str, int]) -> bool:
        """Whether the assumptions hold there and the condition does not, by Python's arithmetic."""
        return self.assumed(**values) and not self.holds(**values)

    def points(self) -> Iterator[dict[str, int]]:
        for numbers in product(range(LARGEST + 1), repeat=len(self.variables)):
            yield dict(zip(self.variables, numbers, strict=True))


def read(text: str) -> Statement:
    claim, _, rest = text.partition("|")
    assumed = [part for part in rest.split(";") if part.strip()]
    names = sorted(set(re.findall(r"\b[a-z]\b", text)))
    scope = Scope()
    reader = Reader(scope, level=1, depth=1, quantified=True)
    relations: list[Relation] = []
    for part in (*assumed, claim):
        source = f"op f : f32 [{','.join(names)}] -> f32 [] where {part};"
        program, problems = parse_program(Source("statement.axon", source))
        assert not problems, (text, problems)
        (item,) = program.items
        assert isinstance(item, ast.OpDecl)
        reader.read_type(item.signature.type)
        read_conditions(reader, item.signature.where)
    relations = reader.relations
    assert not reader.diagnostics, (text, reader.diagnostics)
    condition = relations.pop()
    assert isinstance(condition, DimEq | AtLeast)
    variables = {name: var for name in names if isinstance(var := scope.index[name], DimVar)}
    return Statement(
        text,
        condition,
        tuple(relations),
        variables,
        _python(names, [claim]),
        _python(names, assumed),
    )


def _python(names: list[str], parts: list[str]) -> Callable[..., bool]:
    """The same in Python; nothing holds where it divides by zero."""
    terms = [re.sub(r"(?<![<>])=", "==", part).strip() for part in parts]
    body = " and ".join(f"({t.replace('/', '//').replace(' mod ', ' % ')})" for t in terms)
    function = eval(f"lambda {', '.join(names)}: {body or 'True'}")

    def guarded(**values: int) -> bool:
        try:
            return bool(function(**values))
        except ZeroDivisionError:
            return False

    return guarded
