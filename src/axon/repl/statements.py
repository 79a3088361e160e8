"""Statements: definitions are kept, bindings of values are computed once, expressions are shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from axon.diagnostics import Severity
from axon.driver import check_tree
from axon.files import Finder
from axon.inference.environment import bound_names
from axon.repl.kept_values import Kept, keep
from axon.repl.names import Known, Table, needs_of
from axon.repl.programs import (
    MAIN,
    Compiled,
    check_new,
    concerns,
    has_function,
    refuse_declared,
    tree,
)
from axon.repl.reports import Diagnosed, Report, Said, refusal
from axon.run.backend import Backend, backend
from axon.run.shown import lines_of_result, type_of_result
from axon.source import Source
from axon.syntax import ast
from axon.types.show import Show
from axon.types.type import Record


@dataclass(slots=True)
class State:
    """What a session knows. A statement replaces the table once, at its end."""

    table: Table = field(default_factory=Table)
    backend: Backend = field(default_factory=lambda: backend("numpy"))
    finder: Finder = field(default_factory=Finder)
    files: list[str] = field(default_factory=list)
    saved: set[str] = field(default_factory=set)
    """The files that this session wrote, which it may write again."""

    lines: int = 0
    """How many lines were typed: a message shows the number of a line."""

    def check(
        self, new: list[ast.Item], result: ast.Expr | None, source: Source, reasons: bool = False
    ) -> Compiled:
        return check_new(self.table, new, result, source, self.finder, self.backend, reasons)


def expression(state: State, expr: ast.Expr, source: Source) -> Iterator[Report]:
    """Its type and its value; of a function its signature."""
    compiled = state.check([], expr, source)
    yield from _warnings(compiled)
    if has_function(compiled.type(MAIN)):
        yield Said(compiled.signature(MAIN).line(names=True).partition(" : ")[2])
        return
    refuse_declared(tree(state.table, [], expr, source)[1])
    result = compiled.run(MAIN)
    yield Said("\n".join([type_of_result(result), *lines_of_result(result)]))


def statement(state: State, item: ast.Item, source: Source, file: str = "") -> Iterator[Report]:
    """A definition or a binding: its names with their types. Of those of a `file`, what uses them
    is checked again when all of it is there.
    """
    new = _read(state, item, source, file)
    found = [each for each in new if isinstance(each, Known)]
    yield from (each for each in new if not isinstance(each, Known))
    before = state.table
    replaced = [each.key for each in found if before.is_used(each.key)]
    state.table = before.with_all(found)
    lines = [each.line for each in found]
    if lines:
        yield Said("\n".join(lines))
    if replaced and not file:
        yield from check_again(state, replaced, before)


def _is_alike(new: Known, old: Known | None) -> bool:
    """Whether what uses a name cannot tell the difference: tensors of one type."""
    if old is None or not (new.is_value and old.is_value) or new.line != old.line:
        return False
    items = new.item, old.item
    return all(isinstance(i, ast.Binding) and isinstance(i.value, ast.Call) for i in items)


def _read(state: State, item: ast.Item, source: Source, file: str) -> list[Known | Report]:
    """The names that an item defines, after what there is to say about it."""
    match item:
        case ast.Import():
            state.check([item], None, source)
            line = f"{item.alias} : the definitions of {item.path}"
            return [_definition(item, f"import {item.alias}", line, file)]
        case ast.TypeAlias():
            compiled = state.check([item], None, source)
            line = " ".join(item.span.text.split())
            return [*_warnings(compiled), _definition(item, f"type {item.name}", line, file)]
        case ast.OpDecl():
            compiled = state.check([item], None, source)
            line = " ".join(item.span.text.split())
            new = _definition(item, item.name, line, file)
            _refuse_circle(state.table, new)
            return [*_warnings(compiled), new]
        case ast.Binding(pattern):
            compiled = state.check([item], None, source)
            names = [name for name, _ in bound_names(pattern)]
            if any(has_function(compiled.type(name)) for name in names):
                return [*_warnings(compiled), *_functions(state, item, compiled, file)]
            refuse_declared(tree(state.table, [item], None, source)[1])
            if isinstance(pattern, ast.NamePattern) and names:
                kept = {names[0]: _kept(compiled, names[0], compiled.run(names[0]), item)}
            else:
                kept = _parts_of(state, item, source)
            known = state.table.known
            basis = {key: known[key].token for key in needs_of(item) if key in known}
            return [
                *_warnings(compiled),
                *(_value(name, item, each, basis, file) for name, each in kept.items()),
            ]


def _warnings(compiled: Compiled) -> list[Report]:
    return [Diagnosed(compiled.warnings)] if compiled.warnings else []


def _definition(item: ast.Item, key: str, line: str, file: str) -> Known:
    return Known(key, item, line, needs_of(item) - {key}, item, file)


def _functions(state: State, item: ast.Binding, compiled: Compiled, file: str) -> list[Known]:
    """A function, or several in a pattern: each name has an item of its own."""
    found: list[Known] = []
    for name, _ in bound_names(item.pattern):
        own = replace(item, pattern=_only(item.pattern, name))
        line = compiled.signature(name).line(names=True)
        new = Known(name, own, line, needs_of(item), item, file)
        _refuse_circle(state.table, new)
        found.append(new)
    return found


def _only(pattern: ast.Pattern, name: str) -> ast.Pattern:
    """The pattern with one name left in it."""
    match pattern:
        case ast.NamePattern():
            return pattern if pattern.name == name else ast.NamePattern("_", pattern.span)
        case ast.TuplePattern(items, span):
            return ast.TuplePattern(tuple(_only(each, name) for each in items), span)
        case ast.RecordPattern(items, span):
            return ast.RecordPattern(tuple(each for each in items if each.name == name), span)


def _refuse_circle(table: Table, new: Known) -> None:
    """A function means by a name what it means at last, so it cannot use an earlier self."""
    way = table.circle(new) if new.key in table.known else []
    if len(way) == 1:
        raise refusal(
            f"`{new.key}` would use itself: a function uses what a name means now; "
            "give the new one another name"
        )
    if way:
        others = ", which uses ".join(f"`{key}`" for key in way)
        raise refusal(f"`{new.key}` would use itself: it uses {others}")


# --- values ----------------------------------------------------------------------------------


def _kept(compiled: Compiled, name: str, value: Any, item: ast.Binding) -> Kept:
    kept = keep(name, compiled.type(name), value, item.value.span)
    literal = item.value.operand if isinstance(item.value, ast.Negate) else item.value
    if isinstance(literal, ast.Number) and literal.kind == "float":
        return Kept(item.value, kept.type, ())  # it takes the element type of each use
    return kept


def _parts_of(state: State, item: ast.Binding, source: Source) -> dict[str, Kept]:
    """The values of the names in a pattern, from one computation."""
    compiled = state.check([], item.value, source)
    found: dict[str, Kept] = {}
    todo = [(item.pattern, compiled.type(MAIN), compiled.run(MAIN))]
    while todo:
        pattern, type_, value = todo.pop()
        match pattern:
            case ast.NamePattern("_"):
                pass
            case ast.NamePattern(name):
                found[name] = keep(name, type_, value, pattern.span)
            case ast.RecordPattern(items):
                assert isinstance(type_, Record)
                todo += [(each, type_.fields[each.name], value[each.name]) for each in items]
            case ast.TuplePattern(items):
                todo += zip(items, getattr(type_, "items", ()), value, strict=True)
    return {name: found[name] for name, _ in bound_names(item.pattern)}


def _value(
    name: str, item: ast.Binding, kept: Kept, basis: Mapping[str, object], file: str
) -> Known:
    span = next(span for known, span in bound_names(item.pattern) if known == name)
    own = ast.Binding(ast.NamePattern(name, span), kept.expr, item.span)
    line = f"{name} : {Show().type(kept.type)}"
    return Known(name, own, line, frozenset(), item, file, kept.held, basis=basis)


# --- what uses a name that is something else now ---------------------------------------------


def check_again(state: State, keys: list[str], before: Table) -> Iterator[Report]:
    """Check what uses these names. What has an error now stays, and says so where it is used."""
    known = state.table.known
    other = [k for k in keys if k not in known or not _is_alike(known[k], before.known.get(k))]
    users = state.table.users(other)
    names = _listed(keys)
    if users:
        fine, broken, reports = _checked_again(state, users)
        lines = {key: each.line for key, each in before.known.items()}
        changed = [each for each in fine if each.line != lines.get(each.key, each.line)]
        state.table = state.table.with_all(fine)
        if changed:
            listed = "\n".join(f"  {each.line}" for each in changed)
            yield Said(f"with this {names}:\n{listed}")
        same = [each.key for each in fine if each not in changed]
        if same:
            yield Said(f"checked again with this {names}, of the same type: {_listed(same)}")
        if broken:
            verb = "has an error" if len(broken) == 1 else "have errors"
            yield Said(f"with this {names}, {_listed(broken)} {verb}:")
        yield from reports
    older = [each.key for each in state.table.values_of(keys) if each.key not in keys]
    if older:
        keeps = "keeps its value" if len(older) == 1 else "keep their values"
        yield Said(f"{_listed(older)} {keeps}, computed before")


def _checked_again(state: State, users: list[Known]) -> tuple[list[Known], list[str], list[Report]]:
    """Those without errors, with their types now; the names of the others, and their errors."""
    items = [each.item for each in users]
    source = Source("session", "")
    known = {id(item) for item in items}
    _, needed = tree(state.table, items, None, source)
    others = [each for each in needed if id(each.item) not in known]
    held = {held.name: held.entry for each in others for held in each.held or ()}
    program = ast.Program((*(each.item for each in others), *items), None, source)
    checked, _ = check_tree(program, state.finder, held=held)
    lines = {s.name: s.line(names=True) for s in checked.signatures}
    errors = tuple(d for d in checked.diagnostics if d.severity == Severity.ERROR)
    failed = {each.name for each in checked.inferred.failed}
    fine: list[Known] = []
    broken: list[str] = []
    for each in users:
        if each.key in failed or (errors and not isinstance(each.item, ast.Binding)):
            broken.append(each.key)
        else:
            fine.append(replace(each, line=lines.get(each.key, each.line)))
    found = tuple(d for d in errors if concerns(d, source))
    return fine, broken, [Diagnosed(found)] if found else []


def _listed(keys: list[str]) -> str:
    names = [f"`{key}`" for key in keys]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
