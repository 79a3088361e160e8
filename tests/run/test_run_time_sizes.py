"""Sizes that only the run knows: they are what the data says, and what must hold of them is checked
right behind the operator that makes them.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from axon.driver import check_text
from tests.run.support import BACKENDS, close, floats, on_both, plain


def failing(program: str, *args: Any, ops: Any = None) -> str:
    """What the run-time error says, the same on both backends."""
    texts = []
    for backend in BACKENDS:
        net = axon.compile(program, backend=backend, ops=ops)
        with pytest.raises(axon.RunError) as caught:
            net.f(*args)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    return texts[0]


X = numpy.array([0, 3, 0, 5, 7], "f4")


def test_nonzero() -> None:
    net = "f = fn (x : f32 [n]) { i = nonzero(x); i, gather(x, i), size(i), sum(i) };"
    close(
        plain(on_both(net, X)),
        (numpy.array([1, 3, 4]), X[[1, 3, 4]], numpy.int64(3), numpy.int64(8)),
    )
    close(plain(on_both(net, X * 0))[1], X[:0])
    close(plain(on_both(net, X[:0]))[1], X[:0])


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "u1"])
def test_unique(dtype: str) -> None:
    x = numpy.array([3, 1, 3, 2, 1], dtype)
    close(plain(on_both("f = fn (x) { unique(x) };", x)), numpy.array([1, 2, 3], dtype))


def test_compress() -> None:
    x, mask = floats(4, 3), numpy.array([True, False, True, True])
    program = "f = fn (x : f32 [n,m], c : bool [n]) { y = compress(x, c); y, y @ transpose(y) };"
    kept = x[mask]
    close(plain(on_both(program, x, mask)), (kept, kept @ kept.T))
    close(plain(on_both(program, x, mask & False))[0], x[:0])


def test_range_of_a_computed_value() -> None:
    program = "f = fn (x : i64 [n]) { range(sum(x)), zeros([sum(x), 2]), ones([max(x)]) };"
    made = plain(on_both(program, numpy.array([1, 2])))
    close(made, (numpy.arange(3), numpy.zeros((3, 2), "f4"), numpy.ones(2, "f4")))
    assert "-3" in failing("f = fn (x : i64 [n]) { range(sum(x)) };", numpy.array([-1, -2]))


@pytest.mark.parametrize("shape", [[2, 3], [6], [3, 1, 2], [1, 6, 1, 1], [0]])
def test_reshape_to_a_computed_shape(shape: list[int]) -> None:
    """The rank is a matter of the data's size, the sizes of the data."""
    x = floats(int(numpy.prod(shape)))
    program = "f = fn (x : f32 [n], s : i64 [k]) { y = reshape(x, s); y + 1f, sum(y) };"
    close(plain(on_both(program, x, numpy.array(shape))), (x.reshape(shape) + 1, x.sum()))


def test_reshape_to_a_shape_of_computed_rank() -> None:
    """How many sizes there are is known to the run alone."""
    program = "f = fn (x : f32 [n], s : i64 [k]) { reshape(x, gather(s, nonzero(s))) };"
    made = on_both(program, floats(6), numpy.array([0, 2, 0, 3]))
    close(plain(made), floats(6).reshape(2, 3))
    made = on_both(program, floats(1), numpy.array([0, 0]))
    close(plain(made), floats(1).reshape(()))


def test_reshape_that_does_not_fit() -> None:
    program = "f = fn (x : f32 [n], s : i64 [k]) { reshape(x, s) };"
    text = failing(program, floats(6), numpy.array([2, 4]))
    assert "6" in text and "[2,4]" in text
    assert "reshape needs it" in text and "program.axon:1:37" in text
    assert "-1" in failing(program, floats(6), numpy.array([2, -1]))


def test_sizes_made_of_data() -> None:
    program = (
        "f = fn (x : f32 [n], k : i64) { broadcast_to(x, [k, n]), reshape(x, [n / k, k]),"
        " zeros([k * 2 + 1]) };"
    )
    x = floats(6)
    made = plain(on_both(program, x, numpy.int64(2)))
    close(made, (numpy.broadcast_to(x, (2, 6)), x.reshape(3, 2), numpy.zeros(5, "f4")))
    failing(program, x, numpy.int64(4))
    failing(program, x, numpy.int64(0))
    failing(program, x, numpy.int64(-2))


# --- guards --------------------------------------------------------------------------------------

BOTH = "gather(x, nonzero(x)), gather(y, nonzero(y))"


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        (f"max({BOTH})", "max"),
        (f"dot({BOTH})", "dot"),
        (f"stack({BOTH})", "stack"),
        ("gather(x, nonzero(x)) + gather(y, nonzero(y))", "+"),
        ("gather(x, nonzero(x)) + y", "+"),
        ("where(x > 1f, x, gather(y, nonzero(y)))", "where"),
        ("matmul(expand_dims(gather(x, nonzero(x)), axis=0), expand_dims(y, axis=1))", "matmul"),
        ("g = fn (a, b) { max(a, b) }; g(" + BOTH + ")", "g"),
        ("reshape(gather(x, nonzero(x)), [2, 2])", "reshape"),
        ("map(fn (a, b) { a * b }, " + BOTH + ")", "map"),
        ("loop(gather(x, nonzero(x)), fn (s, e) { s + e, s }, y), max(" + BOTH + ")", "max"),
    ],
)
def test_guards_that_fail(body: str, operator: str) -> None:
    """`x` has three elements that are not zero, `y` has two of five."""
    y = numpy.array([1, 0, 0, 0, 2], "f4")
    text = failing(f"f = fn (x : f32 [n], y : f32 [m]) {{ {body} }};", X, y)
    assert "does not hold" in text and "program.axon:1:" in text
    assert "3" in text
    assert f"{operator} needs it" in text


def test_guards_that_hold() -> None:
    y = numpy.array([1, 0, 4, 0, 2], "f4")
    program = (
        "f = fn (x : f32 [n], y : f32 [m]) { a = gather(x, nonzero(x)); b = gather(y, nonzero(y));"
        " max(a, b), dot(a, b), stack(a, b), a + b, map(fn (p, q) { p * q }, a, b) };"
    )
    a, b = X[X != 0], y[y != 0]
    close(
        plain(on_both(program, X, y)),
        (numpy.maximum(a, b), a @ b, numpy.stack([a, b]), a + b, a * b),
    )
    one = numpy.array([0, 9, 0, 0, 0], "f4")
    close(
        plain(on_both("f = fn (x, y) { gather(x, nonzero(x)) + gather(y, nonzero(y)) };", X, one)),
        a + 9,
    )


def test_two_calls_do_not_share_a_size() -> None:
    program = (
        "pick = fn (x) { gather(x, nonzero(x)) };\n"
        "f = fn (x : f32 [n], y : f32 [m]) { concat(pick(x), pick(y)), pick(concat(x, y)) };"
    )
    y = numpy.array([1, 0, 2], "f4")
    both = numpy.array([3, 5, 7, 1, 2], "f4")
    close(plain(on_both(program, X, y)), (both, both))


def test_run_time_sizes_inside_functions() -> None:
    program = (
        "count = fn (r) { size(nonzero(r)) };\n"
        "f = fn (x : f32 [n,m]) { map(count, x), map(fn (r) { sum(gather(r, nonzero(r))) }, x),"
        " fold(0f, fn (s, r) { s + sum(unique(r)) }, x) };"
    )
    x = numpy.array([[1, 0, 2], [0, 0, 0], [4, 4, 4]], "f4")
    close(
        plain(on_both(program, x)),
        (numpy.array([2, 0, 3]), numpy.array([3, 0, 12], "f4"), numpy.float32(3 + 0 + 4)),
    )


def test_rows_that_vary_by_what_is_in_them() -> None:
    program = "f = fn (x : f32 [n,m]) { map(fn (r) { gather(r, nonzero(r)) }, x) };"
    x = numpy.array([[1, 0, 2], [0, 0, 0]], "f4")
    made = on_both(program, x)
    assert isinstance(made, axon.Ragged) and made.shape == (2, None)
    close(plain(made), [x[0, [0, 2]], x[1, :0]])
    none = on_both(program, x[:0])
    assert isinstance(none, axon.Ragged) and none.shape == (0, None)


def test_an_index_out_of_range() -> None:
    with pytest.raises(axon.RunError, match="out of range"):
        axon.compile("f = fn (t : f32 [v,d], i : i64 [n]) { gather(t, i) };").f(
            floats(5, 2), numpy.array([7])
        )


def test_a_definition_with_guards_is_called_again() -> None:
    """A failing call leaves nothing behind."""
    net = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { max(gather(x, nonzero(x)), y) };")
    for _ in range(3):
        close(net.f(X, X[1:4]), numpy.maximum(X[X != 0], X[1:4]))
        with pytest.raises(axon.RunError):
            net.f(X * 0, X[1:4])


@pytest.mark.parametrize("name", ["max", "min", "len", "tuple", "prod"])
def test_what_generated_code_calls_is_not_hidden(name: str) -> None:
    """A size with `max` in it, next to the operator of that name and values named like these."""
    program = f"""
    f = fn ({name}_of : f32 [b,n], {name if name in ("len", "tuple") else "y"} : f32 [b,n]) {{
      x = {name}_of;
      max(x, axis=[-1]), min(x, axis=[-1]), prod(x, axis=[-1]),
      zeros([max(n,1), min(b,7)]), reshape(x, [b*n])
    }};
    """
    x = floats(2, 3)
    found = plain(on_both(program, x, x))
    close(found[:3], (x.max(-1), x.min(-1), x.prod(-1)))
    close(found[3], numpy.zeros((3, 2), "f4"))


# --- sums of sizes -----------------------------------------------------------------------------

JOINED = """
positive = fn (x : f32 [n]) { compress(x, x > 0f) };
joined = fn (x, y) { concat(positive(x), positive(y)) };
"""


def signature(program: str, name: str) -> str:
    checked = check_text(JOINED + program, "f.axon")
    assert not checked.diagnostics
    return next(s.signature for s in checked.signatures if s.name == name)


def test_a_caller_sees_one_size_where_several_are_added_up() -> None:
    assert signature("", "joined") == "(f32 [a], f32 [b]) -> f32 [?c+?d]"
    assert signature("f = fn (x, y) { joined(x, y) };", "f") == "(f32 [a], f32 [b]) -> f32 [?c]"
    twice = "f = fn (x, y) { z = joined(x, y); concat(z, z), slice(z, stop=8) };"
    assert signature(twice, "f") == "(f32 [a], f32 [b]) -> (f32 [2*?c], f32 [min(?c,8)])"


def test_sizes_that_are_also_alone_are_not_one() -> None:
    both = "both = fn (x, y) { a = positive(x); a, concat(a, positive(y)) };"
    use = "f = fn (x, y) { both(x, y) };"
    expected = "(f32 [a], f32 [b]) -> (f32 [?c], f32 [?c+?d])"
    assert signature(both + use, "f") == expected
    uneven = "more = fn (x, y) { a = positive(x); concat(a, a, positive(y)) };"
    use = "f = fn (x, y) { more(x, y) };"
    assert signature(uneven + use, "f") == "(f32 [a], f32 [b]) -> f32 [2*?c+?d]"


def test_a_sum_of_sizes_that_a_function_gives_is_read_off_what_it_gives() -> None:
    program = JOINED + (
        "f = fn (x, y) { z = joined(x, y); reshape(concat(z, z), [2, size(z)]), size(z) + 1 };"
    )
    x, y = floats(9) - 0.5, floats(7) - 0.5
    z = numpy.concatenate([x[x > 0], y[y > 0]])
    close(plain(on_both(program, x, y)), (numpy.stack([z, z]), numpy.int64(len(z) + 1)))
