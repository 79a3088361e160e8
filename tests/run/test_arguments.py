"""Calls that cannot be: each is an error that says what is wrong, and where it was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, floats, on_both, plain

MATMUL = "f = fn (x : f32 [n,k], w : f32 [k,m]) { matmul(x, w) };"


def refused(program: str, *args: Any, backend: str = "numpy", **named: Any) -> str:
    net = axon.compile(program, backend=backend)
    with pytest.raises(axon.ArgumentError) as caught:
        net.f(*args, **named)
    assert isinstance(caught.value, axon.AxonError)
    return str(caught.value)


# --- which arguments -----------------------------------------------------------------------------


def test_missing() -> None:
    assert refused(MATMUL, floats(2, 3)) == "f: `w` is missing"
    assert refused(MATMUL) == "f: `x`, `w` are missing"


def test_too_many() -> None:
    text = refused(MATMUL, floats(2, 3), floats(3, 4), floats(1))
    assert text == "f takes 2 arguments, 3 are given"
    assert refused("f = fn () { ones([2]) };", 1) == "f takes no arguments, 1 are given"


def test_unknown_name() -> None:
    text = refused(MATMUL, floats(2, 3), v=floats(3, 4))
    assert text == "f has no argument `v`: its arguments are x, w"


def test_given_twice() -> None:
    text = refused(MATMUL, floats(2, 3), x=floats(2, 3))
    assert text == "f: the argument `x` is given twice"


def test_names_in_any_order() -> None:
    x, w = floats(2, 3), floats(3, 4)
    net = axon.compile(MATMUL)
    close(net.f(w=w, x=x), net.f(x, w))
    close(net.f(x, w=w), net.f(x, w))


# --- what is no tensor ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        None,
        "abc",
        b"abc",
        {1: 2},
        {1, 2},
        object(),
        len,
        (i for i in range(3)),
        [[1, 2], [3]],
        [["a"]],
        [None],
        numpy.array([[1, None]], object),
        numpy.array([["a"]]),
        numpy.ones((3, 4), complex),
        numpy.ones((3, 4), "datetime64[s]"),
        numpy.zeros((3, 4), [("a", "f4")]),
        numpy.ones((3, 4), numpy.longdouble),
        numpy.ma.array(numpy.ones((3, 4), numpy.float32), mask=numpy.eye(3, 4, dtype=bool)),
    ],
    ids=lambda given: f"{type(given).__name__} {getattr(given, 'dtype', '')}",
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_no_tensor(given: Any, backend: str) -> None:
    text = refused(MATMUL, floats(2, 3), given, backend=backend)
    assert "f: `w`" in text


@pytest.mark.parametrize(
    ("elem", "given"),
    [("i32", 2**40), ("i64", 2**70), ("u8", -1), ("u8", [1, 256]), ("i8", [-129]), ("i32", 1.5)],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_numbers_that_do_not_fit(elem: str, given: Any, backend: str) -> None:
    text = refused(f"f = fn (x : {elem} s) {{ x }};", given, backend=backend)
    assert "`x`" in text and elem in text


@pytest.mark.parametrize("backend", BACKENDS)
def test_awkward_arrays_of_numpy(backend: str) -> None:
    """Another byte order, a read-only array, a view with strides, a subclass."""
    net = axon.compile("f = fn (x : f32 [n]) { x + x };", backend=backend)
    x = floats(4)
    fixed = x.copy()
    fixed.flags.writeable = False
    wide = numpy.repeat(x, 2)[::2]
    for given in (x.astype(">f4"), fixed, wide, x[::-1][::-1]):
        close(plain(net.f(given)), x + x)

    class Own(numpy.ndarray):
        pass

    assert type(axon.compile("f = fn (x) { x };", backend=backend).f(x.view(Own))) is not Own


# --- sizes, ranks and element types --------------------------------------------------------------


@pytest.mark.parametrize("backend", BACKENDS)
def test_wrong_size(backend: str) -> None:
    text = refused(MATMUL, floats(2, 3), floats(5, 4), backend=backend)
    assert "f cannot be called with x : f32 [2,3], w : f32 [5,4]" in text
    assert "size 0 of `w` is 5, and should be k = 3 (from x); so far n=2 from x, k=3 from x" in text
    assert "program.axon:1:24" in text


def test_wrong_size_in_a_second_call() -> None:
    """What was called before does not make a wrong call right."""
    net = axon.compile(MATMUL)
    for _ in range(3):
        net.f(floats(2, 3), floats(3, 4))
        with pytest.raises(axon.ArgumentError):
            net.f(floats(2, 3), floats(4, 4))


def test_wrong_rank() -> None:
    text = refused(MATMUL, floats(2, 3), floats(5))
    assert "w : f32 [5]" in text
    assert "2 dimensions are expected" in text and "program.axon:1:24" in text


def test_wrong_element_type() -> None:
    text = refused(MATMUL, floats(2, 3), numpy.ones((3, 4)))
    assert "the element types differ, f32 and f64" in text and "program.axon:1:24" in text
    assert "i64" in refused(MATMUL, floats(2, 3), numpy.ones((3, 4), int))


def test_conditions() -> None:
    text = refused("f = fn (x : f32 [n])\n where n >= 3 { x };", floats(2))
    assert "n >= 3 does not hold for n = 2" in text and "n=2 from x" in text
    assert "program.axon:2:8" in text


def test_a_condition_has_the_names_that_tell_where_sizes_come_from() -> None:
    program = "f = fn (x, w, b) { x @ w + b };"
    text = refused(program, floats(2, 3), floats(3, 4), floats(5))
    assert "does not hold for" in text and "e = 4, f[0] = 5" in text
    assert "e=4 from w, f[0]=5 from b" in text


@pytest.mark.parametrize(
    ("shape", "given", "says"),
    [
        ("[2*n+1]", 4, "no whole number satisfies 2*n + 1 = 4"),
        ("[n+3]", 2, "n"),
        ("[4]", 3, "size 0 of `x` is 3, and should be 4"),
    ],
)
def test_sizes_that_are_expressions(shape: str, given: int, says: str) -> None:
    assert says in refused(f"f = fn (x : f32 {shape}) {{ x }};", floats(given))


def test_sizes_that_follow_from_others() -> None:
    program = "f = fn (x : f32 [n*m], y : f32 [n]) { reshape(x, [n, m]) };"
    close(on_both(program, floats(6), floats(2)), floats(6).reshape(2, 3))
    assert "4*m = 6" in refused(program, floats(6), floats(4))
    assert "do not determine the size `m`" in refused(program, floats(0), floats(0))
    alone = "f = fn (x : f32 [n*m]) { reshape(x, [n, m]) };"
    assert "do not determine the size" in refused(alone, floats(6))


def test_a_whole_number_is_a_size_in_the_functions_it_is_handed_to() -> None:
    program = """
    rows = fn (x : f32 [n*m], n : dim n) { reshape(x, [n, m]) };
    f = fn (x, n) { rows(x, n) };
    """
    close(on_both(program, floats(6), 2), floats(6).reshape(2, 3))
    assert "6 is not a multiple of 4" in refused(program, floats(6), 4)


def test_sizes_below_zero() -> None:
    program = "f = fn (x : f32 [n,c,h,w], k : f32 [o,c,5,5]) { conv(x, k) };"
    text = refused(program, floats(1, 1, 3, 3), floats(1, 1, 5, 5))
    assert "x : f32 [1,1,3,3]" in text and "conv" in text and "program.axon:1:54" in text


def test_conditions_inside() -> None:
    program = "f = fn (x : f32 [b,d]) { reshape(x, [b, 2, d / 2]) };"
    assert on_both(program, floats(3, 4)).shape == (3, 2, 2)
    text = refused(program, floats(3, 5))
    assert "d=5 from x" in text and "reshape" in text


# --- tuples --------------------------------------------------------------------------------------

PAIR = "f = fn (p : (f32 [n], (f32 [n], f32))) { a, (b, c) = p; (b + a, (c, a)) };"


def test_tuples() -> None:
    a, b, c = floats(3), floats(3) + 1, numpy.float32(4)
    close(plain(on_both(PAIR, (a, (b, c)))), (b + a, (c, a)))
    close(plain(on_both(PAIR, ([1, 2], ([3, 4], 5)))), plain(on_both(PAIR, ([1, 2], ([3, 4], 5)))))


def test_tuples_that_do_not_fit() -> None:
    a, c = floats(3), numpy.float32(4)
    assert "size 0 of `p[1][0]` is 4, and should be n = 3 (from p[0])" in refused(
        PAIR, (a, (floats(4), c))
    )
    assert "tuple" in refused(PAIR, a)
    assert "tuple" in refused(PAIR, (a, a))
    assert "tuple" in refused(PAIR, (a, (a, c, c)))
    assert "`p.1.0`" in refused(PAIR, (a, (None, c)))
    assert "p : ()" in refused(PAIR, ())


# --- functions -----------------------------------------------------------------------------------


def test_functions_are_no_arguments() -> None:
    text = refused("f = fn (g, x : f32 [n]) { g(x) };", lambda x: x, floats(3))
    assert "`g`" in text and "function" in text


def test_functions_are_no_results() -> None:
    text = refused("f = fn (x : f32 [n]) { fn (y) { x + y } };", floats(3))
    assert "a function cannot be a result" in text and "program.axon:1:24" in text


# --- programs ------------------------------------------------------------------------------------


def test_programs_with_errors() -> None:
    with pytest.raises(axon.ProgramError) as caught:
        axon.compile("f = fn (x : f32 [2]) { x + ones([3]) };\ng = fn (y) { z };")
    assert "program.axon has 2 errors" in str(caught.value)
    assert len(caught.value.diagnostics) == 2


def test_no_such_definition() -> None:
    net = axon.compile("f = fn (x) { x }; g = fn (x) { x };")
    with pytest.raises(AttributeError, match="no definition `h`; it has f, g"):
        _ = net.h
    with pytest.raises(KeyError, match="h"):
        net["h"]
    assert list(net) == ["f", "g"]


def test_a_broken_program_can_be_shown() -> None:
    """`repr` of what was never finished, as a debugger asks for it, is no endless recursion."""
    unfinished: Any = object.__new__(axon.Program)
    with pytest.raises(AttributeError):
        _ = unfinished._functions


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(axon.ProgramError, match="there is no such file"):
        axon.load(tmp_path / "none.axon")


def test_no_such_backend() -> None:
    with pytest.raises(ValueError, match="there are 'numpy', 'jax' and 'torch'"):
        axon.compile("", backend="tensorflow")


# --- operators that are only declared ------------------------------------------------------------

SWAP = "op swap : f32 [n,m] -> f32 [m,n];\nf = fn (x : f32 [a,b]) { swap(x) + 1f };"


def test_declared_operators() -> None:
    x = floats(2, 3)
    close(on_both(SWAP, x, ops={"swap": lambda x: x.T}), x.T + 1)
    net = axon.compile(SWAP)
    with pytest.raises(
        axon.ArgumentError, match=r'uses `swap`, .*net.implement\("swap", function\)'
    ):
        net.f(x)
    net.implement("swap", lambda x: x.T * 2)
    close(net.f(x), x.T * 2 + 1)
    net.implement("swap", lambda x: x.T)
    close(net.f(x), x.T + 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x.T[:1],
        lambda x: x.sum(),
        lambda x: x.T[None],
        lambda x: x.T.argsort(1),
        lambda x: None,
        lambda x: (x.T, x.T),
    ],
    ids=["not swapped", "short", "scalar", "rank 3", "i64", "None", "tuple"],
)
@pytest.mark.parametrize("backend", BACKENDS)
def test_operators_that_do_not_do_what_they_say(function: Any, backend: str) -> None:
    net = axon.compile(SWAP, backend=backend, ops={"swap": function})
    for _ in range(2):
        with pytest.raises(axon.RunError, match="`swap`"):
            net.f(floats(2, 3))


@pytest.mark.parametrize("backend", BACKENDS)
def test_operators_that_give_tuples(backend: str) -> None:
    program = "op two : f32 [n] -> (f32 [n], f32);\nf = fn (x : f32 [a]) { p, q = two(x); p * q };"
    x = floats(3)

    def net(function: Any) -> Any:
        return axon.compile(program, backend=backend, ops={"two": function}).f

    close(plain(net(lambda x: (x, x.sum()))(x)), x * x.sum())
    for wrong in (lambda x: (x,), lambda x: (x, x), lambda x: x):
        with pytest.raises(axon.RunError, match="`two`"):
            net(wrong)(x)


def test_operators_as_functions() -> None:
    program = (
        "op twice : f32 s -> f32 s; op plus : (f32, f32) -> f32;\n"
        "f = fn (x : f32 [n]) { g = fn (h, y) { h(h(y)) }; k = twice;"
        " g(twice, x), map(twice, x), k(x), reduce(plus, 0f, x) };"
    )
    x = floats(3)
    ops = {"twice": lambda x: x + x, "plus": lambda x, y: x + y}
    close(plain(on_both(program, x, ops=ops)), (4 * x, 2 * x, 2 * x, x.sum()))


def test_operators_with_run_time_sizes() -> None:
    program = "op pick : f32 [n] -> f32 [?k];\nf = fn (x : f32 [n]) { pick(x) + x };"
    x = floats(4)
    close(on_both(program, x, ops={"pick": lambda x: x[:1]}), x[:1] + x)
    for backend in BACKENDS:
        net = axon.compile(program, backend=backend, ops={"pick": lambda x: x[:2]})
        with pytest.raises(axon.RunError, match="2"):
            net.f(x)
