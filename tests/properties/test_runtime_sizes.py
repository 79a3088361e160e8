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
SEEDS = range(ALL.max_examples)

PROPERTIES = {
    "values": ("wrong value", "wrong call accepted", "refused call"),
    "types": ("value not of its printed type", "argument not of its printed type"),
    "conditions": ("guard does not hold", "condition does not hold"),
    "verdicts": ("right program rejected", "error that the check should have found"),
    "bugs": ("internal error", "does not end"),
}


@pytest.fixture(scope="module")
def findings() -> list[tuple[Program, Finding]]:
    found = []
    for seed in SEEDS:
        program = draw_program(f"suite:{seed}")
        found += [(program, finding) for finding in judged(program)]
    return found


def judged(program: Program) -> list[Finding]:
    try:
        return within(LIMIT, lambda: judge(program))
    except OutOfTime:
        return [Finding("does not end", f"in {LIMIT} s")]


@pytest.mark.parametrize("name", PROPERTIES)
def test_programs(name: str, findings: list[tuple[Program, Finding]]) -> None:
    """`values`: those of the interpreter, and an error where, and only where, it fails. `types`:
    what comes out has the printed type. `conditions`: what is printed holds. `verdicts`: what runs
    is accepted. `bugs`: no exception but Axon's own, and an end.
    """
    mine = [(p, f) for p, f in findings if f.kind.startswith(PROPERTIES[name])]
    told = "\n\n".join(f"{p.text()}\n{_call(p, f)}{f}" for p, f in mine[:5])
    assert not mine, f"{len(mine)} findings\n\n{told}"


def _call(program: Program, finding: Finding) -> str:
    return "" if finding.call is None else f"called with {show(program.calls[finding.call])}\n"


def test_every_kind_of_finding_belongs_to_a_property() -> None:
    kinds = [kind for each in PROPERTIES.values() for kind in each]
    assert len(set(kinds)) == len(kinds)


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
