"""`axon play`: what it serves, to whom, and what it does with what takes too long."""

from __future__ import annotations

import http.client
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from axon.cli import main
from axon.playground import server
from axon.playground.processes import Checking, run
from axon.playground.server import Server
from axon.processes import environment

PAGE = '<meta name="axon-checker" content="browser"><meta name="axon-token" content="">'
SLOW = "main = fn (x : f32 [n]) { fold(0f, fn (s, y) { s + y * sum(ones([3000,3000])) }, x) };"
HUGE = "".join(f"f{i} = fn (x, w) {{ relu(matmul(x, w)) }};\n" for i in range(20_000))


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "built"
    folder.mkdir()
    (folder / "index.html").write_text(PAGE)
    (folder / "main.js").write_text("let a;")
    (folder / "secret.md").write_text("no part of the page")
    (tmp_path / "outside.js").write_text("outside")
    return folder


@pytest.fixture
def served(built: Path) -> Iterator[Server]:
    made = Server(server.files_of_the_page((built,)), check_seconds=20)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()
    thread.join()


def ask(
    to: Server, method: str, path: str, body: str | None = None, **headers: str
) -> tuple[int, http.client.HTTPMessage, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", to.server_address[1], timeout=60)
    connection.putrequest(method, path, skip_host="Host" in headers)
    for name, value in headers.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body.encode() if body is not None else None)
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found


def test_the_page_has_a_token_and_a_policy(served: Server) -> None:
    status, headers, body = ask(served, "GET", "/")
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    assert f'content="{served.token}"' in body.decode()
    assert 'name="axon-checker" content="server"' in body.decode()
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "script-src 'self' 'wasm-unsafe-eval';" in policy
    assert "unsafe-inline" not in policy and "'unsafe-eval'" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path",
    [
        "/../outside.js", "/..%2foutside.js", "//etc/passwd", "/secret.md", "/main.js/",
        "/%2e%2e/outside.js", "/nothing", "/main.js%00",
    ],
)  # fmt: skip
def test_other_files_are_not_served(served: Server, path: str) -> None:
    status, _, body = ask(served, "GET", path)
    assert status == 404 and b"outside" not in body and b"no part" not in body


def test_files_have_their_types(served: Server) -> None:
    status, headers, body = ask(served, "GET", "/main.js?x=1")
    assert (status, headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")
    assert body == b"let a;"
    status, headers, body = ask(served, "HEAD", "/main.js")
    assert (status, headers["Content-Length"], body) == (200, "6", b"")


def test_another_name_of_this_machine_is_refused(served: Server) -> None:
    """A site may give its own name this machine's address."""
    assert ask(served, "GET", "/", Host="evil.example")[0] == 403
    port = served.server_address[1]
    assert ask(served, "GET", "/", Host=f"localhost:{port}")[0] == 200


def test_only_the_page_may_ask(served: Server) -> None:
    body = json.dumps({"kind": "check", "text": "f = fn (x) { x };"})
    token, own = served.token, served.address.rstrip("/")
    assert ask(served, "POST", "/api/answer", body)[0] == 403
    assert ask(served, "POST", "/api/answer", body, X_Axon_Token="é")[0] == 403
    other = ask(served, "POST", "/api/answer", body, X_Axon_Token=token, Origin="http://a.example")
    assert other[0] == 403
    status, _, answer = ask(served, "POST", "/api/answer", body, X_Axon_Token=token, Origin=own)
    assert status == 200 and json.loads(answer)["names"] == ["f"]


@pytest.mark.parametrize(
    ("body", "status"), [("{", 400), ("[]", 400), ("[" * 100_000, 400), ('{"kind": 1}', 200)]
)
def test_what_is_no_request_is_answered(served: Server, body: str, status: int) -> None:
    assert ask(served, "POST", "/api/answer", body, X_Axon_Token=served.token)[0] == status


def test_too_large_a_request_is_refused(served: Server) -> None:
    headers = {"X_Axon_Token": served.token, "Content_Length": str(1 << 40)}
    assert ask(served, "POST", "/api/answer", None, **headers)[0] == 413
    assert ask(served, "POST", "/api/nothing", "{}", X_Axon_Token=served.token)[0] == 404


def test_a_check_that_takes_too_long_is_stopped_and_the_next_is_answered() -> None:
    checking = Checking(seconds=1.5)
    assert checking.answer({"kind": "check", "text": HUGE}) == {"stopped": True}
    checking.seconds = 60  # what is not slow may need long on a busy machine
    assert checking.answer({"kind": "check", "text": "f = 1;"})["names"] == ["f"]
    checking.close()


def test_a_checker_that_ends_is_told_and_started_again() -> None:
    checking = Checking(seconds=60)
    checking.answer({"kind": "check", "text": ""})
    process = checking.worker.process
    assert process is not None
    process.send_signal(signal.SIGSTOP)  # so that it is there when it is asked
    threading.Timer(0.3, process.kill).start()
    assert "bug" in checking.answer({"kind": "check", "text": ""})
    assert checking.answer({"kind": "check", "text": "g = 1;"})["names"] == ["g"]
    checking.close()


def asked(**more: Any) -> dict[str, Any]:
    text = "f = fn (x : f32 [n,3]) { sum(x, axis=0) };"
    return {"text": text, "definition": "f", "arguments": ["x=ones[2,3]"], **more}


def test_a_definition_is_run() -> None:
    found = run(asked(), {})
    assert found["status"] == 0 and "2" in found["output"] and "f32 [3]" in found["output"]
    found = run(asked(arguments=["x=ones[2,4]"]), {})
    assert found["status"] == 1 and "4" in found["output"]
    importing = 'import "other.axon" as o;\nf = fn (x : f32 [n,3]) { o.g(x) };'
    found = run(asked(text=importing), {"other.axon": "g = fn (x) { x + 1f };"})
    assert found["status"] == 0, found["output"]


@pytest.mark.parametrize(
    "more",
    [
        {"arguments": ["--save=/tmp/x"]}, {"arguments": ["x"]}, {"arguments": "x=1"},
        {"arguments": [1]}, {"definition": "--help"}, {"definition": None}, {"text": None},
        {"arguments": ["x=1\0"]},
    ],
)  # fmt: skip
def test_what_is_no_run_is_refused(more: dict[str, Any]) -> None:
    assert "error" in run(asked(**more), {})


def test_the_name_of_a_program_leads_nowhere_else() -> None:
    found = run(asked(name="../../x.axon"), {})
    assert found["status"] == 0, found["output"]


def test_a_run_without_end_is_stopped() -> None:
    found = run(asked(text=SLOW, definition="main", arguments=["x=zeros[10000000]"]), {}, 3)
    assert "longer than 3 seconds" in found["error"]


def test_without_a_page_the_command_says_how_to_build_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(server, "files_of_the_page", dict)
    assert main(["play", "--no-browser"]) == 2
    assert "`make play`" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["x", "70000", "-1"])
def test_a_port_is_a_number(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", f"--port={port}"]) == 2
    assert "is no port" in capsys.readouterr().err


def test_the_command_serves_until_it_is_interrupted(built: Path) -> None:
    code = (
        "import pathlib, sys; from axon.playground import server; from axon.cli import main\n"
        "server.BUILT = server.CHECKOUT = pathlib.Path(sys.argv[1])\n"
        "server.files_of_the_page.__defaults__ = ((server.BUILT,),)\n"
        "sys.exit(main(['play', '--no-browser']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(built)],
        stdout=subprocess.PIPE,
        text=True,
        env={**environment(), "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    assert found, line
    connection = http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=30)
    connection.request("GET", "/main.js")
    assert connection.getresponse().read() == b"let a;"
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stdout.close()
