"""Whether the extra is installed. The check does not load it."""

from __future__ import annotations

import sys
from importlib.util import find_spec

INSTALL = "pip install 'axon-shapes[prove]'"
_MODULES = ("islpy", "z3")


def missing() -> tuple[str, ...]:
    """The modules of the extra that are not installed."""
    return tuple(name for name in _MODULES if not _is_there(name))


def _is_there(name: str) -> bool:
    if name in sys.modules:
        return sys.modules[name] is not None
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False
