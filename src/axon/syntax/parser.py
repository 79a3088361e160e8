"""Files, signatures and single expressions.

A parser never fails: it returns the tree that it could read and its diagnostics.
"""

from __future__ import annotations

from dataclasses import dataclass

from axon.diagnostics.value import Diagnostic, error
from axon.source import Source
from axon.syntax.ast import (
    Binding,
    Broken,
    Expr,
    Import,
    Item,
    NamePattern,
    OpDecl,
    Program,
    RecordType,
    Signature,
    TypeAlias,
)
from axon.syntax.cursor import LIST, MAX_DEPTH, STATEMENT, Cursor, open_source
from axon.syntax.lexer import unquote
from axon.syntax.nesting import depth_of
from axon.syntax.parse_expr import (
    end_statement,
    parse_expr,
    parse_statement,
    report_unused,
    without_name,
)
from axon.syntax.parse_types import parse_annotation, parse_signature_here, report_rest
from axon.syntax.problems import settle


def parse_program(source: Source) -> tuple[Program, tuple[Diagnostic, ...]]:
    """A file. Every definition in it is in the program, the broken ones with `Broken` parts."""
    p = open_source(source)
    items: list[Item] = []
    result: Expr | None = None
    left = _LeftOver(p)
    while p.kind == ";":
        p.advance()
    while p.kind != "eof":
        if result is not None:
            report_unused(p, result, "file")
            items.append(without_name(result))
            result = None
        start, skips, failures = p.at, p.skips, p.failures
        p.too_deep_reported = False
        p.quiet = is_left = left.has(start)
        item = _item(p)
        end_statement(p)
        if p.at == start:
            p.advance()
        spoiled = p.quiet or p.skips != skips
        if not is_left:
            left.after(start, spoiled or p.failures != failures)
        match item:
            case None:
                pass
            case _ if is_left and left.is_cut:
                pass
            case Binding(pattern, _, _) if is_left:
                items.append(Binding(pattern, Broken(p.since(start)), p.since(start)))
            case Binding(pattern, value, _) if spoiled:
                items.append(Binding(pattern, value, p.since(start)))
            case Import() | OpDecl() | TypeAlias() | Binding():
                items.append(item)
            case expr:
                result = Broken(p.since(start)) if spoiled else expr
    return Program(tuple(items), result, p.source, p.tokens.comments), settle(
        p.unreadable, p.problems
    )


@dataclass(slots=True)
class _LeftOver:
    """What is left of a definition that could not be read, up to the next line that stands no
    deeper: lines of its body that a bracket cuts off look like definitions. Nothing is reported
    there, and what they define is not a name of the file, if they were cut off.
    """

    p: Cursor
    indent: int = 0
    end: int = 0
    last_stray: int = -1

    @property
    def is_cut(self) -> bool:
        return self.last_stray >= 0

    def has(self, at: int) -> bool:
        if at >= self.end:
            return False
        return self.p.tokens.fresh.get(at, -1) > self.indent or at <= self.last_stray

    def after(self, start: int, spoiled: bool) -> None:
        """A definition that was read, from a token to before the cursor."""
        p = self.p
        self.indent = p.tokens.fresh.get(start, self.indent)
        self.end, self.last_stray = p.at, -1
        if not spoiled:
            return
        kinds, fresh = p.kinds, p.tokens.fresh
        while kinds[self.end] != "eof" and fresh.get(self.end, self.indent + 1) > self.indent:
            if kinds[self.end] == "stray":
                self.last_stray = self.end
            self.end += 1


def parse_signature(source: Source) -> tuple[Signature | None, tuple[Diagnostic, ...]]:
    """A type with its conditions; the entire text must be one."""
    p = open_source(source)
    signature = parse_signature_here(p)
    report_rest(p)
    return signature, settle(p.unreadable, p.problems)


def parse_expression(source: Source) -> tuple[Expr | None, tuple[Diagnostic, ...]]:
    """One expression; the entire text must be one."""
    p = open_source(source)
    if p.kind == "eof":
        p.fail("expected an expression")
        return None, settle(p.unreadable, p.problems)
    expr = _bounded(p, parse_expr(p, commas=True))
    report_rest(p)
    return expr, settle(p.unreadable, p.problems)


def _item(p: Cursor) -> Item | Expr | None:
    if p.kind == "type" and p.next_kind() == "name":
        return _type_alias(p)
    if p.kind == "name":
        match p.kinds[p.at + 1]:
            case "name" if p.text() == "op":
                return _op(p)
            case "string" if p.text() == "import":
                return _import(p)
    match parse_statement(p):
        case Binding(pattern, value, span):
            return Binding(pattern, _bounded(p, value), span)
        case expr:
            return _bounded(p, expr)


def _op(p: Cursor) -> OpDecl | Binding | None:
    """`op NAME : TYPE where …`. One whose type cannot be read still defines its name."""
    start = p.at
    p.advance()
    found = p.name("the name of the operator")
    if found is None:
        return None
    typed = p.expect(":", "and the type of the operator")
    signature = parse_signature_here(p) if typed else None
    if signature is None:
        return Binding(NamePattern(found[0], found[1]), Broken(p.since(start)), p.since(start))
    return OpDecl(found[0], signature, p.since(start), found[1])


def _type_alias(p: Cursor) -> TypeAlias | None:
    """`type NAME(d, …) = TYPE`. One whose type cannot be read still defines its name."""
    start = p.at
    p.advance()
    found = p.name("the name of the type")
    if found is None:
        return None
    params: list[str] = []
    if p.kind == "(":
        p.inside = LIST
        p.advance()
        more = p.kind != ")"
        while more:
            param = p.name("the name of a size")
            if param is not None:
                params.append(param[0])
            more = p.next_item(")")
        p.inside = STATEMENT
        p.close()
    type_ = parse_annotation(p) if p.expect("=", "and a type") else None
    if type_ is None:
        type_ = RecordType((), "", p.since(start))  # the name is known, though not what it means
    return TypeAlias(found[0], tuple(params), type_, p.since(start), found[1])


def _import(p: Cursor) -> Import | None:
    """`import "FILE" as NAME`."""
    start = p.at
    p.advance()
    path = p.here()
    p.advance()
    if not p.is_word("as"):
        p.fail("expected `as` and a name for the file")
        return None
    p.advance()
    found = p.name("a name for the file")
    return Import(unquote(path.text), found[0], p.since(start), path) if found else None


def _bounded(p: Cursor, value: Expr) -> Expr:
    """The expression, unless calls of calls made it deeper than its brackets are."""
    if not p.curried:
        return value
    p.curried = False
    if depth_of(value) <= MAX_DEPTH:
        return value
    if not p.too_deep_reported:
        message = f"this is nested deeper than {MAX_DEPTH} levels"
        help = "give inner parts a name of their own"
        p.problems.add(error("AX003", message, value.span, "calls of calls of calls", help))
    return Broken(value.span)
