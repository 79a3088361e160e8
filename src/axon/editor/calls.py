"""The call around the cursor, even in a line that is half written."""

from __future__ import annotations

from dataclasses import dataclass

from axon.editor.edited_file import EditedFile
from axon.editor.names import Binder
from axon.editor.reference import attributes_of, operator_signature, operator_text
from axon.editor.targets import function_of, imported_file, in_library, last_of
from axon.editor.values import SignatureHelp
from axon.editor.view import View
from axon.inference.report.signature import Signature
from axon.ops import OPERATORS
from axon.ops.operator import Operator
from axon.source import Source
from axon.syntax.lexer import lex
from axon.syntax.tokens import CLOSER, OPENER


@dataclass(frozen=True, slots=True)
class Around:
    """What is written around an offset: the function that is called, as `name` or `file.name`, how
    many arguments stand before the cursor, and the name of the one at the cursor if it has one.
    """

    callee: str
    before: int
    argument: str
    given: tuple[str, ...]


def call_around(document: EditedFile, offset: int) -> Around | None:
    """The innermost call whose brackets are around an offset, read backwards from it."""
    view = document.view_at(offset)
    start = min(view.extent[0], offset) if view is not None else 0
    text = document.text[start:offset]
    read, _ = lex(Source("", text))
    kinds = read.kinds
    commas = depth = 0
    given: list[str] = []
    argument = ""
    fresh = True
    for at in range(len(kinds) - 2, -1, -1):
        kind = kinds[at]
        if kind in OPENER:
            depth += 1
        elif kind in CLOSER:
            if depth:
                depth -= 1
                continue
            if kind == "(":
                callee = _callee(read.text, kinds, at)
                if callee is not None:
                    piped = _is_piped(kinds, at)
                    return Around(callee, commas + piped, argument, tuple(given))
            elif kind == "{":
                return None
            commas, given, argument, fresh = 0, [], "", True
        elif depth == 0 and kind == ",":
            commas += 1
            fresh = False
        elif depth == 0 and kind == ";":
            return None
        elif (
            depth == 0
            and kind == "name"
            and kinds[at + 1] == "="
            and (at and kinds[at - 1] in (",", "("))
        ):
            given.append(read.text(at))
            if fresh:
                argument = read.text(at)
    return None


def _callee(text: object, kinds: list[str], at: int) -> str | None:
    """The name before a bracket; None if it is no call."""
    if not at or not callable(text):
        return None
    if kinds[at - 1] == "name":
        return str(text(at - 1))
    if kinds[at - 1] == "field" and at > 1 and kinds[at - 2] == "name":
        return str(text(at - 2)) + str(text(at - 1))
    return None


def _is_piped(kinds: list[str], at: int) -> bool:
    before = at - (3 if kinds[at - 1] == "field" else 2)
    return before >= 0 and kinds[before] == "|>"


@dataclass(frozen=True, slots=True)
class Callee:
    """What is called: an operator, or a function with a signature or with parameters."""

    name: str
    operator: Operator | None = None
    signature: Signature | None = None
    params: tuple[str, ...] = ()
    view: View | None = None


def callee_of(document: EditedFile, offset: int, name: str) -> Callee | None:
    view = document.view_at(offset)
    if view is None:
        operator = OPERATORS.get(name)
        return Callee(name, operator) if operator is not None else None
    file, dot, member = name.partition(".")
    if dot:
        other = imported_file(document, view, file)
        target = last_of(other, member) if other is not None else None
    else:
        binder = visible_binder(view, name, offset - view.start)
        if binder is not None:
            fn = binder.value
            params = getattr(fn, "params", None)
            if params is None:
                return Callee(name, view=view)
            return Callee(name, params=tuple(p.name for p in params), view=view)
        target = document.find(name, view.at)
        if target is None and name in OPERATORS:
            return Callee(name, OPERATORS[name])
        target = target or in_library(document, name)
    if target is None or target.view is None:
        return None
    found = next((s for s in target.view.signatures if s.name == target.name), None)
    if found is not None and not found.params:
        own = function_of(target)
        if own is not None:
            named = next((s for s in own[1].signatures if s.params), None)
            found = named or found
    function = function_of(target)
    params = tuple(p.name for p in function[2].params) if function is not None else ()
    return Callee(target.name, None, found, params, target.view)


def visible_binder(view: View, name: str, at: int) -> Binder | None:
    """The innermost binder of a name that is visible at an offset in a definition."""
    found = [
        b
        for b in view.names.binders
        if b.name == name
        and b.kind in ("local", "parameter")
        and b.visible[0] <= at <= b.visible[1]
    ]
    return max(found, key=lambda b: b.start, default=None)


def signature_help(document: EditedFile, offset: int) -> SignatureHelp | None:
    around = call_around(document, offset)
    callee = callee_of(document, offset, around.callee) if around is not None else None
    if around is None or callee is None:
        return None
    if callee.operator is not None:
        return _of_operator(callee.operator, around)
    if callee.signature is not None and callee.signature.params:
        texts = [f"{name} : {type_}" for name, type_ in callee.signature.params]
        result = f" -> {callee.signature.result}"
        where = callee.signature.line().partition(" where ")[2]
        text = f"where {where}" if where else ""
    elif callee.params:
        texts, result, text = list(callee.params), "", ""
    else:
        return None
    return _help(callee.name, texts, result, around, list(callee.params) or texts, text)


def _of_operator(operator: Operator, around: Around) -> SignatureHelp:
    signature = operator_signature(operator)
    left, result = _split(signature)
    texts = [*left, *attributes_of(operator)]
    names = [*left, *operator.attributes]
    return _help(operator.name, texts, f" -> {result}", around, names, operator_text(operator))


def _help(
    name: str, texts: list[str], result: str, around: Around, names: list[str], text: str
) -> SignatureHelp:
    label = f"{name}("
    ranges: list[tuple[int, int]] = []
    for at, each in enumerate(texts):
        label += ", " if at else ""
        ranges.append((len(label), len(label) + len(each)))
        label += each
    plain = [each.split(" ")[0].split("=")[0] for each in names]
    active = around.before
    if around.argument in plain:
        active = plain.index(around.argument)
    return SignatureHelp(f"{label}){result}", tuple(ranges), active, text)


def _split(signature: str) -> tuple[list[str], str]:
    """The types of the parameters, and what is after the arrow."""
    depth = 0
    parts: list[str] = []
    start = 1 if signature.startswith("(") else 0
    for at, letter in enumerate(signature):
        if letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
            if depth == 0 and start and signature[at + 1 : at + 5] == " -> ":
                parts.append(signature[start:at])
                return [p.strip() for p in parts if p.strip()], signature[at + 5 :]
        elif letter == "," and depth == 1 and start:
            parts.append(signature[start:at])
            start = at + 1
    left, _, right = signature.partition(" -> ")
    return [left], right
