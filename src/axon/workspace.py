"""Process-wide settings while Axon works: deep recursion is allowed, and the cycle collector is
off.

Both belong to the process, and several threads may work at once. The first to enter changes the
settings, and the last to leave restores them.
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
    """Apply the settings during the block.

    The cycle collector is off: almost nothing here is circular, and searching for cycles makes the
    cost of a large program grow faster than the program. The recursion limit is raised: the parser
    bounds the depth of a tree, but not the stack that the Python caller has used already.
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
