"""Inference without reasons finds what inference with reasons finds: the signature, its conditions,
the checks of a run, and the messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from axon.diagnostics import Diagnostic, error
from axon.driver import prelude
from axon.inference.program import infer_program
from axon.inference.report.signature import Signature, describe_definition
from axon.ops import OPERATORS
from axon.ops.examples import examples, lift
from axon.source import Source
from axon.syntax import ast, parse_program
from axon.workspace import workspace
from tests.budget import ALL
from tests.properties.runtime_programs import draw_program

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
CHANGES = 10
"""How many ways each example of an operator is changed in."""


def outcome(text: str, reasons: bool) -> tuple[list[Signature], list[str]]:
    program, problems = parse_program(Source("program.axon", text))
    broken = tuple(p.span for p in problems if p.span is not None)
    with workspace():
        found = infer_program(program, no_import, prelude, broken, reasons)
        return [describe_definition(d) for d in found.definitions], [
            f"{d.code} {d.message} {d.labels} {d.notes} {d.help}" for d in found.diagnostics
        ]


def no_import(item: ast.Import) -> Diagnostic:
    return error("AX211", "nothing is imported here", item.span)


def assert_same(text: str) -> None:
    quick, slow = outcome(text, reasons=False), outcome(text, reasons=True)
    assert quick == slow, text


# --- changed examples ------------------------------------------------------------------------


def changed(params: list[str], chance: Random) -> list[str]:
    """Parameters with other types: without any, with names for sizes, with another size, or behind
    a shape of any rank.
    """
    names: dict[str, str] = {}
    return [_changed(param, names, chance) for param in params]


def _changed(param: str, names: dict[str, str], chance: Random) -> str:
    name, colon, type_ = param.partition(":")
    if not colon or "(" in type_ or chance.random() < 0.25:
        return name.strip()
    if "[" not in type_:
        return param
    before, _, sizes = type_.partition("[")
    word = []
    for size in sizes.rstrip(" ]").split(","):
        if re.fullmatch(r"\s*\d+\s*", size):
            draw = chance.random()
            if draw < 0.4:
                fresh = f"n{len(names)}"
                size = names.setdefault(size.strip(), fresh) if draw < 0.25 else fresh
                names.setdefault(fresh, fresh)
            elif draw < 0.5:
                size = str(int(size) + chance.choice((-1, 1, 2)))
        word.append(size)
    front = "r@" if "@" not in before and chance.random() < 0.15 else ""
    return f"{name}:{before}{front}[{','.join(word)}]"


def programs(operator: str) -> Iterator[str]:
    chance = Random(operator)
    for example in examples(OPERATORS[operator].doc):
        params, body = lift(example.call)
        yield example.program
        for _ in range(CHANGES):
            yield f"example = fn ({', '.join(changed(params, chance))}) {{ {body} }};"


@pytest.mark.parametrize("operator", OPERATORS)
def test_operators(operator: str) -> None:
    for text in programs(operator):
        assert_same(text)


@pytest.mark.parametrize("path", sorted(GOLDEN.rglob("*.axon")), ids=lambda path: path.stem)
def test_golden_programs(path: Path) -> None:
    assert_same(path.read_text(encoding="utf-8"))


def test_drawn_programs() -> None:
    for seed in range(ALL.max_examples):
        assert_same(draw_program(f"fast:{seed}").text())


def test_a_size_is_not_said_to_be_a_size() -> None:
    text = "f = fn (x, y : f32 [m]) { _z = reshape(x, [m + 1, 1]); y };"
    assert_same(text)
    signatures, _ = outcome(text, reasons=True)
    assert signatures[0].guards == ()
