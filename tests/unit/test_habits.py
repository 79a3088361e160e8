"""Golden programs with one habit of another language: one message, and never a traceback."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from axon.diagnostics import Severity
from axon.driver import check_text

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
EACH = 12

REPLACED = {
    "let": (r"(?m)^( *)(\w+ = )", r"\1let \2"),
    "def": (r"(?m)^(\w+) = fn \(", r"def \1("),
    "def with a colon": (r"(?m)^(\w+) = fn (\([^{\n]*\)) \{", r"def \1\2:"),
    "fn with a name": (r"(?m)^(\w+) = fn \(", r"fn \1("),
    ":=": (r"(?m)^(\w+) = ", r"\1 := "),
    "return": (r"(?m)^( +)(\w[^=\n;]*)\n\}", r"\1return \2\n}"),
    "lambda": (r"fn \((\w+)\) \{ ([^{};]*) \}", r"lambda \1: \2"),
    "// comment": (r"(?m)^# (?=\w+ \w+)", "// "),
    "/* comment */": (r"(?m)^# ([^\n]*)", r"/* \1 */"),
    ".T": (r"\btranspose\((\w+)\)", r"\1.T"),
    "np": (r"(?<![\w.])(sum|mean|relu|tanh|exp|concat|matmul)\(", r"np.\1("),
    "dim": (r"\baxis=", "dim="),
    "keepdims": (r"\bkeep=", "keepdims="),
    "!": (r"\b(relu|exp|tanh)\(", r"!\1("),
    "&": (r"(?<=\w) \* (?=\w)", " & "),
    "|": (r"(?<=\w) \+ (?=\w)", " | "),
    "smart quotes": (r'"([^"\n]*)"', r"“\1”"),
    "no brace": (r"\};(?=\n|$)", ";"),
    "no bracket": (r"(?<=\w)\) \{", " {"),
}

BEFORE = {
    "import": "import numpy as np\n",
    "from": "from torch import nn, optim as o\n",
    "class": "class A(nn.Module):\n    def forward(self, x):\n        return x\n",
    "for": "for i in range(10):\n    x = i\n",
    "docstring": '"""Layers,\nand more."""\n',
}


def programs() -> list[str]:
    """Programs without errors and warnings that import nothing."""
    found = []
    for path in sorted(GOLDEN.rglob("*.types")):
        text = path.with_suffix(".axon")
        if text.exists() and "--- notes" not in path.read_text("utf-8"):
            code = text.read_text("utf-8")
            if "import" not in code:
                found.append(code)
    return found


PROGRAMS = programs()


def changed(habit: str) -> Iterator[str]:
    choose = random.Random(habit)
    for code in choose.sample(PROGRAMS, len(PROGRAMS)):
        if habit in BEFORE:
            yield BEFORE[habit] + code
            continue
        pattern, new = REPLACED[habit]
        found = list(re.finditer(pattern, code))
        outside = [
            m for m in found if "#" not in code[code.rfind("\n", 0, m.start()) + 1 : m.start()]
        ]
        if outside:
            match = choose.choice(outside)
            yield code[: match.start()] + match.expand(new) + code[match.end() :]


@pytest.mark.parametrize("habit", [*REPLACED, *BEFORE])
def test_one_habit_is_one_message(habit: str) -> None:
    for _, code in zip(range(EACH), changed(habit), strict=False):
        errors = [d for d in check_text(code).diagnostics if d.severity == Severity.ERROR]
        assert len(errors) == 1, (code, [d.message for d in errors])
