"""What a release is made of, without the parts that need a network or much time: `make release`."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import axon
from scripts.release import MOST_BYTES, Refused, agreed_version, readme_example

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
FOR_DEVELOPERS = {"all", "dev", "docs", "fuzz", "release", "torch-tests"}
CHOSEN = {"torch"}
"""For users, but not in `all`: of PyTorch there are several builds."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = folder.glob("*.whl")
    return built


def test_the_wheel_is_small_and_has_what_is_needed(wheel: Path) -> None:
    assert wheel.stat().st_size < MOST_BYTES
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for path in (ROOT / "src" / "axon").rglob("*"):
        if (
            path.is_file()
            and "__pycache__" not in path.parts
            and path.suffix not in {".so", ".pyd"}
        ):
            assert f"axon/{path.relative_to(ROOT / 'src' / 'axon').as_posix()}" in names
    assert "axon/diagnostics/error_pages/AX101.md" in names
    assert not [name for name in names if name.startswith(("tests/", "docs/"))]


def test_the_page_of_the_playground_is_in_what_a_release_is_built_from() -> None:
    """Git ignores it: a wheel that is built from a source distribution would be without it."""
    tool = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    targets = tool["hatch"]["build"]["targets"]
    for target in ("sdist", "wheel"):
        assert targets[target]["artifacts"] == ["src/axon/playground/built/*"]


def test_its_metadata_say_the_version(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (n for n in archive.namelist() if n.endswith(".dist-info/METADATA"))
        metadata = archive.read(name).decode()
    assert f"\nVersion: {axon.__version__}\n" in metadata
    assert "\nDescription-Content-Type: text/markdown\n" in metadata
    assert "\nLicense-Expression: Apache-2.0\n" in metadata


def test_the_version_is_the_same_everywhere() -> None:
    assert agreed_version(ROOT) == axon.__version__


def test_versions_that_differ_are_refused(tmp_path: Path) -> None:
    (tmp_path / "src" / "axon").mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "1.0.0"\n')
    (tmp_path / "src" / "axon" / "__init__.py").write_text('__version__ = "1.0.0"\n')
    (tmp_path / "CHANGELOG.md").write_text("## [Unreleased]\n\n## [0.9.0] - 2026-01-01\n")
    with pytest.raises(Refused, match=r"CHANGELOG.md 0\.9\.0"):
        agreed_version(tmp_path)


def test_the_changelog_has_a_place_for_what_comes() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## \[([^\]]*)\]", text, re.MULTILINE)[:2] == [
        "Unreleased",
        axon.__version__,
    ]


def test_the_readme_begins_with_an_example_that_a_user_can_run() -> None:
    """Nothing but Axon and NumPy is installed where it is tried."""
    _, name, command, expected = readme_example((ROOT / "README.md").read_text(encoding="utf-8"))
    assert name in command
    assert expected


def test_all_has_every_extra_for_users() -> None:
    extras = PROJECT["optional-dependencies"]
    (named,) = extras["all"]
    inside = re.fullmatch(r"axon-shapes\[(.*)\]", named)
    assert inside is not None
    assert set(inside[1].split(",")) == set(extras) - FOR_DEVELOPERS - CHOSEN
    page = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8").partition("## Extras")[2]
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(extras) - FOR_DEVELOPERS
