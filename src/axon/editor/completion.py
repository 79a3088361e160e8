"""What may be written at the cursor. The text around it may be half written: what is before the
cursor is read as tokens, and the tree is used for the names that it has.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from axon import stdlib
from axon.editor.calls import call_around, callee_of, visible_binder
from axon.editor.edited_file import EditedFile
from axon.editor.names import Binder
from axon.editor.outline import nodes_around
from axon.editor.reference import operator_signature, written
from axon.editor.targets import imported_file
from axon.editor.values import Completion, Place
from axon.editor.view import View
from axon.ops import OPERATORS
from axon.source import Source, Span
from axon.syntax import ast
from axon.syntax.lexer import lex
from axon.syntax.tokens import CLOSER, ELEMENT_TYPES, OPENER
from axon.types.type import Fn, Record, Type

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*'*\Z")
_NUMBER = re.compile(r"(?<![A-Za-z0-9_'])[0-9]+\.?\Z")
_REST = re.compile(r"[A-Za-z0-9_]*'*")
_BOUND = re.compile(r"(?:^|[\s;{(,])([A-Za-z_]\w*'*)\s*(?=[:,)]|=(?!=))")
_KEYWORDS = ("fn", "if", "else", "and", "or", "not", "true", "false", "inf")
_ITEMS = ("import", "op", "type")
MOST = 1_000


def completions(document: EditedFile, offset: int) -> list[Completion]:
    text = document.text
    word = _WORD.search(text, max(0, offset - 100), offset)
    start = word.start() if word is not None else offset
    rest = _REST.match(text, offset)
    place = Place(document.name, start, rest.end() if rest is not None else offset)
    line = text.rfind("\n", 0, offset) + 1
    if _in_comment_or_string(text[line:offset]):
        return []
    view = document.view_at(offset)
    prefix = text[start:offset]
    if _NUMBER.search(text, max(0, start - 100), start):
        return []
    if start and text[start - 1] == ".":
        found = list(_members(document, view, start - 1, place))
    else:
        before = _before(document, view, start)
        found = list(_plain(document, view, start, before, place))
    fits = [c for c in found if _fits(prefix, c.label)]
    unique = {c.label: c for c in reversed(fits)}
    ranked = sorted(
        unique.values(), key=lambda c: (c.rank, not c.label.startswith(prefix), c.label)
    )
    return ranked[:MOST]


def _fits(prefix: str, label: str) -> bool:
    """Whether a label begins with what is written, or has its letters in order."""
    if not prefix:
        return True
    if label[:1].lower() != prefix[0].lower():
        return False
    letters = iter(label.lower())
    return all(letter in letters for letter in prefix.lower())


def _in_comment_or_string(line: str) -> bool:
    """Whether the end of a line is in a comment or a string."""
    string = False
    for at, letter in enumerate(line):
        if letter == '"' and (not string or line[at - 1] != "\\"):
            string = not string
        elif letter == "#" and not string:
            return True
    return string


def _before(document: EditedFile, view: View | None, offset: int) -> list[tuple[str, str]]:
    """The tokens of the definition before an offset: their kinds and texts."""
    start = min(view.extent[0], offset) if view is not None else 0
    read, _ = lex(Source("", document.text[start:offset]))
    return [(kind, read.text(at)) for at, kind in enumerate(read.kinds[:-1])]


def _in_type(tokens: list[tuple[str, str]]) -> bool:
    """Whether a type is written here: after the `:` of a parameter, a result or a declaration, or
    after the `=` of a type, up to where that ends.
    """
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        kind, text = tokens[at]
        if kind in OPENER:
            depth += 1
        elif kind in CLOSER:
            if depth == 0 and kind == "{":
                return at > 1 and tokens[at - 1][0] in ("=", ":") and _in_type(tokens[:at])
            depth = max(depth - 1, -1) if depth else 0
            if depth == 0 and kind == "(" and at and tokens[at - 1][0] == "fn":
                return False
        elif depth == 0 and kind == ":":
            return True
        elif depth == 0 and kind in (";", "}"):
            return False
        elif depth == 0 and kind == "=":
            return at > 1 and any(t == ("type", "type") for t in tokens[max(0, at - 8) : at])
        elif depth == 0 and kind == "name" and text == "where":
            return True
        elif depth == 0 and kind == "," and not _in_type(tokens[:at]):
            return False
        elif depth == 0 and kind == ",":
            return _in_brackets(tokens[:at])
    return False


def _in_brackets(tokens: list[tuple[str, str]]) -> bool:
    """Whether the innermost open bracket is one of a type: not that of the parameters of a `fn`."""
    depth = 0
    for at in range(len(tokens) - 1, -1, -1):
        kind = tokens[at][0]
        if kind in OPENER:
            depth += 1
        elif kind in CLOSER:
            if depth == 0:
                return not (at and tokens[at - 1][0] == "fn")
            depth -= 1
    return False


# --- after a dot -----------------------------------------------------------------------------


def _members(
    document: EditedFile, view: View | None, dot: int, place: Place
) -> Iterator[Completion]:
    """The names of an imported file, or the fields of a record."""
    if view is None:
        return
    word = _WORD.search(document.text, max(0, dot - 100), dot)
    if word is not None and document.text[word.start() - 1 : word.start()] != ".":
        binder = visible_binder(view, word.group(), dot - view.start)
        other = imported_file(document, view, word.group()) if binder is None else None
        if other is not None:
            yield from _names_of(other, place)
            return
    type_ = _record_type(document, view, dot)
    if isinstance(type_, Record):
        for name, item in type_.fields.items():
            yield Completion(name, "field", place, view.noted.text(item), name)


def _names_of(other: EditedFile, place: Place) -> Iterator[Completion]:
    for view, binder in other.outer_names():
        if binder.kind == "import":
            continue
        signature = next((s for s in view.signatures if s.name == binder.name), None)
        detail = signature.signature if signature is not None else ""
        yield Completion(binder.name, _kind(binder, detail), place, detail, binder.name)


def _record_type(document: EditedFile, view: View, dot: int) -> Type | None:
    """The type of what is before a dot, which binds stronger than any sign."""
    at = dot - view.start
    whole = [n for n in nodes_around(view.item, at) if n.span.end == at]
    for node in sorted(whole, key=lambda n: -n.span.start):
        type_ = view.noted.type_of(node)
        if type_ is not None:
            return type_
    word = re.search(
        r"[A-Za-z_][\w']*(?:\.[A-Za-z_][\w']*)*\Z", document.text[max(0, dot - 200) : dot]
    )
    if word is None:
        return None
    name, *fields = word.group().split(".")
    found = _type_of_name(document, view, name, at)
    for field in fields:
        found = found.fields.get(field) if isinstance(found, Record) else None
    return found


def _type_of_name(document: EditedFile, view: View, name: str, at: int) -> Type | None:
    binder = visible_binder(view, name, at)
    if binder is not None:
        return view.noted.named(Span(view.item.span.source, binder.start, binder.end))
    target = document.find(name, view.at)
    if target is None or target.view is None or target.binder is None:
        return None
    source = target.view.item.span.source
    return target.view.noted.named(Span(source, target.binder.start, target.binder.end))


# --- elsewhere -------------------------------------------------------------------------------


def _plain(
    document: EditedFile,
    view: View | None,
    start: int,
    before: list[tuple[str, str]],
    place: Place,
) -> Iterator[Completion]:
    if _in_type(before):
        yield from _types(document, view, place)
        return
    if before and before[-1][0] in ("name", "int", "float", ")", "]"):
        fresh = document.text.rfind("\n", 0, start) + 1
        if document.text[fresh:start].strip():
            return  # after an operand comes an operator
    at_margin = not document.text[document.text.rfind("\n", 0, start) + 1 : start]
    if at_margin:
        for word in _ITEMS:
            yield Completion(word, "keyword", place, insert=word, rank=5)
    if before and before[-1][0] in ("(", ","):
        yield from _arguments(document, start, place)
    if view is not None:
        yield from _locals(document, view, start, place)
        number = view.at if start <= view.extent[1] and not at_margin else view.at + 1
        for other, binder in document.outer_names():
            if binder.kind != "alias" and (other.at < number):
                signature = next((s for s in other.signatures if s.name == binder.name), None)
                detail = signature.signature if signature is not None else ""
                kind = "module" if binder.kind == "import" else _kind(binder, detail)
                yield Completion(binder.name, kind, place, detail, binder.name, 2)
    for name, operator in OPERATORS.items():
        if name.isidentifier():
            yield Completion(name, "operator", place, operator_signature(operator), name, 3)
    for name in stdlib.files():
        yield Completion(name, "function", place, f"in {stdlib.files()[name]}", name, 4)
    for word in _KEYWORDS:
        yield Completion(word, "keyword", place, insert=word, rank=5)


def _kind(binder: Binder, detail: str) -> str:
    if binder.kind == "alias":
        return "type"
    return "function" if isinstance(binder.value, ast.Fn) or "->" in detail else "variable"


def _locals(document: EditedFile, view: View, start: int, place: Place) -> Iterator[Completion]:
    at = start - view.start
    source = view.item.span.source
    seen: set[str] = set()
    for binder in reversed(view.names.binders):
        if binder.name in seen:
            continue
        if binder.kind in ("local", "parameter"):
            if binder.visible[0] <= at <= binder.visible[1]:
                seen.add(binder.name)
                type_ = view.noted.named(Span(source, binder.start, binder.end))
                detail = view.noted.text(type_) if type_ is not None else ""
                kind = "parameter" if binder.kind == "parameter" else "variable"
                if isinstance(type_, Fn):
                    kind = "function"
                yield Completion(binder.name, kind, place, detail, binder.name, 1)
        elif binder.kind == "size" and binder.visible[0] <= at <= binder.visible[1]:
            seen.add(binder.name)
            yield Completion(binder.name, "size", place, "a size", binder.name, 2)
    if view.broken and at >= 0:
        # what could not be read still says what is bound
        for match in _BOUND.finditer(source.text[:at]):
            if match[1] not in seen and match[1] not in _KEYWORDS:
                seen.add(match[1])
                yield Completion(match[1], "variable", place, "", match[1], 1)


def _arguments(document: EditedFile, start: int, place: Place) -> Iterator[Completion]:
    """The attributes of an operator, or the parameters of a function, that are not given yet."""
    around = call_around(document, start)
    callee = callee_of(document, start, around.callee) if around is not None else None
    if around is None or callee is None:
        return
    if callee.operator is not None:
        operator = callee.operator
        for name, kind in operator.attributes.items():
            if name not in around.given:
                default = operator.defaults.get(name)
                shown = f"{kind}, must be given" if name in operator.required else kind
                if default is not None:
                    shown = f"{kind}, {written(default)} by default"
                yield Completion(name, "attribute", place, shown, f"{name}=", 0)
        for name in operator.named:
            if name not in around.given:
                yield Completion(name, "attribute", place, "an operand", f"{name}=", 0)
        return
    types = dict(callee.signature.params) if callee.signature is not None else {}
    for name in callee.params[around.before :]:
        if name not in around.given:
            yield Completion(name, "parameter", place, types.get(name, ""), f"{name}=", 0)


def _types(document: EditedFile, view: View | None, place: Place) -> Iterator[Completion]:
    for name in sorted(ELEMENT_TYPES):
        yield Completion(name, "type", place, "an element type", name, 3)
    if view is not None:
        for other, binder in document.outer_names():
            if binder.kind == "alias" and other.at <= view.at:
                text = " ".join(other.item.span.text.split())[:120]
                yield Completion(binder.name, "type", place, text, binder.name, 1)
            elif binder.kind == "import" and other.at <= view.at:
                yield Completion(binder.name, "module", place, "", binder.name, 2)
        for binder in view.names.binders:
            if binder.kind in ("size", "variable"):
                yield Completion(binder.name, "size", place, f"a {binder.kind}", binder.name, 0)
    for word in ("shape", "dim", "broadcast", "min", "max", "size", "rank", "where"):
        yield Completion(word, "keyword", place, insert=word, rank=5)
