"""A limit of the processor's time for one piece of work: a busy machine changes nothing."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType
from typing import TypeVar

T = TypeVar("T")


class OutOfTime(BaseException):
    """The limit is over. No `Exception`, so that nothing on the way takes it for one of its own."""


def within(seconds: float, work: Callable[[], T]) -> T:
    """What the work gives, if that does not take longer."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return work()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
