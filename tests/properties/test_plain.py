"""A confirmed reading is an instance of the type: at all sizes the program runs, and gives what the
reading says.
"""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from axon.driver import check_text
from axon.inference.generalise.schemes import visible
from axon.inference.report.signature import type_text
from axon.plain import plain_readings
from axon.types.show import Names, Show
from axon.types.type import type_variables
from tests.budget import HALF
from tests.properties.printed import (
    NAME,
    Sizing,
    evaluate,
    is_tuple,
    params_and_result,
    pieces,
    tensor_type,
)
from tests.properties.programs import Program, Shape, text
from tests.properties.structured import structured_programs as programs

WORDS = {"max", "min", "size", "rank", "mod", "f32"}


def reading_of(program: str) -> str | None:
    checked = check_text(program)
    assert checked.ok, [d.message for d in checked.diagnostics]
    return plain_readings(checked)[-1]


def at_sizes(type_: str, sizing: Sizing) -> str:
    """A type with numbers for its names."""
    if is_tuple(type_):
        return f"({', '.join(at_sizes(each, sizing) for each in pieces(type_[1:-1], ','))})"
    shape = shape_at(type_, sizing)
    return f"f32 {text(shape)}" if shape else "f32"


def shape_at(type_: str, sizing: Sizing) -> Shape:
    found: list[int] = []
    for item in tensor_type(type_)[1]:
        if item.startswith("@"):
            found += [size for size in sizing.shapes[item[1:]] if size is not None]
        else:
            found.append(evaluate(item, sizing))
    assume(min(found, default=0) >= 0)
    return tuple(found)


def holds(bound: str, sizing: Sizing) -> bool:
    """`n >= k + 1` at these sizes."""
    left, at_least, right = bound.partition(" >= ")
    if not at_least:
        right, _, left = bound.partition(" <= ")
    return evaluate(right, sizing) <= evaluate(left, sizing)


def conditions(where: str) -> tuple[list[str], list[str]]:
    """The bounds, and what the names in the body stand for."""
    found = [each for each in where.split(", ") if each]
    return [c for c in found if " = " not in c], [c for c in found if " = " in c]


def drawn(data: st.DataObject, types: list[str]) -> Sizing:
    """Sizes for all names in the types of parameters."""
    sizing = Sizing()
    shapes = {item[1:] for each in types for item in tensor_type(each)[1] if item[0] == "@"}
    for name in sorted(shapes):
        sizing.shapes[name] = tuple(data.draw(st.lists(st.integers(0, 4), max_size=3)))
    names = {n for each in types for item in tensor_type(each)[1] for n in NAME.findall(item)}
    for name in sorted(names - shapes - WORDS):
        sizing.dims[name] = data.draw(st.integers(0, 7))
    return sizing


@HALF
@given(programs(), st.data())
def test_a_reading_is_an_instance(program: Program, data: st.DataObject) -> None:
    reading = reading_of(program.definition())
    if reading is None or "{" in reading:  # sizes are drawn for tensors
        return
    type_, _, where = reading.partition(" where ")
    params, result = params_and_result(type_)
    sizing = drawn(data, params)
    assume(all(holds(bound, sizing) for bound in conditions(where)[0]))
    shapes = tuple(shape_at(each, sizing) for each in params)
    if not program.goes_below_zero(shapes):
        assert at_sizes(result, sizing) == program.run(shapes), (reading, shapes)


@HALF
@given(programs())
def test_a_reading_is_an_annotation(program: Program) -> None:
    """With its reading written down a definition has that type, and no other reading. What the
    names in the body stand for is then said in the body.
    """
    reading = reading_of(program.definition())
    if reading is None:
        return
    type_, _, where = reading.partition(" where ")
    params, result = params_and_result(type_)
    written = ", ".join(f"{p.name} : {t}" for p, t in zip(program.params, params, strict=True))
    bounds, meanings = conditions(where)
    stated = f"where {', '.join(bounds)}" if bounds else ""
    body = "".join(f"{each}; " for each in meanings) + program.body()
    checked = check_text(f"f = fn ({written}) : {result} {stated} {{ {body} }};")
    others = [d for d in checked.diagnostics if d.code != "AX305"]  # an unused name
    assert checked.ok and not others, others
    scheme = checked.inferred.definitions[-1].scheme
    names = Names()
    names.reserve(type_variables(scheme.type))
    left = [Show(names).relation(each) for each in visible(scheme.relations)]
    assert (type_text(scheme.type, names), left) == (type_, bounds)
    said = f"{type_} where {', '.join(bounds)}" if bounds else type_
    assert plain_readings(checked) in ((reading,), (said,), (None,))


@pytest.mark.parametrize(
    ("program", "reading"),
    [
        ("f = fn (x, y) { x + y };", "(t s, t s) -> t s"),
        ("f = fn (x, w) { x @ w };", "(t [b,c], t [c,e]) -> t [b,e]"),
        ("f = fn (x : f32 [n,k], b) { x + b };", "(f32 [n,k], f32 [k]) -> f32 [n,k]"),
        ("f = fn (x : f32 [n], y : f32 [m]) { x + y };", "(f32 [n], f32 [n]) -> f32 [n]"),
        ("f = fn (x : f32 [8], y : f32 [m]) { x + y };", "(f32 [8], f32 [8]) -> f32 [8]"),
        ("f = fn (x : f32 s, y) { x + y };", "(f32 s, f32 s) -> f32 s"),
        ("g = fn (x, y) { x + y }; f = g;", "(t s, t s) -> t s"),
        ("f = fn (x, y, eps = 1e-5) { x + y + eps };", "(t s, t s, t []) -> t s"),
        ("f = softmax;", "t [b] -> t [b]"),
        ("f = fn (x) { softmax(x) };", "t [b] -> t [b]"),
        ("f = fn (x : f32 [n]) { x + ones([2]) * sqrt(n) };", "f32 [2] -> f32 [2] where n = 2"),
        (
            "f = fn (x : f32 [b,d], h) { reshape(x, [b, h, d / h]) };",
            "(f32 [b,a*h], dim h) -> f32 [b,h,a] where d = a*h",
        ),
        (
            "f = fn (x, w, v) { conv(x, w, stride=2, pad=1) + conv(x, v, stride=2) };",
            "(t [a,b,c,d], t [e,b,i+2,j+2], t [e,b,i,j]) -> t [a,e,(c-i)/2+1,(d-j)/2+1]",
        ),
        (
            "f = fn (p, x : f32 [b,n,d]) { x + p[:n] };",
            "(f32 [a,d], f32 [b,n,d]) -> f32 [b,n,d] where a >= n",
        ),
        ("f = fn (p, n) { p.w, ones([n]) };", "({ w : a }, dim n) -> (a, f32 [n])"),
        ("fn (x, y) { x @ y }", "(t [b,c], t [c,e]) -> t [b,e]"),
    ],
)
def test_readings(program: str, reading: str) -> None:
    assert reading_of(program) == reading


@pytest.mark.parametrize(
    "program",
    [
        "f = fn (x : f32 [n,k], w : f32 [k,m]) { x @ w };",  # no open rank, no broadcast
        "f = fn (x) { x };",
        "f = 1f;",
        "f = fn (x : f32 [2], y : f32 [3], z : f32 [n]) { x + z, y + z };",  # z is 1
        "f = fn (x, h) { reshape(x, [size(x) / h, h]) };",  # a condition is left
    ],
)
def test_no_reading(program: str) -> None:
    assert reading_of(program) is None
