"""Output to the terminal: text in which nothing moves the cursor.

File names, the names in a file of arrays and those in a model are untrusted. Their control
characters are named, `<U+001B>`, instead of sent. (Diagnostics do this themselves, and may be in
colour.)
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

from axon.cli.status import WRONG_USAGE

if TYPE_CHECKING:
    from axon.diagnostics import Diagnostic

COLOUR_CHOICES = ("auto", "always", "never")

# What JSON lets through and a terminal might obey: DEL, the C1 controls, marks of direction.
_UNSAFE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def safe(text: str) -> str:
    """A text of some lines, each safe to send."""
    from axon.diagnostics.cells import shown

    return "\n".join(map(shown, text.split("\n")))


def say(text: str) -> None:
    print(safe(text))


def complain(text: str) -> None:
    """One sentence about the request, on standard error."""
    print(f"axon: {safe(text)}", file=sys.stderr)


FORMAT = 1
"""The version of the documents that commands print with `--json`: it grows when a script that reads
them would have to change. `schema.json` describes them.
"""


def say_json(document: dict[str, object]) -> None:
    """A document as JSON, with unsafe characters escaped."""
    import json

    text = json.dumps({"format": FORMAT, **document}, indent=2, ensure_ascii=False)
    print(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def wrong(sentence: str) -> int:
    """Say why a request cannot be carried out; the status of wrong usage."""
    complain(sentence)
    return WRONG_USAGE


def print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    """Diagnostics as text on standard error, in colour where a person reads it."""
    if not diagnostics:
        return
    from axon.diagnostics.text import render_all

    sys.stdout.flush()
    print(render_all(diagnostics, in_colour(sys.stderr)), file=sys.stderr)


# --- colour
# ----------------------------------------------------------------------------------------------

_chosen = COLOUR_CHOICES[0]


def choose_colour(choice: str) -> None:
    """Take what `--color` says for the rest of the process."""
    global _chosen
    _chosen = choice


def in_colour(stream: TextIO) -> bool:
    """Whether to write colours there: as was chosen, else on a terminal unless NO_COLOR is set."""
    if _chosen != "auto":
        return _chosen == "always"
    return stream.isatty() and not os.environ.get("NO_COLOR")
