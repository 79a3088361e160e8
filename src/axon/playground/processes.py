"""The processes behind a page that is served: one that checks, and one for each run.

Each has a limit of time. What takes longer is ended, and the next request has a new process.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

from axon.processes import Ended, Late, NotStarted, Worker, command, environment

Json = dict[str, Any]

CHECK_SECONDS = 10.0
RUN_SECONDS = 20.0
MOST_OUTPUT = 100_000
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.axon\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}'*\Z")
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*'*=")


class Checking:
    """A process that answers requests, one after the other; it is started when it is needed."""

    def __init__(self, seconds: float = CHECK_SECONDS) -> None:
        self.seconds = seconds
        self.worker = Worker("axon.playground.worker")
        self._lock = threading.Lock()

    def answer(self, request: Json) -> Json:
        with self._lock:
            try:
                found = self.worker.ask(request, self.seconds)
            except Late:
                return {"stopped": True}
            except (Ended, NotStarted):
                found = None
        if isinstance(found, dict):
            return found
        return {"error": "The checker ended.", "bug": "its process ended without an answer"}

    def close(self) -> None:
        self.worker.close()
        with self._lock:
            self.worker.end()


def run(request: Json, files: dict[str, str], seconds: float = RUN_SECONDS) -> Json:
    """Run a definition as `axon run` does, in a folder with the files that it may import."""
    name, text = request.get("name"), request.get("text")
    definition, arguments = request.get("definition"), request.get("arguments")
    if not isinstance(name, str) or not _FILE.match(name):
        name = "program.axon"
    if not isinstance(text, str) or not isinstance(arguments, list):
        return {"error": "a request that is not understood"}
    if not isinstance(definition, str) or not _NAME.match(definition):
        return {"error": "There is no definition to run."}
    for each in arguments:
        if not isinstance(each, str) or not _ARGUMENT.match(each) or "\0" in each:
            return {"error": f"An argument is written NAME=VALUE, not {str(each)[:60]}"}
    with tempfile.TemporaryDirectory(prefix="axon-") as folder:
        for other, content in {**files, name: text}.items():
            Path(folder, other).write_text(content, encoding="utf-8", errors="replace")
        return _run([name, definition, *arguments], folder, seconds)


def _run(arguments: list[str], folder: str, seconds: float) -> Json:
    asked = command("axon", "run", "--color", "never", *arguments)
    with open(Path(folder, ".output"), "w+b") as output:
        process = subprocess.Popen(
            asked,
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        _limit(process.pid)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            return {"error": f"The run took longer than {seconds:g} seconds and was stopped."}
        output.seek(0)
        text = output.read(MOST_OUTPUT + 1).decode("utf-8", "replace")
    if len(text) > MOST_OUTPUT:
        text = f"{text[:MOST_OUTPUT]}\n… the output is longer than this"
    return {"status": status, "output": text.strip()}


def _limit(pid: int) -> None:
    """At most 8 GB of memory and 1 GB of output, where the system can say so of another process."""
    try:
        import resource

        resource.prlimit(pid, resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    except (ImportError, AttributeError, OSError, ValueError):
        return
