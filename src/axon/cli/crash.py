"""A bug of ours: a sentence for the user, and a report in a file for those who mend it."""

from __future__ import annotations

import platform
import sys
import tempfile
import traceback
from collections.abc import Sequence

from axon import __version__


def report(bug: Exception, arguments: Sequence[str]) -> str:
    """Write the report, and say where it is. It holds the command and the traceback, no file of
    the user's.
    """
    lines = [
        f"axon {__version__}, Python {platform.python_version()}, {platform.platform()}",
        f"command: {[*arguments]!r}",
        "",
        *traceback.format_exception(bug),
    ]
    what = f"a bug in Axon, please report it: {type(bug).__name__}: {bug}"
    try:
        with tempfile.NamedTemporaryFile(
            "w", prefix="axon-bug-", suffix=".txt", delete=False, encoding="utf-8"
        ) as file:
            file.write("\n".join(lines).encode("utf-8", "replace").decode("utf-8"))
    except OSError:
        traceback.print_exception(bug, file=sys.stderr)
        return what
    return f"{what} (details in {file.name})"
