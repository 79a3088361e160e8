"""A bound on memory, so that a line which wants too much fails, and the session goes on.

Linux promises more memory than there is, and ends a process that uses it. A process with a bound
below that gets an error instead.
"""

from __future__ import annotations

import sys
from pathlib import Path

KEPT_FREE = 0.1
"""The part of the memory that is left to others."""


def bound_memory() -> None:
    """Bound the data of this process by the memory of the machine, or of its container."""
    if sys.platform != "linux":
        return
    import resource

    there = _memory()
    if there is None:
        return
    wanted = int(there * (1 - KEPT_FREE))
    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    known = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
    if all(wanted < each for each in known):
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, hard))


def _memory() -> int | None:
    """How many bytes there are."""
    found = [_number("/sys/fs/cgroup/memory.max")]
    found.append(_number("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemTotal:"):
                found.append(int(line.split()[1]) * 1024)
    except (OSError, ValueError):
        pass
    return min((each for each in found if each), default=None)


def _number(path: str) -> int | None:
    try:
        return int(Path(path).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
