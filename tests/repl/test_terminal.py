"""The session as someone at a terminal meets it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest

from tests.repl.terminals import CTRL_C, CTRL_D, ENTER, TAB, UP, Terminal


def test_history_completion_several_lines_and_leaving(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.line("x = ones([2,3]);")
        terminal.wait("x : f32 [2,3]")
        # a line that the next session finds, completed: `transp` and tab
        terminal.wait("axon> ")
        terminal.press("transpos", TAB)
        terminal.wait("transpose")
        terminal.press("(x)", ENTER)
        terminal.wait("f32 [3,2]")
        # several lines
        terminal.wait("axon> ")
        terminal.press("double = fn (a) {", ENTER)
        terminal.wait("...")
        terminal.press("a + a", ENTER, "}", ENTER)
        terminal.wait("double : (a : t a) -> t a")
        # the line before, and the one before that
        terminal.wait("axon> ")
        terminal.press("double(7)", ENTER)
        terminal.wait("14")
        terminal.wait("axon> ")
        terminal.press(UP)
        terminal.wait("double(7)")
        terminal.press(ENTER)
        terminal.wait("14")
        # Ctrl-C at the prompt clears the line
        terminal.wait("axon> ")
        terminal.press("nonsense(((", CTRL_C)
        terminal.line("x")
        terminal.wait("[1. 1. 1.]")
        terminal.wait("axon> ")
        terminal.press(CTRL_D)
        assert terminal.left() == 0
    history = (tmp_path / "state" / "axon" / "history").read_text(encoding="utf-8")
    assert "+double(7)" in history
    with Terminal(tmp_path) as terminal:
        terminal.wait("axon> ")
        terminal.press(UP, UP)
        terminal.wait("double(7)")
        terminal.press(CTRL_C)
        terminal.line(":quit")
        assert terminal.left() == 0


def test_ctrl_c_stops_a_long_computation(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.line("x = 5;")
        terminal.wait("x : i64")
        terminal.line("f = fn (y) { iterate(y, fn (a) { min(a) >= 0.0 }, fn (a) { a + 1.0 }) }")
        terminal.wait("f : ")
        terminal.line("f(zeros([2]))")
        with pytest.raises(AssertionError):
            _wait_briefly(terminal)
        _interrupt(terminal)
        terminal.line("x + 1")
        terminal.wait("6")
        terminal.line("nope")
        terminal.wait("error[AX201]")
        terminal.line(":q")
        assert terminal.left() == 0


def _wait_briefly(terminal: Terminal, text: str = "f32 [2]", seconds: float = 1.0) -> None:
    """Nothing is answered for a moment: the computation is under way."""
    from unittest import mock

    with mock.patch("tests.repl.terminals.PATIENCE", seconds):
        terminal.wait(text)


def _interrupt(terminal: Terminal) -> None:
    """As a person does: again, if nothing happens. Python loses an interrupt in a finalizer."""
    for _ in range(5):
        terminal.press(CTRL_C)
        with suppress(AssertionError):
            _wait_briefly(terminal, "interrupted", seconds=10.0)
            return
    raise AssertionError("five interrupts did not stop it")


def test_without_its_extra_it_is_plain_lines(tmp_path: Path) -> None:
    hidden = tmp_path / "prompt_toolkit.py"
    hidden.write_text("raise ImportError('not installed')", encoding="utf-8")
    with Terminal(tmp_path) as terminal:
        terminal.wait("pip install 'axon-shapes[repl]'")
        terminal.line("1 + 2")
        terminal.wait("3")
        terminal.wait("axon> ")
        terminal.press(CTRL_D)
        assert terminal.left() == 0
