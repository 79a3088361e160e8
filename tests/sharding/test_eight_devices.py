"""Sharding by the names of sizes, on eight devices of one process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKS = re.findall(r"^def (on_\w+)", (ROOT / "tests/sharding/eight.py").read_text(), re.MULTILINE)

pytest.importorskip("jax")


@pytest.fixture(scope="module")
def outcomes() -> dict[str, str | None]:
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    environment = {
        **os.environ,
        "XLA_FLAGS": flags,
        "JAX_PLATFORMS": "cpu",
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }
    ran = subprocess.run(
        [sys.executable, "-m", "tests.sharding.eight"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    found = map(json.loads, ran.stdout.splitlines())
    return {each["name"]: each["problem"] for each in found}


@pytest.mark.parametrize("name", CHECKS)
def test_on_eight_devices(outcomes: dict[str, str | None], name: str) -> None:
    assert outcomes[name] is None, outcomes[name]
