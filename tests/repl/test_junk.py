"""Whatever is typed, the session answers, and what was known is still known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from axon.repl.commands import COMMANDS
from axon.repl.completion import choices
from axon.repl.reading import is_complete, words
from tests.budget import QUARTER
from tests.repl.sessions import say, session

_PIECES = [
    "x", "y", "f", "g", "=", ";", "(", ")", "[", "]", "{", "}", ",", "fn", "fn (x) { x }", "1",
    "2.5", "+", "@", ".", "w", "if", "else", "true", "op", "type", "import", '"a.axon"', "as", ":",
    "zeros", "ones", "map", "reduce", "[2,3]", "\n", "#", "'", "|>", "nonzero(x)", "r.w", "_",
    "f32", "->", "?", "*", "\0", "é", "\x1b[2J",
]  # fmt: skip

_NAMES = ["x", "f", "r", "v", "nope", "AX101", "AX999", "f x[0]", "f result", "x + f(x)", "a.b", ""]


@st.composite
def _lines(draw: st.DrawFn) -> str:
    match draw(st.integers(0, 3)):
        case 0:
            return draw(st.text(max_size=30))
        case 1:
            name = draw(st.sampled_from([c for c in COMMANDS if c not in ("save", "time", "ops")]))
            return f":{name} {draw(st.sampled_from(_NAMES) | st.text(max_size=8))}"
        case _:
            return " ".join(draw(st.lists(st.sampled_from(_PIECES), max_size=12)))


@pytest.fixture(autouse=True, scope="module")
def _empty_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("junk")
    with chdir(folder):
        yield folder


@QUARTER
@given(st.lists(_lines(), min_size=1, max_size=4))
def test_junk_is_answered(lines: list[str]) -> None:
    made = session(
        "x = ones([2,2]);",
        "f = fn (a) { a @ x };",
        "r = { w = x, n = 3 };",
        "v = map(fn (k) { nonzero(ones([3]) > k) }, [0.0, 2.0]);",
    )
    for line in lines:
        assert "a bug in Axon" not in say(made, line)
        is_complete(line)
        for start, end, _ in words(line):
            assert 0 <= start < end <= len(line)
        choices(made.state, line)
    kept = "zzz = 41 + 1"
    assert say(made, kept) == "zzz : i64"
    assert say(made, "zzz") == "i64\n42"
