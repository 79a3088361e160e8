"""Warnings: what they are about, what silences them, and that our own programs have none."""

from __future__ import annotations

from pathlib import Path

import pytest

import axon
from axon.driver import check_text
from axon.inference.program import MOST_DIAGNOSTICS
from axon.session import Session
from axon.source import Source
from tests.shell import axon as run

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted((*(ROOT / "examples").rglob("*.axon"), *(ROOT / "src/axon/stdlib").glob("*.axon")))

FORCED = "f = fn (x : f32 [a], y : f32 [b]) { max(x, y) };\n"


def warned(text: str) -> list[tuple[str, str]]:
    """The codes of the warnings of a program, and the places that they are about."""
    checked = check_text(text)
    assert checked.ok, checked.diagnostics
    return [(w.code, w.labels[0].span.text) for w in checked.warnings]


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_our_programs_are_clean(path: Path) -> None:
    outcome = run(["check", "--strict", str(path)], ROOT)
    assert outcome.status == 0, outcome.terminal
    assert outcome.stderr == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FORCED, [("AX301", "b")]),
        ("f = fn (x : f32 [n]) { max(x, zeros([7])) };", [("AX302", "n")]),
        (
            "f = fn (x : f32 [a], y : f32 [b], z : f32 [c]) { max(concat(x, y), z) };",
            [("AX303", "c")],
        ),
        ("f = fn (x : f32 [n]) : f32 [m] { concat(x, x) };", [("AX303", "m")]),
        ("f = fn (x : f32 s, y : f32 r) { max(x, y) };", [("AX301", "r")]),
        ("f = fn (x : f32 [a], y : f32 [b]) where a = b { max(x, y) };", []),
        ("f = fn (x : f32 [a], y : f32 [b]) where b = 2*a { x, y };", []),
        ("f = fn (x : f32 [n], y) { max(concat(y, y), x) };", []),
        ("f = fn (x : f32 s) { sum(x, axis=0) };", []),
        ("f = fn (x : f32 [n]) : i64 [?k] { nonzero(x) };", []),
        ("f = fn (x : f32 [n,*k], y : f32 [n,*k]) { x + y };", []),
    ],
)
def test_names_that_are_forced(text: str, expected: list[tuple[str, str]]) -> None:
    assert warned(text) == expected


def test_the_place_that_forces_it_is_shown() -> None:
    text = "f = fn (q : f32 [m,d], k : f32 [n,d]) {\n  s = q @ k;\n  relu(s)\n};"
    (warning,) = check_text(text).warnings
    assert [label.span.text for label in warning.labels] == ["n", "q @ k"]
    assert warning.labels[1].text == "forced here, by `@`"


@pytest.mark.parametrize(
    ("text", "product"),
    [
        ("f = fn (x : f32 [b,s,512]) { reshape(x, [b, s, 7, 64]) };", "b*s"),
        ("f = fn (x : f32 [b,s]) { y = reshape(x, [2*b, s]); sum(y) };", "b*s"),
        ("f = fn (x : f32 [n,n]) { reshape(x, [n, n, 2]) };", "n*n"),
        ("f = fn (x : f32 [b,s,6]) { reshape(x, [b, s, 3, 2]) };", ""),
        ("f = fn (x : f32 [a,b]) { reshape(x, [b, 3]) };", ""),
        ("f = fn (x : f32 [b,s]) where b*s = 0 { reshape(x, [2*b, s]) };", ""),
        ("f = fn (x) { reshape(x, [2*size(x)]) };", ""),
    ],
)
def test_a_product_of_names_that_is_0(text: str, product: str) -> None:
    found = [(w.code, w.message, w.labels[0].span.text) for w in check_text(text).warnings]
    place = text[text.index("reshape") : text.rindex("])") + 2]
    assert found == ([("AX302", f"the product `{product}` is always 0", place)] if product else [])


def test_many_forced_names_have_places_in_bounded_work() -> None:
    """The places of the first ones are the fewest; then each has the one that bound it."""
    count = 150
    params = ", ".join(f"x{i} : f32 [a{i},b{i}]" for i in range(count))
    lines = "".join(f"  y = matmul(y, x{i});\n" for i in range(1, count))
    checked = check_text(f"f = fn ({params}) {{\n  y = x0;\n{lines}  y\n}};")
    assert [w.code for w in checked.warnings] == ["AX301"] * (count - 1)
    assert all(len(w.labels) > 1 for w in checked.warnings)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f = fn (x, y) { x };", ["y"]),
        ("f = fn (x, _y, _) { x };", []),
        ("f = fn (x) { a, b = x, x; a };", ["b"]),
        ("f = fn (x) { a, _ = x, x; _c = x; a };", []),
        ("f = fn (x) { y = x; y = relu(y); y };", []),
        ("f = fn (x) { y = x; y = relu(x); y };", ["y"]),
        ("f = fn (x) { g = fn (x) { x }; g(1) };", ["x"]),
        ("f = fn (x) { map(fn (row) { x }, x) };", ["row"]),
        ("f = fn (x : f32 [n]) { zeros([n]) };", []),
        ("f = fn (x : f32 [n], n) { zeros([n]) };", ["x"]),
        ("f = fn (x : f32 [n], y : f32 [m]) where n >= m { x };", []),
        ("f = fn (x : f32 [n], y : f32 [n]) { x };", ["y"]),
        ("f = fn (k : dim n) : f32 [n] { zeros([n]) };", []),
        ("f = fn (k : dim n, x : f32 [n]) { x };", []),
        ("f = fn (k : dim n, x : f32 [m]) { x };", ["k"]),
        ("f = fn (x) { sum(x, axis=0) }; g = fn (x) { f(x) };", []),
        ("a = zeros([3]); b, c = a, a;", []),
        ("op o : (t [n], t [n]) -> t [n];", []),
        ("fn (x, y) { x }", ["y"]),
        ("f = fn (n) { g = fn (x, k = n) { x + k }; g(1) };", []),
        ("f = fn (x, k = 3) { x };", ["k"]),
    ],
)
def test_names_that_are_not_used(text: str, expected: list[str]) -> None:
    assert warned(text) == [("AX305", name) for name in expected]


def test_a_definition_with_an_error_has_no_unused_names() -> None:
    checked = check_text("f = fn (x) { hidden = x; hiden };\ng = fn (x) { y = (; x };\n")
    assert not checked.ok
    assert not checked.warnings


@pytest.mark.parametrize("text", ["fn (x, y) { zz + y };", "a = 1; fn (x) { zz };"])
def test_nor_has_a_result_with_one(text: str) -> None:
    assert [d.code for d in check_text(text).diagnostics] == ["AX201"]


def test_definitions_that_are_bound_again() -> None:
    assert warned("a = 1; b = a; a = 2;") == [("AX304", "a")]
    assert warned("op a : t s -> t s; a = fn (x) { relu(x) };") == [("AX304", "a")]
    assert warned("softmax = fn (x) { exp(x) }; f = fn (x) { a = x; a = a; a };") == []


def test_errors_are_reported_before_many_warnings() -> None:
    lines = [f"f{i} = fn (x, y) {{ x }};" for i in range(MOST_DIAGNOSTICS + 20)]
    checked = check_text("\n".join([*lines, "last = nothing;"]))
    assert not checked.ok
    assert len(checked.diagnostics) == MOST_DIAGNOSTICS + 1
    assert checked.diagnostics[-1].message == "21 more problems are not shown"


def test_an_edited_text_has_the_same_warnings() -> None:
    session = Session("net.axon")
    texts = (FORCED, f"{FORCED}g = fn (x, y) {{ x }};\n", f"a = 1;\n{FORCED}a = 2;\n", FORCED)
    for text in texts:
        whole = axon.check(Source("net.axon", text)).diagnostics
        found = session.check(text).diagnostics
        assert [(d.code, d.span and d.span.line) for d in found] == [
            (d.code, d.span and d.span.line) for d in whole
        ]


def test_strict_exits_1_on_warnings(tmp_path: Path) -> None:
    (tmp_path / "net.axon").write_text(FORCED)
    lax, strict = (
        run(["check", "net.axon"], tmp_path),
        run(["check", "--strict", "net.axon"], tmp_path),
    )
    assert (lax.status, strict.status) == (0, 1)
    assert lax.stdout == strict.stdout == "net.axon: 1 warning in 1 definition\n"
    assert "warning[AX301]" in strict.stderr


def test_python_lists_warnings() -> None:
    net = axon.compile(FORCED)
    assert [w.message for w in net.warnings] == ["`b` is always equal to `a`"]
    assert net.on("numpy").warnings == net.warnings


@pytest.mark.parametrize(
    ("written", "ours"),
    [
        ("float32", "f32"), ("F32", "f32"), ("float", "f32"), ("double", "f64"), ("half", "f16"),
        ("bfloat16", "bf16"), ("BF16", "bf16"), ("int", "i32 or i64"), ("int32_t", "i32"),
        ("uint8", "u8"), ("long", "i64"), ("Bool", "bool"),
    ],
)  # fmt: skip
def test_element_types_of_others_are_named(written: str, ours: str) -> None:
    for type_ in (written, f"{written} [n]", f"({written} s) -> f32 s"):
        checked = check_text(f"f = fn (x : {type_}) {{ x }};")
        (problem,) = checked.diagnostics
        assert problem.code == "AX214"
        assert problem.message == f"the element type `{written}` is {ours} in Axon"
        assert problem.span is not None
        assert problem.span.text == written


def test_other_names_are_element_variables() -> None:
    text = "f = fn (x : t [n], y : elem [n], z : u [n], w : floats [n]) { x, y, z, w };"
    (signature,) = check_text(text).signatures
    assert signature.signature.startswith("(t [n], elem [n], u [n], floats [n]) -> ")
