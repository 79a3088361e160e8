"""Messages about names that nothing is bound to: of other libraries, misspelt, bound below."""

from __future__ import annotations

from dataclasses import replace

from axon.diagnostics import Diagnostic, Fix, error
from axon.inference.environment import Environment
from axon.inference.habits.foreign_calls import rewritten
from axon.inference.habits.foreign_names import (
    CONSTANTS,
    FORMS,
    HELPS,
    IN_MODULES,
    WORDS,
    form_of,
    help_of,
    shown,
)
from axon.inference.recording.by_place import exchanged
from axon.inference.walk import Walk
from axon.ops import OPERATORS
from axon.source import Span
from axon.syntax import ast
from axon.types.elements import called_elsewhere


def report_library(inference: Walk, expr: ast.Field, call: ast.Call | None) -> None:
    text = expr.span.text if shown(expr.span.text) else expr.name
    found = error("AX201", f"`{text}` is not part of Axon", expr.span, "not bound")
    name = next((ours for end, ours in IN_MODULES.items() if text.endswith(end)), expr.name)
    inference.state.diagnostics.append(_with_form(found, name, expr.span, call))


def _with_form(found: Diagnostic, name: str, span: Span, call: ast.Call | None) -> Diagnostic:
    """The message with the form that Axon has for a name of another library."""
    element = called_elsewhere(name)
    form = form_of(name) or (f"cast(x, to={element})" if element else None)
    if form is None:
        return replace(found, help=(HELPS[name],)) if name in HELPS else found
    if call is not None:
        new = rewritten(name, None, call)
    else:
        new = CONSTANTS.get(name, name if name in OPERATORS else None)
    fixes = exchanged(name, None, call)
    if new is not None and shown(new):
        fixes = (Fix(f"write `{new}`", call.span if call is not None else span, new),)
    return replace(found, help=(help_of(name, form),), fixes=fixes)


def report_unbound(
    inference: Walk, expr: ast.Name, env: Environment, call: ast.Call | None = None
) -> None:
    name = expr.name if len(expr.name) <= 60 else f"{expr.name[:60]}…"
    if name.partition(".")[0] in inference.missing and "." in name:
        inference.tainted = True  # the import that would have it was reported
        return
    if name in inference.defining:
        inference.error(
            "AX202",
            f"`{name}` is used inside its own definition",
            expr.span,
            "not bound yet",
            help="there is no recursion: use `loop`, `map` or `reduce`"
            + (f"; the operator `{name}` is hidden here" if name in OPERATORS else ""),
        )
        return
    defined_below = inference.defined_below.get(name)
    help_: str | None = WORDS.get(name)
    fixes: tuple[Fix, ...] = ()
    if defined_below is not None:
        help_ = "a name is seen from the line after its binding on"
    elif (name in FORMS or name in HELPS) and call is not None:
        found = error("AX201", f"`{name}` is not bound", expr.span, "not bound")
        inference.state.diagnostics.append(_with_form(found, name, expr.span, call))
        return
    elif inference.guesses > 0 and help_ is None:
        from difflib import get_close_matches

        inference.guesses -= 1  # each guess compares with every name in scope
        known = env.all_names() | set(OPERATORS) | set(inference.state.names.index)
        close = get_close_matches(name, sorted(known), n=3, cutoff=0.7)
        fixes = tuple(Fix(f"did you mean `{each}`?", expr.span, each) for each in close)
    found = error("AX201", f"`{name}` is not bound", expr.span, "not bound", help_, fixes=fixes)
    if defined_below is not None:
        found = found.with_label(defined_below, "bound here, later")
    inference.state.diagnostics.append(found)
