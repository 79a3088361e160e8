"""Messages for two types, or two classes of element types, that do not unify."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from axon.diagnostics import Diagnostic, Fix, Label, Severity
from axon.inference.habits.foreign_names import ALL_SIZES, PAIRS
from axon.inference.state import State
from axon.ops import OPERATORS
from axon.solver.constraints import Origin
from axon.source import Span
from axon.types.elements import BIT, INT, class_name
from axon.types.show import Names, Show
from axon.types.type import (
    DimValue,
    Fn,
    Record,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
    type_variables,
)
from axon.types.variables import ElemVar, TypeVar

MOST_TEXT = 60
"""Of a type in a label."""


def elements_differ(state: State, left: str, right: str, origin: Origin) -> None:
    if origin.kind == "result":
        message = f"the result is declared {right}, but its element type is {left}"
        label, wanted = f"{left} here", right
    else:
        message = f"{_who(origin)}the element types differ, {left} and {right}"
        label, wanted = f"{right} here, where {left} is expected", left
    if BIT[wanted] & INT and right != "bool" and not BIT[right] & INT:
        help = f"convert the other side: `cast(…, to={right})`"
        _report(state, "AX205", message, origin, label, help=help, elements=(left, right))
        return
    fixes = _cast(origin, "convert it", wanted)
    _report(state, "AX205", message, origin, label, fixes=fixes, elements=(left, right))


def literal_differs(state: State, elem: str, literal: str, origin: Origin) -> None:
    kind = "a bool" if elem == "bool" else f"a whole number ({elem})"
    number = "a whole number" if literal == "int" else "a number with a fraction"
    operator = OPERATORS.get(origin.operator)
    hint = operator.hints.get(origin.position) if operator is not None else None
    _report(
        state,
        "AX206",
        f"{_who(origin)}{number} is used where {kind} is expected",
        origin,
        "",
        fixes=() if hint else _cast(origin, "convert it", "f32"),
        help=hint or "convert the other side: `cast(…, to=f32)`",
    )


def not_in_class(state: State, elem: str, mask: int, origin: Origin) -> None:
    _report(
        state,
        "AX206",
        f"{_who(origin)}{elem} is not {_described(mask)}",
        origin,
        f"{elem} here",
        fixes=_cast(origin, "convert it", "f32" if "float" in class_name(mask) else "i64"),
    )
    _propose_exchange(state, origin)


def _propose_exchange(state: State, origin: Origin) -> None:
    """Two arguments of a call that are both of a wrong type may just have changed places."""
    call, here = origin.call, origin.span
    if call is None or here is None or not here.is_within(call):
        return
    for i, each in enumerate(state.diagnostics[:-1]):
        there = each.span
        if (
            each.code == "AX206"
            and each.subject == origin.operator
            and there is not None
            and there.is_within(call)
            and there.end < here.start
        ):
            at, text = call.start, call.text
            before, between = text[: there.start - at], text[there.end - at : here.start - at]
            new = f"{before}{here.text}{between}{there.text}{text[here.end - at :]}"
            shown = f": `{new}`" if len(new) <= 60 and "\n" not in new else ""
            fix = Fix(f"exchange these two arguments{shown}", call, new)
            state.diagnostics[i] = replace(each, fixes=(fix, *each.fixes))
            return


def classes_differ(state: State, left: int, right: int, origin: Origin, elem: ElemVar) -> None:
    """An element type must be in two disjoint classes; `elem` was in one of them before."""
    before = state.asked.get(elem)
    labels = []
    if origin.span is not None:
        labels.append(Label(origin.span, _use(origin), primary=True))
    if before is not None and before.span not in (None, origin.span):
        wanted = f"{_who(before)}{_described(elem.allowed)} is expected here"
        labels.append(Label(before.span, _use(before) or wanted))
    message = f"{_who(origin)}no element type is both {_described(left)} and {_described(right)}"
    state.diagnostics.append(
        Diagnostic("AX206", Severity.ERROR, message, tuple(labels), subject=origin.operator)
    )


def _use(origin: Origin) -> str:
    return "used as a size, which is a whole number" if origin.kind == "size" else ""


def _described(mask: int) -> str:
    name = class_name(mask)
    return {
        "num": "a number type",
        "float": "a float type",
        "int": "an integer type",
        "any": "any element type",
    }.get(name, name)


def varies(state: State, origin: Origin) -> None:
    message = f"{_who(origin)}what varies from row to row is no tensor"
    _report(state, "AX105", message, origin, "varies")


def mismatch(state: State, expected: Type, actual: Type, origin: Origin, code: str) -> None:
    expected, actual = state.resolve(expected), state.resolve(actual)
    names = Names()
    names.reserve((*type_variables(expected), *type_variables(actual)))
    show = Show(names)
    wanted, found = show.type(expected), show.type(actual)
    fixes: tuple[Fix, ...] = ()
    help: str | None = None
    if code == "AX208":
        message = f"{_who(origin)}this type would have to contain itself"
        label = ""
    elif code == "AX203":
        n, m = (len(each.params) for each in (expected, actual) if isinstance(each, Fn))
        message = f"{_who(origin)}a function of {_count(n)} is expected, this one takes {_count(m)}"
        label, help = f"takes {_count(m)}", _type_of_operator(origin)
    elif _has_mismatch(state, origin):
        return  # arguments in another order are one mistake
    else:
        message = f"{_who(origin)}{_article(expected)} is expected, this is {_article(actual)}"
        label = f"`{found}`" + (
            f", where `{wanted}` is expected" if len(wanted) <= MOST_TEXT else ""
        )
        from axon.inference.report.rearranged import rearranged

        fixes = _as_tuple(expected, origin) or _as_shape(expected, actual, origin)
        fixes += rearranged(origin)
        if origin.kind == "pattern" and not fixes:
            help, fixes = _taken_apart(expected, actual, origin)
        if isinstance(expected, Fn) != isinstance(actual, Fn):
            help = _type_of_operator(origin)
        elif (operator := OPERATORS.get(origin.operator)) is not None:
            help = operator.hints.get(origin.position)
    _report(state, code, message, origin, label, fixes=fixes, help=help)


def _taken_apart(
    expected: Type, actual: Type, origin: Origin
) -> tuple[str | None, tuple[Fix, ...]]:
    """A pattern of several names for one value."""
    span = origin.span
    if span is None:
        return None, ()
    name, bracket, _ = span.text.partition("(")
    if isinstance(actual, ShapeValue) and name not in ALL_SIZES:
        return "a list is one value: index it, as in `s[0]`, or end the function in a tuple", ()
    if isinstance(actual, ShapeValue) and isinstance(expected, Tuple):
        new = ", ".join(f"{span.text}[{at}]" for at in range(len(expected.items)))
        help = "a size is `s[0]`; or the type names all: `fn (x : t [n,m]) { … }`"
        return help, ((Fix(f"write `{new}`", span, new),) if len(new) <= 80 else ())
    return (PAIRS.get(name) if bracket else None), ()


def _has_mismatch(state: State, origin: Origin) -> bool:
    """Whether another argument of the call is of a wrong kind."""
    call = origin.call
    return call is not None and any(
        d.code == "AX207"
        and d.subject == origin.operator
        and d.span is not None
        and d.span.is_within(call)
        for d in state.diagnostics
    )


def _type_of_operator(origin: Origin) -> str | None:
    """What an operator takes, where a function stands in the place of something else."""
    operator = OPERATORS.get(origin.operator)
    if operator is None or origin.kind != "argument":
        return None
    from axon.ops.reference import plain_signature

    type_ = re.sub(r"\bafter\b", "s'", plain_signature(operator))
    return f"`{operator.name}` is of type `{type_}`"


def _as_tuple(expected: Type, origin: Origin) -> tuple[Fix, ...]:
    """A list written where a tuple is expected: here, or as the first argument of the call."""
    if not isinstance(expected, Tuple) or isinstance(expected, Record):
        return ()
    found: list[Fix] = []
    for span in (origin.span, _first_argument(origin.call)):
        if span is not None and span.text.startswith("[") and span.text.endswith("]"):
            new = f"({span.text[1:-1]})"
            shown = new if len(new) <= 40 and "\n" not in new else "(a, b)"
            found.append(Fix(f"a tuple is in round brackets: `{shown}`", span, new))
    return tuple(found)


def _as_shape(expected: Type, actual: Type, origin: Origin) -> tuple[Fix, ...]:
    """A tuple of sizes, or one size, where a shape is expected."""
    span = origin.span
    if not isinstance(expected, ShapeValue) or span is None:
        return ()
    text = span.text
    if isinstance(actual, Tuple) and text.startswith("(") and text.endswith(")"):
        text = text[1:-1]
    elif not isinstance(actual, DimValue):
        return ()
    shown = f"[{text}]" if len(text) <= 40 and "\n" not in text else "[n, m]"
    return (Fix(f"a shape is in square brackets: `{shown}`", span, f"[{text}]"),)


def _first_argument(call: Span | None) -> Span | None:
    """A list without brackets inside, if it is the first argument."""
    if call is None:
        return None
    start = call.text.find("(") + 1
    end = call.text.find("]", start) + 1
    return Span(call.source, call.start + start, call.start + end) if end > start > 0 else None


def fields_differ(
    state: State, missing: tuple[str, ...], extra: tuple[str, ...], origin: Origin
) -> None:
    """A record lacks fields, or has more than there may be."""
    if missing:
        message = f"{_who(origin)}the record has no {_fields(missing)}"
        label = f"{_fields(missing)} expected here".removeprefix("field ").removeprefix("fields ")
    else:
        message = f"{_who(origin)}the record has the {_fields(extra)}, which nothing takes"
        label = "a record without more fields is expected"
    _report(state, "AX217", message, origin, label)


def _fields(names: tuple[str, ...]) -> str:
    listed = ", ".join(f"`{name}`" for name in names[:5]) + (", …" if len(names) > 5 else "")
    return f"field{'s' if len(names) > 1 else ''} {listed}"


def _count(n: int) -> str:
    return "one argument" if n == 1 else f"{n} arguments"


def _article(type_: Type) -> str:
    match type_:
        case Tensor():
            return "a tensor"
        case Record():
            return "a record"
        case Tuple(items):
            return f"a tuple of {len(items)}"
        case Fn(params, _):
            return f"a function of {_count(len(params))}"
        case ShapeValue():
            return "a shape"
        case DimValue():
            return "a dimension"
        case TypeVar() | Unknown():
            return "something"


def _who(origin: Origin) -> str:
    return f"{origin.operator}: " if origin.operator else ""


def _report(
    state: State,
    code: str,
    message: str,
    origin: Origin,
    label: str,
    help: str | None = None,
    fixes: tuple[Fix, ...] = (),
    elements: Iterable[str] = (),
) -> None:
    labels = (Label(origin.span, label, primary=True),) if origin.span is not None else ()
    helps = (help,) if help else ()
    made = Diagnostic(code, Severity.ERROR, message, labels, (), helps, origin.operator, fixes)
    state.diagnostics.append(replace(made, elements=frozenset(elements)))


def _cast(origin: Origin, what: str, to: str) -> tuple[Fix, ...]:
    """A conversion of what stands at a place."""
    if origin.span is None:
        return ()
    text = origin.span.text
    shown = text if len(text) <= 40 and "\n" not in text else "…"
    return (Fix(f"{what}: `cast({shown}, to={to})`", origin.span, f"cast({text}, to={to})"),)
