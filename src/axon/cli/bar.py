"""A progress bar on the terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType

PATIENCE_S = 1.0
WIDTH = 32


class Bar:
    """Updated at each step, shown after a while, removed at the end."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.shown = False

    def __enter__(self) -> Bar:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.clear()

    def clear(self) -> None:
        """Make room for other lines; it is shown again at the next step."""
        if self.shown:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.shown = False

    def __call__(self, done: int, total: int) -> None:
        taken = time.monotonic() - self.began
        if taken < PATIENCE_S:
            return
        self.shown = True
        full = WIDTH * done // max(total, 1)
        bar = "█" * full + "░" * (WIDTH - full)
        print(f"\r{bar} {done}/{total} {taken:.0f} s", end="", file=sys.stderr, flush=True)
