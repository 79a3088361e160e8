"""The client of the worker: started on demand, ended when it is late, and free to fail."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from axon.prove.question import Question

START_SECONDS = 20.0
GRACE = 0.3


class Engine:
    """Asks one question after the other; any failure makes the answer "not known"."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._broken = False

    def ask(self, question: Question, engine: str, seconds: float) -> dict[int, int] | bool:
        """Values that satisfy the question, False if there are none, True if it is not known."""
        if seconds <= 0 or not self._start():
            return True
        assert self._process is not None and self._process.stdin is not None
        asked = {
            "engine": engine,
            "atoms": question.atoms,
            "clauses": question.clauses,
            "seconds": seconds,
        }
        try:
            self._process.stdin.write(json.dumps(asked) + "\n")
            self._process.stdin.flush()
            answer: Any = json.loads(self._lines.get(timeout=seconds + GRACE))
        except (OSError, ValueError, Empty):
            self.close()
            return True
        return answer if isinstance(answer, bool) else dict(answer)

    def start(self) -> None:
        """Start the process before the time is counted."""
        self._start()

    def _start(self) -> bool:
        if self._process is not None:
            return True
        if self._broken:
            return False
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "axon.prove.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                encoding="utf-8",
                env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            )
            self._lines = SimpleQueue()
            Thread(target=_pump, args=(self._process, self._lines), daemon=True).start()
            self._broken = self._lines.get(timeout=START_SECONDS).strip() != "ready"
        except (OSError, ValueError, Empty):
            self._broken = True
        if self._broken:
            self.close()
        return not self._broken

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):
                    stream.close()


def _pump(process: subprocess.Popen[str], lines: SimpleQueue[str]) -> None:
    """Forward the output of the process; at its end an empty line, which is no answer."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            lines.put(line)
    lines.put("")
