"""The process that answers the page: a line of JSON each, on standard input and output."""

from __future__ import annotations

import json
import os
import sys

from axon.playground.answers import Answers

MOST_MEMORY = 8 << 30


def main() -> None:
    limit_memory(MOST_MEMORY)
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed by mistake is no answer
    answers = Answers()
    for line in source:
        sink.write(json.dumps(answers.answer(json.loads(line))).encode() + b"\n")
        sink.flush()


def limit_memory(most: int) -> None:
    """Where the system can: what takes more fails, and the machine goes on."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has none
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (most if hard < 0 else min(most, hard), hard))


if __name__ == "__main__":
    main()
