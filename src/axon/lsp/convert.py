"""Values of the editor as the protocol has them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from axon import stdlib
from axon.diagnostics import Diagnostic
from axon.editor import TOKEN_KINDS, Completion, Hint, Lines, Place, Symbol, Token

Json = dict[str, object]

SEVERITY = {"error": 1, "warning": 2, "note": 3}
COMPLETION = {
    "variable": 6, "parameter": 6, "function": 3, "operator": 3, "attribute": 10, "field": 5,
    "size": 25, "type": 7, "module": 9, "keyword": 14,
}  # fmt: skip
SYMBOL = {"function": 12, "value": 14, "operator": 25, "type": 23, "import": 2, "local": 13}
LONGEST_MESSAGE = 4_000


def name_of(uri: str) -> str:
    """The name of a file: its path, or the URI if it is on no disk."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return uri
    path = unquote(parts.path)
    if len(path) > 2 and path[0] == "/" and path[2] == ":":
        path = path[1:]  # /c:/net.axon
    return path


def uri_of(name: str) -> str:
    """The URI of a file by its name; those of the standard library are on the disk."""
    if stdlib.find(name) is not None:
        path = Path(stdlib.__file__).parent / name.removeprefix(stdlib.PREFIX)
        return path.as_uri()
    if name.startswith("/"):
        return f"file://{quote(name)}"
    if len(name) > 1 and name[1] == ":" and name[0].isalpha():
        return f"file:///{quote(name)}"
    return name


def position(lines: Lines, offset: int) -> Json:
    line, column = lines.position(offset)
    return {"line": line, "character": column}


def range_(lines: Lines, start: int, end: int) -> Json:
    return {"start": position(lines, start), "end": position(lines, end)}


def location(uri: str, lines: Lines, place: Place) -> Json:
    return {"uri": uri, "range": range_(lines, place.start, place.end)}


def markdown(text: str) -> Json:
    return {"kind": "markdown", "value": text}


def message(diagnostic: Diagnostic) -> str:
    """All that a diagnostic says but for its other places."""
    parts = [diagnostic.message]
    parts += [label.text for label in diagnostic.labels if label.primary and label.text]
    parts += [f"note: {note}" for note in diagnostic.notes]
    parts += [f"help: {help}" for help in diagnostic.help]
    text = "\n".join(dict.fromkeys(parts))
    return text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"


def hint(lines: Lines, found: Hint) -> Json:
    made: Json = {
        "position": position(lines, found.at),
        "label": f": {found.text}",
        "kind": 2 if found.kind == "parameter" else 1,
        "paddingLeft": False,
    }
    if found.text != found.full:
        made["tooltip"] = markdown(f"```axon\n{found.full[:LONGEST_MESSAGE]}\n```")
    return made


def completion(lines: Lines, found: Completion, at: int) -> Json:
    return {
        "label": found.label,
        "kind": COMPLETION[found.kind],
        "detail": found.detail[:300],
        "sortText": f"{found.rank}{at:04d}",
        "filterText": found.label,
        "textEdit": {
            "range": range_(lines, found.place.start, found.place.end),
            "newText": found.insert or found.label,
        },
        "data": found.kind,
    }


def symbol(lines: Lines, found: Symbol) -> Json:
    whole = found.whole
    start, end = min(whole.start, found.place.start), max(whole.end, found.place.end)
    return {
        "name": found.name,
        "kind": SYMBOL[found.kind],
        "detail": found.detail,
        "range": range_(lines, start, end),
        "selectionRange": range_(lines, found.place.start, found.place.end),
        "children": [symbol(lines, child) for child in found.children],
    }


def semantic(lines: Lines, tokens: Iterable[Token]) -> list[int]:
    """Five numbers for each token, the place relative to the token before. None spans lines."""
    data: list[int] = []
    line = column = 0
    for token in tokens:
        at, start = lines.position(token.start)
        last, end = lines.position(token.end)
        if last != at or end <= start:
            continue
        kind = TOKEN_KINDS.index(token.kind)
        data += (at - line, start - column if at == line else start, end - start, kind)
        data.append(int(token.declaration))
        line, column = at, start
    return data
