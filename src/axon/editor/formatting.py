"""The canonical form of a text."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from axon.editor.document import Document
from axon.editor.values import Refusal


def formatted(document: Document) -> str | Refusal:
    if find_spec("axon.format") is None:
        return Refusal("this version of Axon has no formatter")
    if any(d.code.startswith("AX00") and d.severity == "error" for d in document.diagnostics):
        return Refusal("a text with mistakes that keep it from being read is left as it is")
    text = import_module("axon.format").format_text(document.text)
    return text if isinstance(text, str) else Refusal("the text cannot be formatted")
