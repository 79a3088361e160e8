"""Every rule of the solver is used by some program of the golden corpus."""

from __future__ import annotations

from pathlib import Path

from axon.driver import check
from axon.files import find_import
from axon.solver.constraints import Constraint
from axon.solver.rules import RULES, new_store
from axon.source import Source

ROOT = Path(__file__).resolve().parents[1]


def test_every_rule_fires_somewhere() -> None:
    """As a replay shows it: what was asked of the solver is asked again, and watched."""
    fired: set[str] = set()

    def note(rule: str, _constraint: Constraint) -> None:
        fired.add(rule)

    for folder in ("tests/golden", "examples/paper"):
        for path in sorted((ROOT / folder).rglob("*.axon")):
            checked = check(
                Source(str(path), path.read_text(encoding="utf-8")), find_import, reasons=True
            )
            new_store(note, levels=False).post_all(checked.inferred.state.store.posted)
    assert fired == set(RULES)
