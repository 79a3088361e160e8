"""Programs over records and structures: what they mean by way of programs over tensors.

A program of several tensors is a program of one record that has them as fields, and a program of
rows is one of the structures that stack them. What is printed for these reads back.
"""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from axon.driver import check_text
from axon.inference.report.signature import Signature
from axon.session import Session
from tests.budget import HALF, QUARTER
from tests.properties.printed import NAME, params_and_result
from tests.properties.programs import Fields, Program, Several, Shape, Value, show, text
from tests.properties.structured import (
    Form,
    Pair,
    Rec,
    code,
    forms,
    programs_of_structures,
    renamed,
)
from tests.properties.structured import structured_programs as programs
from tests.properties.test_fast_path import assert_same
from tests.properties.test_programs import results

EXTRA = ("", ", extra = ones([7])", ", extra = { x0 = ones([7]) }", ", w = ()")


def record_of(program: Program, shapes: tuple[Shape, ...], more: str = "") -> str:
    fields = [f"{p.name} = ones({text(s)})" for p, s in zip(program.params, shapes, strict=True)]
    return f"{{ {', '.join(fields)}{more} }}"


def packed(program: Program, closed: bool) -> str:
    """The program with one parameter, a record: closed if it is declared."""
    lines = " ".join(f"{p.name} = p.{p.name};" for p in program.params)
    said = [f"{p.name}{p.annotation}" for p in program.params if p.annotation]
    row = "" if closed and len(said) == len(program.params) else "r | "
    type_ = f" : {{ {row}{', '.join(said)} }}" if said else ""
    return f"f = fn (p{type_}) {{ {lines} {program.body()} }};"


@HALF
@given(programs(), st.booleans(), st.sampled_from(EXTRA))
def test_a_record_of_arguments(program: Program, closed: bool, more: str) -> None:
    """Types and errors are those of the arguments on their own, whatever else is in the record; and
    the printed type, declared as an `op`, gives the same.
    """
    definition = packed(program, closed)
    if not definition.startswith("f = fn (p :") or "{ r | " in definition:
        given_more = more
    else:
        given_more = ""
    calls = [
        f"r{i} = f({record_of(program, shapes, given_more)});"
        for i, shapes in enumerate(program.calls)
    ]
    expected = [program.run(shapes) for shapes in program.calls]
    checked = check_text("\n".join([definition, *calls]))
    assert results(checked, len(expected)) == expected
    signature = next(s for s in checked.signatures if s.name == "f")
    _, line = signature.line(classes=True).split(" : ", 1)
    declared = check_text("\n".join([f"op f : {line};", *calls]))
    for shapes, found, want in zip(
        program.calls, results(declared, len(expected)), expected, strict=True
    ):
        if not program.goes_below_zero(shapes):
            assert found == want, (line, shapes)


def stacked(value: Value, count: int) -> Value:
    match value:
        case Several(items):
            return Several(tuple(stacked(item, count) for item in items))
        case Fields(fields):
            return Fields(tuple((name, stacked(part, count)) for name, part in fields))
        case _:
            return (count, *value)


@st.composite
def programs_on_structures(draw: st.DrawFn) -> tuple[Program, Form]:
    program = draw(programs(most=4))
    return program, draw(forms([p.name for p in program.params]))


HEADS = (
    "rows = fn (x) {{ map(fn (p) {{ {lines} f({names}) }}, x) }};",
    "each = fn (f, x) {{ map(f, x) }};"
    " rows = fn (x) {{ each(fn (p) {{ {lines} f({names}) }}, x) }};",
    "one = fn (p) {{ {lines} f({names}) }}; each = fn (f) {{ fn (x) {{ map(f, x) }} }};"
    " rows = fn (x) {{ g = each(one); g(x) }};",
)


def paths(form: Form, name: str) -> str:
    """Lines that take a structure apart."""
    match form:
        case str():
            return f"{form} = {name};"
        case Pair(items):
            names = [f"{name}{i}" for i in range(len(items))]
            inner = " ".join(paths(item, n) for item, n in zip(items, names, strict=True))
            return f"{', '.join(names)} = {name}; {inner}"
        case Rec(fields):
            parts = [(f"{name}{i}", field, part) for i, (field, part) in enumerate(fields)]
            return " ".join(f"{n} = {name}.{field}; {paths(part, n)}" for n, field, part in parts)


@QUARTER
@given(programs_on_structures(), st.sampled_from(HEADS), st.integers(0, 3))
def test_rows_of_structures(drawn: tuple[Program, Form], head: str, count: int) -> None:
    """Mapped over a structure, whether that is known or not: the result of one row, stacked."""
    program, form = drawn
    names = ", ".join(p.name for p in program.params)
    function = head.format(lines=paths(form, "p"), names=names)
    calls = []
    for i, shapes in enumerate(program.calls):
        leaf = {
            p.name: f"ones({text((count, *s))})"
            for p, s in zip(program.params, shapes, strict=True)
        }
        calls.append(f"r{i} = rows({_with(form, leaf)});")
    checked = check_text("\n".join([program.definition(), function, *calls]))
    expected = [
        None if (made := program.value(shapes)) is None else show(stacked(made, count))
        for shapes in program.calls
    ]
    assert results(checked, len(expected)) == expected
    signature = next(s for s in checked.signatures if s.name == "rows")
    _, line = signature.line(classes=True).split(" : ", 1)
    declared = check_text("\n".join([f"op rows : {line};", *calls]))
    for shapes, found, want in zip(
        program.calls, results(declared, len(expected)), expected, strict=True
    ):
        if not program.goes_below_zero(shapes):
            assert found == want, (line, shapes)


def _with(form: Form, leaves: dict[str, str]) -> str:
    return code(renamed(form, leaves))


# --- printed types -------------------------------------------------------------------------------


def annotated(params: list[str], found: Signature, body: str) -> str:
    types, result = params_and_result(found.signature)
    heads = ", ".join(f"{p} : {t}" for p, t in zip(params, types, strict=True))
    where = f" where {', '.join(found.where)}" if found.where else ""
    return f"fn ({heads}) : {result}{where} {{ {body} }}"


@HALF
@given(programs(), st.booleans())
def test_printed_types_are_annotations(program: Program, as_record: bool) -> None:
    """A definition under the type that is printed for it gives the same types and errors."""
    definition = packed(program, closed=False) if as_record else program.definition()
    params = ["p"] if as_record else [p.name for p in program.params]
    (found,) = check_text(definition).signatures
    if any(set(p.sizes) - set(NAME.findall(found.signature)) for p in program.params):
        return  # a size that the body names has another name
    body = definition[definition.index(") {") + 3 : -2].strip()
    calls = [
        f"r{i} = f({given});"
        for i, given in enumerate(
            record_of(program, shapes) if as_record else arguments(shapes)
            for shapes in program.calls
        )
    ]
    again = check_text("\n".join([f"f = {annotated(params, found, body)};", *calls]))
    expected = [program.run(shapes) for shapes in program.calls]
    assert results(again, len(expected)) == expected, found.line()


def arguments(shapes: tuple[Shape, ...]) -> str:
    return ", ".join(f"ones({text(s)})" for s in shapes)


# --- other ways to the same ---------------------------------------------------------------------


@QUARTER
@given(programs_of_structures())
def test_with_reasons_and_without(program: Program) -> None:
    assert_same(program.definition())
    assert_same(packed(program, closed=True))


@QUARTER
@given(programs_of_structures(), programs_of_structures(), st.integers())
def test_a_session_says_what_a_check_says(first: Program, second: Program, seed: int) -> None:
    """Definitions with records and defaults, edited and put in another order."""
    chance = Random(seed)
    lines = [
        "type Pair(n) = { a : f32 [n], b : f32 [n] };",
        first.definition("f"),
        second.definition("g"),
        "h = fn (p : Pair(n), k = 2) { p.a * k + p.b };",
        packed(first, closed=False).replace("f =", "i =", 1),
        "j = fn (p : Pair(3)) { h(p), h(p, k=3) };",
    ]
    session = Session("net.axon")
    for _ in range(4):
        edited = "\n".join(lines)
        found, whole = session.check(edited), check_text(edited)
        assert [s.line() for s in found.signatures] == [s.line() for s in whole.signatures]
        assert [(d.code, d.message) for d in found.diagnostics] == [
            (d.code, d.message) for d in whole.diagnostics
        ]
        at, other = chance.randrange(len(lines)), chance.randrange(len(lines))
        match chance.randrange(4):
            case 0:
                lines[at], lines[other] = lines[other], lines[at]
            case 1:
                lines[at] = lines[at].replace("a", "b", 1)
            case 2:
                lines[at] = lines[at].replace("2", "3", 1).replace("k = 3", "k = 1.5")
            case _:
                lines[at] = lines[at].replace(", b : f32 [n]", "").replace("Pair(3)", "Pair(4)")
