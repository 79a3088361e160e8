"""Changes to a program that mean nothing leave its types and its values as they are; the changes
are in `metamorphic.py`.
"""

from __future__ import annotations

import pytest

from tests.budget import ALL
from tests.properties.limits import OutOfTime, within
from tests.properties.metamorphic import PROPERTIES
from tests.properties.runtime_programs import draw_program
from tests.properties.values import show

LIMIT = 10.0
PROGRAMS = {"eta": 100, "let": 40, "order": 300, "annotation": 30, "import": 300}
"""Further programs still find something: `make attack`, and the table in `docs/trust.md`."""


@pytest.mark.parametrize("name", PROPERTIES)
def test_changes(name: str) -> None:
    told = []
    for seed in range(min(PROGRAMS[name], ALL.max_examples)):
        program = draw_program(f"{name}:{seed}")
        try:
            found = within(LIMIT, lambda p=program: list(PROPERTIES[name](p)))  # type: ignore[misc]
        except OutOfTime:
            told.append(f"{program.text()}\ndoes not end")
            continue
        for finding in found:
            call = (
                "" if finding.call is None else f"called with {show(program.calls[finding.call])}"
            )
            told.append(f"{program.text()}\n{call}\n{finding}")
    assert not told, f"{len(told)} findings\n\n" + "\n\n".join(told[:5])
