"""The process that has the workspace. It takes one message after the other, a line of JSON each,
and says when it begins and ends to work on something.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from contextlib import suppress
from typing import BinaryIO

from axon.lsp.messages import (
    CANCELLED,
    INTERNAL_ERROR,
    METHOD_NOT_FOUND,
    Params,
    Wrong,
    failure,
    success,
)
from axon.lsp.wire import encoded
from axon.processes import limit_memory, private_output

QUIET = 0.02
"""How many seconds nothing must come before diagnostics are sent: not after each key."""
MOST_MEMORY = 8 << 30


class Worker:
    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        from axon.lsp.requests import NOTIFICATIONS, REQUESTS, Files

        self._source, self._sink = source, sink
        self._messages: queue.Queue[dict[str, object] | None] = queue.Queue()
        self._cancelled: set[str] = set()
        self.files = Files(self._notify)
        self._requests, self._notifications = REQUESTS, NOTIFICATIONS

    def run(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()
        while True:
            try:
                message = self._messages.get(timeout=QUIET if self.files.dirty else None)
            except queue.Empty:
                self._publish()
                continue
            if message is None:
                return
            self._take(message)

    def _read(self) -> None:
        for line in self._source:
            message = json.loads(line)
            if message.get("method") == "$/cancelRequest":
                params = message.get("params")
                if isinstance(params, dict):
                    self._cancelled.add(json.dumps(params.get("id")))
                continue
            self._messages.put(message)
        self._messages.put(None)

    def _say(self, kind: bytes, *parts: bytes) -> None:
        self._sink.write(b"\t".join((kind, *parts)) + b"\n")
        self._sink.flush()

    def _notify(self, method: str, params: object, id: object = None) -> None:
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if id is not None:
            message["id"] = id
        self._say(b"N", encoded(message))

    def _publish(self) -> None:
        uri = self.files.next_dirty()
        if uri is None:
            return
        self._begin(uri)
        try:
            self.files.publish(uri)
        except Exception as bug:
            self._log(bug, "diagnostics")
        self._say(b"I")

    def _begin(self, uri: str) -> None:
        self._say(b"B", encoded([self.files.lines(uri), uri]))

    def _take(self, message: dict[str, object]) -> None:
        method, params = str(message.get("method")), Params(message.get("params"))
        uri = params.get("textDocument", "uri")
        self._begin(uri if isinstance(uri, str) else "")
        if "id" in message:
            self._answer(message["id"], method, params)
        else:
            handler = self._notifications.get(method)
            try:
                if handler is not None:
                    handler(self.files, params)
            except Wrong as wrong:
                self._notify("window/logMessage", {"type": 2, "message": f"{method}: {wrong}"})
            except Exception as bug:
                self._log(bug, method)
        self._say(b"I")

    def _answer(self, id: object, method: str, params: Params) -> None:
        key = json.dumps(id)
        try:
            if key in self._cancelled:
                raise Wrong(CANCELLED, "cancelled")
            handler = self._requests.get(method)
            if handler is None:
                raise Wrong(METHOD_NOT_FOUND, f"there is no request `{method[:100]}`")
            answer = success(id, handler(self.files, params))
        except Wrong as wrong:
            answer = failure(id, wrong.code, str(wrong))
        except Exception as bug:
            self._log(bug, method)
            answer = failure(
                id, INTERNAL_ERROR, f"a bug in Axon: {type(bug).__name__}: {bug}"[:500]
            )
        self._cancelled.discard(key)
        self._say(b"R", key.encode(), encoded(answer))

    def _log(self, bug: Exception, method: str) -> None:
        if os.environ.get("AXON_DEBUG"):
            import traceback

            traceback.print_exc()
        text = f"a bug in Axon, in {method}: {type(bug).__name__}: {bug}"
        self._notify("window/logMessage", {"type": 1, "message": text[:1000]})


def main() -> None:
    import gc

    gc.set_threshold(200_000, 50, 50)  # trees that stay need not be searched after every edit
    limit_memory(MOST_MEMORY)
    source, sink = sys.stdin.buffer, private_output()
    with suppress(BrokenPipeError):  # the server has ended
        Worker(source, sink).run()
    os._exit(0)  # without a last attempt to write what nobody reads


if __name__ == "__main__":
    main()
