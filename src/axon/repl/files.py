"""Programs into the session, and the session into a program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace

from axon import stdlib
from axon.driver import check
from axon.files import Finder, Unwritable, read_source, write_page
from axon.repl.names import Known, Table, keys_of, needs_of
from axon.repl.programs import concerns
from axon.repl.reports import Diagnosed, Refusal, Report, Said, refusal
from axon.repl.statements import State, check_again, expression, statement
from axon.syntax import ast
from axon.types.type import Fn

# --- loading ---------------------------------------------------------------------------------


def load(state: State, path: str) -> Iterator[Report]:
    """The definitions of a program, if it has no errors: functions are kept, values computed."""
    path = os.path.expanduser(path)
    source = read_source(path)
    state.finder = Finder()  # imported files may have changed
    checked = check(source, state.finder)
    if not checked.ok:
        raise Refusal(Diagnosed(checked.diagnostics))
    warnings = tuple(d for d in checked.diagnostics if concerns(d, checked.program.source))
    if warnings:
        yield Diagnosed(warnings)
    lines = {s.name: s.line(names=True) for s in checked.signatures}
    functions = {d.span for d in checked.inferred.definitions if isinstance(d.scheme.type, Fn)}
    before = state.table
    new: list[Known] = []
    said: list[Report] = []
    for item in checked.program.items:
        if isinstance(item, ast.Binding) and not (
            isinstance(item.pattern, ast.NamePattern) and item.pattern.span in functions
        ):
            said += statement(state, item, checked.program.source, path)
            continue
        for key in keys_of(item):
            name = key.rpartition(" ")[2]
            line = lines.get(name) if isinstance(item, ast.Binding) else None
            line = line or " ".join(item.span.text.split())
            new.append(Known(key, item, line, needs_of(item) - {key}, item, path))
            state.table = state.table.with_all(new[-1:])
            said.append(Said(line))
    if path not in state.files:
        state.files.append(path)
    yield Said(
        "\n".join(each.text for each in said if isinstance(each, Said)) or f"{path} is empty"
    )
    yield from (each for each in said if not isinstance(each, Said))
    yield from _checked_again(state, before, path, [each.key for each in new])
    if checked.program.result is not None:
        yield from expression(state, checked.program.result, checked.program.source)


def _checked_again(
    state: State, before: Table, path: str, functions: list[str]
) -> Iterator[Report]:
    """Check what used names that the file has bound again, and the functions of the file that use
    names which it does not bind, or binds further down.
    """
    table = state.table
    own = [key for key, each in table.known.items() if each.file == path]
    keys = {key for key in own if before.is_used(key)}
    for at, key in enumerate(functions):
        seen = {*(k for k in own if k not in functions), *functions[:at]}
        keys.update(need for need in table.known[key].needs & table.known.keys() - seen)
    if keys:
        yield from check_again(state, [key for key in table.known if key in keys], before)


def reload_files(state: State) -> Iterator[Report]:
    """Load all files again, in the same order."""
    if not state.files:
        raise refusal("no file was loaded: :load FILE")
    for path in list(state.files):
        yield Said(f"# {path}")
        yield from load(state, path)


# --- saving ----------------------------------------------------------------------------------


def save(state: State, path: str) -> Iterator[Report]:
    """Write what is defined as a program. A value is written as the line that computed it, if its
    names still mean what they meant then.
    """
    path = os.path.expanduser(path)
    if not state.table.known:
        raise refusal("nothing is defined yet")
    if os.path.exists(path) and path not in state.saved:
        raise Unwritable(f"{path} is there already; name another file")
    table = Table({key: _as_written(each) for key, each in state.table.known.items()})
    lines: list[str] = []
    left_out: list[str] = []
    written: set[int] = set()
    gone: set[str] = set()
    for each in table.needed(table.known):
        if _is_stale(state.table, each) or each.needs & gone:
            gone.add(each.key)
            left_out.append(each.key)
        elif id(each.written) not in written:
            written.add(id(each.written))
            lines.append(_text(each, os.path.dirname(path)))
    write_page(path, "".join(f"{line}\n" for line in lines), {})
    state.saved.add(path)
    yield Said(f"{path}: {len(lines)} definition{'' if len(lines) == 1 else 's'}")
    if left_out:
        names = ", ".join(left_out)
        yield Said(f"left out, since what they were computed from is something else now: {names}")


def _as_written(known: Known) -> Known:
    """A value as its line needs others; a function as it is."""
    return replace(known, needs=frozenset(known.basis) if known.is_value else known.needs)


def _is_stale(table: Table, value: Known) -> bool:
    """Whether a name that the value was computed with stands for something else."""
    now = table.known
    return any(k not in now or now[k].token is not token for k, token in value.basis.items())


def _text(known: Known, folder: str) -> str:
    item = known.written
    text = item.span.text.rstrip().rstrip(";")
    if isinstance(item, ast.Import) and stdlib.find(item.path) is None:
        place = os.path.join(os.path.dirname(item.span.source.name), item.path)
        text = f'import "{os.path.relpath(place, folder or ".")}" as {item.alias}'
    return f"{text};"
