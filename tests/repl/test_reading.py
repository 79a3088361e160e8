"""When an input is complete, what may stand at the cursor, and the colours."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from axon.repl.completion import choices
from axon.repl.reading import is_complete, words
from axon.stdlib import files
from tests.repl.sessions import session


@pytest.mark.parametrize(
    "text",
    ["", "x = 1", "x = 1;", "f = fn (x) { x }", "f(x)", "if a { b } else { c }", ":type", ":names",
     "a)", "x  # (", "import \"a.axon\" as a", "op f : t s -> t s", ":type fn (x) { x }",
     "if a { b } else if c { d } else { e }", "f = fn (x) { fn (y) { x } }", "{ a = 1 }", '"x'],
)  # fmt: skip
def test_complete(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize(
    "text",
    ["x =", "f(", "f = fn", "f = +", "f = fn (x)", "f = fn (x : f32 [n]) : f32 [n]", "f = fn (x) {",
     "x +", "x |>", "[1,", "if a { b }", "if a { b } else", "if a { b } else if c { d }", "{ a = 1",
     ":type f(", "a,", "op f :", "op f : t s ->", "f = fn (x) {\n  y = x;\n"],
)  # fmt: skip
def test_goes_on(text: str) -> None:
    assert not is_complete(text)


def _texts(before: str) -> list[str]:
    made = session(
        'import "std/layers.axon" as layers;',
        "weights = { w = ones([2]), inner = { bias = 1 } };",
        "waiting = fn (x) { x };",
    )
    return [choice.text for choice in choices(made.state, before)]


def test_completion() -> None:
    assert _texts("x + wa") == ["waiting"]
    assert _texts("f(weig") == ["weights"]
    assert _texts("weights.") == ["inner", "w"]
    assert _texts("weights.inner.b") == ["bias"]
    assert set(_texts("layers.")) == {n for n, p in files().items() if p == "std/layers.axon"}
    assert _texts(":na") == ["names"]
    assert _texts(":plain wai") == ["waiting"]
    assert _texts(":backend n") == ["numpy"]
    assert _texts("x # wai") == []
    assert "transpose" in _texts("transp")


def test_completion_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("net.axon", "new.txt", ".hidden.axon"):
        (tmp_path / name).write_text("x = 1;", encoding="utf-8")
    os.mkdir("nets")
    (tmp_path / "nets" / "a.axon").write_text("x = 1;", encoding="utf-8")
    assert _texts(":load ne") == ["net.axon", "nets/"]
    assert _texts(":load nets/") == ["a.axon"]
    assert _texts(":load nowhere/") == []


def test_colours() -> None:
    text = ":type fn (x : f32 [2]) { f(x.w, 1) } # so"
    found = {text[start:end]: kind for start, end, kind in words(text)}
    assert found == {
        ":type": "command", "fn": "keyword", "f32": "type", "2": "number", "f": "call",
        ".w": "field", "1": "number", "# so": "comment",
    }  # fmt: skip
