"""`axon lsp`: the language server."""

from __future__ import annotations

import argparse
import sys

from axon.cli.out import complain
from axon.cli.status import WRONG_USAGE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stdio", action="store_true", help="on standard input and output (default)"
    )
    parser.add_argument(
        "--tcp", metavar="[HOST:]PORT", help="wait for one client on a port, instead"
    )
    parser.add_argument(
        "--limit", type=float, default=10.0, metavar="SECONDS", help="the most that one check takes"
    )


def run(options: argparse.Namespace) -> int:
    from axon.lsp.server import serve, serve_tcp

    if options.tcp is None:
        return serve(sys.stdin.buffer, sys.stdout.buffer, options.limit)
    host, _, port = options.tcp.rpartition(":")
    if not port.isdigit() or int(port) > 65535:
        complain(f"--tcp {options.tcp}: a port is a number up to 65535")
        return WRONG_USAGE
    return serve_tcp(
        host or "127.0.0.1",
        int(port),
        options.limit,
        lambda port: print(f"listening on port {port}", file=sys.stderr, flush=True),
    )
