"""Programs that fail: the reasons that an error gives contradict each other, and all are needed.

A program of `programs.py` runs on its witness. Here one thing about it is changed: the shape of an
argument, in a call or in an annotation, or a number that is written in it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from unittest.mock import patch

from hypothesis import assume, given
from hypothesis import strategies as st

from axon.diagnostics import Diagnostic
from axon.driver import Checked, check_text
from axon.inference.report import conflict as report
from axon.solver.constraints import Conflict, Constraint
from axon.solver.reasons import conflict_of
from axon.solver.store import Store
from tests.budget import QUARTER
from tests.properties.programs import Program, Shape, text
from tests.properties.structured import structured_programs as programs

OTHER_SIZES = (0, 1, 2, 3, 4, 5, 7)

_NUMBER = re.compile(r"(?<![\w.])\d+(?![\w.])")


# --- programs that fail -----------------------------------------------------------------------


def called(program: Program, shapes: tuple[Shape, ...]) -> str:
    """The definition, and a call of it on tensors of these shapes."""
    args = ", ".join(f"ones({text(s)})" for s in shapes)
    return f"{program.definition()}\nr = f({args});"


def called_inside(program: Program, shapes: tuple[Shape, ...]) -> str:
    """The same call in a function that declares the shapes."""
    params = ", ".join(f"a{i} : f32 {text(s)}" for i, s in enumerate(shapes))
    args = ", ".join(f"a{i}" for i in range(len(shapes)))
    return f"{program.definition()}\nr = fn ({params}) {{ f({args}) }};"


def declared(program: Program, shapes: tuple[Shape, ...]) -> str:
    """The body alone, under annotations that give the shapes."""
    return program.concrete("f", shapes)


Change = Callable[[Shape], list[Shape]]


def with_other_size(shape: Shape) -> list[Shape]:
    return [(*shape[:i], n, *shape[i + 1 :]) for i in range(len(shape)) for n in OTHER_SIZES]


def with_other_rank(shape: Shape) -> list[Shape]:
    return [(2, *shape), (*shape, 1), *([shape[1:], shape[:-1]] if shape else [])]


def failing(program: Program, change: Change) -> list[tuple[Shape, ...]]:
    """Shapes near those of the first call, on which the program fails: with another size, or where
    none does with another rank.
    """
    witness = program.calls[0]
    near = [
        (*witness[:i], other, *witness[i + 1 :])
        for i, shape in enumerate(witness)
        for other in change(shape)
    ]
    found = [shapes for shapes in near if program.run(shapes) is None]
    return found or (failing(program, with_other_rank) if change is with_other_size else [])


@st.composite
def broken(draw: st.DrawFn) -> str:
    """The text of a program in which one thing was changed; sometimes it is right all the same."""
    program = draw(programs(calls=1))
    witness = program.calls[0]
    form = draw(st.sampled_from([called, called_inside, *[declared] * program.asks_nothing]))
    change = draw(st.sampled_from([*[with_other_size] * 3, with_other_rank, None]))
    found = [] if change is None else failing(program, change)
    if found:
        return form(program, draw(st.sampled_from(found)))
    code = form(program, witness)
    numbers = list(_NUMBER.finditer(code))
    assume(numbers)
    number, other = draw(st.sampled_from(numbers)), draw(st.sampled_from(OTHER_SIZES))
    return f"{code[: number.start()]}{other}{code[number.end() :]}"


# --- what is said of them ---------------------------------------------------------------------


def told(code: str) -> tuple[Checked, list[report.Explanation]]:
    """What there is to know about a program, with the error that was made for each conflict, and
    the constraints that it is about. A definition that is inferred again, to try a help or to find
    a line inside a call, has a store of its own.
    """
    found: list[tuple[Store, report.Explanation]] = []
    plain = report.describe

    def describe(
        store: Store, conflict: Conflict, around: tuple[Constraint, ...]
    ) -> report.Explanation:
        found.append((store, plain(store, conflict, around)))
        return found[-1][1]

    with patch.object(report, "describe", describe):
        checked = check_text(code)
    ours = checked.inferred.state.store
    return checked, [each for store, each in found if store is ours]


def is_shown(diagnostic: Diagnostic, checked: Checked) -> bool:
    """Whether a message is among those of a program, there perhaps with a place inside the function
    that is called, whose sizes it may be about, and with a help that was tried.
    """
    first = len(diagnostic.labels)
    plain = replace(diagnostic, help=(), fixes=())
    for each in checked.diagnostics:
        inside = [label.text for label in each.labels[first:]]
        if (diagnostic.code, each.code) == ("AX110", "AX101"):
            if len(inside) != 1 or not inside[0].endswith(each.message.removeprefix("f: ")):
                continue
            each = replace(each, code=diagnostic.code, message=diagnostic.message)
        if replace(each, labels=each.labels[:first], help=(), fixes=()) == plain and all(
            text.startswith("in `f`: ") for text in inside
        ):
            return True
    return False


def is_named(constraint: Constraint, diagnostic: Diagnostic) -> bool:
    """Whether a label is at the place of a constraint, in or around it, or says its text."""
    origin = constraint.origin
    assert origin.span is not None
    return any(
        (label.span.start < origin.span.end and origin.span.start < label.span.end)
        or (origin.note and origin.note in label.text)
        for label in diagnostic.labels
    )


@QUARTER
@given(broken())
def test_reasons_of_broken_programs(code: str) -> None:
    """Each error rests on constraints of the program that no sizes satisfy; without any one of
    them the rest is free of conflict. Its labels are places of these, and leave none out.
    """
    checked, found = told(code)
    store = checked.inferred.state.store
    assume(found)
    assert is_shown(found[0].diagnostic, checked)
    for each in found:
        diagnostic, core = each.diagnostic, each.core
        assert set(core) <= set(store.posted)
        assert conflict_of(core) is not None, core
        for i in range(len(core)):
            assert conflict_of(core[:i] + core[i + 1 :]) is None, (core, core[i])
        places = {c.origin.span for c in core}
        assert all(label.span in places for label in diagnostic.labels), diagnostic
        if len(core) <= report.MOST_SHOWN:
            assert all(is_named(c, diagnostic) for c in core), diagnostic
