"""A call of a function, inferred once more with the body of the function at these arguments.

A scheme has conditions, but not their places. So where a call fails, the body is inferred at the
types of the arguments, and its error tells the line inside.
"""

from __future__ import annotations

from dataclasses import replace

from axon.diagnostics import Diagnostic, Severity
from axon.inference.walk import Walk
from axon.solver.constraints import Origin
from axon.source import Span
from axon.types.scope import Scope
from axon.types.show import Show
from axon.types.type import UNKNOWN, Fn, Type

MOST_INLINES = 60
"""The most calls of a definition that are inferred in this way, those inside them too."""


def inlined(inference: Walk, name: str, args: list[Type]) -> Type:
    """The result of a function whose body meets the arguments of this call."""
    fn, env = inference.inlined[name]
    if inference.inlines <= 0 or len(fn.params) != len(args):
        return UNKNOWN
    inference.inlines -= 1
    state = inference.state
    arguments = []
    for i, (param, arg) in enumerate(zip(fn.params, args, strict=True)):
        note = f"`{param.name}` is {Show().type(state.resolve(arg))}"
        arguments.append((arg, Origin("called", param.span, name, i + 1, note)))
    names, state.names = state.names, Scope()
    found = inference.infer_fn(fn, env, arguments=arguments)
    state.names = names
    return found.result if isinstance(found, Fn) else UNKNOWN


def with_inner_places(
    found: list[Diagnostic], inner: list[Diagnostic], functions: dict[str, Span]
) -> list[Diagnostic]:
    """The messages about calls, each with the place inside the function that is called."""
    left: list[tuple[Span, str, Diagnostic]] = []
    for each in inner:
        place = _place(each)
        owner = next((n for n, s in functions.items() if place and place.is_within(s)), None)
        if each.severity == Severity.ERROR and place is not None and owner is not None:
            text = each.message.removeprefix(f"{owner}: ")
            left.append((place, f"in `{owner}`: {text}", each))
    kept = []
    for each in found:
        if each.subject in functions and left:
            place, text, inside = left.pop(0)
            kept.append(_said_inside(each, inside).with_label(place, text))
        else:
            kept.append(each)
    return kept


def _said_inside(call: Diagnostic, inside: Diagnostic) -> Diagnostic:
    """The message about a call, whose sizes do not broadcast as its conditions want, with what it
    comes from: sizes that differ in the body.
    """
    if (call.code, inside.code) != ("AX110", "AX101"):
        return call
    return replace(call, code=inside.code, message=inside.about(call.subject).message)


def _place(diagnostic: Diagnostic) -> Span | None:
    """From the first of its primary labels to the last, if they are on one line."""
    spans = [label.span for label in diagnostic.labels if label.primary]
    if not spans:
        return diagnostic.span
    first, last = min(spans, key=lambda s: s.start), max(spans, key=lambda s: s.end)
    return first.to(last) if first.line == last.line else diagnostic.span
