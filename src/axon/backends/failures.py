"""Why a run failed, where the values or the sizes are the reason. Another exception is a bug.

What an array library raises is told apart by the backend that uses it (`failure`), since some
libraries have no class of exception for it, but only words.
"""

from __future__ import annotations

from typing import Any

from axon.backends.checks import CheckFailed, Untraceable
from axon.backends.nature import DoesNotFit
from axon.backends.ragged import RaggedError
from axon.backends.segments.frames import NotFlat
from axon.ops.memory import Refused

NO_MEMORY = "there is not enough memory"
TOO_LARGE = "an array on the way would be larger than there can be"


class NotASize(Exception):
    """A computed value that cannot be a size, or a shape, with the reason as a sentence."""


EXPECTED = (NotFlat, CheckFailed, Untraceable, RaggedError, DoesNotFit)
"""What is raised on purpose: for a form that does not exist, a condition that does not hold."""


def is_expected(problem: Exception, arrays: Any) -> bool:
    """Whether the exception is about the program, its values or its sizes, so that a slower route
    may be tried, which fails in the same way or succeeds. Any other is a bug of ours.
    """
    if isinstance(problem, (*EXPECTED, *arrays.tracing_errors)):
        return True
    return reason(problem) is not None or arrays.failure(problem) is not None


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
