"""The processes behind a page that is served: one that checks, and one for each run.

Each has a limit of time. What takes longer is ended, and the next request has a new process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

Json = dict[str, Any]

CHECK_SECONDS = 10.0
RUN_SECONDS = 20.0
MOST_OUTPUT = 100_000
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}\.axon\Z")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}'*\Z")
_ARGUMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*'*=")


def command(*arguments: str) -> list[str]:
    """Python with this Axon, and no module of the folder that the user is in."""
    return [sys.executable, "-P", "-m", *arguments]


def environment() -> dict[str, str]:
    here = str(Path(__file__).parents[2])
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([here, others] if others else [here])}


class Checking:
    """A process that answers requests, one after the other; it is started when it is needed."""

    def __init__(self, seconds: float = CHECK_SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def answer(self, request: Json) -> Json:
        with self._lock:
            process = self._running()
            timer = threading.Timer(self._seconds, process.kill)
            timer.start()
            try:
                assert process.stdin is not None and process.stdout is not None
                process.stdin.write(json.dumps(request).encode() + b"\n")
                process.stdin.flush()
                line = process.stdout.readline()
                found = json.loads(line) if line.endswith(b"\n") else None
            except OSError:
                found = None
            finally:
                late = not timer.is_alive()
                timer.cancel()
            if isinstance(found, dict):
                return found
            self._end()
            if late:
                return {"stopped": True}
            return {"error": "The checker ended.", "bug": "its process ended without an answer"}

    def close(self) -> None:
        with self._lock:
            self._end()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self._end()
            self._process = subprocess.Popen(
                command("axon.playground.worker"),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=environment(),
            )
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was not written yet
                    continue


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
