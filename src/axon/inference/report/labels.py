"""The labels of a message: what each place of a conflict contributes.

A label states a fact: a size or a shape that its argument has without the constraint that the label
is about, and where that comes from.
"""

from __future__ import annotations

from dataclasses import replace

from axon.diagnostics import Label
from axon.inference.report.clash import Clash, item_at, sides
from axon.solver.constraints import Constraint
from axon.source import Span
from axon.types import dim as dims
from axon.types.show import Show
from axon.types.type import Shape, ShapeEq
from axon.types.variables import ShapeVar


def labels_of(
    clashes: list[Clash], core: list[Constraint], main: Clash | None, show: Show, ranks: bool
) -> tuple[Label, ...]:
    """The labels, those of the main call first; if it is about `ranks`, they state shapes."""
    if ranks:
        clashes = [replace(c, size=None) for c in clashes]
        main = next((c for c in clashes if main and c.constraint is main.constraint), None)
    labels: list[Label] = []
    folded: set[Constraint] = set()
    texts: dict[Constraint, str] = {}
    for clash in clashes:
        kind = clash.constraint.origin.kind
        if kind == "argument":
            source = _declaration(core, clash.constraint)
            texts[clash.constraint] = _argument(clash, source, show)
            if source is not None:
                folded.add(source)
        elif kind == "called":
            texts[clash.constraint] = _argument(clash, clash.constraint, show)
    calls = {c.origin.call for c in core if c.origin.kind == "argument"}
    at: dict[Span, int] = {}
    ordered = sorted(clashes, key=lambda c: (c is not main, c.constraint.origin.kind != "called"))
    for clash in ordered:
        constraint, origin = clash.constraint, clash.constraint.origin
        span = origin.span
        if span is None or constraint in folded:
            continue
        if origin.kind in ("call", "value", "size", "divisor") and span in calls:
            continue
        text = texts.get(constraint) or _other_text(constraint)
        if span in at:
            before = labels[at[span]]
            if origin.part and text and not _goes_into(span, clashes):  # of another part of it
                joined = f"{before.text}; {text}" if before.text else text
                labels[at[span]] = replace(before, text=joined)
            continue
        at[span] = len(labels)
        labels.append(Label(span, text, clash is main or _of_one_call(clash, main)))
    if labels and not any(label.primary for label in labels):
        labels[0] = Label(labels[0].span, labels[0].text, primary=True)
    labels = [label for label in labels if label.primary or not _is_nested(label, labels)]
    labels.sort(key=lambda label: (not label.primary, label.span.line, label.span.start))
    return tuple(labels)


def _goes_into(span: Span, clashes: list[Clash]) -> bool:
    """Whether there are places inside this one, which are more specific."""
    inner = (c.constraint.origin.span for c in clashes)
    return any(s is not None and s != span and s.is_within(span) for s in inner)


def _of_one_call(clash: Clash, main: Clash | None) -> bool:
    """Whether it is an argument of the very call that the message is about."""
    origin = clash.constraint.origin
    if main is None or origin.kind != "argument":
        return False
    return origin.call == main.constraint.origin.call


def _argument(clash: Clash, source: Constraint | None, show: Show) -> str:
    text, part = _has(clash, show), clash.constraint.origin.part
    if part and text:
        verb = "is" if text.startswith(("taken", "a scalar")) else "has"
        text = f"{of_function(part, 'its')} {verb} {text}"
    if source is None or source.origin.span is None:
        return text
    if source.origin.kind != "called":
        return (
            f"{text or 'this argument'}, from {source.origin.note} (line {source.origin.span.line})"
        )
    if clash.size is None and clash.here and not part:
        text = ""  # the type that follows is enough
    return f"{text}{': ' if text else ''}{source.origin.note} at the call"


def _has(clash: Clash, show: Show) -> str:
    """The size or shape of the argument; if nothing before determines it, the one required here; if
    that is not known either, the empty string.
    """
    if clash.size is not None:
        for word, taken in ((clash.before, ""), (clash.after, "taken to have ")):
            size = item_at(word, clash.at)
            if size is not None and size in (clash.size, clash.other):
                return f"{taken}{clash.place} size {show.dim(size)}"
        return ""
    for word, taken in ((clash.before, ""), (clash.after, "taken to ")):
        if not _is_open(word) and not _counts_unknown(word):
            if not word:
                return f"{taken and taken + 'be '}a scalar" if clash.here or clash.wanted else ""
            return f"{taken and taken + 'have '}shape {show.shape(word)}"
    return ""


def _is_open(word: Shape) -> bool:
    """Whether nothing is known of a shape."""
    return len(word) == 1 and isinstance(word[0], ShapeVar) and not word[0].user


def _counts_unknown(word: Shape) -> bool:
    """Whether a size is the number of elements of a shape that nothing is known of."""
    sizes = [item for item in word if not isinstance(item, ShapeVar)]
    return any(
        isinstance(var, ShapeVar) and not var.user for s in sizes for var in dims.variables(s)
    )


def of_function(part: str, whose: str) -> str:
    """A part of a function, and whose it is: `item 1 of its result`."""
    items, of, last = part.rpartition(" of ")
    return f"{items}{of}{whose} {last}"


def _is_nested(label: Label, labels: list[Label]) -> bool:
    """Whether an enclosing label has the same text."""
    return any(
        other is not label and label.span.is_within(other.span) and other.text.endswith(label.text)
        for other in labels
    )


def _declaration(core: list[Constraint], constraint: Constraint) -> Constraint | None:
    """The origin of an argument's shape: the call or the annotation of the parameter that it is."""
    if not isinstance(constraint.relation, ShapeEq):
        return None
    _, there = sides(constraint, constraint.relation)
    found = [c for c in core if isinstance(c.relation, ShapeEq) and c.relation.left == there]
    for kind in ("called", "annotation"):
        for c in found:
            if c.origin.kind == kind:
                return c
    return None


def _other_text(constraint: Constraint) -> str:
    origin = constraint.origin
    use = f"in this use of {origin.operator}"
    texts = {
        "annotation": f"declared {origin.note}",
        "result": f"declared to be {origin.note}",
        "condition": "asked for here",
        "divisor": "divided here",
        "call": use,
        "value": use,
    }
    return texts.get(origin.kind, "")
