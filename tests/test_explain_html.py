"""`axon explain --html`: what is on the page, and that nothing on it can act on its own."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from axon.cli import main
from axon.driver import Checked, check
from axon.files import find_import, read_source
from axon.pages import derivation
from axon.pages.derivation import page_model
from axon.pages.embedding import embedded
from axon.pages.page import explain_page
from axon.solver.rules import RULES
from axon.solver.trace import LAWS, derive
from axon.source import Source

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
ATTENTION = (EXAMPLES / "attention.axon").read_text(encoding="utf-8")
MLP = """mlp = fn (x : f32 [b,784], w1 : f32 [784,256], w2 : f32 [128,10]) {
  h = relu(matmul(x, w1));
  matmul(h, w2)
};
fine = fn (x : f32 [n,m], y) { matmul(x, y) };
after = fn (x) { mlp(x, x, x) };
"""


def explained(text: str, name: str = "program.axon") -> Checked:
    return check(Source(name, text), reasons=True)


def _model(text: str, name: str | None = None) -> dict[str, Any]:
    return page_model(explained(text), name)


def _embedded(page: str) -> dict[str, Any]:
    """The data as a browser finds it: up to the first thing that ends a script."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script', page, re.DOTALL)
    assert found is not None
    model: dict[str, Any] = json.loads(found[1])
    return model


def _sets(definition: dict[str, Any]) -> list[set[str]]:
    """The sets as the page puts them together from what each step changes."""
    texts = definition["texts"]
    lines = {key: texts[text] for key, text, _ in definition["constraints"]}
    found = [set(lines.values())]
    for step in definition["steps"][: definition["sets"]]:
        for key in step["gone"]:
            del lines[key]
        lines |= {key: texts[text] for key, _, text in step["set"]}
        found.append(set(lines.values()))
    return found


def _marked(model: dict[str, Any], origins: list[int]) -> list[str]:
    """The texts of the program that some origins are marked at."""
    found: list[str] = []
    for origin in origins:
        first, start, last, end = model["places"][model["origins"][origin]["place"]]
        lines = model["source"]["lines"][first - 1 : last]
        lines[-1] = lines[-1][:end]
        lines[0] = lines[0][start:]
        found.append("\n".join(lines))
    return found


# --- what is shown ----------------------------------------------------------------------------


def test_every_rule_has_a_law() -> None:
    assert set(LAWS) == set(RULES)
    assert all(law.endswith(".") and law.count(".") == 1 for law in LAWS.values())


ON_A_PAGE = [p for p in sorted(EXAMPLES.rglob("*.axon")) if p.parent.name != "models"]
"""Whole networks have more steps than a page holds with their sets."""


@pytest.mark.parametrize("path", ON_A_PAGE, ids=lambda p: p.stem)
def test_the_page_has_the_steps_and_the_sets_that_the_text_has(path: Path) -> None:
    checked = check(read_source(str(path)), find_import, reasons=True)
    model = page_model(checked)
    assert [d["name"] for d in model["definitions"]] == [
        d.name for d in sorted(checked.inferred.definitions, key=lambda d: d.span.start)
    ]
    for shown in model["definitions"]:
        definition = next(d for d in checked.inferred.definitions if d.name == shown["name"])
        derivation = derive(definition.constraints)
        texts = shown["texts"]
        assert [(s["rule"], texts[s["about"]]) for s in shown["steps"]] == [
            (step.rule, step.about) for step in derivation.steps
        ]
        assert _sets(shown)[1:] == [set(step.after) for step in derivation.steps]
        assert shown["ok"] and shown["conflict"] is None


def test_a_step_knows_its_places_and_the_line_it_works_on() -> None:
    model = _model(ATTENTION, "attention")
    (attention,) = model["definitions"]
    assert attention["signature"] == "(t [a,b], t [c,b], t [c,d]) -> t [a,d]"
    first = attention["steps"][0]
    assert _marked(model, first["from"]) == ["K"]
    subjects = {key for key, _, _ in attention["constraints"]}
    assert first["subject"] in subjects and first["keys"] == [first["subject"]]


def test_a_variable_knows_where_it_was_solved() -> None:
    (attention,) = _model(ATTENTION, "attention")["definitions"]
    texts = attention["texts"]
    found = attention["solved"]["Q"]
    assert texts[found["value"]] == "s1@[m1,k]" and texts[found["final"]] == "[m1,n]"
    assert found["shown"] and attention["steps"][found["step"] - 1]["rule"] == found["rule"]
    free = attention["free"]
    assert free["b"] == "n" and free["b"] not in attention["solved"] and free["t"] is None


def test_names_that_the_program_writes_are_found_there() -> None:
    model = _model(ATTENTION, "softmax")
    (softmax,) = model["definitions"]
    written = {name: model["places"][place] for place, name in softmax["written"]}
    assert written == {"m": [2, 21, 2, 22], "n": [2, 23, 2, 24]}


# --- errors -----------------------------------------------------------------------------------


def test_a_conflict_ends_the_derivation_and_has_its_places() -> None:
    model = _model(MLP)
    mlp, fine, after = model["definitions"]
    assert [d["ok"] for d in (mlp, fine, after)] == [False, True, False]
    conflict = mlp["conflict"]
    assert mlp["texts"][conflict["clash"]] == "256 = 128"
    assert _marked(model, conflict["core"]) == [
        "w1 : f32 [784,256]",
        "w2 : f32 [128,10]",
        "w1",
        "matmul(x, w1)",
        "h",
        "w2",
    ]
    assert [model["problems"][i]["code"] for i in mlp["problems"]] == ["AX101"]
    assert fine["problems"] == [] and after["problems"] == [] and after["conflict"] is None


def test_a_conflict_with_another_definition_is_found_again() -> None:
    model = _model("w = ones([3, 4]);\nf = fn (x : f32 [b,5]) { matmul(x, w) };\n")
    f = model["definitions"][-1]
    assert not f["ok"] and f["conflict"] is not None


def test_a_program_that_cannot_be_read_has_a_page() -> None:
    model = _model("(\n")
    assert not any(d["ok"] for d in model["definitions"]) and model["problems"]
    assert model["source"]["lines"] == ["("]


# --- safety -----------------------------------------------------------------------------------

HOSTILE = """# </script><script>alert(1)</script> <!-- <img src=x onerror=alert(2)> \u2028 %%STYLE%%
import "</script><svg onload=alert(3)>" as x;
f = fn (x : f32 [n]) { matmul(x, "</ScRiPt>") };
<b>&amp;</b>
"""


def test_a_program_cannot_add_to_the_page() -> None:
    plain = explain_page(explained("f = fn (x) { x };\n"))
    page = explain_page(explained(HOSTILE, name="</title><script>alert(4)</script>.axon"))
    for tag in ("<script", "</script", "<img", "<svg", "<b>", "<!--", "</title"):
        assert page.lower().count(tag) == plain.lower().count(tag), tag
    model = _embedded(page)
    assert "\n".join(model["source"]["lines"]) == HOSTILE.rstrip("\n")
    assert model["file"] == "</title><script>alert(4)</script>.axon"


def test_the_page_loads_nothing() -> None:
    page = explain_page(explained(ATTENTION))
    assert not re.search(r"https?://|@import|url\(|\bfetch\(|XMLHttpRequest|WebSocket", page)
    assert re.findall(r"(?:src|href)=\"([^\"]*)\"", page) == ["data:,", "#step"]
    assert "default-src 'none'" in page and "unsafe" not in page
    assert not re.search(r"innerHTML\s*=|insertAdjacentHTML|document\.write|\beval\(", page)
    assert not re.search(r"\son\w+=\"|\sstyle=\"", page)  # the policy would stop them


# --- size -------------------------------------------------------------------------------------


def _chain(length: int) -> str:
    lines = [f"  x{i + 1} = matmul(x{i}, w{i});" for i in range(length)]
    params = ", ".join(["x0", *(f"w{i}" for i in range(length))])
    return "\n".join([f"f = fn ({params}) {{", *lines, f"  x{length}", "};", ""])


def test_sets_are_left_out_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "MOST_LINES", 500)
    (f,) = _model(_chain(40))["definitions"]
    assert 0 < f["sets"] < len(f["steps"]) == f["total"]
    assert "set" in f["steps"][f["sets"] - 1] and "set" not in f["steps"][f["sets"]]


def test_steps_are_left_out_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "MOST_STEPS", 10)
    (f,) = _model(_chain(20))["definitions"]
    assert len(f["steps"]) == 10 < f["total"]
    assert all(found["step"] <= 10 for found in f["solved"].values())


@pytest.mark.parametrize("room", [6_000, 12_000, 30_000, 60_000])
def test_a_page_keeps_to_its_room(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    program = _chain(12) + "".join(_chain(6).replace("f =", f"g{i} =") for i in range(4))
    whole = len(embedded(_model(program)))
    monkeypatch.setattr(derivation, "MOST_BYTES", room)
    model = _model(program)
    assert len(embedded(model)) < room + 3_500  # the laws and the notes are not counted
    shown = model["definitions"]
    if whole > room + 3_500:
        assert model["notes"] or any(d["sets"] < d["total"] for d in shown)
    places = len(model["places"])
    origins = [o for d in shown for s in d["steps"] for o in s["from"]]
    assert all(o < len(model["origins"]) for o in origins)
    assert all(o["place"] is None or o["place"] < places for o in model["origins"])


def test_a_definition_keeps_its_signature_where_its_constraints_do_not_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So a large one has its graph all the same."""
    program = re.sub(r"\bw\d+", "w", _chain(40)).replace(", w" * 40 + ")", ", w : f32 [n,n])")
    whole_page = _model(program)
    (whole,) = whole_page["definitions"]
    monkeypatch.setattr(derivation, "MOST_BYTES", len(embedded(whole_page["source"])) + 2_000)
    (f,) = _model(program)["definitions"]
    assert f["signature"] == whole["signature"] and f["free"].keys() == whole["free"].keys()
    assert not f["constraints"] and not f["steps"]
    assert (f["asked"], f["total"]) == (len(whole["constraints"]), whole["total"])


def test_a_long_program_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(derivation, "MOST_SOURCE", 100)
    model = _model("# a comment\n" * 50 + "f = fn (x) { x };\n")
    assert len(model["source"]["lines"]) == 9
    assert model["notes"] == ["Only the first 9 lines of the program are shown."]


# --- the command ------------------------------------------------------------------------------


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "mlp.axon"
    path.write_text(MLP, encoding="utf-8")
    return path


def test_the_command_writes_the_page_and_prints_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.html"
    assert main(["explain", "--html", str(out), str(EXAMPLES / "attention.axon")]) == 0
    assert capsys.readouterr().out == f"{out}\n"
    assert [d["name"] for d in _embedded(out.read_text("utf-8"))["definitions"]] == [
        "softmax",
        "attention",
    ]


def test_the_command_shows_one_definition_even_with_errors(
    program: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = program.with_name("out.html")
    assert main(["explain", "--html", str(out), str(program), "mlp"]) == 1
    assert "AX101" in capsys.readouterr().err
    (mlp,) = _embedded(out.read_text("utf-8"))["definitions"]
    assert mlp["name"] == "mlp"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--html", "missing/out.html", "mlp.axon"],
        ["--html", ".", "mlp.axon"],
        ["--html", "", "mlp.axon"],
        ["--html", "mlp.axon", "mlp.axon"],
        ["--html", "out.html", "nowhere.axon"],
        ["--html", "out.html", "AX101"],
        ["--html", "out.html", "mlp.axon", "--short"],
        ["--html", "out.html", "mlp.axon", "--why", "b"],
        ["--html", "out.html", "mlp.axon", "--from", "x"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_status_2(
    program: Path,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(program.parent)
    assert main(["explain", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == "" and said.err.startswith("axon: ") and said.err.count("\n") == 1
    assert program.read_text(encoding="utf-8") == MLP
    assert not Path("out.html").exists()


def test_a_name_that_does_not_exist(program: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = program.with_name("out.html")
    assert main(["explain", "--html", str(out), str(program), "nothing"]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == "axon: `nothing` does not exist; definitions: fine, mlp, after"
    assert not out.exists()
