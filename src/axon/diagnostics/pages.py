"""The page of an error code: what it means, an example, and how to mend it.

The pages are written in `docs/errors`. A wheel carries them inside this package; a checkout
(an editable install) has them only in its docs. So both places are tried, in that order.
"""

from __future__ import annotations

import re
from pathlib import Path

_HERE = Path(__file__).resolve()
_PLACES = (_HERE.parent / "error_pages", _HERE.parents[3] / "docs" / "errors")
_CODE = re.compile(r"AX[0-9]{3}")


def titles() -> list[tuple[str, str]]:
    """Every code that has a page, with the title of it."""
    for place in _PLACES:
        paths = sorted(place.glob("AX[0-9]*.md"))
        if paths:
            return [(path.stem, _title(path)) for path in paths]
    return []


def _title(path: Path) -> str:
    first = path.read_text(encoding="utf-8").partition("\n")[0]
    return first.lstrip("# ").removeprefix(path.stem).lstrip(": ")


def page(code: str) -> str | None:
    """The text (Markdown) of a code's page, or None when there is no such code."""
    if not _CODE.fullmatch(code):
        return None
    for place in _PLACES:
        path = place / f"{code}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    return None
