"""Why a run failed, where the values or the sizes are the reason. Another exception is a bug.

What an array library raises is told apart by the backend that uses it (`failure`), since some
libraries have no class of exception for it, but only words.
"""

from __future__ import annotations

from axon.backends.rowwise import NotASize
from axon.ops.memory import Refused

NO_MEMORY = "there is not enough memory"
TOO_LARGE = "an array on the way would be larger than there can be"


def reason(problem: Exception) -> str | None:
    """The reason, if the exception is one of Axon or of Python; None if it may be a bug."""
    match problem:
        case Refused() | NotASize():
            return str(problem)
        case ZeroDivisionError():
            return "a size is divided by zero"
        case IndexError():
            return out_of_range(problem)
        case MemoryError():
            return NO_MEMORY
        case OverflowError():
            return "a number on the way is larger than an array can hold"
        case _:
            return None


def out_of_range(problem: Exception) -> str:
    return f"an index is out of range: {problem}"
