"""Changes to a program that mean nothing leave its types and its values as they are; the changes
are in `metamorphic.py`.
"""

from __future__ import annotations

import pytest

from tests.budget import HALF
from tests.properties.limits import OutOfTime, within
from tests.properties.metamorphic import PROPERTIES
from tests.properties.runtime_programs import draw_program
from tests.properties.values import show

LIMIT = 10.0
KNOWN = {
    "annotation": {1490},  # an equation of shapes that two others imply is told as well
}
"""Programs whose two forms print differently: what is still to be mended."""


@pytest.mark.parametrize("name", PROPERTIES)
def test_changes(name: str) -> None:
    told, known = [], KNOWN.get(name, set())
    for seed in range(HALF.max_examples):
        program = draw_program(f"{name}:{seed}")
        try:
            found = within(LIMIT, lambda p=program: list(PROPERTIES[name](p)))  # type: ignore[misc]
        except OutOfTime:
            told.append(f"{program.text()}\ndoes not end")
            continue
        if seed in known:
            assert found, f"{name} {seed} is mended: it is not KNOWN any more"
            continue
        for finding in found:
            call = (
                "" if finding.call is None else f"called with {show(program.calls[finding.call])}"
            )
            told.append(f"{program.text()}\n{call}\n{finding}")
    assert not told, f"{len(told)} findings\n\n" + "\n\n".join(told[:5])
