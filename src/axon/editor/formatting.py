"""The canonical form of a text."""

from __future__ import annotations

from axon.editor.edited_file import EditedFile
from axon.editor.values import Refusal


def formatted(document: EditedFile) -> str | Refusal:
    from axon.format import Formatted, format_text

    found = format_text(document.text, document.name)
    if isinstance(found, Formatted):
        return found.text
    return Refusal(f"it has mistakes in its syntax: {found[0].message}")
