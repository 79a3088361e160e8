"""Records: what stands between `{` and `}`, in expressions, patterns and types."""

from __future__ import annotations

from collections.abc import Callable

from axon.diagnostics.value import error
from axon.source import Span
from axon.syntax.ast import (
    Attribute,
    Call,
    Expr,
    Field,
    FieldType,
    Name,
    NamePattern,
    Record,
    RecordPattern,
    RecordType,
    Subscript,
    TypeExpr,
)
from axon.syntax.cursor import LIST, Cursor
from axon.syntax.tokens import shorten


def parse_record(p: Cursor, value: Callable[[Cursor], Expr]) -> Record:
    """`{ a = e, … }` or `{ path | a = e, … }`; the cursor is at the `{`."""
    start = p.at
    base: list[Expr] = []
    fields: list[Attribute] = []
    bare: list[str] = []
    told: list[str] = []

    def item() -> None:
        begin = p.at
        if (help := _foreign_field(p)) is not None:
            if help not in told:
                p.report("expected the name of a field", help)
            told.append(help)
            p.skip()
            return
        found = p.field_name()
        if found is None:
            return
        if p.kind in (",", "}") and not p.stuck:
            if not bare:
                help = f"write `{found[0]} = {found[0]}`"
                p.add(error("AX002", "a field needs a value", found[1], "`=` is missing", help))
            bare.append(found[0])
        elif p.kind == ":" and not p.stuck:
            if ":" not in told:
                help = f"a field is written `{shorten(found[0])} = …`"
                p.report("expected `=` and the value of the field", help)
            told.append(":")
            p.skip()
        elif p.expect("=", "and the value of the field"):
            fields.append(Attribute(found[0], value(p), p.since(begin)))

    def head() -> None:
        if p.kind == "name" and _path_end(p) is not None:
            base.append(parse_path(p))
            p.advance()

    _braced(p, head, item)
    _distinct(p, [(each.name, each.span) for each in fields])
    return Record(base[0] if base else None, tuple(fields), p.since(start))


def parse_path(p: Cursor) -> Expr:
    """A name and the fields taken from it: `p.layers.w`."""
    start = p.at
    part: Expr = Name(p.text(), p.here())
    p.advance()
    while p.kind == "field":
        name = p.text()[1:]
        p.advance()
        part = Field(part, name, p.since(start))
    return part


def _foreign_field(p: Cursor) -> str | None:
    """What to write for a field as in other languages: `"a": e`, `...p`, `**p`."""
    match p.kind:
        case "string":
            return "a name is written without quotes: `{ a = e }`"
        case "..." | "**":
            return "a record with other values for some fields is `{ p | a = e }`"
        case _:
            return None


def _path_end(p: Cursor) -> int | None:
    """The index of the `|` behind a path that begins here."""
    at = p.at + 1
    while p.kinds[at] == "field":
        at += 1
    return at if p.kinds[at] == "|" else None


def parse_record_pattern(p: Cursor) -> RecordPattern:
    """`{ a, b }`."""
    start = p.at
    names: list[NamePattern] = []

    def item() -> None:
        found = p.name("the name of a field")
        if found is not None:
            names.append(NamePattern(*found))

    _braced(p, lambda: None, item)
    _distinct(p, [(each.name, each.span) for each in names])
    return RecordPattern(tuple(names), p.since(start))


def parse_record_type(p: Cursor, type_: Callable[[Cursor], TypeExpr | None]) -> RecordType:
    """`{ a : T, … }` or `{ r | a : T, … }`."""
    start = p.at
    row: list[str] = []
    fields: list[FieldType] = []

    def head() -> None:
        if p.kind == "name" and p.kinds[p.at + 1] == "|":
            row.append(p.text())
            p.advance()
            p.advance()

    def item() -> None:
        begin = p.at
        found = p.field_name()
        if found is not None and p.expect(":", "and the type of the field"):
            read = type_(p)
            if read is not None:
                fields.append(FieldType(found[0], read, p.since(begin)))

    _braced(p, head, item)
    _distinct(p, [(each.name, each.span) for each in fields])
    return RecordType(tuple(fields), row[0] if row else "", p.since(start))


def _braced(p: Cursor, head: Callable[[], None], item: Callable[[], None]) -> None:
    """Items with commas between `{` and `}`."""
    outer = p.inside
    p.inside = LIST
    p.depth += 1
    p.advance()
    head()
    more = p.kind != "}"
    while more:
        item()
        more = p.next_item("}")
    p.inside = outer
    p.depth -= 1
    p.close()


def _distinct(p: Cursor, fields: list[tuple[str, Span]]) -> None:
    seen: set[str] = set()
    for name, span in fields:
        if name in seen:
            p.add(error("AX002", f"the field `{name}` is there twice", span, "this is another one"))
        seen.add(name)


def in_place_of_assignment(value: Expr) -> str | None:
    """What to write where a part of a value is assigned to."""
    match value:
        case Call(Name(name), _, _):
            return f"a function is written `{shorten(name)} = fn (x, y) {{ … }};`"
        case Field(record, name):
            new = f"{{ {record.span.text} | {name} = … }}"
            return f"a record keeps its fields; one with another value is `{new}`"
        case Subscript():
            return "a tensor keeps its elements: `where` and `scatter` make another one"
        case _:
            return None
