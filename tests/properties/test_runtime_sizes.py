"""Programs with run-time and ragged sizes: Axon says what an interpreter says that knows nothing of
it.

The programs are in `runtime_programs.py`, what they mean in `meanings.py`, and what is compared in
`judge.py`. `scripts/attack.py` tries as many as one likes, and makes what it finds small.
"""

from __future__ import annotations

from collections import Counter

import pytest

from tests.budget import ALL
from tests.properties.judge import Finding, judge
from tests.properties.limits import OutOfTime, within
from tests.properties.runtime_programs import draw_program
from tests.properties.trees import Program, parts
from tests.properties.values import show

LIMIT = 10.0
BLOCKS = 4
EACH = ALL.max_examples // BLOCKS


def judged(program: Program) -> list[Finding]:
    try:
        return within(LIMIT, lambda: judge(program))
    except OutOfTime:
        return [Finding("does not end", f"in {LIMIT} s")]


@pytest.mark.parametrize("block", range(BLOCKS))
def test_programs(block: int) -> None:
    """Values are those of the interpreter, and a call is an error where, and only where, it fails.
    What comes out has the printed type. What is printed holds. What runs is accepted. There is no
    exception but Axon's own, and an end.
    """
    programs = [draw_program(f"suite:{seed}") for seed in range(block * EACH, (block + 1) * EACH)]
    found = [(program, finding) for program in programs for finding in judged(program)]
    told = "\n\n".join(f"{p.text()}\n{_call(p, f)}{f}" for p, f in found[:5])
    assert not found, f"{len(found)} findings\n\n{told}"


def _call(program: Program, finding: Finding) -> str:
    return "" if finding.call is None else f"called with {show(program.calls[finding.call])}\n"


def test_the_programs_are_what_they_are_meant_to_be() -> None:
    """They run on their witness, and what this is about is in many of them."""
    seen: Counter[str] = Counter()
    total = 500
    for seed in range(total):
        program = draw_program(f"suite:{seed}")
        _, run = program.run(program.calls[0])
        seen["run-time sizes"] += run.made > 0
        seen["ragged"] += run.ragged
        seen["neither"] += not run.made and not run.ragged
        seen["other functions"] += len(program.definitions) > 1
        kinds = {type(part).__name__ for _, value in program.definitions for part in parts(value)}
        seen.update(kinds)
    for what in ("run-time sizes", "ragged", "other functions", "Bare", "Call", "Lambda"):
        assert seen[what] > total / 5, seen
    assert seen["neither"] > total / 20 and seen["Several"] > total / 10, seen
