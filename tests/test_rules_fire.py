"""Every rule of the solver is used by some program of the golden corpus."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

from axon.driver import check
from axon.files import find_import
from axon.solver.constraints import Constraint
from axon.solver.rules import RULES
from axon.solver.store import Store
from axon.source import Source

ROOT = Path(__file__).resolve().parents[1]


def test_every_rule_fires_somewhere() -> None:
    fired: set[str] = set()

    def note(_store: Store, rule: str, _constraint: Constraint) -> None:
        fired.add(rule)

    with mock.patch.object(Store, "note", note):
        for folder in ("tests/golden", "examples/paper"):
            for path in sorted((ROOT / folder).rglob("*.axon")):
                check(Source(str(path), path.read_text(encoding="utf-8")), find_import)
    assert fired == set(RULES)
