"""Types and signatures.

type = atom [ '->' type ]        atom = ELEM [ shape ] | NAME [ shape ] | '(' { type } ')'
                                      | 'shape' shape | 'dim' dimension | NAME '(' { index } ')'
                                      | '{' [ NAME '|' ] { NAME ':' type } '}'
"""

from __future__ import annotations

from axon.diagnostics.value import error
from axon.source import Span
from axon.syntax.ast import (
    AliasType,
    Dims,
    DimValueType,
    FnType,
    IndexExpr,
    NamedType,
    ShapeValueType,
    Signature,
    TensorType,
    TupleType,
    TypeExpr,
)
from axon.syntax.cursor import LIST, MAX_DEPTH, Cursor
from axon.syntax.parse_index import begins_shape, parse_dim, parse_index, parse_shape, parse_where
from axon.syntax.parse_record import parse_record_type
from axon.syntax.tokens import ELEMENT_TYPES


def parse_signature_here(p: Cursor) -> Signature | None:
    """A type and its conditions."""
    start = p.at
    found = parse_annotation(p)
    if found is None:
        return None
    where = parse_where(p)
    return Signature(found, where, p.since(start))


def parse_annotation(p: Cursor) -> TypeExpr | None:
    """A type, or nothing when there is a mistake in it: half a type would mislead the checker."""
    failures = p.failures
    found = parse_type(p)
    return found if p.failures == failures else None


def parse_type(p: Cursor) -> TypeExpr | None:
    """A type, or nothing when there is none to be read (which is reported)."""
    start = p.at
    params: tuple[TypeExpr, ...]
    if p.kind == "(":
        if p.depth >= MAX_DEPTH:
            p.too_deep()
            return None
        items = _parenthesised(p)
        if p.kind == "->":
            params = items
        elif len(items) == 1:
            return items[0]
        else:
            return TupleType(items, p.since(start))
    else:
        atom = _atom(p)
        if atom is None or p.kind != "->":
            return atom
        params = (atom,)
    p.advance()
    if p.depth >= MAX_DEPTH:
        p.report_too_deep()
        p.skip()
        return None
    p.depth += 1
    result = parse_type(p)
    p.depth -= 1
    return FnType(params, result, p.since(start)) if result is not None else None


def _parenthesised(p: Cursor) -> tuple[TypeExpr, ...]:
    """The types between `(` and `)`."""
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    items: list[TypeExpr] = []
    more = p.kind != ")"
    while more:
        item = parse_type(p)
        if item is not None:
            items.append(item)
        more = p.next_item(")")
    p.inside = outer
    p.depth -= 1
    p.close()
    return tuple(items)


def _atom(p: Cursor) -> TypeExpr | None:
    start = p.at
    if p.kind == "{":
        if p.depth >= MAX_DEPTH:
            p.too_deep()
            return None
        return parse_record_type(p, parse_type)
    if p.kind != "name" or p.begins_definition():
        p.fail("expected a type", _advice(p), code="AX005")
        return None
    word = p.text()
    p.advance()
    if p.kind == "field" or (p.kind == "(" and p.touches() and word not in ELEMENT_TYPES):
        return _alias(p, word, start)
    if word == "dim" and (p.kind in ("int", "-", "*") or (begins_shape(p) and p.kind != "[")):
        return DimValueType(parse_dim(p), p.since(start))
    if begins_shape(p):
        if p.kind == "(" and p.kinds[p.at + 2] == ",":
            p.fail("expected a shape", "a shape is in square brackets, as in `f32 [n,m]`", "AX005")
            return None
        shape = parse_shape(p)
        if word == "shape":
            return ShapeValueType(shape, p.since(start))
        return TensorType(word, shape, p.since(start))
    if word in ELEMENT_TYPES:
        span = p.since(start)
        return TensorType(word, Dims((), Span(span.source, span.end, span.end)), span)
    return NamedType(word, p.since(start))


def _alias(p: Cursor, name: str, start: int) -> TypeExpr | None:
    """A type by its name, perhaps of another file, with its arguments."""
    if p.kind == "field":
        name += p.text()
        p.advance()
    args: list[IndexExpr] = []
    if p.kind == "(" and p.touches():
        if p.depth >= MAX_DEPTH:
            p.too_deep()
            return None
        outer = p.inside
        p.inside = LIST
        p.depth += 1
        p.advance()
        more = p.kind != ")"
        while more:
            args.append(parse_index(p))
            more = p.next_item(")")
        p.inside = outer
        p.depth -= 1
        p.close()
    return AliasType(name, tuple(args), p.since(start))


def _advice(p: Cursor) -> str | None:
    if p.kind == "[":
        return "write the element type first, like `f32 [n,m]` or `t [n,m]`"
    return None


def report_rest(p: Cursor) -> None:
    """Nothing may come after what was read."""
    if p.kind != "eof" and not p.stuck:
        found = p.tokens.describe(p.at)
        p.add(error("AX002", f"expected nothing more, found {found}", p.here(), "left over"))
