"""The tokens of a text that have a meaning, for semantic highlighting."""

from __future__ import annotations

from axon.editor.edited_file import EditedFile
from axon.editor.names import Binder, Use
from axon.editor.targets import target_of
from axon.editor.values import Token
from axon.editor.view import View
from axon.source import Source
from axon.syntax import ast
from axon.syntax.lexer import lex
from axon.syntax.tokens import ELEMENT_TYPES, RESERVED

_WORDS = {"op", "import", "as", "where"}
_KINDS = {"int": "number", "float": "number", "string": "string"}


def tokens(document: EditedFile, start: int, end: int) -> list[Token]:
    """Those between two offsets: names by what they stand for, everything else by how it looks."""
    first = document.text.rfind("\n", 0, start) + 1
    last = document.text.find("\n", end)
    text = document.text[first : last if last >= 0 else len(document.text)]
    named = _named(document, first, first + len(text))
    found: list[Token] = []
    read, _ = lex(Source(document.name, text))
    for at, kind in enumerate(read.kinds):
        begin, finish = read.starts[at] + first, read.ends[at] + first
        if kind in ("name", "runtime", "field"):
            begin += read.kinds[at] in ("field", "runtime")
            token = named.get(begin)
            if token is not None:
                found.append(token)
            elif kind == "name":
                found.append(_plain(read.text(at), begin, finish))
            else:
                found.append(Token(begin, finish, "property" if kind == "field" else "variable"))
        elif kind in RESERVED:
            number = kind in ("true", "false", "inf")
            found.append(Token(begin, finish, "number" if number else "keyword"))
        elif kind in _KINDS:
            found.append(Token(begin, finish, _KINDS[kind]))
    found += [Token(c.start + first, c.end + first, "comment") for c in read.comments]
    return sorted(
        (t for t in found if t.end > t.start and t.end > start and t.start < end),
        key=lambda token: token.start,
    )


def _plain(word: str, start: int, end: int) -> Token:
    if word in ELEMENT_TYPES:
        return Token(start, end, "type")
    return Token(start, end, "keyword" if word in _WORDS else "variable")


def _named(document: EditedFile, start: int, end: int) -> dict[int, Token]:
    found: dict[int, Token] = {}
    for view in document.views:
        if view.extent[1] < start or view.extent[0] > end:
            continue
        for use in view.names.uses:
            at = use.start + view.start
            if start <= at < end and at not in found:
                kind = _kind(document, view, use)
                found[at] = Token(at, use.end + view.start, kind, use.kind == "binder")
    return found


def _kind(document: EditedFile, view: View, use: Use) -> str:
    match use.kind:
        case "argument":
            return "parameter"
        case "field":
            return "property"
        case "type" if use.binder is None:
            return "type" if document.find(use.name, view.at, "alias") else "typeParameter"
        case "member":
            if use.node == "type":
                return "type"
            target = target_of(document, view, use)
            return _of(target.binder) if target is not None and target.binder else "property"
        case _:
            pass
    if use.binder is not None:
        return _of(use.binder)
    target = target_of(document, view, use)
    if target is None:
        return "variable"
    return "function" if target.document is None or target.binder is None else _of(target.binder)


def _of(binder: Binder) -> str:
    match binder.kind:
        case "parameter":
            return "parameter"
        case "size" | "variable":
            return "typeParameter"
        case "alias":
            return "type"
        case "import":
            return "namespace"
        case "operator":
            return "function"
        case "field":
            return "property"
        case _:
            return "function" if isinstance(binder.value, ast.Fn) else "variable"
