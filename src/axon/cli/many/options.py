"""The options for many files at once. What reads them is imported where there are many."""

from __future__ import annotations

import argparse
import contextlib
import math

SECONDS = 60.0
MEGABYTES = 4096
LEAST_MEGABYTES = 256
"""What a process needs that reads models, before it reads any."""
MOST_JOBS = 256


def add_limits(parser: argparse.ArgumentParser) -> None:
    many = parser.add_argument_group("many files at once (a folder, or any of these)")
    many.add_argument(
        "--jobs", type=_jobs, metavar="N", help="how many at a time; all processors if not given"
    )
    many.add_argument(
        "--timeout",
        type=_seconds,
        metavar="SECONDS",
        help=f"how long one may take; {SECONDS:g} if not given",
    )
    many.add_argument(
        "--memory",
        type=_megabytes,
        metavar="MB",
        help=f"how much memory one may take; {MEGABYTES} if not given",
    )


def _jobs(text: str) -> int:
    return _number(text, 1, MOST_JOBS)


def _megabytes(text: str) -> int:
    return _number(text, LEAST_MEGABYTES, 1 << 30)


def _number(text: str, least: int, most: int) -> int:
    digits = text.isascii() and text.isdigit() and len(text) < 16
    if not digits or not least <= int(text) <= most:
        raise argparse.ArgumentTypeError(f"{text[:30]!r} is no number from {least} to {most}")
    return int(text)


def _seconds(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0 < (seconds := float(text)) < math.inf:
            return min(seconds, 1e6)
    raise argparse.ArgumentTypeError(f"{text[:30]!r} is no number of seconds above 0")
