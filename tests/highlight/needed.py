"""Programs that are not Python, which the tests of editors run. In CI they must be there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EDITORS = ROOT / "editors"


def needed(*programs: str) -> None:
    """Skip the test if one of these is missing; in CI it fails."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        _missing(f"there is no {', '.join(missing)}")


def need_packages() -> None:
    """Skip the test if `make editors` has not installed the packages; in CI it fails."""
    needed("node")
    if not (EDITORS / "node_modules" / ".package-lock.json").exists():
        _missing("editors/node_modules is not there; `make editors` installs it")


def _missing(what: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(what)
    pytest.skip(what)


def run(*command: str, given: str = "", cwd: Path = EDITORS) -> str:
    """What a command prints; it must end well."""
    done = subprocess.run(
        command, input=given, capture_output=True, encoding="utf-8", cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return done.stdout
