"""Odd programs with records, structures and defaults: each ends, with a type or a message."""

from __future__ import annotations

import numpy as np
import pytest

import axon
from axon.driver import check_text
from axon.inference.report.questions import why


def codes(text: str) -> list[str]:
    return [d.code for d in check_text(text).diagnostics if d.severity.name == "ERROR"]


def types(text: str) -> list[str]:
    checked = check_text(text)
    assert checked.ok, [d.message for d in checked.diagnostics]
    return [s.line() for s in checked.signatures]


def test_a_record_behind_a_block_is_no_pattern() -> None:
    """`a }, { a =` was taken for the pattern of a binding."""
    text = "f = fn (x : f32 [n,3]) { fold({ a = zeros([3]) }, fn (s, r) { s }, x) };"
    swapped = "g = fn (h, p) { h(fn (q) { q }, { a = p }) };"
    assert types(f"{text}\n{swapped}") == [
        "f : f32 [n,3] -> { a : f32 [3] }",
        "g : (((a) -> a, { a : b }) -> c, b) -> c",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "scan(fn (p, q) { q }, { a = x }, x)",
        "map(fn (r) { if true { r } else { { a = x } } }, x)",
        "g = fn (a, b) { map(fn (r) { if true { r } else { (b, b) } }, a) }; g(x, y), g(y, x)",
        "fold(x, fn (s, r) { (s, r) }, x)",
        "fold(x, fn (s, r) { { s | a = r } }, x)",
    ],
)
def test_a_structure_is_no_part_of_itself(body: str) -> None:
    """To take one apart did not end."""
    assert set(codes(f"f = fn (x, y) {{ {body} }};")) == {"AX208"}


@pytest.mark.parametrize("body", ["x[x]", "x[(x + 0)]", "x[x * x + 1]"])
def test_what_is_indexed_is_no_size(body: str) -> None:
    """An index that uses it is a tensor."""
    assert types(f"f = fn (x) {{ {body} }};") == ["f : t [a]@b -> t [a]@b@b"]


def test_that_there_are_rows_is_said_once() -> None:
    text = "f = fn (x) { map(fn (p, q) { 1f }, x, x) };\ng = fn (h, k, x) { map(h, x), map(k, x) };"
    assert types(text) == [
        "f : a -> t [b] where a = [b]@c",
        "g : ((a) -> b, (c) -> d, e) -> (f, g) where e = [h]@a, f = [h]@b, e = [h]@c, g = [h]@d",
    ]


def test_a_word_of_the_language_may_be_a_field() -> None:
    """`p.if` was accepted, and the type that it printed could not be read back."""
    text = "f = fn (p) { p.if + p.fn };\ng = fn (x) { { type = x, None = x } };"
    assert types(text) == [
        "f : { c | fn : t a, if : t b } -> t d where d = broadcast(a, b)",
        "g : a -> { None : a, type : a }",
    ]
    declared = "op f : { c | fn : t a, if : t b } -> t d where d = broadcast(a, b);"
    assert types(f"{declared}\nr = f({{ if = ones([3]), fn = 1f }});") == ["r : f32 [3]"]


@pytest.mark.parametrize(
    "body",
    [
        "map(fn (y, s = 2) { y * s }, x)",
        "(fn (c) { fn (y, s = c) { y * s } })(2f)(x)",
        "o = { g = fn (y, s = 2) { y * s } }; o.g(x)",
        "h, k = (fn (y, s = 2) { y * s }, 3); h(x) * k",
        "fold(0f, fn (s, y, k = 2f) { s + y * k }, x) + x",
    ],
)
def test_a_function_without_a_name_takes_what_has_no_default(body: str) -> None:
    assert types(f"f = fn (x : f32 [n]) {{ {body} }};") == ["f : f32 [n] -> f32 [n]"]
    made = axon.compile(f"f = fn (x : f32 [n]) {{ {body} }};").f(np.ones(3, np.float32))
    assert made.shape == (3,)


def test_its_defaults_cannot_use_its_parameters() -> None:
    assert codes("f = fn (x) { map(fn (y, s = y) { y * s }, x) };") == ["AX220"]


@pytest.mark.parametrize(
    "body",
    ["map(fn (_) { 1f }, {})", "fold(0f, fn (s, _) { s }, ())", "scan(fn (a, _) { a }, {}, {})"],
)
def test_what_has_no_tensor_has_no_rows(body: str) -> None:
    """The run failed, with a message about a tuple's index."""
    assert codes(f"f = fn () {{ {body} }};") == ["AX207"]


def test_nor_has_an_argument_without_tensors() -> None:
    net = axon.compile("f = fn (p) { fold(0f, fn (s, _) { s + 1f }, p) };")
    assert net.f({"a": np.ones((3, 2), np.float32), "b": {}}) == 3
    with pytest.raises(axon.AxonError, match="no tensor in this"):
        net.f({})


def test_structures_that_double_end() -> None:
    twice = "x = map(fn (r) { { a = r, b = r } }, x);"
    assert set(codes(f"f = fn (x) {{ {twice * 20} x }};")) == {"AX216"}


def test_many_fields_of_an_unknown_record() -> None:
    """Each field that was taken went through all those before it, again and again."""
    fields = " + ".join(f"p.a{i}" for i in range(400))
    (line,) = types(f"f = fn (p : {{ r | a0 : f32 [3] }}) {{ {fields} }};")
    assert line.count("f32") == 401


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("type A = { a : A };\nf = fn (p : A) { p.a };", ["AX208"]),
        ("type A = { a : B };\nf = fn (p : A) { p.a };", ["AX219"]),
        ("type A = B;\ntype C = { a : A };\nf = fn (p : C, q : A) { p.a };", ["AX219"]),
        ("".join(f"type A{i + 1} = A{i};\n" for i in range(120)).replace("A0;", "f32;"), ["AX216"]),
    ],
)
def test_a_type_that_is_wrong_is_reported_once(text: str, said: list[str]) -> None:
    assert codes(text) == said


@pytest.mark.parametrize(
    "body",
    [
        "fold({ a = zeros([0]) }, fn (s, r) { s }, x, differ=0)",
        "fold(zeros([0]), fn (s, r) { concat(s, r.a) }, { a = x }, differ=0)",
        "loop((zeros([0]), 1f), fn (s, r) { s, r }, x, differ=0)",
    ],
)
def test_a_state_that_changes_its_size_is_a_tensor(body: str) -> None:
    assert codes(f"f = fn (x : f32 [n,2]) {{ {body} }};") == ["AX210"]


WHY = "dense = fn (p, x : f32 [n,d]) { { y = matmul(x, p.l.w) } };"


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("p.l.w[0]", "d"),
        ("p.l.w", "[d,a]"),
        ("result.y[1]", "a"),
        ("p.l", "`p.l` is a record; ask for one of p.l.w"),
        ("p.l.z", "`p.l` has no field `z`; there are w"),
        ("x.w", "`x` is not a record"),
        ("p..w", "`p..w` is not a name, `name[0]`, `name.field[0]` or `result[0]`"),
    ],
)
def test_why_of_a_field(question: str, answer: str) -> None:
    checked = check_text(WHY, reasons=True)
    definition = checked.find("dense")
    assert definition is not None
    found = why(checked.inferred.state, definition, question)
    assert (found if isinstance(found, str) else found.value) == answer


def test_records_that_are_one_have_one_row() -> None:
    text = "f = fn (c, p, q) { x = p.a + q.a; r = if c { p } else { q }; { r | a = x } };"
    assert types(text) == [
        "f : (bool, { b | a : t a }, { b | a : t a }) -> { b | a : t a }",
    ]
    different = "r = f(true, { a = 1f, b = 2f }, { a = 1f, c = 2f });"
    assert codes(f"{text}\n{different}") == ["AX217"]


def test_a_field_that_is_found_later_leaves_a_structure_open() -> None:
    text = "f = fn (p) { y = map(fn (r) { r.a }, p); y, p.b };"
    assert types(f"{text}\nr = f({{ a = ones([2]), b = ones([2,3]), c = ones([2]) }});")[1:] == [
        "r : (f32 [2], f32 [2,3])"
    ]
    assert codes(f"{text}\nr = f({{ a = ones([2]), b = ones([3,3]) }});") == ["AX101"]


@pytest.mark.parametrize("default", ["3", "zeros([3])", "fn (y) { y }"])
def test_a_function_that_is_bound_to_nothing_may_have_defaults(default: str) -> None:
    """The name of the function was looked up, and `_` has no entry."""
    assert codes(f"_ = fn (x = {default}) {{ x }};") == []
    assert codes(f"f = fn (x) {{ _ = fn (y = {default}) {{ y }}; x }};") == []


def test_parameters_without_a_name_each_take_an_argument() -> None:
    """Arguments are told apart by their places: two parameters `_` shared the last one."""
    text = "f = fn (_ : f32 [3], _ : i32 [4], y = 2f) { y };"
    good = "g = f(zeros([3]), cast(zeros([4]), to=i32));"
    bad = "g = f(cast(zeros([4]), to=i32), cast(zeros([4]), to=i32));"
    assert types(f"{text}\n{good}")[1] == "g : f32"
    assert codes(f"{text}\n{bad}") == ["AX205"]


def test_a_default_may_bind_the_name_of_a_parameter_itself() -> None:
    assert codes("f = fn (x, y = fn (x) { z = x; z }) { y(x) };") == []
    assert codes("f = fn (x, y = (fn (x) { x })(x)) { y };") == ["AX220"]
    assert codes("f = fn (x, y = fn (z) { z + x }) { y(x) };") == ["AX220"]


def test_a_parameter_without_a_name_has_no_default() -> None:
    assert codes("f = fn (x, _ = 3) { x };") == ["AX002"]
