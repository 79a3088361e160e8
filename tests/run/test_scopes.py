"""Run-time and ragged sizes where they meet functions: what a random attack found, by class."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.support import on_both

UTILS = """
ap = fn (h, x) { h(x) };
twice = fn (h, x) { h(h(x)) };
both = fn (h, x) { (h(x), x) };
thunk = fn (h, x) { fn () { h(x) } };
rows = fn (h, x) { map(h, x) };
compose = fn (h, k) { fn (x) { k(h(x)) } };
on_unique = fn (h, x) { h(unique(x)) };
"""


def listed(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(listed, value))
    return value.to_list() if isinstance(value, axon.Ragged) else numpy.asarray(value).tolist()


def called(program: str, *args: Any) -> Any:
    return listed(axon.compile(UTILS + program).f(*args))


def ragged(rows: list[Any]) -> axon.Ragged:
    return axon.Ragged.from_list(rows, numpy.float32)


def signature(program: str) -> str:
    return str(axon.compile(UTILS + program).f.signature)


# --- checks that were lost --------------------------------------------------------------------

LOST = {
    "a function called in place": """al = fn (x : f32 [n]) where n >= 2 { sum(x) };
        f = fn (x : f32 [n]) { (fn (h, x) { h(unique(x)) })(al, x) };""",
    "top level alias": "g = unique; f = fn (x : f32 [n]) { max(g(x), x) };",
    "a state": "f = fn (x : f32 [n]) { iterate(x, fn (s) { sum(s) > 3f }, unique) };",
    "twice": "f = fn (x : f32 [n]) { twice(unique, x) };",
    "twice, a lambda": "f = fn (x : f32 [n]) { twice(fn (y) { unique(y) }, x) };",
    "a condition": """al = fn (x : f32 [n]) where n >= 2 { sum(x) };
        f = fn (x : f32 [n]) { on_unique(al, x) };""",
    "a broadcast": "f = fn (x) { max(x + x, unique(x)) };",
    "an alias in a map": """g = unique;
        f = fn (x : f32 [n]) { map(fn (r) { max(g(r), r) }, stack(x, x)) };""",
    "a state in a map": """f = fn (x : f32 [n])
        { map(fn (r) { iterate(r, fn (s) { sum(s) > 3f }, unique) }, stack(x, x)) };""",
    "a closure": """mk = fn (z) { fn (y) { maximum(y, z) } };
        f = fn (x : f32 [n]) { on_unique(mk(x), sort(x)) };""",
    "two results": "f = fn (x : f32 [n]) { u, v = both(unique, x); max(u, v) };",
}


@pytest.mark.parametrize("program", LOST.values(), ids=LOST)
def test_checks_of_operators_as_values(program: str) -> None:
    net = axon.compile(UTILS + program)
    wrong = [[5, 5, 6, 6]] if "maximum" in program else [[5, 5, 5], [5, 5, 6]]
    for x in wrong[:1] if "n >= 2" in program else wrong:
        with pytest.raises(axon.RunError, match="AX404"):
            net.f(numpy.array(x, numpy.float32))
    net.f(numpy.array([1, 1] if "> 3f" in program else [1, 2], numpy.float32))


@pytest.mark.parametrize("body", ["max(g(x), x)", "twice(g, x)", "iterate(x, fn (s) { c }, g)"])
def test_an_operator_and_its_eta_expansion(body: str) -> None:
    """Are typed alike, and checked alike."""
    types, said = set(), set()
    for g in ("unique", "fn (y) { unique(y) }"):
        for program in (
            f"g = {g}; f = fn (x : f32 [n], c : bool) {{ {body} }};",
            f"f = fn (x : f32 [n], c : bool) {{ g = {g}; {body} }};",
            f"f = fn (x : f32 [n], c : bool) {{ {body.replace('g', f'({g})')} }};",
        ):
            types.add(signature(program))
            with pytest.raises(axon.RunError) as caught:
                called(program, [5.0, 5.0, 6.0], True)
            said.add(caught.value.diagnostics[0].message)
    assert types == {"(f32 [n], bool) -> f32 [n]"}
    assert said == {"?k = n does not hold for k = 2, n = 3"}


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("max(y + x, unique(x))", [6, 7]),
        ("stack(y + x, unique(x))", [[6, 7], [5, 6]]),
        ("dot(y + x, unique(x))", 72),
        ("matmul(expand_dims(unique(x), axis=0), expand_dims(y + x, axis=1))", [[72]]),
        ("concat(expand_dims(y + x, axis=0), expand_dims(unique(x), axis=0))", [[6, 7], [5, 6]]),
    ],
)
def test_a_broadcast_with_what_is_unknown(body: str, value: Any) -> None:
    """The shape of `y` is open: only the run knows what `y + x` is compared with."""
    program = f"f = fn (x, y) {{ {body} }};"
    assert called(program, [5.0, 6.0], [1.0, 1.0]) == value
    assert called(program, [5.0, 6.0], 1.0) == value
    for x in ([5.0, 5.0, 5.0], [5.0, 5.0, 6.0]):
        for y in ([1.0, 1.0, 1.0], 1.0):
            with pytest.raises(axon.RunError, match="AX404"):
                called(program, x, y)


def test_a_check_in_a_map() -> None:
    program = "f = fn (x : f32 [n,m]) { map(fn (r) { twice(unique, r) }, x) };"
    assert called(program, [[1.0, 2.0]]) == [[1, 2]]
    with pytest.raises(axon.RunError):
        called(program, [[5.0, 5.0]])


def test_a_check_is_made_in_each_call() -> None:
    program = "f = fn (z) { twice(fn (p) { nonzero(p) }, z) };"
    with pytest.raises(axon.RunError):
        called(program, numpy.array([2, 2, 2]))


def test_rows_of_two_arguments() -> None:
    program = "f = fn (x : f32 [n,*], y) { max(x, y) };"
    assert signature(program) == "(f32 [n,*a], f32 [n,*a]) -> f32 [n,*a]"
    assert called(program, ragged([[1, 2], [3]]), ragged([[2, 1], [4]])) == [[2, 2], [4]]
    with pytest.raises(axon.RunError):
        called(program, ragged([[1, 2], [3]]), ragged([[2], [4, 4]]))


def test_what_a_call_makes_is_in_no_parameter() -> None:
    program = "f = fn (x) { max(map(unique, x), x) };"
    assert signature(program) == "t [a,*b] -> t [a,*b]"
    assert called(program, ragged([[1, 2], [3]])) == [[1, 2], [3]]
    with pytest.raises(axon.RunError):
        called(program, ragged([[1, 1], [3]]))


@pytest.mark.parametrize(
    ("program", "type_"),
    [
        ("f = fn (x : f32 [n], k) { max(unique(x), zeros([k])) };", "(f32 [n], dim a) -> f32 [a]"),
        ("f = fn (x : f32 [n], k) { reshape(unique(x), [k]) };", "(f32 [n], dim a) -> f32 [a]"),
        (
            "same = fn (a : dim n, b : dim n) { zeros([n]) };"
            " f = fn (x : f32 [n], k) { same(size(unique(x)), k) };",
            "(f32 [n], dim a) -> f32 [a]",
        ),
    ],
)
def test_a_size_that_is_given_does_not_become_one_of_the_run(program: str, type_: str) -> None:
    assert signature(program) == type_
    assert len(called(program, [1.0, 2.0, 2.0], 2)) == 2
    with pytest.raises(axon.RunError, match="AX404"):
        called(program, [1.0, 2.0, 2.0], 3)


# --- run-time sizes that were universal, ragged ones that were uniform ---------------------------


def test_half_of_a_run_time_size() -> None:
    half = "f = fn (x : f32 [n]) { p, q = split(unique(x), parts=2); p };"
    assert signature(half) == "f32 [n] -> f32 [?a]"
    with pytest.raises(axon.RunError, match="mod 2 = 0"):
        called(half, [1.0, 2.0, 3.0])
    program = f"h = {half[4:-1]}; f = fn (x, y) {{ max(h(x), h(y)) }};"
    assert called(program, [1.0, 2.0], [3.0, 4.0]) == [3]
    with pytest.raises(axon.RunError):
        called(program, [1.0, 2.0, 3.0, 4.0], [1.0, 2.0])


def test_half_of_each_row() -> None:
    program = "f = fn (x : f32 [n,*]) { map(fn (r) { p, q = split(r, parts=2); p }, x) };"
    assert signature(program) == "f32 [n,*] -> f32 [n,*]"
    assert called(program, [[1.0, 2.0], [3.0, 4.0, 5.0, 6.0]]) == [[1], [3, 4]]
    with pytest.raises(axon.RunError):
        called(program, [[1.0, 2.0], [3.0, 4.0, 5.0]])


def test_a_state_that_varies() -> None:
    body = "{ v = map(flatten, x); fold(v, fn (s, y) { map(unique, s) }, x) }"
    program = f"f = fn (x) {body};"
    assert signature(program) == "t [a]@b -> t [a,*]"
    assert signature(f"f = fn (x : t [a]@b) {body};") == "t [a]@b -> t [a,*]"
    assert called(program, ragged([[1, 2], [3]])) == [[1, 2], [3]]
    with pytest.raises(axon.RunError):
        called(program, ragged([[1, 1], [3]]))


# --- right programs that were refused -------------------------------------------------------------

RIGHT = {
    "ap": ("ap(nonzero, x)", "f32 [n] -> i64 [?a]"),
    "local alias": ("{ g = unique; g(x) }", "f32 [n] -> f32 [?a]"),
    "thunk": ("thunk(unique, x)()", "f32 [n] -> f32 [?a]"),
    "compose": ("compose(unique, sort)(x)", "f32 [n] -> f32 [?a]"),
    "a lambda called at once": ("(fn (y) { unique(x) })(x)", "f32 [n] -> f32 [?a]"),
    "branches": (
        "cond(sum(x) > 0f, fn () { nonzero(x) }, fn () { nonzero(x) })",
        "f32 [n] -> i64 [?a]",
    ),
}


@pytest.mark.parametrize(("body", "type_"), RIGHT.values(), ids=RIGHT)
def test_makers_of_sizes_as_values(body: str, type_: str) -> None:
    braces = body if body.startswith("{") else f"{{ {body} }}"
    program = f"f = fn (x : f32 [n]) {braces};"
    assert signature(program) == type_
    called(program, [3.0, 0.0, 3.0])


def test_ragged_beside_what_is_unknown() -> None:
    program = "f = fn (x : f32 [n,*], s) { x * s };"
    assert called(program, [[1.0, 0.0], [3.0]], 2.0) == [[2, 0], [6]]
    assert called(program, [[1.0, 0.0], [3.0]], [[2.0], [3.0]]) == [[2, 0], [9]]
    program = "f = fn (x : f32 [n,*], y) { map(nonzero, x) + y };"
    assert called(program, [[1.0, 0.0], [3.0]], [1]) == [[1], [1]]


def test_sizes_captured_in_a_map() -> None:
    program = "f = fn (x : f32 [n]) { v = nonzero(x); map(fn (q) { sum(range(size(v))) }, x) };"
    assert called(program, [1.0, 0.0, 2.0]) == [1, 1, 1]


NUMBERS_AS_SIZES = {
    "a sum": ("map({}, v)", "sum(range(k))", [1, 3]),
    "a vector": ("map({}, v)", "range(k)", [[0, 1], [0, 1, 2]]),
    "a size and a number": ("map({}, v)", "w = zeros([k]); 6.0 / k + sum(w)", [3, 2]),
    "a sum of sizes": ("map({}, v)", "w = zeros([2 * k + 1]); sum(w + 1f)", [5, 7]),
    "rows of rows": ("map(fn (r) {{ map({}, r) }}, stack(v, v))", "sum(range(k))", [[1, 3]] * 2),
    "a scan": ("scan(fn (s, j) {{ s + ({})(j) }}, 0, v, axis=0)", "sum(range(k))", [1, 4]),
}


@pytest.mark.parametrize(
    ("body", "inner", "value"), NUMBERS_AS_SIZES.values(), ids=NUMBERS_AS_SIZES
)
def test_numbers_that_a_function_takes_for_sizes(body: str, inner: str, value: Any) -> None:
    """An operator gives it one after the other: inline, and by a name, it reads each."""
    written = f"fn (k) {{ {inner} }}"
    for program in (
        f"f = fn (v : i64 [n]) {{ {body.format(written)} }};",
        f"g = {written}; f = fn (v : i64 [n]) {{ {body.format('g')} }};",
        f"f = fn (v : i64 [n]) {{ g = {written}; {body.format('g')} }};",
    ):
        assert listed(on_both(program, numpy.array([2, 3]))) == value


@pytest.mark.parametrize(
    ("body", "value"),
    [
        ("scan(fn (s, k) { s + sum(range(k)) }, 0, v)", [[1, 3], [2, 6]]),
        ("scan(fn (s, k) { s + sum(unique(stack(k, s))) }, 0, v, axis=1)", [[2, 7], [2, 7]]),
        ("reduce(fn (s, k) { s + sum(unique(stack(k, s))) }, 0, v, axis=1)", [7, 7]),
        ("reduce(fn (s, k) { s + sum(range(k)) }, 0, slice(v, stop=0))", [0, 0]),
        ("fold([0,0], fn (s, r) { s + sum(unique(r)) }, v)", [10, 10]),
    ],
)
def test_functions_that_make_sizes_are_called_with_values(body: str, value: Any) -> None:
    """No backend traces them."""
    program = f"f = fn (v : i64 [n,m]) {{ {body} }};"
    assert listed(on_both(program, numpy.array([[2, 3], [2, 3]]))) == value


@pytest.mark.parametrize(("operator", "value"), [("reduce", [1, 3]), ("scan", [[0, 1], [3]])])
def test_functions_that_make_sizes_in_rows(operator: str, value: Any) -> None:
    program = (
        f"f = fn (v : i64 [n,*]) {{ {operator}(fn (s, k) {{ s + sum(range(k)) }}, 0, v, axis=1) }};"
    )
    assert listed(on_both(program, [[1, 2], [3]])) == value


def test_rows_that_a_function_takes_for_shapes() -> None:
    program = "f = fn (v : i64 [n,2]) { map(fn (s) { sum(ones(s)) }, v) };"
    assert listed(on_both(program, numpy.array([[2, 3], [1, 4]]))) == [6, 4]
    program = """f = fn (v : i64 [2,2], y : i64 [2,6,1])
        { max(map(fn (s) { reshape(range(6), s) }, v), y) };"""
    y = numpy.zeros((2, 6, 1), int)
    assert called(program, numpy.array([[6, 1], [6, 1]]), y)[0] == [[i] for i in range(6)]
    with pytest.raises(axon.RunError):  # each was taken for the shape of y
        called(program, numpy.array([[2, 3], [2, 3]]), y)


# --- ragged tensors through functions -------------------------------------------------------------

THROUGH = {
    "a thunk": ("thunk(abs, x)()", [[1, 1], [3]]),
    "a state": ("fold(x, fn (s, r) { s * 2f }, x)", [[4, -4], [12]]),
    "rows": ("rows(abs, x)", [[1, 1], [3]]),
    "an operator": ("map(*, x, x)", [[1, 1], [9]]),
    "composed": ("map(compose(sort, reverse), x)", [[1, -1], [3]]),
    "captured": (
        "{ h = fn (p) { x }; map(h, x) }",
        [[[1, -1], [3]], [[1, -1], [3]]],
    ),
    "the number of elements": ("map(fn (r) { r * size(x) }, x)", [[3, -3], [9]]),
    "branches": ("cond(sum(x) > 1f, fn () { x }, fn () { x })", [[1, -1], [3]]),
}


@pytest.mark.parametrize(("body", "value"), THROUGH.values(), ids=THROUGH)
def test_ragged_tensors_through_functions(body: str, value: Any) -> None:
    braces = body if body.startswith("{") else f"{{ {body} }}"
    assert called(f"f = fn (x : f32 [n,*]) {braces};", [[1.0, -1.0], [3.0]]) == value


# --- sizes of ragged tensors ----------------------------------------------------------------------


def test_the_number_of_elements() -> None:
    rows = [[1.0, 2.0], [], [3.0, 4.0, 5.0]]
    assert signature("f = fn (x : f32 [n,*]) { size(x) };") == "f32 [n,*] -> dim ?a"
    assert called("f = fn (x : f32 [n,*]) { size(x) };", rows) == 5
    assert called("f = fn (x : f32 [n,*]) { sum(x) / size(x) };", rows) == 3
    assert called("f = fn (x : f32 [n,*]) { range(size(x)) };", rows) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("body", ["sum(x) + size(x, axis=1)", "x / size(x, axis=1)", "x / k"])
def test_a_size_that_varies_is_no_number(body: str) -> None:
    with pytest.raises(axon.ProgramError) as found:
        axon.compile(f"f = fn (x : f32 [n,*k]) {{ {body} }};")
    assert {d.code for d in found.value.diagnostics} == {"AX105"}


def test_a_shape_that_varies_is_no_result() -> None:
    with pytest.raises(axon.ArgumentError, match=r"AX403.*whose rows vary cannot be a result"):
        called("f = fn (x : f32 [n,*]) { shape(x) };", [[1.0], []])


# --- what is callable ---------------------------------------------------------------------------


def test_definitions_whose_value_is_a_function() -> None:
    assert called("f = relu;", [1.0, -1.0]) == [1, 0]
    assert called("mk = fn (a) { fn (x) { x * a } }; f = mk(2f);", [1.0, -1.0]) == [2, -2]
    assert called("g = fn (x) { x + x }; f = g;", [1.0]) == [2]


# --- order and names ----------------------------------------------------------------------------


def test_the_order_of_lines_does_not_show() -> None:
    lines = ["a = reverse(x);", "b = sum(x, axis=-1, keep=true);"]
    found = {
        signature(f"f = fn (x) {{ {first} {second} x < b }};")
        for first, second in (lines, lines[::-1])
    }
    assert found == {"t a@[b] -> bool a@[b] where [c]@d = a@[b]"}


@pytest.mark.parametrize(
    "use", ["1.0 / k", "x * k", "sqrt(k)", "k + 1", "k > 1", "cast(k, to=f32)"]
)
@pytest.mark.parametrize(
    "size", ["zeros([2 * k])", "range(k)", "hz(k)", "lz(k)", "repeat(x, times=k)"]
)
def test_a_size_is_one_in_the_lines_before(use: str, size: str) -> None:
    """A number could stand there too, which is no reason to take it for one."""
    values = []
    for params, first, given in (("x, k", "", 2), ("x, p", "k, _ = p;", (2, 1.0))):
        types = set()
        for lines in (f"y = {use}; z = {size};", f"z = {size}; y = {use};"):
            program = f"""hz = fn (k) {{ zeros([k]) }};
                f = fn ({params}) {{ lz = fn (k) {{ zeros([k]) }}; {first} {lines} (y, z) }};"""
            types.add(signature(program))
            values.append(called(program, numpy.ones(3, numpy.float32), given))
        assert len(types) == 1 and "?" not in types.pop()
    assert all(value == values[0] for value in values)


def test_a_quotient_with_a_name_is_the_size_that_it_is_inline() -> None:
    for body in ("k = n / 2; zeros([k])", "zeros([n / 2])"):
        assert signature(f"f = fn (x : f32 [n]) {{ {body} }};") == "f32 [n] -> f32 [n/2]"


def test_an_annotation_with_the_inferred_type_changes_nothing() -> None:
    type_ = "t a@[b] -> t [2*c]@d where [c]@d = a@[b]"
    assert signature("f = fn (x) { concat(sort(x), x) };") == type_
    assert signature("f = fn (x : t a@[b]) { concat(sort(x), x) };") == type_


# --- found by the attack -------------------------------------------------------------------------

REFUSED = {
    "a size around a function": (
        "f = fn (x, z : i64 [m]) { (fn (p) { z * nonzero(z) })(x) };",
        ([0, 2, 3], [0, 2, 3]),
    ),
    "the same, named": (
        "f = fn (x, z : i64 [m]) { h = fn (p) { z * nonzero(p) }; h(x) };",
        ([0, 2, 3], [0, 2, 3]),
    ),
    "before what it is broadcast to is there": (
        "both = fn (h, x) { (h(x), x) };"
        "f = fn (z : i64 [k]) { p, q = both(fn (r) { (z - nonzero(z)) < z }, z); p };",
        ([0, 2, 3],),
    ),
    "two sizes that are compared with a third": (
        "f = fn (y : f32 [m,2]) { w = concat(y, y, axis=1);"
        "h = fn (p, q) { v = max(nonzero(q), nonzero(p)); max(v, v) }; map(h, y, w) };",
        ([[1.0, 4.0]],),
    ),
    "a row that should have the size of something else": (
        "f = fn (x : f32 [n]) { v = map(fn (q) { unique(x) }, x);"
        "map(fn (p) { reshape(p, [n]) }, v) };",
        ([1.0, 1.0],),
    ),
    "behind a branch": (
        "f = fn (x : i64 [n], y : i64 [m])"
        "{ v = cond(sum(x) > 1, fn () { unique(x) }, fn () { unique(x) }); maximum(y, v) };",
        ([], [4, 3]),
    ),
    "a condition on what is broadcast": (
        "al = fn (x : bool [n]) where n >= 2 { concat(x, x) };"
        "f = fn (x : i64 [n]) { al(unique(x) < x) };",
        ([0],),
    ),
    "what a function of a file makes": (
        "al = fn (x : f32 [n]) where n >= 1 { unique(x) }; ap = fn (h, x) { h(x) };"
        "f = fn (y : f32 [n], z : f32 [k]) { dot(z, ap(al, y)) };",
        ([3.0, 3.0], [2.0, 3.0]),
    ),
    "a shape to broadcast to": (
        "f = fn (x : f32 [n,m]) { map(fn (p) { broadcast_to(p, shape(unique(p))) }, x) };",
        ([[1.0, 1.0], [1.0, 2.0]],),
    ),
    "what is computed when the code is made": (
        "f = fn (y : f32 [n,m,k]){ map(fn (p) { v = zeros([size(p)]); stack(unique(v), v) }, y) };",
        ([[[1.0, 2.0]]],),
    ),
    "a size that a branch computes": (
        "f = fn (y : i64 [n]) { cond(sum(y) > 1, fn () { y },"
        "fn () { (fn (p) { slice(unique(y), start=1, axis=0) })(y) }) };",
        ([0, 0],),
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_checks_that_were_lost(what: str) -> None:
    program, args = REFUSED[what]
    arrays = [numpy.asarray(a, numpy.int64 if "i64" in program else numpy.float32) for a in args]
    with pytest.raises(axon.RunError) as caught:
        axon.compile(program).f(*arrays)
    assert [d.code for d in caught.value.diagnostics] == ["AX404"]


TYPES = {
    "f = fn (x : f32 [n,*,3]) { h = fn (p) { maximum(p, x) }; h(x) };": (
        "f32 [n,*a,3] -> f32 [n,*a,3]"
    ),
    "h = fn (p, q) { unique(q) - p }; f = fn (x : f32 [5,3], y : f32 [5]) { map(h, y, x) };": (
        "(f32 [5,3], f32 [5]) -> f32 [5,*]"
    ),
    "f = fn (x : f32 [n,*]) { map(fn (p) { (fn (q) { q + unique(q) })(p) }, x) };": (
        "f32 [n,*] -> f32 [n,*]"
    ),
    "f = fn (y : i64 [m], z : i64 [m]) { h = fn (p) { max(y, unique(z)) }; map(h, z) };": (
        "(i64 [m], i64 [m]) -> i64 [m,m]"
    ),
    "f = fn (v : i64 [n,2]) { map(fn (s) { reshape(range(6), s) }, v) };": (
        "i64 [n,2] -> i64 [n]@?a"
    ),
    "h = fn (p) { size(p) }; f = fn (x : f32 [n,*]) { range(h(x)) };": "f32 [n,*] -> i64 [?a]",
    "f = fn (x : f32 [n]) : f32 [max(?k-1,0)] { slice(unique(x), stop=-1, axis=-1) };": (
        "f32 [n] -> f32 [max(?k-1,0)]"
    ),
    """f = fn (x : i64 [n,m], z)
        { v = maximum(z, map(nonzero, x)); w = map(cumsum, where(v < v, v, v)); v };""": (
        "(i64 [n,m], i64 a) -> i64 [?b,*]@?c"
    ),
    """al = fn (x : f32 [n]) { slice(x, step=2) };
        f = fn (y) { (fn (h, x) { h(unique(x)) })(al, y) };""": "f32 [a] -> f32 [(?b+1)/2]",
    "f = fn (x) { y = gather(x, map(fn (p) { nonzero(x) }, x)); y < x };": "t [1] -> bool [1,*]",
    "f = fn (x) { y = gather(x, x); [size(x), size(x, axis=-1)] };": (
        "t a@[b] -> shape [b*size(a),b] where [c]@d = a@[b]"
    ),
}


@pytest.mark.parametrize("program", TYPES)
def test_types_of_what_a_call_makes(program: str) -> None:
    assert signature(program) == TYPES[program]


def test_rows_that_hold_the_whole_end() -> None:
    program = "f = fn (y) { map(fn (p) { v = concat(p, y); y @ y }, y) };"
    with pytest.raises(axon.ProgramError) as caught:
        axon.compile(program)
    assert [d.code for d in caught.value.diagnostics] == ["AX106"]


def test_rows_of_a_stack() -> None:
    """Sizes vary over the second dimension of a stack, however many tensors are in it."""
    program = "f = fn (y : f32 [n,*]) { zeros(shape(stack(y, y))) };"
    assert called(program, ragged([[1, 1], [0]])) == [[[0, 0], [0]], [[0, 0], [0]]]


def test_one_name_in_two_arguments() -> None:
    program = "f = fn (x : f32 [n,*k], y : f32 [n,*k]) { x };"
    assert called(program, ragged([[1], [2, 3]]), ragged([[1], [2, 2]])) == [[1], [2, 3]]
    with pytest.raises(axon.ArgumentError, match=r"should be \*k = 1, 2 in its rows"):
        called(program, ragged([[1], [2, 3]]), ragged([[1], [2]]))


def test_a_count_of_rows_in_a_function() -> None:
    """The number of elements of rows that vary is known before a function that speaks of it."""
    program = "f = fn (x : f32 [n,*]) { s = size(x); map(fn (p) { zeros([s]) }, x) };"
    assert called(program, ragged([[1], [2, 3]])) == [[0, 0, 0], [0, 0, 0]]


def test_what_follows_from_a_size_that_is_computed() -> None:
    program = "f = fn (y) { p, q = split(ones([sum(nonzero(y))]), parts=2); p };"
    assert called(program, numpy.array([0, 1, 0, 1], "f4")) == [1, 1]
    with pytest.raises(axon.RunError, match="mod 2"):
        called(program, numpy.array([0, 1, 1], "f4"))


def test_the_first_size_beside_rows_is_one_at_calls_too() -> None:
    program = "f = fn (x) { y = gather(x, map(fn (p) { nonzero(x) }, x)); y < x };"
    assert called(program, numpy.array([1], "i4")) == [[False]]
    with pytest.raises(axon.ArgumentError):
        called(program, numpy.array([1, 2, 3], "i4"))
