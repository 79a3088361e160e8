"""A client of `axon lsp`: the real process, its standard input and output."""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

PATIENCE = 120.0

Message = dict[str, Any]


class Client:
    """`everything` holds all that the server has said, in order."""

    def __init__(self, *arguments: str, stderr: BinaryIO | None = None) -> None:
        source = Path(__file__).resolve().parents[2] / "src"
        paths = [str(source), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "axon", "lsp", *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in paths if p)},
        )
        self.sent = 0
        self.everything: list[Message] = []
        self._heard: queue.Queue[Message | None] = queue.Queue()
        self._waiting: list[Message] = []
        self._id = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while True:
            length = None
            while (line := stream.readline()) not in (b"\r\n", b""):
                name, _, value = line.partition(b":")
                assert name == b"Content-Length", line
                length = int(value)
            if length is None:
                self._heard.put(None)
                return
            self._heard.put(json.loads(stream.read(length)))

    # --- saying ---

    def raw(self, data: bytes) -> None:
        self.sent += 1
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message: object) -> None:
        data = json.dumps(message).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))

    def tell(self, method: str, params: object) -> None:
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: object) -> Message:
        """The answer to a request."""
        self._id += 1
        mine = self._id
        self.send({"jsonrpc": "2.0", "id": mine, "method": method, "params": params})
        return self.wait(lambda m: m.get("id") == mine and "method" not in m)

    def result(self, method: str, params: object) -> Any:
        answer = self.ask(method, params)
        assert "result" in answer, answer
        return answer["result"]

    # --- hearing ---

    def wait(self, wanted: Callable[[Message], bool]) -> Message:
        """The next message like this; others are kept for who waits for them."""
        for at, message in enumerate(self._waiting):
            if wanted(message):
                return self._waiting.pop(at)
        while True:
            found = self._heard.get(timeout=PATIENCE)
            assert found is not None, "the server has left"
            self.everything.append(found)
            if wanted(found):
                return found
            self._waiting.append(found)

    def diagnostics(self, uri: str, version: int) -> list[Message]:
        """Those of a version of a text."""

        def wanted(message: Message) -> bool:
            params = message.get("params") or {}
            is_them = message.get("method") == "textDocument/publishDiagnostics"
            return is_them and params["uri"] == uri and params.get("version") == version

        found: list[Message] = self.wait(wanted)["params"]["diagnostics"]
        return found

    # --- the usual ---

    def begin(self, **more: object) -> Message:
        answer = self.result("initialize", {"processId": None, "capabilities": {}, **more})
        self.tell("initialized", {})
        assert isinstance(answer, dict)
        return answer

    def open(self, uri: str, text: str, version: int = 1) -> None:
        document = {"uri": uri, "languageId": "axon", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, uri: str, version: int, *changes: Message) -> None:
        document = {"uri": uri, "version": version}
        params = {"textDocument": document, "contentChanges": list(changes)}
        self.tell("textDocument/didChange", params)

    def end(self) -> int:
        assert self.result("shutdown", None) is None
        self.tell("exit", None)
        return self.process.wait(PATIENCE)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


def span(line: int, start: int, end: int) -> Message:
    return {
        "start": {"line": line, "character": start},
        "end": {"line": line, "character": end},
    }
