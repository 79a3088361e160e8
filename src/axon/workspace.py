"""The process while Axon works: deep recursion is allowed, and the cycle collector rests.

Both belong to the whole process, and several threads may be at work. The first to begin changes
them, and the last to end puts back what there was.
"""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

FRAMES = 60_000
"""Enough for a tree as deep as the parser lets through, in each of the files that import each
other.
"""

_lock = threading.Lock()
_at_work = 0
_before = (True, 0)


@contextmanager
def workspace() -> Iterator[None]:
    """Work in here.

    The cycle collector rests: almost nothing here is circular, and looking for what is makes the
    cost of a large program grow faster than the program. The recursion limit is raised: the parser
    bounds how deep a tree is, but not what Python's caller has used up already.
    """
    _enter()
    try:
        yield
    finally:
        _leave()


def _enter() -> None:
    global _at_work, _before
    with _lock:
        if _at_work == 0:
            _before = gc.isenabled(), sys.getrecursionlimit()
            gc.disable()
            sys.setrecursionlimit(max(_before[1], FRAMES))
        _at_work += 1


def _leave() -> None:
    global _at_work
    with _lock:
        _at_work -= 1
        if _at_work == 0:
            collecting, limit = _before
            sys.setrecursionlimit(limit)
            if collecting:
                gc.enable()
