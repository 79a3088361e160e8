"""What the page asks and is answered, without a page."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.playground.answers import Answers, Json, Units

ROOT = Path(__file__).resolve().parents[2]
BROKEN = "net = fn (x : f32 [n,3], y : f32 [4,m]) {\n  matmul(x, y)\n};\n"


def ask(kind: str, **more: object) -> Json:
    answer = Answers().answer({"kind": kind, **more})
    json.dumps(answer)  # plain data
    return answer


def test_a_check_has_hints_signatures_and_names() -> None:
    text = "f = fn (x : f32 [n,3]) { y = transpose(x); y };\n1 + 1"
    found = ask("check", text=text)
    assert found["diagnostics"] == []
    y = {"at": text.index("y") + 1, "text": "f32 [3,n]", "full": "f32 [3,n]"}
    assert {**y, "kind": "binding", "name": "y"} in found["hints"]
    assert found["signatures"][0]["signature"] == "f32 [n,3] -> f32 [3,n]"
    assert found["names"] == ["f", "main"]


def test_a_message_has_its_text_and_its_places() -> None:
    (found,) = ask("check", text=BROKEN)["diagnostics"]
    assert "the inner sizes differ, 3 and 4" in found["message"]
    assert found["text"].startswith("error[AX101]") and "(line 1)" in found["text"]
    marked = [BROKEN[place["from"] : place["to"]] for place in found["places"]]
    assert marked == ["x", "y"] and found["places"][0]["primary"]


def test_offsets_are_those_of_javascript() -> None:
    text = "# 🂡🂡\n" + BROKEN
    (found,) = ask("check", text=text)["diagnostics"]
    at = text.index("x, y") + 2
    assert found["places"][0]["from"] == at
    assert ask("hover", text=text, at=at)["from"] == at


@given(st.text(alphabet="ab🂡\n", max_size=12))
def test_units_count_as_utf_16_does(text: str) -> None:
    units = Units(text)
    for at in range(len(text) + 1):
        expected = len(text[:at].encode("utf-16-le")) // 2
        assert units.of(at) == expected
        assert units.back(expected) == at
    assert units.back(-5) == 0 and units.back(99) == len(text)


def test_the_other_questions() -> None:
    text = "f = fn (x, w) { matmul(x, w) };"
    assert "f : " in ask("hover", text=text, at=0)["code"]
    assert ask("plain", text=text)["plain"] == {"f": "(t [b,c], t [c,d]) -> t [b,d]"}
    options = ask("complete", text="f = fn (x) { transp", at=19)["options"]
    assert options[0]["label"] == "transpose"
    derivation = ask("derivation", text=text, definition="f")
    assert derivation["definitions"][0]["steps"]
    graph = ask("graph", text=text, definition="f")
    assert "matmul" in graph["graph"]["texts"] and set(graph["styles"]) == {"light", "dark"}


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        ({}, "not understood"),
        ({"kind": []}, "not understood"),
        ({"kind": "check"}, "it has no `text`"),
        ({"kind": "check", "text": 7}, "it has no `text`"),
        ({"kind": "hover", "text": "f = fn (x) { x };"}, "it has no `at`"),
        ({"kind": "hover", "text": "", "at": 10**9}, "nothing here"),
        ({"kind": "graph", "text": "", "definition": "f"}, "no graph of `f`"),
        ({"kind": "derivation", "text": "", "definition": "f"}, "no definition `f`"),
        ({"kind": "check", "text": "x" * 1_000_001}, "longer than a million"),
        ({"kind": "model", "data": "%%"}, "not in base 64"),
        ({"kind": "model", "data": "AAAA", "name": "a.onnx"}, "a.onnx is not an ONNX model"),
        ({"kind": "model"}, "is not an ONNX model"),
        ({"kind": "files", "files": []}, "it has no `files`"),
    ],
)
def test_what_has_no_answer_is_a_sentence(request_: Json, said: str) -> None:
    answer = Answers().answer(request_)
    assert said in answer["error"] and "bug" not in answer


def test_a_bug_is_told_and_the_page_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    from axon.editor import Document

    answers = Answers()
    with monkeypatch.context() as broken:
        broken.setattr(Document, "hints", lambda self: 1 // 0)
        found = answers.answer({"kind": "check", "text": "f = 1;"})
    assert "bug in Axon" in found["error"] and "ZeroDivisionError" in found["bug"]
    assert answers.answer({"kind": "check", "text": "f = 1;"})["names"] == ["f"]


def test_examples_import_each_other() -> None:
    answers = Answers()
    names = ("multihead.axon", "transformer.axon")
    texts = {name: (ROOT / "examples" / name).read_text(encoding="utf-8") for name in names}
    request: Json = {"kind": "check", "name": names[1], "text": texts[names[1]]}
    assert "no such file" in answers.answer(request)["diagnostics"][0]["text"]
    assert answers.answer({"kind": "files", "files": texts}) == {}
    assert answers.answer(request)["diagnostics"] == []


def test_every_example_has_answers() -> None:
    answers = Answers()
    paths = [*(ROOT / "examples").glob("*.axon"), *(ROOT / "examples" / "paper").glob("*.axon")]
    files = {path.name: path.read_text(encoding="utf-8") for path in paths}
    answers.answer({"kind": "files", "files": files})
    for name, text in files.items():
        checked = answers.answer({"kind": "check", "name": name, "text": text})
        assert checked["names"] and checked["signatures"], name
        for definition in checked["names"][-1:]:
            for kind in ("derivation", "graph"):
                found = answers.answer(
                    {"kind": kind, "name": name, "text": text, "definition": definition}
                )
                assert "error" not in found, (name, definition, found["error"])


def test_a_model_is_answered() -> None:
    data = (ROOT / "examples" / "onnx" / "encoder.onnx").read_bytes()
    found = ask("model", data=data, name="encoder.onnx")
    assert found["signature"] == "i64 [batch,seq] -> f32 [batch,seq,16]"
    assert found["nodes"] == 66 and found["graph"] is not None


WITHOUT = """
import sys
for name in ("numpy", "onnx", "jax", "google", "pygments", "torch"):
    sys.modules[name] = None
from axon.playground.answers import Answers
answers = Answers()
text = "f = fn (x, w) { matmul(x, w) };"
for kind in ("check", "plain", "hover", "complete", "derivation", "graph"):
    found = answers.answer({"kind": kind, "text": text, "at": 0, "definition": "f"})
    assert "bug" not in found, found["bug"]
data = open(sys.argv[1], "rb").read()
print(answers.answer({"kind": "model", "data": data, "name": "m"})["signature"])
"""


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("onnx/encoder.onnx", "i64 [batch,seq] -> f32 [batch,seq,16]"),
        ("torch/encoder.pt2", "i64 [s23,s27] -> f32 [s23,s27,8]"),
    ],
)
def test_nothing_outside_of_python_is_needed(name: str, signature: str) -> None:
    command = [sys.executable, "-c", WITHOUT, str(ROOT / "examples" / name)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == signature
