"""A process that does one piece of work at a time, within limits of time and memory."""

from __future__ import annotations

import contextlib
import os
import resource
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any

MEMORY = 8 << 30
PAUSE = 5.0


class Lost(Exception):
    """The process ended, or was ended after the time that it has; the text says which."""


class Worker:
    """`work` runs in a process of its own, which begins again after a crash.

    The process is a fork: what the caller has in memory need not be sent.
    """

    def __init__(self, work: Callable[..., Any], seconds: float) -> None:
        self._work = work
        self._seconds = seconds
        self._process: Any = None
        self._connection: Any = None

    def ask(self, *arguments: Any) -> Any:
        """What `work` returns for these arguments, or an exception, `Lost` or its own."""
        if self._process is None:
            self._start()
        try:
            self._connection.send(arguments)
            if not self._connection.poll(self._seconds):
                self.stop()
                raise Lost(f"not done within {self._seconds} s")
            return self._connection.recv()
        except (EOFError, OSError):
            self.stop()
            raise Lost("the process crashed") from None

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._connection.close()
            self._process = None

    def _start(self) -> None:
        context = get_context("fork")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(self._work, theirs, os.getpid()), daemon=True
        )
        self._process.start()
        theirs.close()


def _serve(work: Callable[..., Any], connection: Any, parent: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    with contextlib.suppress(EOFError, KeyboardInterrupt):
        while os.getppid() == parent:  # other workers have the pipe too: it does not end with it
            if connection.poll(PAUSE):
                connection.send(work(*connection.recv()))
