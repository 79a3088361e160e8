"""The process that talks to the client: it reads, answers what is wrong, and passes on the rest."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import BinaryIO

from axon.lsp.messages import (
    INVALID_REQUEST,
    NOT_INITIALIZED,
    PARSE_ERROR,
    REQUEST_FAILED,
    failure,
    is_id,
    success,
)
from axon.lsp.texts import Texts
from axon.lsp.wire import Malformed, Reader, encoded, framed

LIMIT = 10.0
"""How many seconds a piece of work may take, and more for a long text."""
AGAIN = 3.0
"""The same for a text that took too long before."""
TICK = 0.1


class Server:
    """`read` gives bytes of the client, `write` sends some; `limit` is that of a piece of work."""

    def __init__(
        self, read: Callable[[], bytes], write: Callable[[bytes], None], limit: float = LIMIT
    ) -> None:
        self._reader = Reader(read)
        self._write = write
        self._limit = limit
        self._lock = threading.RLock()
        self._worker: subprocess.Popen[bytes] | None = None
        self._waiting: dict[str, object] = {}
        self._texts = Texts()
        self._hello: bytes | None = None
        self._hard: dict[str, int] = {}
        self._busy: tuple[float, float, str] | None = None
        self._ended = False
        self._ended_on = ""
        self._shut_down = False

    def run(self) -> int:
        """Serve until the client leaves: 0 if it said so before."""
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            for message in self._reader.messages():
                if isinstance(message, Malformed):
                    self._send(failure(None, PARSE_ERROR, message.text))
                elif isinstance(message, dict) and message.get("method") == "exit":
                    return 0 if self._shut_down else 1
                else:
                    self._take(message)
            return 0 if self._shut_down else 1
        finally:
            with self._lock:
                self._ended = True
                self._stop()

    # --- the client ---

    def _send(self, message: object) -> None:
        self._send_raw(encoded(message))

    def _send_raw(self, data: bytes) -> None:
        with self._lock:
            try:
                self._write(framed(data))
            except (OSError, ValueError):
                self._ended = True  # the client is gone

    def _take(self, message: object) -> None:
        if not isinstance(message, dict):
            self._send(failure(None, INVALID_REQUEST, "a message is an object"))
            return
        id, method = message.get("id"), message.get("method")
        if not isinstance(method, str):
            if "method" not in message and ("result" in message or "error" in message):
                return  # the answer to a request of ours, which needs none
            shown = id if is_id(id) else None
            self._send(failure(shown, INVALID_REQUEST, "a message has a method, which is a string"))
        elif "id" not in message:
            self._notified(method, message)
        elif not is_id(id):
            self._send(failure(None, INVALID_REQUEST, "an id is a number or a string"))
        else:
            self._asked(id, method, message)

    def _asked(self, id: object, method: str, message: dict[str, object]) -> None:
        if self._shut_down:
            self._send(failure(id, INVALID_REQUEST, "the server was shut down"))
        elif method == "initialize":
            if self._hello is not None:
                self._send(failure(id, INVALID_REQUEST, "the server is initialized already"))
                return
            self._hello = encoded(message)
            self._pass_on(message, id)
        elif self._hello is None:
            self._send(failure(id, NOT_INITIALIZED, "the server is not initialized yet"))
        elif method == "shutdown":
            self._shut_down = True
            self._send(success(id, None))
        else:
            self._pass_on(message, id)

    def _notified(self, method: str, message: dict[str, object]) -> None:
        if self._hello is None or self._shut_down:
            return
        with self._lock:
            if method.startswith("textDocument/did"):
                changed = self._texts.notified(method, message.get("params"))
                if changed is not None and method == "textDocument/didClose":
                    self._hard.pop(changed, None)
            self._pass_on(message)

    # --- the worker ---

    def _pass_on(self, message: dict[str, object], id: object = None) -> None:
        with self._lock:
            if id is not None:
                self._waiting[json.dumps(id)] = id
            if self._worker is None:
                # it is started with the first message, which is `initialize`
                self._start()
            self._tell(encoded(message))

    def _tell(self, line: bytes) -> None:
        worker = self._worker
        try:
            if worker is not None and worker.stdin is not None:
                worker.stdin.write(line + b"\n")
                worker.stdin.flush()
        except (OSError, ValueError):
            pass  # it has ended; who listens to it starts another one

    def _start(self) -> None:
        command = [sys.executable, "-m", "axon.lsp.worker"]
        self._worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._busy = None
        threading.Thread(target=self._listen, args=(self._worker,), daemon=True).start()

    def _stop(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()
            worker.wait()
            for pipe in (worker.stdin, worker.stdout):
                if pipe is not None:
                    with suppress(OSError):
                        pipe.close()

    def _listen(self, worker: subprocess.Popen[bytes]) -> None:
        """Send what the worker says. A line begins with what it is: `R` and an id, the answer to
        a request; `N`, a message of its own; `B`, the beginning of a piece of work; `I`, its end.
        """
        assert worker.stdout is not None
        try:
            for line in worker.stdout:
                kind, _, rest = line.rstrip(b"\n").partition(b"\t")
                with self._lock:
                    if self._worker is not worker:
                        return
                    self._heard(kind, rest)
        except (OSError, ValueError):
            pass
        with self._lock:
            if self._worker is worker and not self._ended:
                uri = self._busy[2] if self._busy is not None else ""
                again, self._ended_on = uri == self._ended_on, uri
                self._restart("the checker ended while it worked on this", uri if again else "")

    def _heard(self, kind: bytes, rest: bytes) -> None:
        match kind:
            case b"R":
                id, _, data = rest.partition(b"\t")
                if self._waiting.pop(id.decode(), None) is not None:
                    self._send_raw(data)
            case b"N":
                self._send_raw(rest)
            case b"B":
                lines, uri = json.loads(rest)
                hard = uri in self._hard
                limit = min(self._limit, AGAIN) if hard else self._limit + lines / 100
                self._busy = time.monotonic(), limit, uri
            case _:  # `I`
                self._busy = None

    def _watch(self) -> None:
        while not self._ended:
            time.sleep(TICK)
            with self._lock:
                busy = self._busy
                if busy is not None and time.monotonic() - busy[0] > busy[1] and not self._ended:
                    self._restart(f"this took longer than {busy[1]:.0f} s", busy[2])

    def _restart(self, why: str, uri: str) -> None:
        """A new worker, with the texts as they are; the one that is too hard is not checked again
        as it is now.
        """
        self._stop()
        for id in self._waiting.values():
            self._send(failure(id, REQUEST_FAILED, why))
        self._waiting.clear()
        if uri:
            self._hard[uri] = self._hard.get(uri, 0) + 1
        self._start()
        if self._hello is not None:
            self._tell(self._hello)  # answered before: nobody waits for its id
        if uri:
            self._tell(encoded({"method": "$axon/hard", "params": {"uri": uri, "why": why}}))
        for message in self._texts.opened():
            self._tell(encoded(message))


def serve(source: BinaryIO, sink: BinaryIO, limit: float = LIMIT) -> int:
    """Serve a client on two streams."""

    def read() -> bytes:
        data: bytes = source.read1(1 << 16)  # type: ignore[attr-defined]
        return data

    def write(data: bytes) -> None:
        sink.write(data)
        sink.flush()

    return Server(read, write, limit).run()


def serve_tcp(
    host: str, port: int, limit: float = LIMIT, ready: Callable[[int], None] = print
) -> int:
    """Serve one client that connects to a port."""
    import socket

    with socket.create_server((host, port)) as listening:
        ready(listening.getsockname()[1])
        connection, _ = listening.accept()
    with connection, connection.makefile("rb") as source, connection.makefile("wb") as sink:
        return serve(source, sink, limit)
