"""The process that answers the page."""

from __future__ import annotations

from axon.playground.answers import Answers
from axon.processes import serve

MOST_MEMORY = 8 << 30

if __name__ == "__main__":
    serve(Answers().answer, MOST_MEMORY)
