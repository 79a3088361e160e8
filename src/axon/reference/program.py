"""A program as a reference: what a page about it shows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass

from axon.driver import Checked
from axon.plain import plain_readings
from axon.syntax import ast
from axon.syntax.comments import comment_above, comment_at_top


@dataclass(frozen=True, slots=True)
class Entry:
    """A definition, a declared operator or a type alias. `code` is its type, `conditions` what must
    hold, `checks` what is checked when it is called.
    """

    name: str
    kind: str
    code: str
    text: str
    plain: str | None = None
    conditions: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    parameters: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """All about one file."""

    title: str
    text: str
    imports: tuple[tuple[str, str], ...]
    entries: tuple[Entry, ...]


def page_of(checked: Checked, tables: Sequence[str] = ()) -> Page:
    """The page about a program without errors; `tables` are the parameters of each definition.

    Definitions whose names begin with `_` are private, and left out.
    """
    items = checked.program.items
    found: list[tuple[int, Entry]] = []
    for item in items:
        match item:
            case ast.TypeAlias() if not item.name.startswith("_"):
                code = re.sub(r"\s+", " ", item.span.text.rstrip(";"))
                entry = Entry(item.name, "type", code, _documentation(item))
                found.append((item.span.start, entry))
            case ast.OpDecl():
                code = re.sub(r"\s+", " ", item.span.text.rstrip(";"))
                entry = Entry(item.name, "operator", code, _documentation(item))
                found.append((item.span.start, entry))
            case _:
                pass
    readings = plain_readings(checked)
    rows = tables or [""] * len(readings)
    definitions = zip(checked.inferred.definitions, checked.signatures, readings, rows, strict=True)
    for definition, signature, plain, table in definitions:
        if definition.name.startswith("_"):
            continue
        entry = Entry(
            definition.name,
            "definition",
            f"{signature.name} : {signature.named}",
            comment_above(definition.span),
            plain,
            signature.where,
            signature.guards,
            table,
        )
        found.append((definition.span.start, entry))
    source = checked.program.source
    return Page(
        os.path.basename(source.name),
        comment_at_top(source),
        tuple((item.alias, item.path) for item in items if isinstance(item, ast.Import)),
        tuple(entry for _, entry in sorted(found, key=lambda each: each[0])),
    )


def _documentation(item: ast.TypeAlias | ast.OpDecl) -> str:
    return comment_above(item.span)
