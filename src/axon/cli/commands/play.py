"""`axon play`: the playground on this machine."""

from __future__ import annotations

import argparse

from axon.cli.out import complain, say
from axon.cli.status import FINE, WRONG_USAGE

BUILD = (
    "the page is not built: `make play` in a checkout of Axon builds it (needs node 20 or newer)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="default: a free one")
    parser.add_argument("--no-browser", action="store_true", help="print the address only")


def _port(text: str) -> int:
    if not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text[:20]} is no port: a number up to 65535")
    return int(text)


def run(options: argparse.Namespace) -> int:
    from axon.playground.server import files_of_the_page, serving

    if "index.html" not in files_of_the_page():
        complain(BUILD)
        return WRONG_USAGE
    try:
        with serving(options.port) as server:
            say(f"the playground is at {server.address} (Ctrl-C ends it)")
            if not options.no_browser:
                import webbrowser

                webbrowser.open(server.address)
            try:
                server.serve_forever()
            except KeyboardInterrupt:
                return FINE
    except OSError as problem:
        complain(f"port {options.port}: {problem.strerror or problem}")
        return WRONG_USAGE
    return FINE
