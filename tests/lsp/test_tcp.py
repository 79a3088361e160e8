"""`axon lsp --tcp`: one client, on a port."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path


def test_a_client_on_a_port() -> None:
    source = str(Path(__file__).resolve().parents[2] / "src")
    server = subprocess.Popen(
        [sys.executable, "-m", "axon", "lsp", "--tcp", "0"],
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert server.stderr is not None
    port = int(server.stderr.readline().split()[-1])
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}).encode()
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        client.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        stream = client.makefile("rb")
        length = int(stream.readline().split(b":")[1])
        stream.readline()
        assert json.loads(stream.read(length))["result"]["serverInfo"]["name"] == "axon"
        stream.close()
    assert server.wait(60) == 1  # the client left without a word
    server.stderr.close()
