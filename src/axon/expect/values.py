"""Expressions that are evaluated with the definitions of a program, on NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axon.diagnostics import Severity
from axon.driver import check
from axon.files import find_import
from axon.run.errors import AxonError
from axon.run.program import Program
from axon.run.structures import by_path
from axon.source import Source, Span
from axon.syntax import ast, parse_expression

RELATIVE, ABSOLUTE = 1e-5, 1e-6
"""By how much fractions may differ and be equal."""


@dataclass(frozen=True, slots=True)
class Appended:
    """An expression, as definitions at the end of a program: both sides of an equation, or one.
    `problem` says why it cannot be evaluated.
    """

    program: Program | None
    names: tuple[str, ...]
    type: str = ""
    problem: str = ""


def append(source: Source, expressions: list[tuple[int, str]]) -> dict[int, Appended]:
    """Add expressions to a program, by their lines. A wrong one does not affect the others."""
    made: dict[int, Appended] = {}
    named: dict[int, tuple[tuple[str, str], ...]] = {}
    for line, text in expressions:
        sides = _sides(text)
        if isinstance(sides, str):
            made[line] = Appended(None, (), problem=sides)
        else:
            named[line] = tuple((f"expected{line}_{i}''", s) for i, s in enumerate(sides))
    definitions = [pair for pairs in named.values() for pair in pairs]
    if not definitions:
        return made
    together = _extended(source, definitions)
    if check(together, find_import).ok:
        program = Program(together)
        return made | {line: _typed(program, pairs) for line, pairs in named.items()}
    for line, pairs in named.items():
        alone = _extended(source, list(pairs))
        wrong = [d for d in check(alone, find_import).diagnostics if d.severity == Severity.ERROR]
        if wrong:
            made[line] = Appended(None, (), problem=f"{wrong[0].code}: {wrong[0].message}")
        else:
            made[line] = _typed(Program(alone), pairs)
    return made


def _extended(source: Source, definitions: list[tuple[str, str]]) -> Source:
    text = source.text.rstrip()
    lines = "\n".join(f"{name} = {expression};" for name, expression in definitions)
    end = "" if text.endswith(";") or not text else ";"
    return Source(source.name, f"{text}\n{end}{lines}\n")


def _typed(program: Program, pairs: tuple[tuple[str, str], ...]) -> Appended:
    names = tuple(name for name, _ in pairs)
    signatures = {s.name: s for s in program._checked.signatures}
    _, _, type_ = signatures[names[0]].line().partition(" : ")
    return Appended(program, names, type_)


def _sides(text: str) -> tuple[str, ...] | str:
    """The two sides of an equation, or the expression; a sentence if it cannot be read."""
    tree, problems = parse_expression(Source("expectation", text))
    if tree is None or problems:
        return problems[0].message if problems else "this is no expression"
    if isinstance(tree, ast.Infix) and tree.op == "==":
        left, right = tree.left.span, tree.right.span
        return _between(text, 0, left, right)
    return (text,)


def _between(text: str, start: int, left: Span, right: Span) -> tuple[str, ...]:
    """The texts around the sign between two operands; brackets around them are outside of spans."""
    at = text.index("==", left.end)
    while text.count("(", start, at) != text.count(")", start, at):
        at = text.index("==", at + 2)
    return text[:at].strip(), text[at + 2 :].strip()


def holds(expected: Appended) -> tuple[bool, str]:
    """Whether the expression is true, and its value as text."""
    assert expected.program is not None
    try:
        values = [expected.program[name] for name in expected.names]
    except AxonError as problem:
        return False, str(problem)
    except MemoryError:
        return False, "it needs more memory than there is"
    if len(values) == 2:
        return _equal(values[0], values[1]), _shown(values[0])
    return _is_true(values[0]), _shown(values[0])


def _is_true(value: Any) -> bool:
    import numpy

    if isinstance(value, tuple):
        return all(map(_is_true, value))
    found = numpy.asarray(value)
    return found.dtype == bool and bool(found.all())


def _equal(left: Any, right: Any) -> bool:
    import numpy

    if isinstance(left, tuple) and isinstance(right, tuple):
        same = len(left) == len(right)
        return same and all(_equal(a, b) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        fields, others = dict(by_path(left)), dict(by_path(right))
        same = fields.keys() == others.keys()
        return same and all(_equal(fields[name], others[name]) for name in fields)
    if hasattr(left, "tolist") and hasattr(right, "tolist"):
        one, other = numpy.asarray(left), numpy.asarray(right)
        if one.shape != other.shape:
            return False
        if one.dtype.kind in "biu" and other.dtype.kind in "biu":
            return bool((one == other).all())
        return bool(numpy.allclose(one, other, RELATIVE, ABSOLUTE, equal_nan=True))
    return bool(left == right)


def _shown(value: Any) -> str:
    return " ".join(str(value).split())
