"""What may stand where the cursor is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

from axon import stdlib
from axon.ops import OPERATORS
from axon.repl.commands import COMMANDS
from axon.repl.reading import COMMAND
from axon.repl.statements import State
from axon.syntax import ast
from axon.syntax.tokens import ELEMENT_TYPES, RESERVED

_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*'*$")
_PATH = re.compile(r"((?:[A-Za-z_][A-Za-z0-9_]*'*\.)+)([A-Za-z_][A-Za-z0-9_]*'*)?$")


@dataclass(frozen=True, slots=True)
class Choice:
    """A text that may stand in place of what was typed from `start` on, and what it is."""

    text: str
    start: int
    about: str = ""


def choices(state: State, before: str) -> list[Choice]:
    """What may stand at the end of a text."""
    stripped = before.lstrip()
    if re.fullmatch(r":[A-Za-z]*", stripped):
        start = len(before) - len(stripped) + 1
        return [
            Choice(each.name, start, each.help)
            for each in COMMANDS.values()
            if each.name.startswith(stripped[1:])
        ]
    command = COMMAND.match(before)
    if command is not None:
        found = [c for name, c in COMMANDS.items() if name.startswith(command[1])]
        takes = COMMANDS[command[1]].takes if command[1] in COMMANDS else found and found[0].takes
        match takes:
            case "file":
                return list(_files(before[command.end() :], command.end()))
            case "backend":
                return list(_beginning(before, {"numpy": "", "jax": ""}))
            case "name":
                return list(_beginning(before, _names(state)))
            case "operator":
                return list(_beginning(before, _operators()))
            case _:
                pass
    if before.rpartition("\n")[2].partition("#")[1]:
        return []
    path = _PATH.search(before)
    if path is not None:
        fields = _fields(state, path[1][:-1].split("."))
        return list(_beginning(before, fields, path[2] or ""))
    words = dict.fromkeys(sorted({*RESERVED, *ELEMENT_TYPES, "op", "import"}), "")
    return list(_beginning(before, {**words, **_operators(), **_names(state)}))


def _beginning(before: str, names: dict[str, str], typed: str | None = None) -> Iterator[Choice]:
    """The names that begin with what was typed, in order."""
    if typed is None:
        word = _WORD.search(before)
        typed = word[0] if word else ""
    start = len(before) - len(typed)
    for name in sorted(names):
        if name.startswith(typed):
            yield Choice(name, start, names[name])


def _names(state: State) -> dict[str, str]:
    return {
        key.rpartition(" ")[2]: each.line.partition(" : ")[2]
        for key, each in state.table.known.items()
    }


def _operators() -> dict[str, str]:
    found = {name: operator.doc.strip().partition("\n")[0] for name, operator in OPERATORS.items()}
    library = {name: path for name, path in stdlib.files().items() if path not in stdlib.IMPORTED}
    return {**library, **found}


def _fields(state: State, path: list[str]) -> dict[str, str]:
    """The fields of a record that is kept, or the names of an imported file."""
    known = state.table.known.get(path[0])
    if known is not None and isinstance(known.item, ast.Binding):
        return _of_expression(known.item.value, path[1:]) if known.is_value else {}
    item = known.item if (known := state.table.known.get(f"import {path[0]}")) else None
    if isinstance(item, ast.Import) and len(path) == 1:
        return dict.fromkeys(_defined(state, item), "")
    return {}


def _of_expression(expr: ast.Expr, path: list[str]) -> dict[str, str]:
    if not isinstance(expr, ast.Record):
        return {}
    fields = {field.name: field.value for field in expr.fields}
    if path:
        return _of_expression(fields[path[0]], path[1:]) if path[0] in fields else {}
    return dict.fromkeys(fields, "")


def _defined(state: State, item: ast.Import) -> list[str]:
    """The names that a file defines."""
    text = stdlib.find(item.path)
    if text is None:
        found = state.finder(item.path, item.span.source)
        text = "" if isinstance(found, str) else found.text
    return re.findall(r"^(?:op\s+|type\s+)?([A-Za-z_]\w*'*)\s*[=:(]", text, re.MULTILINE)


def _files(typed: str, start: int) -> Iterator[Choice]:
    """Folders, and files that are programs."""
    folder, name = os.path.split(typed)
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda e: e.name)
    except (OSError, ValueError):
        return
    for entry in entries:
        hidden = entry.name.startswith(".") and not name.startswith(".")
        if not entry.name.startswith(name) or hidden:
            continue
        if entry.is_dir():
            yield Choice(entry.name + "/", start + len(typed) - len(name))
        elif entry.name.endswith(".axon"):
            yield Choice(entry.name, start + len(typed) - len(name))
