"""The page on this machine, for this machine alone.

Only the files that the page is made of are served: a path is looked up in a table. What checks and
runs programs answers the page only: a request must carry the token that the page was given, and
name this server as its host, so that another site in the same browser gets nothing.
"""

from __future__ import annotations

import hmac
import html
import json
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from axon.playground.processes import CHECK_SECONDS, RUN_SECONDS, Checking, run

LARGEST_BODY = 96 << 20
TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".wasm": "application/wasm",
    ".zip": "application/zip",
    ".onnx": "application/octet-stream",
    ".pt2": "application/octet-stream",
    ".txt": "text/plain; charset=utf-8",
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self'; connect-src 'self'; img-src 'self' data:; worker-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
BUILT = Path(__file__).parent / "built"
CHECKOUT = Path(__file__).parents[3] / "build" / "playground"
"""Where `make play` puts the page together with Python for the browser."""


def files_of_the_page(folders: Sequence[Path] = (BUILT, CHECKOUT)) -> dict[str, Path]:
    """Every file of the page, by its path in the address; none if it was not built."""
    found: dict[str, Path] = {}
    for folder in folders:
        if (folder / "main.js").is_file():
            for path in folder.rglob("*"):
                if path.is_file() and path.suffix in TYPES:
                    found[path.relative_to(folder).as_posix()] = path
    return found


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(
        self,
        files: dict[str, Path],
        port: int = 0,
        check_seconds: float = CHECK_SECONDS,
        run_seconds: float = RUN_SECONDS,
    ) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.files = files
        self.token = secrets.token_urlsafe(24)
        self.checking = Checking(check_seconds)
        self.run_seconds = run_seconds
        self.examples = _examples(files)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"

    def page(self) -> bytes:
        """The page, told where to check, and the token that lets it run programs."""
        text = self.files["index.html"].read_text(encoding="utf-8")
        where = "browser" if "pyodide/pyodide.mjs" in self.files else "server"
        for name, content in (("axon-checker", where), ("axon-token", self.token)):
            start, found, rest = text.partition(f'<meta name="{name}" content="')
            assert found, f"the page has no {name}"
            text = start + found + html.escape(content) + rest[rest.index('"') :]
        return text.encode()

    def server_close(self) -> None:
        super().server_close()
        self.checking.close()


def _examples(files: dict[str, Path]) -> dict[str, str]:
    if "examples.json" not in files:
        return {}
    listed = json.loads(files["examples.json"].read_text(encoding="utf-8"))
    return {each["name"]: each["text"] for each in listed}


@contextmanager
def serving(port: int = 0) -> Iterator[Server]:
    """A server that is closed at the end; raises `OSError` if the port is taken."""
    server = Server(files_of_the_page(), port)
    try:
        yield server
    finally:
        server.server_close()


class Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "axon"
    sys_version = ""
    timeout = 60

    def do_GET(self) -> None:
        if not self._is_for_this_host():
            return self._say(HTTPStatus.FORBIDDEN, "This page is served to this machine only.")
        path = self.path.partition("?")[0].removeprefix("/") or "index.html"
        if path == "index.html":
            return self._send(HTTPStatus.OK, self.server.page(), TYPES[".html"])
        found = self.server.files.get(path)
        if found is None:
            return self._say(HTTPStatus.NOT_FOUND, "There is no such file.")
        return self._send(HTTPStatus.OK, found.read_bytes(), TYPES[found.suffix])

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        if not self._is_of_the_page():
            return self._say(HTTPStatus.FORBIDDEN, "Only the page itself may ask.")
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > LARGEST_BODY:
            return self._say(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The request is too large.")
        try:
            request = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            return self._say(HTTPStatus.BAD_REQUEST, "The request is not JSON.")
        if not isinstance(request, dict):
            return self._say(HTTPStatus.BAD_REQUEST, "The request is no object.")
        match self.path:
            case "/api/answer":
                answer = self.server.checking.answer(request)
            case "/api/run":
                answer = run(request, self.server.examples, self.server.run_seconds)
            case _:
                return self._say(HTTPStatus.NOT_FOUND, "There is no such thing to ask.")
        return self._send(HTTPStatus.OK, json.dumps(answer).encode(), TYPES[".json"])

    def _is_for_this_host(self) -> bool:
        """Another name for this machine, that some site chose, is no name of this server."""
        port = self.server.server_address[1]
        return self.headers.get("Host", "") in (f"127.0.0.1:{port}", f"localhost:{port}")

    def _is_of_the_page(self) -> bool:
        origin = self.headers.get("Origin")
        return (
            self._is_for_this_host()
            and origin in (None, f"http://{self.headers['Host']}")
            and hmac.compare_digest(
                self.headers.get("X-Axon-Token", "").encode(), self.server.token.encode()
            )
        )

    def _say(self, status: HTTPStatus, text: str) -> None:
        self.close_connection = True
        self._send(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the terminal is the user's."""
