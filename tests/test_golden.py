"""Programs and what `axon infer` says about them.

`x.axon` has `x.types` beside it when it is fine, else `x.err`:

- `.types` is standard output; what else was said (notes) follows under a line `--- notes ---`.
- `.err` is standard error; the definitions that could be typed follow under `--- typed ---`.
- `.plain`, for a program in `plain/` or `plain_networks/`, is standard output with `--plain`.

`make golden` (that is, AXON_GOLDEN=write) rewrites them. Read the diff: it is the test.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.shell import Outcome, axon

MIN_TYPES = 150
MIN_ERRORS = 80

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "golden"

# Where programs are, and where what is expected of them is.
CORPORA = (
    (GOLDEN, GOLDEN),
    (ROOT / "examples" / "paper", GOLDEN / "paper"),
    (ROOT / "examples" / "models", GOLDEN / "networks"),
)

# Programs whose plain readings are expected too. Those of `plain_networks` are examples without the
# annotations of their weights.
PLAIN = ("plain", "plain_networks")

WRITE = os.environ.get("AXON_GOLDEN") == "write"


@dataclass(frozen=True, slots=True)
class Case:
    """A program, and the path of its golden file less the suffix."""

    program: Path
    stem: Path

    @property
    def name(self) -> str:
        return self.program.relative_to(ROOT).with_suffix("").as_posix()

    def golden(self, suffix: str) -> Path:
        return self.stem.with_name(self.stem.name + suffix)


def _cases() -> Iterator[Case]:
    for programs, expected in CORPORA:
        for program in sorted(programs.rglob("*.axon")):
            yield Case(program, expected / program.relative_to(programs).with_suffix(""))


CASES = tuple(_cases())


def _with_section(text: str, title: str, rest: str) -> str:
    return f"{text}--- {title} ---\n{rest}" if rest else text


def _golden_text(outcome: Outcome) -> tuple[str, str]:
    """The suffix and the text of the golden file that an outcome asks for."""
    match outcome.status:
        case 0:
            return ".types", _with_section(outcome.stdout, "notes", outcome.stderr)
        case 1:
            return ".err", _with_section(outcome.stderr, "typed", outcome.stdout)
        case status:
            pytest.fail(f"axon infer ended with status {status}:\n{outcome.terminal}")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_program(case: Case) -> None:
    outcome = axon(["infer", case.program.name], case.program.parent)
    suffix, text = _golden_text(outcome)
    golden = case.golden(suffix)
    other = case.golden(".err" if suffix == ".types" else ".types")
    if WRITE:
        golden.parent.mkdir(parents=True, exist_ok=True)
        golden.write_text(text, encoding="utf-8", newline="\n")
        other.unlink(missing_ok=True)
    assert not other.exists(), f"{other.name} is expected, but this was said:\n{text}"
    assert golden.exists(), f"no {golden.name} yet (`make golden` writes it):\n{text}"
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "case", [c for c in CASES if c.program.parent.name in PLAIN], ids=lambda case: case.name
)
def test_plain_reading(case: Case) -> None:
    outcome = axon(["infer", "--plain", case.program.name], case.program.parent)
    golden = case.golden(".plain")
    if WRITE:
        golden.write_text(outcome.stdout, encoding="utf-8", newline="\n")
    assert golden.exists(), f"no {golden.name} yet (`make golden` writes it):\n{outcome.stdout}"
    assert outcome.stdout == golden.read_text(encoding="utf-8")


def _golden_files(suffix: str) -> set[Path]:
    return set(GOLDEN.rglob(f"*{suffix}"))


def test_every_golden_file_has_its_program() -> None:
    suffixes = (".types", ".err", ".plain")
    expected = {case.golden(suffix) for case in CASES for suffix in suffixes}
    orphans = {path for suffix in suffixes for path in _golden_files(suffix)} - expected
    assert not orphans, f"no program for {sorted(str(path.relative_to(ROOT)) for path in orphans)}"


def test_no_two_programs_share_a_golden_file() -> None:
    stems = [case.stem for case in CASES]
    assert len(stems) == len(set(stems))


def test_the_corpus_is_large() -> None:
    assert len(_golden_files(".types")) >= MIN_TYPES
    assert len(_golden_files(".err")) >= MIN_ERRORS
