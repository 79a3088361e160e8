"""Records: fields that are taken, set and matched. A value of unknown type that has a field is an
open record; its other fields are those of a variable (row polymorphism).
"""

from __future__ import annotations

import re

from axon.diagnostics import Diagnostic, Fix, Label, Severity, error
from axon.inference.environment import Environment
from axon.inference.habits.foreign_names import (
    ALL_SIZES,
    ATTRIBUTES_OF_TENSORS,
    HELPS,
    form_of,
    help_of,
    is_known,
    shown,
)
from axon.inference.state import State
from axon.inference.unify import unify
from axon.inference.walk import Walk
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types.type import UNKNOWN, Record, Tensor, Type, Unknown, record
from axon.types.variables import TypeVar

MOST_PATTERN = 200
"""Of the text before a value, in which the names are that it is taken apart by."""


def infer_field(inference: Walk, expr: ast.Field, env: Environment, is_operator: bool) -> Type:
    """The type of `record.name`."""
    state, name = inference.state, expr.name
    of = inference.infer(expr.record, env)
    found = state.prune(of)
    origin = Origin("field", expr.span)
    if isinstance(found, TypeVar | Record):
        call = _call_of(inference, expr)
        if name in ATTRIBUTES_OF_TENSORS if call is None else is_operator or is_known(name):
            inference.members.append((of, expr, call))
    match found:
        case Unknown():
            return UNKNOWN
        case Record(items, names, rest):
            if name in names:
                return items[names.index(name)]
            if rest is None:
                _no_field(state, found, name, expr.span)
                return UNKNOWN
            return _extended(state, found, name, rest, origin)
        case TypeVar():
            part, other = _at(state, found), _at(state, found)
            other.row = True
            unify(state, Record((part,), (name,), other), found, origin)
            return part
        case Tensor():
            call = _call_of(inference, expr)
            inference.state.diagnostics.append(member_of_tensor(expr, call))
            if form_of(name) is None:
                _forget(expr, env)
            return UNKNOWN
        case _:
            unify(state, Record((state.fresh_type(),), (name,), state.fresh_row()), found, origin)
            _forget(expr, env)
            return UNKNOWN


def _forget(expr: ast.Field, env: Environment) -> None:
    """What is no record has no other field either: that is said once."""
    if isinstance(expr.record, ast.Name) and not env.is_global(expr.record.name):
        env.forget(expr.record.name)


def _call_of(inference: Walk, expr: ast.Field) -> ast.Call | None:
    call = inference.calling
    return call if call is not None and call.function is expr else None


def member_of_tensor(expr: ast.Field, call: ast.Call | None) -> Diagnostic:
    """The message for `x.T` and the like: it names the operator, if there is one."""
    from axon.inference.habits.foreign_calls import rewritten
    from axon.inference.recording.by_place import exchanged  # only for a message

    form = form_of(expr.name)
    fixes = list(exchanged(expr.name, expr.record, call))
    new = rewritten(expr.name, expr.record, call) if form is not None else None
    if new is not None and shown(new):
        fixes.append(Fix(f"write `{new}`", (call or expr).span, new))
    if expr.name in ALL_SIZES and not (call is not None and call.args):
        fixes += _taken_apart(expr, (call or expr).span)
    what = "a method" if call is not None else "a field"
    help = help_of(expr.name, form) if form is not None else HELPS.get(expr.name)
    message = f"a tensor has no {what.removeprefix('a ')} `{expr.name}`"
    return error("AX218", message, expr.span, f"{what} of a tensor", help, fixes=tuple(fixes))


def _taken_apart(expr: ast.Field, span: Span) -> tuple[Fix, ...]:
    """`n, d = x.shape` with each of the sizes."""
    before = span.source.text[: span.start]
    names = re.search(r"(?:[\w']+\s*,\s*)+[\w']+\s*=\s*$", before[-MOST_PATTERN:])
    if names is None:
        return ()
    count = names[0].count(",") + 1
    new = ", ".join(f"shape({expr.record.span.text})[{at}]" for at in range(count))
    return (Fix(f"write `{new}`", span, new),)


def report_members(inference: Walk) -> None:
    """Values with no fields but members of tensors are tensors: a mistake, unless something else
    makes them records.
    """
    seen: set[int] = set()
    for of, expr, call in inference.members:
        found = inference.state.resolve(of)
        names = {each.name for _, each, _ in inference.members}
        if isinstance(found, Record) and found.rest is not None and names.issuperset(found.names):
            if id(found.rest) not in seen:
                inference.state.diagnostics.append(member_of_tensor(expr, call))
            seen.add(id(found.rest))
    inference.members.clear()


def _at(state: State, like: TypeVar) -> TypeVar:
    """A variable at the level and the scope of another."""
    return TypeVar("", min(like.level, state.level), scope=like.scope)


def _extended(state: State, known: Record, name: str, rest: TypeVar, origin: Origin) -> Type:
    """A field that the other fields of an open record must have."""
    part, other = _at(state, rest), _at(state, rest)
    other.row = True
    unify(state, Record((part,), (name,), other), Record((), (), rest), origin)
    return part


def infer_record(inference: Walk, expr: ast.Record, env: Environment) -> Type:
    """`{ a = e }`, or a record with some fields replaced, each perhaps by one of another type."""
    given = {field.name: inference.infer(field.value, env) for field in expr.fields}
    if expr.base is None:
        return inference.bounded(record(given), expr.span)
    state = inference.state
    of = inference.infer(expr.base, env)
    base = state.prune(of)
    if isinstance(base, Unknown):
        return UNKNOWN
    old: dict[str, Type] = {name: state.fresh_type() for name in given}
    if isinstance(base, Record) and base.rest is None:
        for field in expr.fields:
            if field.name not in base.names:
                _no_field(state, base, field.name, field.span, "an update replaces fields")
                return UNKNOWN
    elif isinstance(base, Record | TypeVar):
        level = base if isinstance(base, TypeVar) else base.rest
        assert level is not None
        old = {name: _at(state, level) for name in given}
        rest = _at(state, level)
        rest.row = True
        unify(state, record(old, rest), base, Origin("field", expr.span))
    else:
        unify(state, record(old, state.fresh_row()), base, Origin("field", expr.base.span))
        return UNKNOWN
    found = state.prune(of)
    if not isinstance(found, Record):
        return UNKNOWN
    return inference.bounded(record(found.fields | given, found.rest), expr.span)


def fields_of(inference: Walk, pattern: ast.RecordPattern, type_: Type, span: Span) -> list[Type]:
    """The types of the fields that a pattern names."""
    state = inference.state
    found = state.prune(type_)
    if isinstance(found, Unknown):
        return [UNKNOWN] * len(pattern.items)
    if isinstance(found, Record) and found.rest is None:
        for item in pattern.items:
            if item.name not in found.names:
                _no_field(state, found, item.name, item.span)
                return [UNKNOWN] * len(pattern.items)
    parts: dict[str, Type] = {
        item.name: _at(state, found) if isinstance(found, TypeVar) else state.fresh_type()
        for item in pattern.items
    }
    rest = _at(state, found) if isinstance(found, TypeVar) else state.fresh_row()
    rest.row = True
    unify(state, record(parts, rest), found, Origin("pattern", span))
    return [parts[item.name] for item in pattern.items]


def _no_field(state: State, found: Record, name: str, span: Span, note: str = "") -> None:
    from difflib import get_close_matches

    close = get_close_matches(name, found.names[:200], n=1, cutoff=0.6)
    listed = ", ".join(f"`{each}`" for each in found.names[:8])
    if len(found.names) > 8:
        listed += ", …"
    label = f"its fields are {listed}" if found.names else "it has no fields"
    helps = (f"did you mean `{close[0]}`?",) if close else ()
    state.diagnostics.append(
        Diagnostic(
            "AX217",
            Severity.ERROR,
            f"the record has no field `{name}`{': ' + note if note else ''}",
            (Label(span, label, primary=True),),
            (),
            helps,
        )
    )
