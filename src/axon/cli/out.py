"""Output to the terminal: text in which nothing moves the cursor.

File names, the names in a file of arrays and those in a model are untrusted. Their control
characters are named, `<U+001B>`, instead of sent. (Diagnostics do this themselves, and may be in
colour.)
"""

from __future__ import annotations

import re
import sys

from axon.diagnostics.cells import shown

# What JSON lets through and a terminal might obey: DEL, the C1 controls, marks of direction.
_UNSAFE = re.compile("[\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


def safe(text: str) -> str:
    """A text of some lines, each safe to send."""
    return "\n".join(map(shown, text.split("\n")))


def say(text: str) -> None:
    print(safe(text))


def complain(text: str) -> None:
    """One sentence about the request, on standard error."""
    print(f"axon: {safe(text)}", file=sys.stderr)


def say_json(document: object) -> None:
    """A document as JSON, with unsafe characters escaped."""
    import json

    text = json.dumps(document, indent=2, ensure_ascii=False)
    print(_UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text))
