"""Bytes decoded to a program and a call of it: a value, or an error that is the caller's.

The law is that of `tests/properties/test_calls.py`, the inputs chosen by coverage instead of
chance. Without atheris they are chosen by chance here too.
"""

from __future__ import annotations

import random
import sys

from harness import ROOT, by_chance, installed, instrumented, run

sys.path.insert(0, str(ROOT))

with instrumented():
    import axon  # noqa: F401 - imported here to be instrumented
    from axon.run.program import Program  # noqa: F401

from tests.properties.calls import mutated, seeds, try_call

SEEDS = seeds()
NEAR = b"\xff"
"""With this byte, which no text begins with, the rest chooses a golden program and changes it."""


def one(data: bytes) -> None:
    if data.startswith(NEAR):
        chance = random.Random(data[len(NEAR) :])
        data = mutated(chance.choice(SEEDS), chance)
    try_call(data)


if __name__ == "__main__":
    if installed():
        run("run", one, seeds=False, more=[*SEEDS, *(NEAR + bytes([i]) for i in range(64))])
    else:
        by_chance("run", one, lambda chance: mutated(chance.choice(SEEDS), chance))
