"""Functions, branches, blocks and statements as documents."""

from __future__ import annotations

from collections.abc import Generator

from axon.source import Span
from axon.syntax.ast import (
    Binding,
    Block,
    Expr,
    Fn,
    If,
    Import,
    Item,
    NamePattern,
    OpDecl,
    Param,
    Pattern,
    RecordPattern,
    TuplePattern,
    TypeAlias,
)
from axon.syntax.lexer import quote, unquote
from axon.syntax.printing.comments import Comments, Items, Lines
from axon.syntax.printing.layout import (
    Doc,
    Hard,
    IfBroken,
    Line,
    commas,
    group,
    indent,
    join,
)
from axon.syntax.printing.levels import has_bare_record
from axon.syntax.printing.lists import Builder, assigned, bare
from axon.syntax.printing.types import type_doc, where_doc


def statement(item: Item, comments: Comments) -> Builder:
    """What stands before a `;`."""
    match item:
        case Import(path, alias, path_span=span):
            return f"import {_path(path, span)} as {alias}"
        case OpDecl(name, signature):
            head = join(f"op {name} : ", type_doc(signature.type, comments))
            return join(head, where_doc(signature.where, signature.type.span.end, comments))
        case TypeAlias(name, params, type_):
            given = f"({', '.join(params)})" if params else ""
            return join(f"type {name}{given} = ", type_doc(type_, comments))
        case Binding(pattern, value):
            head, end = _pattern(pattern), pattern.span.end
            return (yield from assigned(head, value, end, comments, is_bare=True))


def _path(path: str, span: Span) -> str:
    written = span.text
    return written if written.startswith('"') and unquote(written) == path else quote(path)


def _pattern(pattern: Pattern) -> Doc:
    """A pattern; a bare tuple has parentheses only where it is broken over lines."""
    match pattern:
        case TuplePattern(items) if items:
            return _patterns(IfBroken("("), items, IfBroken(")"))
        case _:
            return _nested(pattern)


def _nested(pattern: Pattern) -> Doc:
    match pattern:
        case NamePattern(name):
            return name
        case TuplePattern(items):
            return _patterns("(", items, ")") if items else "()"
        case RecordPattern(names):
            return _patterns("{", names, "}", " ") if names else "{}"


def _patterns(opener: Doc, items: tuple[Pattern, ...], closer: Doc, edge: str = "") -> Doc:
    listed = commas([_nested(item) for item in items])
    return group(opener, indent(Line(edge), listed, IfBroken(",")), Line(edge), closer)


def fn_parts(fn: Fn, comments: Comments) -> Generator[Expr, Doc, tuple[Doc, Doc]]:
    """The head of a function and its block."""
    start = fn.span.start + len("fn")
    items = Items(comments, start)
    for param in fn.params:
        items.before(param.span.start)
        doc = yield from _param(param, comments)
        items.add(doc, param.span.end)
    end = items.end if fn.params else comments.closer(start) + 1
    head: list[Doc] = ["fn ", items.closed("(", ")", comments.closer(end))]
    since = comments.closer(end)
    if fn.result is not None:
        head += [" : ", type_doc(fn.result, comments)]
        since = fn.result.span.end
    head.append(where_doc(fn.where, since, comments))
    body = yield from _block(fn.body, comments)
    return join(*head), group(body)


def _param(param: Param, comments: Comments) -> Builder:
    doc: Doc = param.name
    end = param.name_span.end
    if param.type is not None:
        doc = join(f"{param.name} : ", type_doc(param.type, comments))
        end = param.type.span.end
    if param.default is None:
        return doc
    return (yield from assigned(doc, param.default, end, comments))


def if_(expr: If, comments: Comments) -> Builder:
    """All blocks of it are on one line, or none."""
    parts: list[Doc] = []
    while True:
        condition = yield expr.condition
        if has_bare_record(expr.condition):
            condition = join("(", condition, ")")
        then = yield from _block(expr.then.body, comments)
        parts += ["if ", condition, " ", then, " else "]
        match expr.otherwise.body:
            case Block((), If() as nested):
                expr = nested
            case body:
                otherwise = yield from _block(body, comments)
                return group(*parts, otherwise)


def _block(block: Block, comments: Comments) -> Builder:
    """On one line if it is just a value, with no comment, and there is room."""
    lines = Lines(comments, block.span.start)
    for binding in block.bindings:
        lines.before(binding.span)
        doc = yield from statement(binding, comments)
        lines.add(join(doc, ";"), binding.span.end)
    lines.before(block.result.span)
    result = yield from bare(block.result, comments)
    lines.add(result, block.result.span.end)
    lines.finish(block.span.end - 1)
    if block.bindings or lines.commented:
        return join("{", lines.opening, indent(Hard(), *lines.parts), Hard(), "}")
    return join("{", indent(Line(), *lines.parts), Line(), "}")
