"""Element types as the values of attributes.

Not among the modules that are compiled (`hatch_build.py`): there a class cannot be a `str`.
"""

from __future__ import annotations


class Elem(str):
    """An element type, as the value of an attribute."""

    __slots__ = ()
