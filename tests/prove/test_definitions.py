"""The prover as a user meets it: `--prove`, with the extra and without."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from axon.driver import check
from axon.prove.decide import Prover, Unknown
from axon.prove.extra import missing
from axon.source import Source
from axon.types.type import AtLeast
from axon.types.variables import DimVar
from tests.shell import axon

IMPLIED = (
    "f = fn (x : f32 [n], y : f32 [m], _z : f32 [k]) where n/2 + m/2 >= 3, n + m >= 6 { x };\n"
)
NEVER = "f = fn (x : f32 [n], y : f32 [m]) where n/m = 2, m > n { x };\n"
OPEN = "f = fn (x : f32 [n], y : f32 [m]) where n/m = 2, n > m + 3 { x };\n"


def _infer(text: str, folder: Path, *flags: str) -> dict[str, list[dict[str, object]]]:
    (folder / "a.axon").write_text(text)
    document = json.loads(axon(["infer", "a.axon", "--json", *flags], folder).stdout)
    assert isinstance(document, dict)
    return document


def test_what_follows_is_dropped(tmp_path: Path) -> None:
    found = _infer(IMPLIED, tmp_path)["definitions"][0]["where"]
    assert found == ["m + n >= 6", "m/2 + n/2 >= 3"]
    proved = _infer(IMPLIED, tmp_path, "--prove")
    assert proved["definitions"][0]["where"] == ["m/2 + n/2 >= 3"]
    assert proved["diagnostics"] == []


def test_equal_conditions_are_not_all_dropped(tmp_path: Path) -> None:
    text = "f = fn (x : f32 [n], y : f32 [m]) where n mod 4 <= 1, n mod 2 = n mod 4 { x };\n"
    assert len(_infer(text, tmp_path)["definitions"][0]["where"]) == 2  # type: ignore[arg-type]
    assert len(_infer(text, tmp_path, "--prove")["definitions"][0]["where"]) == 1  # type: ignore[arg-type]


def test_what_depends_on_the_sizes_is_kept(tmp_path: Path) -> None:
    assert _infer(OPEN, tmp_path, "--prove") == _infer(OPEN, tmp_path)


def test_what_cannot_be_is_an_error(tmp_path: Path) -> None:
    assert _infer(NEVER, tmp_path)["diagnostics"] == []
    (problem,) = _infer(NEVER, tmp_path, "--prove")["diagnostics"]
    assert problem["code"] == "AX112"
    assert problem["message"] == "f: no sizes satisfy `n/m = 2` and `m >= n + 1`"
    found = axon(["check", "a.axon", "--prove"], tmp_path)
    assert found.status == 1 and "error[AX112]" in found.stderr


def test_only_the_conditions_that_matter_are_named(tmp_path: Path) -> None:
    text = NEVER.replace("where", "where n >= 7, m mod 3 = 1,")
    (problem,) = _infer(text, tmp_path, "--prove")["diagnostics"]
    assert problem["message"] == "f: no sizes satisfy `n/m = 2` and `m >= n + 1`"


def test_many_definitions_share_a_worker(tmp_path: Path) -> None:
    text = "".join(IMPLIED.replace("f =", f"f{i} =", 1) for i in range(20))
    found = _infer(text, tmp_path, "--prove")["definitions"]
    assert [d["where"] for d in found] == [["m/2 + n/2 >= 3"]] * 20


def test_the_examples_have_no_such_errors() -> None:
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*.axon")):
        found = axon(["infer", path.name, "--prove"], path.parent)
        assert "AX112" not in found.terminal, found.terminal


# --- without the extra ------------------------------------------------------------------------


@pytest.fixture(params=[("islpy",), ("z3",), ("islpy", "z3")], ids=" ".join)
def lacking(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    names: tuple[str, ...] = request.param
    for name in names:
        monkeypatch.setitem(sys.modules, name, None)  # as the import system marks what is not there
    return names


def test_without_the_extra_one_line_says_so(lacking: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "a.axon").write_text(IMPLIED)
    assert missing() == lacking
    for command in (["check", "a.axon", "--prove"], ["infer", "--json", "--prove", "a.axon"]):
        found = axon(command, tmp_path)
        assert found.status == 2
        assert found.stdout == ""
        (line,) = found.stderr.splitlines()
        assert line.endswith("pip install 'axon-shapes[prove]'")


def test_without_the_extra_all_else_works(lacking: tuple[str, ...], tmp_path: Path) -> None:
    assert lacking
    (tmp_path / "a.axon").write_text(NEVER)
    assert axon(["check", "a.axon"], tmp_path).status == 0


def test_without_the_extra_nothing_is_proved(lacking: tuple[str, ...]) -> None:
    assert lacking
    with Prover() as prover:
        assert prover.decide(AtLeast(DimVar("n"), silent=False)) == Unknown()
    for text in (IMPLIED, NEVER):
        source = Source("a.axon", text)
        assert check(source, prove=True).signatures == check(source).signatures
