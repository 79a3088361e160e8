"""`axon explain`: derivations, and answers to "why", as text."""

from __future__ import annotations

from dataclasses import dataclass

from axon.driver import Checked
from axon.inference.program import Definition
from axon.inference.report.questions import why
from axon.inference.report.signature import describe_definition
from axon.solver.constraints import Constraint, Origin
from axon.solver.trace import Derivation, derive

MOST_WITH_SETS = 120


@dataclass(frozen=True, slots=True)
class Most:
    """How much of a large derivation is shown, and how to ask for all of it."""

    ask: str
    constraints: int = 60
    steps: int = 100
    lines: int = 300
    """Of the steps: each has the set that is left, which is long where there are many."""


def derivation_text(
    definition: Definition,
    paper: bool,
    short: bool,
    start: str | None,
    most: Most | None = None,
) -> str:
    """The constraints that a definition generates, and how they are solved; at `most` so many."""
    if len(definition.constraints) > MOST_WITH_SETS:
        short = True  # a set for each step would grow as the square of the program
    derivation = derive(definition.constraints, paper, sets=not short)
    lines = [f"{definition.name}", ""]
    lines.append("constraints")
    width = max((len(text) for text, _ in derivation.constraints), default=0)
    shown = [
        f"  {text.ljust(width)}   {origin_text(constraint.origin)}".rstrip()
        for text, constraint in derivation.constraints
        if start is None or _mentions(constraint, start)
    ]
    lines.extend(_first(shown, most.constraints, most) if most else shown)
    if not derivation.constraints:
        lines.append("  none")
    lines.append("")
    lines.append("steps" if start is None else f"steps from {start}")
    lines.extend(_steps(derivation, short, start, most))
    lines.append("")
    lines.append(describe_definition(definition, paper).line())
    return "\n".join(lines)


def derivation_document(definition: Definition, paper: bool) -> dict[str, object]:
    """The same as plain data, without the sets between the steps."""
    derivation = derive(definition.constraints, paper, sets=False)
    return {
        "name": definition.name,
        "signature": describe_definition(definition, paper).line(),
        "constraints": [
            {"text": text, "origin": origin_text(constraint.origin)}
            for text, constraint in derivation.constraints
        ],
        "steps": [{"rule": step.rule, "about": step.about} for step in derivation.steps],
    }


def _first(lines: list[str], count: int, most: Most) -> list[str]:
    """The first lines, and how to see the others."""
    more = len(lines) - count
    return [*lines[:count], _others(more, most)] if more > 0 else lines


def _others(more: int, most: Most) -> str:
    return f"  … {more} more: {most.ask} shows them"


def _steps(derivation: Derivation, short: bool, start: str | None, most: Most | None) -> list[str]:
    steps = [s for s in derivation.steps if start is None or _mentions(s.root, start)]
    if not steps:
        return ["  none"]
    lines: list[str] = []
    more = 0
    width = max(len(step.rule) for step in steps[: most.steps if most else None])
    for number, step in enumerate(steps, 1):
        if most and (number > most.steps or len(lines) >= most.lines):
            more = len(steps) - number + 1
            break
        lines.append(f"  {number:>3}  {step.rule.ljust(width)}  {step.about}")
        if not short:
            lines.extend(f"         {line}" for line in _packed(step.after))
            lines.append("")
    while lines and not lines[-1]:
        lines.pop()
    return [*lines, _others(more, most)] if most and more > 0 else lines


def _packed(equations: tuple[str, ...], width: int = 88) -> list[str]:
    """Several short equations to a line, as many as fit."""
    lines: list[str] = []
    for equation in equations:
        if lines and len(lines[-1]) + 4 + len(equation) <= width:
            lines[-1] += f"    {equation}"
        else:
            lines.append(equation)
    return lines


def _mentions(constraint: Constraint, name: str) -> bool:
    origin = constraint.origin
    return origin.span is not None and (
        origin.span.text == name or origin.note.startswith(f"`{name} :")
    )


def origin_text(origin: Origin) -> str:
    """The origin of a constraint, in a few words."""
    line = f" (line {origin.span.line})" if origin.span is not None else ""
    match origin.kind:
        case "argument":
            return f"argument {origin.position} of {origin.operator}{line}"
        case "called":
            return f"{origin.note} at the call{line}"
        case "result":
            return f"the result is {origin.note}{line}"
        case "annotation":
            return f"{origin.note}{line}"
        case "condition":
            return f"a condition{line}"
        case "call" | "value":
            return f"{origin.operator}{line}"
        case "divisor":
            return f"size{line}"
        case _:
            return f"{origin.kind}{line}"


def answer_text(checked: Checked, definition: Definition, question: str) -> tuple[str, bool]:
    """The answer to "why", with the places it follows from."""
    answer = why(checked.inferred.state, definition, question)
    if isinstance(answer, str):
        return answer, False
    lines = [f"{answer.subject} is {answer.value}", *_places(answer.because, "  ")]
    for condition in answer.conditions:
        lines += [f"  where {condition.text}", *_places(condition.because, "    ")]
    if answer.value in ("any size", "any shape") and len(lines) == 1:
        lines.append("  nothing says more about it")
    return "\n".join(lines), True


def answer_document(
    checked: Checked, definition: Definition, question: str
) -> dict[str, object] | str:
    """The answer as plain data, or a complaint about the question."""
    answer = why(checked.inferred.state, definition, question)
    if isinstance(answer, str):
        return answer
    return {
        "name": definition.name,
        "subject": answer.subject,
        "value": answer.value,
        "because": _places_document(answer.because),
        "conditions": [
            {"text": condition.text, "because": _places_document(condition.because)}
            for condition in answer.conditions
        ],
    }


def _places_document(constraints: tuple[Constraint, ...]) -> list[dict[str, object]]:
    return [
        {
            "file": span.source.name,
            "line": span.line,
            "column": span.column,
            "text": span.text,
            "reason": origin_text(constraint.origin),
        }
        for constraint in constraints
        if (span := constraint.origin.span) is not None
    ]


def _places(constraints: tuple[Constraint, ...], margin: str) -> list[str]:
    lines: list[str] = []
    for constraint in constraints:
        origin = constraint.origin
        if origin.span is None:
            continue
        place = f"{origin.span.source.name}:{origin.span.line}:{origin.span.column}"
        text = " ".join(origin.span.text.split())
        shown = text if len(text) <= 40 else f"{text[:39]}…"
        lines.append(f"{margin}{place}  {shown}   {origin_text(origin)}")
    return lines
