"""From a conflict to a message: the operator, the two sizes, where each came from, and what might
help.

Every label belongs to a minimal set of constraints that cannot hold together. What a place
contributes is found by solving the others without it and looking where they disagree with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from axon.diagnostics import Diagnostic, Label, Severity
from axon.ops import OPERATORS
from axon.solver.constraints import Conflict, Constraint
from axon.solver.reasons import conflict_of, reasons
from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    Relation,
    Shape,
    ShapeEq,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar

_CODES = {
    "size": "AX101",
    "multiset": "AX101",
    "rank": "AX102",
    "long": "AX102",
    "negative": "AX103",
    "division": "AX104",
    "ragged": "AX105",
    "uniform": "AX105",
    "infinite": "AX106",
    "broadcast": "AX110",
}


@dataclass(frozen=True, slots=True)
class Clash:
    """Where one constraint disagrees with the others: the size it has, the one they want, and its
    place.
    """

    constraint: Constraint
    here: Shape
    wanted: Shape
    size: Dim | None = None
    other: Dim | None = None
    place: str = ""
    variable: str = ""


def describe(store: Store, conflict: Conflict) -> tuple[Diagnostic, list[Constraint]]:
    """The message for a conflict, and the constraints that it is about."""
    core = reasons(store, conflict)
    found = conflict_of(core) or conflict
    clashes = [_clash(core, c) for c in core]
    main = _main(clashes)
    show = Show(_names(core), depth=conflict.constraint.depth)
    code = _code(found, core)
    message = _message(code, found, main, clashes, show)
    labels = _labels(core, clashes, main, show)
    return (
        Diagnostic(code, Severity.ERROR, message, tuple(labels), (), tuple(_help(core, main))),
        core,
    )


def _names(core: list[Constraint]) -> Names:
    names = Names(hints=True)
    for constraint in core:
        names.reserve(relation_variables(constraint.relation))
    return names


def _code(conflict: Conflict, core: list[Constraint]) -> str:
    if any(_is_condition(c) for c in core) and conflict.kind != "ragged":
        return "AX111"
    if conflict.kind == "size" and any(
        isinstance(c.relation, Broadcast | DimBroadcast) for c in core
    ):
        return "AX110"
    return _CODES[conflict.kind]


# --- where it disagrees
# ------------------------------------------------------------------------------


def _clash(core: list[Constraint], constraint: Constraint) -> Clash:
    others = new_store(levels=False)
    others.post_all([c for c in core if c is not constraint])
    relation = constraint.relation
    if not isinstance(relation, ShapeEq):
        return Clash(constraint, (), ())
    wanted, here = others.word(relation.left), others.word(relation.right)
    if constraint.origin.kind == "result":
        wanted, here = here, wanted
    flexible = any(isinstance(item, ShapeVar) for item in relation.left)
    for from_end in (True, False) if flexible else (False, True):
        found = _mismatch(relation.left, wanted, here, from_end)
        if found is not None:
            size, other, place, variable = found
            return Clash(constraint, here, wanted, size, other, place, variable)
    return Clash(constraint, here, wanted)


def _mismatch(
    written: Shape, wanted: Shape, here: Shape, from_end: bool
) -> tuple[Dim, Dim, str, str] | None:
    """The first pair of sizes that can never be equal, counted from one end as far as that end
    is fixed.
    """
    for i in range(min(len(wanted), len(here))):
        at = -1 - i if from_end else i
        a, b = wanted[at], here[at]
        if isinstance(a, ShapeVar) or isinstance(b, ShapeVar):
            return None
        difference = dims.sub(a, b)
        if isinstance(difference, int) and difference != 0:
            names = [
                item.name
                for item in written[at : at + 1 or None]
                if isinstance(item, DimVar) and not any(_is_shape(w) for w in _outside(written, at))
            ]
            return b, a, _ordinal(i, from_end), names[0] if names else ""
    return None


def _outside(written: Shape, at: int) -> Shape:
    return written[at:] if at < 0 else written[: at + 1]


def _is_shape(item: Dim | ShapeVar) -> bool:
    return isinstance(item, ShapeVar)


def _ordinal(i: int, from_end: bool) -> str:
    words = ("", "second", "third", "fourth", "fifth", "sixth")
    if i >= len(words):
        return f"{i + 1}th{'-last' if from_end else ''}"
    if from_end:
        return f"{words[i]}-last" if i else "last"
    return words[i] or "first"


def _main(clashes: list[Clash]) -> Clash | None:
    """The call to speak of: the last argument that disagrees, else the last place of any kind."""
    ranked = sorted(
        clashes,
        key=lambda c: (
            c.constraint.origin.kind == "argument",
            c.size is not None,
            c.constraint.origin.span.start if c.constraint.origin.span else -1,
        ),
    )
    return ranked[-1] if ranked else None


# --- what to say
# ---------------------------------------------------------------------------------------


def _message(
    code: str, conflict: Conflict, main: Clash | None, clashes: list[Clash], show: Show
) -> str:
    origin = main.constraint.origin if main is not None else conflict.constraint.origin
    who = f"{origin.operator}: " if origin.operator else ""
    if not who:
        called = next(
            (c.constraint.origin.operator for c in clashes if c.constraint.origin.operator), ""
        )
        who = f"{called}: " if called else ""
    match code:
        case "AX101":
            if main is not None and main.size is not None and main.other is not None:
                pair = _pair(clashes, main, show)
                role = _role(origin.operator, main.variable)
                return f"{who}the {role} differ, {pair}"
            if conflict.kind == "multiset":
                return f"{who}no shape satisfies {_equation(conflict, show)}"
            return f"{who}the sizes differ, {_sides(conflict, show)}"
        case "AX110":
            a, b = _two_sizes(conflict, show)
            return f"{who}sizes {a} and {b} do not broadcast: they must be equal, or one of them 1"
        case "AX102":
            if conflict.kind == "long":
                return f"{who}the shape has more than a thousand dimensions"
            if main is not None and main.wanted != main.here:
                return f"{who}{_wanted_shape(main, show)}"
            return f"{who}the ranks differ: {_equation(conflict, show)}"
        case "AX103":
            return f"{who}a size would be negative: {_equation(conflict, show)}"
        case "AX104":
            return f"{who}no whole number satisfies {_equation(conflict, show)}"
        case "AX105":
            if conflict.kind == "uniform":
                return f"{who}works along an axis that a ragged dimension varies over"
            return f"{who}a ragged dimension cannot be {_uniform(conflict, show)}"
        case "AX106":
            return f"{who}no shape satisfies {_equation(conflict, show)}: it would contain itself"
        case _:
            return f"{who}{_broken_condition(clashes, show)}"


def _broken_condition(clashes: list[Clash], show: Show) -> str:
    """Which condition it is, and what its names stand for here."""
    for clash in clashes:
        constraint = clash.constraint
        if _is_condition(constraint):
            others = new_store(levels=False)
            others.post_all([c.constraint for c in clashes if c is not clash])
            values = {
                f"{show.dim(v)} is {show.dim(others.dim(v))}": None
                for v in relation_variables(constraint.relation)
                if isinstance(v, DimVar) and isinstance(others.dim(v), int)
            }
            facts = f": {', '.join(values)}" if values else ""
            return f"the condition {show.relation(constraint.relation)} does not hold{facts}"
    return "a condition does not hold"


def _is_condition(constraint: Constraint) -> bool:
    relation = constraint.relation
    return constraint.origin.kind == "condition" or (
        isinstance(relation, AtLeast) and not relation.silent
    )


def _pair(clashes: list[Clash], main: Clash, show: Show) -> str:
    """Both sizes, in the order of the arguments."""
    assert main.size is not None and main.other is not None
    first = next(
        (
            c
            for c in clashes
            if c is not main
            and c.size is not None
            and c.constraint.origin.call == main.constraint.origin.call
            and c.constraint.origin.position < main.constraint.origin.position
        ),
        None,
    )
    if first is not None:
        return f"{show.dim(main.other)} and {show.dim(main.size)}"
    return f"{show.dim(main.size)} and {show.dim(main.other)}"


def _role(operator: str, variable: str) -> str:
    known = OPERATORS.get(operator)
    return known.roles.get(variable, "sizes") if known is not None else "sizes"


def _sides(conflict: Conflict, show: Show) -> str:
    return f"{_side(conflict.left, show)} and {_side(conflict.right, show)}"


def _two_sizes(conflict: Conflict, show: Show) -> tuple[str, str]:
    return _side(conflict.right, show), _side(conflict.left, show)


def _side(side: Dim | Shape, show: Show) -> str:
    return show.shape(side) if isinstance(side, tuple) else show.dim(side, spaced=True)


def _equation(conflict: Conflict, show: Show) -> str:
    relation = conflict.constraint.relation
    if isinstance(relation, AtLeast):
        return f"{show.dim(dims.add(conflict.left, 0), spaced=True)} >= 0"  # type: ignore[arg-type]
    return f"{_side(conflict.left, show)} = {_side(conflict.right, show)}"


def _uniform(conflict: Conflict, show: Show) -> str:
    for side in (conflict.left, conflict.right):
        if not isinstance(side, tuple) and not any(
            v.runtime and v.scope > conflict.constraint.depth for v in dims.variables(side)
        ):
            return f"equal to {show.dim(side)}, which does not vary"
    return "equal to one that does not vary"


def _wanted_shape(main: Clash, show: Show) -> str:
    ordinal = main.constraint.origin.position
    what = f"argument {ordinal}" if ordinal else "the result"
    wanted, here = show.shape(main.wanted), show.shape(main.here)
    return f"{what} has shape {here}, where {wanted} is wanted"


def _labels(
    core: list[Constraint], clashes: list[Clash], main: Clash | None, show: Show
) -> list[Label]:
    labels: list[Label] = []
    folded: set[int] = set()
    seen: set[tuple[int, int]] = set()
    texts: dict[int, str] = {}
    for clash in clashes:
        if clash.constraint.origin.kind == "argument":
            source = _declaration(core, clash.constraint)
            texts[id(clash.constraint)] = _said(clash, source, show)
            if source is not None:
                folded.add(id(source))
    calls = {c.origin.call for c in core if c.origin.kind == "argument"}
    for clash in clashes:
        constraint = clash.constraint
        origin = constraint.origin
        span = origin.span
        if span is None or id(constraint) in folded:
            continue
        if origin.kind in ("call", "value") and span in calls:
            continue
        if (span.start, span.end) in seen:
            continue
        seen.add((span.start, span.end))
        text = texts.get(id(constraint)) or _other_text(clash, show)
        same_call = main is not None and origin.call == main.constraint.origin.call
        primary = clash is main or (origin.kind == "argument" and same_call)
        labels.append(Label(span, text, primary))
    if labels and not any(label.primary for label in labels):
        first = labels[-1]
        labels[-1] = Label(first.span, first.text, primary=True)
    labels.sort(key=lambda label: (not label.primary, label.span.start))
    return labels


def _declaration(core: list[Constraint], constraint: Constraint) -> Constraint | None:
    """The annotation that gave an argument its shape, if the argument is a declared parameter."""
    relation = constraint.relation
    if not isinstance(relation, ShapeEq):
        return None
    return next(
        (
            c
            for c in core
            if c.origin.kind == "annotation"
            and isinstance(c.relation, ShapeEq)
            and c.relation.left == relation.right
        ),
        None,
    )


def _said(clash: Clash, source: Constraint | None, show: Show) -> str:
    if clash.size is not None:
        text = f"{clash.place} size {show.dim(clash.size)}"
    elif clash.here:
        text = f"shape {show.shape(clash.here)}"
    else:
        text = "a scalar" if clash.here == () and clash.wanted else "this argument"
    if source is not None and source.origin.span is not None:
        text += f", from {source.origin.note} (line {source.origin.span.line})"
    return text


def _other_text(clash: Clash, show: Show) -> str:
    origin = clash.constraint.origin
    match origin.kind:
        case "annotation":
            return f"declared {origin.note}"
        case "result":
            return f"declared to be {origin.note}"
        case "condition":
            return "asked for here"
        case "call" | "value":
            return f"in this use of {origin.operator}"
        case _:
            return ""


# --- what might help
# -------------------------------------------------------------------------------------


def _help(core: list[Constraint], main: Clash | None) -> list[str]:
    if main is None:
        return []
    operator = main.constraint.origin.operator
    if operator in ("matmul", "@"):
        return _transposed(core, main)
    if operator in ("max", "min") and _broadcasts(core, main):
        return [f"`{operator}` wants equal shapes; `{operator}imum` broadcasts"]
    return []


def _transposed(core: list[Constraint], main: Clash) -> list[str]:
    """Whether one of the arguments would fit if it were transposed."""
    for constraint in core:
        relation, origin = constraint.relation, constraint.origin
        if origin.kind != "argument" or origin.call != main.constraint.origin.call:
            continue
        others = new_store(levels=False)
        others.post_all([c for c in core if c is not constraint])
        if not isinstance(relation, ShapeEq):
            continue
        word = others.word(relation.right)
        if len(word) < 2 or any(isinstance(item, ShapeVar) for item in word[-2:]):
            continue
        swapped = ShapeEq(relation.left, (*word[:-2], word[-1], word[-2]))
        changed = [Constraint(swapped, origin, c.depth) if c is constraint else c for c in core]
        if origin.span is not None and _clearly_fits(changed):
            return [f"`transpose({_short(origin.span)})` would fit"]
    return []


def _clearly_fits(constraints: list[Constraint]) -> bool:
    """Without conflict, and without making one of the user's names a constant."""
    trial = new_store(levels=False)
    trial.post_all(constraints)
    return not trial.conflicts and not any(
        isinstance(var, DimVar) and var.user and isinstance(binding.value, int)
        for var, binding in trial.bindings.items()
    )


def _short(span: Span) -> str:
    text = span.text
    return text if len(text) <= 30 and "\n" not in text else "…"


def _broadcasts(core: list[Constraint], main: Clash) -> bool:
    call = main.constraint.origin.call
    arguments = [c for c in core if c.origin.kind == "argument" and c.origin.call == call]
    others = [c for c in core if c not in arguments]
    words: list[Shape] = []
    for constraint in arguments:
        if isinstance(constraint.relation, ShapeEq):
            words.append(constraint.relation.right)
    result = ShapeVar()
    relation: Relation = Broadcast((result,), tuple(words))
    trial = [*others, Constraint(relation, main.constraint.origin, main.constraint.depth)]
    return len(words) > 1 and conflict_of(trial) is None
