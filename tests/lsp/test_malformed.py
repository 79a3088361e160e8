"""Whatever is sent to the server, it answers, and goes on."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from axon.lsp.wire import Malformed, Reader
from tests.lsp.client import Client

URI = "file:///net.axon"
TEXT = "f = fn (x : f32 [n,3]) { x };\n"


def framed(body: bytes, length: object = None) -> bytes:
    return b"Content-Length: %b\r\n\r\n%b" % (str(length or len(body)).encode(), body)


def request(**more: object) -> bytes:
    return framed(json.dumps({"jsonrpc": "2.0", "id": "odd", **more}).encode())


HOVER = "textDocument/hover"
AT = {"line": 0, "character": 0}

MALFORMED: dict[str, tuple[bytes, int]] = {
    "no JSON": (framed(b"this is no JSON"), -32700),
    "half of JSON": (framed(b'{"jsonrpc": "2.0", "id": 7'), -32700),
    "no UTF-8": (framed(b'{"id": "\xff\xfe"}'), -32700),
    "UTF-16": (framed('{"id": 1}'.encode("utf-16")), -32700),
    "an empty body": (framed(b"", "0"), -32700),
    "deep nesting": (framed(b"[" * 100_000), -32700),
    "a header without a number": (b"Content-Length: many\r\n\r\n{}", -32700),
    "a negative length": (b"Content-Length: -1\r\n\r\n{}", -32700),
    "a huge length": (b"Content-Length: 99999999999999999999\r\n\r\n{}", -32700),
    "a length beyond the limit": (b"Content-Length: 1000000000\r\n\r\n{}", -32700),
    "no header": (b'{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}\r\n', -32700),
    "another protocol": (b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", -32700),
    "only line ends in between": (b"Content-Length: 2\r\n{}\r\n", -32700),
    "bytes of all kinds": (bytes(range(256)) * 3 + b"\r\n", -32700),
    "a length that is too short": (framed(request()[24:], "9"), -32700),
    "a list": (framed(b"[1, 2]"), -32600),
    "a number": (framed(b"17"), -32600),
    "null": (framed(b"null"), -32600),
    "a batch": (framed(b'[{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]'), -32600),
    "no method": (framed(b'{"jsonrpc": "2.0", "id": "odd"}'), -32600),
    "a method that is a number": (request(method=5), -32600),
    "an id that is a list": (framed(b'{"id": [1], "method": "textDocument/hover"}'), -32600),
    "an id that is null": (framed(b'{"id": null, "method": "textDocument/hover"}'), -32600),
    "an unknown method": (request(method="no/such/method"), -32601),
    "an unknown method of the protocol itself": (request(method="$/nothing"), -32601),
    "a second initialize": (request(method="initialize", params={}), -32600),
    "no params": (request(method=HOVER), -32602),
    "params that are a list": (request(method=HOVER, params=[1, 2]), -32602),
    "a document that is a number": (request(method=HOVER, params={"textDocument": 1}), -32602),
    "a URI that is a number": (
        request(method=HOVER, params={"textDocument": {"uri": 4}, "position": AT}),
        -32602,
    ),
    "a document that is not open": (
        request(method=HOVER, params={"textDocument": {"uri": "file:///no"}, "position": AT}),
        -32602,
    ),
    "a position that is a string": (
        request(method=HOVER, params={"textDocument": {"uri": URI}, "position": "here"}),
        -32602,
    ),
    "a line that is a fraction": (
        request(
            method=HOVER,
            params={"textDocument": {"uri": URI}, "position": {"line": 0.5, "character": 0}},
        ),
        -32602,
    ),
    "a negative line": (
        request(
            method=HOVER,
            params={"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}},
        ),
        -32602,
    ),
    "a line beyond all": (
        request(
            method=HOVER,
            params={"textDocument": {"uri": URI}, "position": {"line": 10**30, "character": 0}},
        ),
        -32602,
    ),
    "no range": (
        request(method="textDocument/inlayHint", params={"textDocument": {"uri": URI}}),
        -32602,
    ),
    "no new name": (
        request(
            method="textDocument/rename", params={"textDocument": {"uri": URI}, "position": AT}
        ),
        -32602,
    ),
    "an unknown command": (
        request(method="workspace/executeCommand", params={"command": "rm", "arguments": []}),
        -32602,
    ),
    "a question without arguments": (
        request(method="workspace/executeCommand", params={"command": "axon.why"}),
        -32602,
    ),
}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as found:
        found.begin()
        found.open(URI, TEXT)
        assert found.diagnostics(URI, 1) == []
        yield found
        assert found.end() == 0


def is_alive(client: Client) -> None:
    at = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 8}}
    assert "x : f32 [n,3]" in client.result(HOVER, at)["contents"]["value"]


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_answered(client: Client, name: str) -> None:
    data, code = MALFORMED[name]
    client.raw(data)
    if data.endswith(b"\r\n\r\n") or b"Content-Length" not in data:
        client.raw(framed(b'{"jsonrpc": "2.0", "method": "$/nothing"}'))
    answer = client.wait(lambda m: "error" in m and m.get("id") in (None, "odd"))
    assert answer["error"]["code"] == code
    assert answer["error"]["message"]
    is_alive(client)


def test_there_are_enough() -> None:
    assert len(MALFORMED) >= 30


WRONG_CHANGES: list[object] = [
    {}, None, [], 5, {"textDocument": {}}, {"textDocument": {"uri": URI, "version": 2}},
    {"textDocument": {"uri": URI}, "contentChanges": {}},
    {"textDocument": {"uri": URI}, "contentChanges": [{}]},
    {"textDocument": {"uri": URI}, "contentChanges": [{"text": 5}]},
    {"textDocument": {"uri": URI}, "contentChanges": [{"text": "x", "range": {}}]},
    {"textDocument": {"uri": URI}, "contentChanges": [{"text": "y", "range": {"start": AT}}]},
    {"textDocument": {"uri": "file:///no"}, "contentChanges": [{"text": "x"}]},
]  # fmt: skip


def test_notifications_that_are_wrong_change_nothing(client: Client) -> None:
    for params in WRONG_CHANGES:
        client.tell("textDocument/didChange", params)
        client.tell("textDocument/didOpen", params)
        client.tell("textDocument/didClose", {"textDocument": {"uri": "file:///no"}})
    client.tell("no/such/notification", {})
    client.tell("$/cancelRequest", {"id": [1]})
    client.send({"jsonrpc": "2.0", "id": 99, "result": None})  # an answer that nobody waits for
    is_alive(client)


def test_a_range_the_wrong_way_round_and_beyond_the_text(client: Client) -> None:
    uri = "file:///turned.axon"
    client.open(uri, "a = 1;\nb = 2;\n")
    backwards = {"start": {"line": 1, "character": 0}, "end": {"line": 0, "character": 0}}
    client.change(uri, 2, {"range": backwards, "text": ""})
    beyond = {"start": {"line": 70, "character": 90}, "end": {"line": 90, "character": 70}}
    client.change(uri, 3, {"range": beyond, "text": "c = 3;\n"})
    assert client.diagnostics(uri, 3) == []
    symbols = client.result("textDocument/documentSymbol", {"textDocument": {"uri": uri}})
    assert [each["name"] for each in symbols] == ["b", "c"]


def test_the_life_of_the_server_in_the_wrong_order() -> None:
    with Client() as client:
        assert client.ask(HOVER, {})["error"]["code"] == -32002
        client.open(URI, TEXT)  # not initialized: it is not opened
        client.begin()
        at = {"textDocument": {"uri": URI}, "position": AT}
        assert client.ask(HOVER, at)["error"]["code"] == -32602
        assert client.result("shutdown", None) is None
        assert client.ask(HOVER, at)["error"]["code"] == -32600
        assert client.ask("shutdown", None)["error"]["code"] == -32600
        client.tell("exit", None)
        assert client.process.wait(60) == 0


@pytest.mark.parametrize("farewell", [b"", framed(b'{"jsonrpc":"2.0","method":"exit"}')])
def test_a_client_that_leaves_without_a_word(farewell: bytes) -> None:
    with Client() as client:
        client.begin()
        client.raw(farewell)
        assert client.process.stdin is not None
        client.process.stdin.close()
        assert client.process.wait(60) == 1


def test_what_the_worker_process_does_to_itself() -> None:
    """It ends: the server starts another one, and tells it the texts."""
    with Client() as client:
        client.begin()
        client.open(URI, TEXT)
        assert client.diagnostics(URI, 1) == []
        children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
        if children.exists():
            (worker,) = children.read_text().split()
            os.kill(int(worker), 9)
        assert client.diagnostics(URI, 1) == [] or not children.exists()
        is_alive(client)


def test_the_process_that_listens_does_not_load_the_checker() -> None:
    """So it answers at once, and there is one checker in memory."""
    code = "import sys, axon.lsp.server; sys.exit(any('inference' in name for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_server_that_is_killed_leaves_nothing(tmp_path: Path) -> None:
    """Its worker ends too, without a word."""
    said = tmp_path / "stderr"
    with said.open("wb") as stream, Client(stderr=stream) as client:
        client.begin()
        client.open(URI, TEXT)
        assert client.diagnostics(URI, 1) == []
        children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
        workers = children.read_text().split() if children.exists() else []
        client.change(URI, 2, {"text": TEXT * 50})
        client.process.kill()
        client.process.wait()
        for worker in workers:
            end = time.monotonic() + 30
            while Path(f"/proc/{worker}").exists() and time.monotonic() < end:
                time.sleep(0.05)
            assert not Path(f"/proc/{worker}").exists()
    assert said.read_text() == ""


# --- the base protocol alone ---


def messages(data: bytes, source: random.Random) -> list[object]:
    """What a reader finds in bytes that come in pieces."""
    rest = data

    def read() -> bytes:
        nonlocal rest
        size = source.randrange(1, 40)
        piece, rest = rest[:size], rest[size:]
        return piece

    return list(Reader(read).messages())


def test_the_next_message_is_always_found() -> None:
    source = random.Random(5)
    good = framed(b'{"id": 1}')
    odd = [data for data, _ in MALFORMED.values() if len(data) < 2_000]
    for _ in range(400):
        parts = [source.choice((good, good, source.choice(odd))) for _ in range(6)]
        found = messages(b"".join(parts) + good, source)
        assert found[-1] == {"id": 1}
        assert found.count({"id": 1}) >= parts.count(good) + 1


def test_a_length_that_is_too_long_swallows_nothing() -> None:
    data = framed(b'{"id": 1}', 5_000) + framed(b'{"id": 2}') + framed(b'{"id": 3}')
    assert messages(data, random.Random(1)) == [{"id": 1}, {"id": 2}, {"id": 3}]


def test_one_mistake_is_one_answer() -> None:
    data = b"nonsense\r\n" * 50 + framed(b'{"id": 2}')
    found = messages(data, random.Random(1))
    assert [type(each) for each in found] == [Malformed, dict]
