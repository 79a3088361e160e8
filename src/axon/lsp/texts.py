"""The open texts, and the changes to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.lsp.messages import Params, Wrong
from axon.source import Lines

MOST_CHANGES = 100


def changed(text: str, changes: Params) -> str:
    """A text after the changes of a notification; a list with a mistake in it changes nothing."""
    for change in changes.items:
        new = change["text"].text
        if not change.has("range"):
            text = new
            continue
        lines = Lines(text)
        start = lines.offset(*change["range"]["start"].position)
        end = lines.offset(*change["range"]["end"].position)
        text = text[: min(start, end)] + new + text[max(start, end) :]
    return text


@dataclass(slots=True)
class _Text:
    text: str
    language: object
    version: object
    changes: list[object] = field(default_factory=list)


class Texts:
    """The open texts as the client has told them, for a worker that begins anew."""

    def __init__(self) -> None:
        self._open: dict[str, _Text] = {}

    def notified(self, method: str, params: object) -> str | None:
        """The file that a notification is about, if it is one about a text."""
        try:
            document = Params(params)["textDocument"]
            uri = document["uri"].text
            if method == "textDocument/didOpen":
                self._open[uri] = _Text(
                    document["text"].text, document.get("languageId"), document.get("version")
                )
            elif method == "textDocument/didChange" and uri in self._open:
                text = self._open[uri]
                text.changes.append(Params(params)["contentChanges"].value)
                text.version = document.get("version")
                if len(text.changes) > MOST_CHANGES:
                    _settle(text)
            elif method == "textDocument/didClose":
                self._open.pop(uri, None)
        except Wrong:
            return None
        return uri

    def opened(self) -> Iterator[dict[str, object]]:
        """The notifications that open the texts as they are."""
        for uri, text in self._open.items():
            _settle(text)
            document = {"uri": uri, "languageId": text.language, "version": text.version}
            params = {"textDocument": {**document, "text": text.text}}
            yield {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": params}


def _settle(text: _Text) -> None:
    for change in text.changes:
        try:
            text.text = changed(text.text, Params(change))
        except Wrong:
            continue
    text.changes.clear()
