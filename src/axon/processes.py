"""Processes that work for this one: a line of JSON is answered by another, within limits of time
and memory. One that is late is killed, and the next request has a new one.

`Worker` is this side, `serve` the other. Law: a worker does not outlive its client. It ends when
its standard input does, and in the middle of a request at the latest when the time of that is up.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO

_NOTHING: Mapping[str, str] = {}
START_SECONDS = 20.0
ALARM = 0.1
"""How many seconds late the system ends a worker."""
GRACE = 0.3
"""How many seconds late the client ends it, where the system did not."""


class Late(Exception):
    """There was no answer in time."""


class Ended(Exception):
    """The process ended without an answer, with this status; a signal is a negative number."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class NotStarted(Exception):
    """No process can be started that answers; the text says what was wrong with it."""


def command(*arguments: str) -> list[str]:
    """Python with this Axon, and no module of the folder that the user is in."""
    return [sys.executable, "-P", "-m", *arguments]


def environment() -> dict[str, str]:
    here = str(Path(__file__).parents[1])
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([here, others] if others else [here])}


# --- this side ---------------------------------------------------------------------------------


class Worker:
    """A process that is started when it is needed. One thread asks at a time; any may close it.
    What it writes on its standard error is not shown if it is `quiet`; `more` is added to its
    environment.
    """

    def __init__(
        self, module: str, *arguments: str, quiet: bool = False, more: Mapping[str, str] = _NOTHING
    ) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self.greeting: Any = None
        """What it said when it was started."""
        self._command = command(module, *arguments)
        self._more = more
        self._errors = subprocess.DEVNULL if quiet else None
        self._lines: SimpleQueue[bytes] = SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False

    def start(self) -> None:
        """Start it if it does not run; raises `NotStarted`. This counts for no request."""
        if self.process is not None and self.process.poll() is None:
            return
        self.end()
        try:
            with self._lock:
                if self._closed:
                    raise NotStarted
                self.process = process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env={**environment(), **self._more},
                )
            self._lines = SimpleQueue()
            pump = threading.Thread(target=_pump, args=(process, self._lines), daemon=True)
            pump.start()
            self.greeting = self._answer(process, START_SECONDS)
        except OSError as problem:
            self.end()
            raise NotStarted(problem.strerror or str(problem)) from None
        except Late:
            self.end()
            raise NotStarted(f"it was not ready in {START_SECONDS:g} s") from None
        except Ended as problem:
            self.end()
            raise NotStarted(f"it ended with status {problem.status}") from None

    def ask(self, request: object, seconds: float) -> Any:
        """The answer to a request; raises `Late`, `Ended` or `NotStarted`. After any of them there
        is no process.
        """
        self.start()
        process = self.process
        assert process is not None and process.stdin is not None
        try:
            line = json.dumps({"seconds": seconds, "request": request}).encode() + b"\n"
            with contextlib.suppress(OSError):  # it has ended: so do its lines
                process.stdin.write(line)
                process.stdin.flush()
            return self._answer(process, seconds + GRACE)
        except (Late, Ended):
            self.end()
            raise

    def _answer(self, process: subprocess.Popen[bytes], seconds: float) -> Any:
        try:
            line = self._lines.get(timeout=seconds)
        except Empty:
            raise Late from None
        if line.endswith(b"\n"):
            with contextlib.suppress(ValueError):
                return json.loads(line)
        with contextlib.suppress(OSError):
            process.kill()  # one that has ended keeps its status
        status = process.wait()
        if hasattr(signal, "SIGALRM") and status == -signal.SIGALRM:
            raise Late
        raise Ended(status)

    def end(self) -> None:
        """End the process; the next request has a new one."""
        with self._lock:
            process, self.process = self.process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):  # what was not written yet
                    stream.close()

    def close(self) -> None:
        """End the process; there is no other. A request that waits for it raises `Ended`."""
        with self._lock:
            self._closed = True
            if self.process is not None:
                with contextlib.suppress(OSError):
                    self.process.kill()


def _pump(process: subprocess.Popen[bytes], lines: SimpleQueue[bytes]) -> None:
    """Forward the output of the process; at its end an empty line, which is no answer."""
    assert process.stdout is not None
    with contextlib.suppress(OSError, ValueError):
        for line in process.stdout:
            lines.put(line)
    lines.put(b"")


# --- the other side ----------------------------------------------------------------------------


def serve(answer: Callable[[Any], object], most_memory: int) -> None:
    """Answer the requests on standard input until it ends; then, whatever is being computed, so
    does the process.
    """
    with contextlib.suppress(ValueError):  # only where this is not the main thread
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the client ends this process
    limited = limit_memory(most_memory)
    sink = private_output()
    lines: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_read, args=(sys.stdin.buffer, lines), daemon=True).start()
    _say(sink, {"limited": limited})
    while True:
        asked = json.loads(lines.get())
        _alarm(asked["seconds"] + ALARM)
        found = answer(asked["request"])
        _alarm(0)
        _say(sink, found)


def _read(source: BinaryIO, lines: SimpleQueue[bytes]) -> None:
    for line in source:
        lines.put(line)
    os._exit(0)


def _say(sink: BinaryIO, found: object) -> None:
    sink.write(json.dumps(found).encode() + b"\n")
    sink.flush()


def private_output() -> BinaryIO:
    """The stream for answers; what is printed by mistake, also by native code, is none."""
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sink


def limit_memory(most: int) -> bool:
    """What takes more fails, and the machine goes on; False where the system has no such limit.
    A process that fails leaves no image of its memory.
    """
    if sys.platform == "darwin":
        return False  # it takes the limit, and does not keep it
    try:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = most if hard < 0 else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):  # Windows has none
        return False
    return True


def _alarm(seconds: float) -> None:
    """Nothing catches this signal, so it ends the process even inside native code; 0 is none."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, seconds)


def killed_by(status: int) -> str | None:
    """The name of the signal that ended a process; None if it ended by itself."""
    try:
        return signal.Signals(-status).name if status < 0 else None
    except ValueError:
        return f"signal {-status}"
