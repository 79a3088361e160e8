"""Data and scripts inside a page, so that nothing in them can act on its own."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

Json = dict[str, Any]


def embedded(model: object) -> str:
    """JSON that is safe inside a script element: no `<`, and nothing but ASCII."""
    text = json.dumps(model, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def hashed(text: str) -> str:
    """What lets the page's own script and style run, and no other."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def cleaned(text: str) -> str:
    """A file's name as text, whatever bytes it is made of."""
    return text.encode("utf-8", "replace").decode("utf-8")
