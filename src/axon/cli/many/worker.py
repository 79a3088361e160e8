"""The process that infers one model after the other.

    python -m axon.cli.many.worker MEMORY OPTIONS

An answer is what `axon infer --json FILE` prints, with how it went (`outcome`) and a sentence about
that. It says so itself if there was too little memory: then it has failed, but not ended.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import axon.driver  # noqa: F401  before the time of a file counts
from axon.cli.commands.infer import infer_document
from axon.cli.status import FINE
from axon.files import Unreadable
from axon.processes import serve

Json = dict[str, Any]


def answer(path: str, options: argparse.Namespace) -> Json:
    try:
        document, status = infer_document(path, options)
    except MemoryError:
        return {"outcome": "memory"}
    except Unreadable as problem:
        return {"outcome": "unreadable", "message": str(problem)}
    except Exception as bug:
        from axon.cli.crash import report

        return {"outcome": "bug", "message": report(bug, ["infer", path])}
    return {"outcome": "fine" if status == FINE else "errors", **document}


def main() -> None:
    memory, options = int(sys.argv[1]), argparse.Namespace(**json.loads(sys.argv[2]))
    serve(lambda path: answer(path, options), memory)


if __name__ == "__main__":
    main()
