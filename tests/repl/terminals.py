"""A terminal with someone at the keys: a program in a pseudo-terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import axon

UP, TAB, ENTER, CTRL_C, CTRL_D = "\x1b[A", "\t", "\r", "\x03", "\x04"

_CONTROLS = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07]*\x07|\x1b[()][A-Z0-9]|\x1b[=>]|\r")

PATIENCE = 30.0
"""After so many seconds without the text that is waited for, the test fails."""


_START = """\
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)  # this terminal's Ctrl-C is a signal to this process
from axon.cli import main
sys.exit(main(sys.argv[1:]))
"""


class Terminal:
    """`axon repl` in a pseudo-terminal; its history is in a folder of the test."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self._master, slave = pty.openpty()
        environment = {
            **os.environ,
            "TERM": "xterm",
            "COLUMNS": "100",
            "LINES": "40",
            "PROMPT_TOOLKIT_NO_CPR": "1",
            "XDG_STATE_HOME": str(folder / "state"),
            "PYTHONPATH": f"{folder}{os.pathsep}{Path(axon.__file__).parents[1]}",
        }
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, "repl", *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env=environment,
            start_new_session=True,
        )
        os.close(slave)
        self._text = ""
        self._seen = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._master)

    def press(self, *keys: str) -> None:
        for key in keys:
            os.write(self._master, key.encode())

    def wait(self, text: str) -> str:
        """What is shown up to and with the next occurrence of a text."""
        end = time.monotonic() + PATIENCE
        while (at := self._text.find(text, self._seen)) < 0:
            assert time.monotonic() < end, f"{text!r} is not in {self._text[self._seen :]!r}"
            assert self._more(), f"{text!r} is not in {self._text[self._seen :]!r}, which is all"
        shown = self._text[self._seen : at + len(text)]
        self._seen = at + len(text)
        return shown

    def _more(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], 0.5)
        if not ready:
            return True
        try:
            found = os.read(self._master, 1 << 16)
        except OSError:  # the program has left
            return False
        self._text += _CONTROLS.sub("", found.decode("utf-8", "replace"))
        return bool(found)

    def line(self, text: str) -> None:
        """Type a line at the prompt."""
        self.wait("axon> ")
        self.press(text, ENTER)

    def left(self) -> int:
        """The exit status, once the program has ended."""
        while self._more() and self.process.poll() is None:
            pass
        return self.process.wait(PATIENCE)
