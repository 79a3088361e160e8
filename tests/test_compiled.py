"""The compiled build has the modules that it says it has, and they are what these tests run on.

`make compiled` sets AXON_COMPILED and runs this, and much else, on the wheel of C extensions.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "axon"


def _hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("hatch_build", ROOT / "hatch_build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


HOOK = _hook()


@pytest.mark.parametrize("pattern", HOOK.COMPILED)
def test_each_pattern_names_modules(pattern: str) -> None:
    assert list(PACKAGE.glob(pattern))


@pytest.mark.parametrize("name", sorted(HOOK.LEFT_OUT))
def test_what_is_left_out_would_be_compiled(name: str) -> None:
    assert (PACKAGE / name).is_file()
    assert any((PACKAGE / name).match(pattern) for pattern in HOOK.COMPILED)


def test_these_tests_run_on_the_build_that_they_are_about() -> None:
    compiled = "AXON_COMPILED" in os.environ
    for path in sorted(HOOK.compiled(PACKAGE)):
        name = ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        file = importlib.import_module(name.removesuffix(".__init__")).__file__
        assert file is not None
        assert file.endswith(tuple(EXTENSION_SUFFIXES)) == compiled, file
