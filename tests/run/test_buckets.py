"""Calls in buckets: what a caller asks for, what is padded, compiled and reported."""

from __future__ import annotations

import pickle
from itertools import product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import axon
from axon.backends.buckets import Buckets, Policy
from axon.run.buckets import buckets_of
from tests.backends.padded import HUGE, NAN, agree, gradients, poisoned, same
from tests.backends.padded_on_numpy import Padded

ATTENTION = """
attention = fn (q : f32 [m,d], k : f32 [n,d], v : f32 [n,e]) {
  softmax(q @ transpose(k) / sqrt(cast(d, to=f32))) @ v
};
"""


def arrays(*shapes: tuple[int, ...], seed: int = 0) -> list[Any]:
    random = np.random.default_rng(seed)
    return [random.standard_normal(shape).astype("f4") for shape in shapes]


def attention(m: int, n: int, d: int = 4, e: int = 3, seed: int = 0) -> list[Any]:
    return arrays((m, d), (n, d), (n, e), seed=seed)


# --- what a caller asks for ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "size", "bucket"),
    [
        ("pow2", 0, 0), ("pow2", 1, 1), ("pow2", 2, 2), ("pow2", 3, 4), ("pow2", 64, 64),
        ("pow2", 65, 128), (64, 0, 0), (64, 1, 1), (64, 2, 64), (64, 128, 128),
        ([256, 128], 2, 128), ([128, 256], 129, 256), ([128, 256], 300, 300), ([128], 1, 1),
    ],
)  # fmt: skip
def test_the_bucket_of_a_size(policy: Any, size: int, bucket: int) -> None:
    found = buckets_of({"n": policy}).named
    assert found is not None and found["n"].bucket(size) == bucket


@pytest.mark.parametrize(
    "wrong", ["pow3", 3, {"n": "pow3"}, {"n": 0}, {"n": -4}, {"n": True}, {"n": []}, {"n": [1]}]
)
def test_what_are_no_buckets(wrong: Any) -> None:
    with pytest.raises(axon.ArgumentError, match="buckets"):
        axon.compile(ATTENTION).on("jax", buckets=wrong)


def test_a_name_that_no_definition_has() -> None:
    net = axon.compile(ATTENTION)
    with pytest.raises(axon.ArgumentError, match="no definition has a dimension `batch`"):
        net.on("jax", buckets={"batch": "pow2"})
    with pytest.raises(axon.ArgumentError, match="`m`"):
        net.on("jax", buckets={"batch": "pow2"})


def test_buckets_are_for_jax() -> None:
    with pytest.raises(ValueError, match="'jax'"):
        axon.compile(ATTENTION).on("numpy", buckets="auto")
    with pytest.raises(axon.ArgumentError, match="has no buckets"):
        axon.compile(ATTENTION).on("jax").attention.report()


# --- what runs -------------------------------------------------------------------------------


@pytest.mark.parametrize("args", [attention(5, 7), attention(8, 3), attention(1, 6),
                                  attention(6, 1), attention(0, 5), attention(2, 2)])  # fmt: skip
def test_attention(args: list[Any]) -> None:
    net = axon.compile(ATTENTION)
    bucketed = agree(net, "attention", poisoned(), args)
    same(gradients(bucketed, args), gradients(net.on("jax").attention, args))


@pytest.mark.parametrize("s", [2, 3, 6])
def test_attention_in_which_all_keys_are_padding(s: int) -> None:
    net = axon.compile(
        "f = fn (q : f32 [b,h,m,k], x : f32 [b,h,s,k], v : f32 [b,h,s,e]) where s >= 2 {"
        "  dot_product_attention(q, x[:, :, 2:], v[:, :, 2:], scale=1.0)"
        "};"
    )
    args = arrays((2, 2, 3, 4), (2, 2, s, 4), (2, 2, s, 5))
    bucketed = agree(net, "f", poisoned(), args)
    same(gradients(bucketed, args), gradients(net.on("jax").f, args))


def test_only_what_is_named_is_padded() -> None:
    bucketed = axon.compile(ATTENTION).on("jax", buckets={"n": 8}).attention
    bucketed(*attention(5, 7))
    found = {each.name: each.bucketed for each in bucketed.report().dimensions}
    assert found == {"m": False, "n": True, "d": False, "e": False}


def test_arguments_of_numpy_and_of_jax_have_the_same_result() -> None:
    bucketed = axon.compile(ATTENTION).on("jax", buckets="auto").attention
    args = attention(5, 7)
    given = bucketed(*args), bucketed(*map(jnp.asarray, args))
    assert all(isinstance(each, jax.Array) for each in given)
    same(*given)


def test_sizes_that_are_numbers_are_the_true_ones() -> None:
    net = axon.compile("f = fn (x : f32 [n,k]) { cast(n, to=f32) * sum(x), n, shape(x), n/2 };")
    for n in (2, 5, 8):
        agree(net, "f", poisoned(), arrays((n, 3)))


def test_a_size_as_an_argument() -> None:
    net = axon.compile("f = fn (n, x : f32 [k]) { cast(range(n), to=f32), sum(x) };")
    agree(net, "f", poisoned(), [5, *arrays((3,))])


def test_records_and_tuples() -> None:
    net = axon.compile(
        "f = fn (p, x : f32 [n,i]) { { out = x @ p.w + p.b, middle = mean(x, axis=0) } };"
    )
    w, b, x = arrays((3, 2), (2,), (5, 3))
    bucketed = net.on("jax", buckets=poisoned()).f
    exact = net.on("jax").f({"w": w, "b": b}, x)
    found = bucketed({"w": w, "b": b}, x)
    assert found.keys() == exact.keys()
    same(found, exact)
    reasons = {each.name: each.reason for each in bucketed.report().dimensions}
    assert "it is a size of weights" in reasons.values()


def test_sizes_that_broadcast_are_padded_alike() -> None:
    net = axon.compile("f = fn (x, y) { x + y };")
    for shapes in [((5, 3), (5, 3)), ((5, 3), (1, 3)), ((5, 3), (5, 1)), ((1, 1), (5, 3)),
                   ((5, 3), (3,)), ((5, 3), ()), ((0, 3), (1, 3))]:  # fmt: skip
        args = arrays(*shapes)
        bucketed = agree(net, "f", poisoned(), args)
        same(gradients(bucketed, args), gradients(net.on("jax").f, args))


def test_a_size_that_is_computed_broadcasts() -> None:
    net = axon.compile("f = fn (x, y) { x[::2] + y };")
    for shapes in [((9, 3), (1, 3)), ((9, 3), (3,)), ((9, 3), ())]:
        bucketed = agree(net, "f", poisoned(), arrays(*shapes))
        assert any(each.bucketed for each in bucketed.report().dimensions)
    agree(net, "f", poisoned(), arrays((9, 3), (5, 3)))


def test_a_computed_size_is_one_in_some_calls_of_a_stream() -> None:
    """There it stretches, which the program for the other calls does not do."""
    net = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { x[::2] * y, x[1:] + y };")
    g = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { x[::2] * y };")
    made, other = (each.on("jax", buckets=poisoned(["n", "m"])).f for each in (net, g))
    for n, m in ((9, 5), (2, 5), (1, 4), (7, 4), (2, 1), (3, 2), (2, 3)):
        args = arrays((n,), (m,))
        same(other(*args), g.f(*args))
    for n, m in ((2, 1), (3, 2), (2, 1)):
        args = arrays((n,), (m,))
        same(made(*args), net.f(*args))


def test_a_size_that_is_the_least_of_itself_and_another() -> None:
    net = axon.compile("f = fn (x : f32 [n], y : f32 [m]) { x[:m] + x, y };")
    for n, m in ((5, 7), (5, 5)):
        agree(net, "f", poisoned(), arrays((n,), (m,)))


def test_functions_that_are_called_are_padded() -> None:
    net = axon.compile(
        "layer = fn (x, w, b) { relu(x @ w + b) };"
        "two = fn (x, w, b, v, c) { layer(layer(x, w, b), v, c) };"
    )
    for args in (arrays((5, 3), (3, 6), (6,), (6, 7), (7,)),
                 arrays((5, 3), (3, 6), (1,), (6, 1), (7,))):  # fmt: skip
        bucketed = agree(net, "two", poisoned(), args)
        same(gradients(bucketed, args), gradients(net.on("jax").two, args))


def test_a_state_changes_for_true_rows_only() -> None:
    net = axon.compile(
        """
        f = fn (w : f32 [k,k], x : f32 [n,k]) {
          fold(x[0], fn (h, row) { tanh(project(h, w) + row) }, x)
        };
        g = fn (w : f32 [k], x : f32 [n,k]) { map(fn (row) { sqrt(row * row) / w }, x) };
        """
    )
    for name, shapes in {"f": ((3, 3), (5, 3)), "g": ((3,), (5, 3))}.items():
        args = arrays(*shapes)
        bucketed = agree(net, name, poisoned(["n"]), args)
        same(gradients(bucketed, args), gradients(net.on("jax")[name], args))
        assert bucketed.report().dimensions[-1].bucketed or name == "f"


def test_forward_mode_and_second_derivatives_are_exact() -> None:
    net = axon.compile(
        "f = fn (q : f32 [m,d], k : f32 [n,d], w : f32 [n]) {"
        " layer_norm(softmax(q @ transpose(k) / sqrt(cast(d, to=f32)))) * w };"
    )
    args = arrays((5, 3), (6, 3), (6,))
    towards = tuple(0.1 * x for x in args)

    def slopes(function: Any) -> Any:
        def loss(*given: Any) -> Any:
            return jnp.sum(jnp.sin(function.jax(*given)))

        def along(*given: Any) -> Any:
            return jax.jvp(loss, given, towards)[1]

        return along(*args), jax.grad(along, (0, 1, 2))(*args)

    for a, b in zip(
        jax.tree.leaves(slopes(net.on("jax", buckets=poisoned()).f)),
        jax.tree.leaves(slopes(net.on("jax").f)),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=2e-3, atol=2e-4)


def test_a_loop_on_rows_that_are_padding_might_not_end() -> None:
    net = axon.compile(
        "f = fn (x : f32 [n]) {"
        " map(fn (v) { iterate(v, fn (v) { not (v < 1f) }, fn (v) { v / 2f }) }, x) };"
    )
    bucketed = agree(net, "f", poisoned(["n"]), arrays((5,)))
    (report,) = bucketed.report().dimensions
    assert not report.bucketed and "might not end" in report.reason and report.operator == "map"


@pytest.mark.parametrize(
    "body",
    ["x[n-s:]", "x[-s:]", "x[s:]", "x[:s]", "x[s::-1]", "x[:-s]", "x[-s::-1]", "x[s/2:]", "x[1:s]"],
)
def test_sizes_that_are_bounds_of_a_slice(body: str) -> None:
    net = axon.compile(f"f = fn (x : f64 [n], y : f64 [s]) {{ {body} }};")
    padded = 0
    for policies in (None, {"n": Policy(multiple=5), "s": Policy()}, {"n": Policy(multiple=7)}):
        bucketed = Padded(net, "f", Buckets(policies, NAN, NAN))
        for n, s in product(range(9), range(9)):
            args: list[Any] = [np.arange(1.0, n + 1), np.ones(s)]
            try:
                expected = net.f(*args)
            except axon.AxonError:
                continue
            for derived in (False, True):
                found = bucketed(*args, derived=derived)
                if found is not None:
                    padded += 1
                    np.testing.assert_array_equal(found, expected)
    assert padded > 200


@pytest.mark.parametrize(
    "body",
    ["range(n, n+m)", "range(n, n+7, step=2)", "range(m, n*m, step=3)", "sum(range(1, n+1))",
     "concat(x, y)[m]", "x[n-1]", "concat(x, y)[-m]", "(x[:, None] * y)[1, m//2]",
     "cast(x, to=f16) / n", "cast(y, to=bf16) * sqrt(m)", "cast(shape(x), to=f16)"],
)  # fmt: skip
def test_sizes_that_are_values(body: str) -> None:
    net = axon.compile(f"f = fn (x : f32 [n], y : f32 [m]) {{ {body} }};")
    for harm in (NAN, HUGE):
        bucketed = Padded(net, "f", Buckets(None, harm, harm))
        for n, m in product((2, 3, 5, 8, 9), repeat=2):
            args: list[Any] = arrays((n,), (m,))
            for derived in (False, True):
                found = bucketed(*args, derived=derived)
                assert found is not None
                same(found, net.f(*args))


@pytest.mark.parametrize(
    "body",
    ["map(fn (r) { map(fn (s) { s * mean(r) }, y) }, x)",
     "fold(y[0], fn (s, r) { tanh(s + mean(map(fn (q) { sum(q) + r * mean(s) }, y))) }, x)",
     "map(fn (r) { u = r * 2; fold(0f, fn (t, s) { t + sum(s * mean(u)) }, y) }, x)",
     "x[m] * n"],
)  # fmt: skip
def test_what_is_derived_in_functions_inside_functions(body: str) -> None:
    net = axon.compile(f"f = fn (x : f32 [n,d], y : f32 [m,d]) {{ {body} }};")
    args = arrays((5, 3), (3, 3))
    bucketed = agree(net, "f", poisoned(), args)
    assert not bucketed.report().exact
    same(gradients(bucketed, args), gradients(net.on("jax").f, args))


@pytest.mark.parametrize(
    "body",
    ["mel_filters(8, 16, n, 0f, 3f)", "mel_filters(8, n, 80, 0f, 3f)",
     "col2im(ones([2,4*n,4]), [3,n+1], [2,n])", "affine_grid(zeros([1,2,3]), [n,4])"],
)  # fmt: skip
def test_a_size_that_an_operator_computes_with(body: str) -> None:
    """Unless it states that it knows the true one, that size is not padded."""
    net = axon.compile(f"f = fn (x : f32 [n], y : f32 [m]) {{ {body}, sum(y) }};")
    bucketed = Padded(net, "f", Buckets(None, NAN, NAN))
    for n, m in ((3, 3), (5, 5), (6, 3)):
        args: list[Any] = arrays((n,), (m,))
        found, expected = bucketed(*args), net.f(*args)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_allclose(found[1], expected[1], rtol=1e-5)
    by_name = {each.name: each.bucketed for each in bucketed.bucketed.report().dimensions}
    assert by_name == {"n": False, "m": True}


def test_a_size_as_an_integer_that_it_does_not_fit() -> None:
    """It is an error, as in the exact program, and not another number."""
    net = axon.compile("""
      area = fn (x : f32 [k], y : f32 [l], z : i32 []) { z + k * l };
      f = fn (x : f32 [n], y : f32 [m]) {
        cast(x, to=i8) + (n + m), area(x, y, sum(cast(x, to=i32)))
      };
    """)
    bucketed = net.on("jax", buckets="auto").f
    for n, m in ((5, 3), (7, 100), (60, 67)):
        found, expected = bucketed(*arrays((n,), (m,))), net.f(*arrays((n,), (m,)))
        for made, known in zip(found, expected, strict=True):
            np.testing.assert_array_equal(made, known)
    assert bucketed.report().exact == 0
    for function in (net.f, bucketed):
        with pytest.raises(axon.RunError, match="the size 130 does not fit into i8"):
            function(*arrays((60,), (70,)))
    assert bucketed.report().reason == "a size is no number of type i8"


def test_why_a_dimension_is_exact_if_its_size_is_one_in_the_first_call() -> None:
    net = axon.compile("f = fn (x : f32 [n,m]) { argmax(x, axis=0, last=true) };")
    bucketed = Padded(net, "f", Buckets(None))
    for n, m in ((1, 3), (5, 3), (5, 1)):
        bucketed(*arrays((n, m)))
    assert [each.operator for each in bucketed.bucketed.report().dimensions] == ["argmax"] * 2


def test_a_condition_of_two_sizes_ties_them() -> None:
    net = axon.compile("f = fn (x : f32 [n,m,3]) { reshape(x, [6,3]) };")
    bucketed = agree(net, "f", poisoned(), arrays((2, 3, 3)))
    assert not any(each.bucketed for each in bucketed.report().dimensions)
    assert "ties it to other sizes" in str(bucketed.report())


def test_a_condition_that_the_buckets_do_not_meet() -> None:
    """What it mentions is exact in these calls, and all else is padded."""
    net = axon.compile(
        "f = fn (x : f32 [n,d], y : f32 [s,d]) where s <= n { sum(x, axis=1), mean(y), x[:s] + y };"
    )
    buckets = Buckets({"n": Policy(multiple=10), "s": Policy(), "d": Policy()}, 1e30, 1e30)
    made = net.on("jax", buckets=buckets).f
    for n, s, d in ((9, 8, 3), (9, 9, 3), (10, 9, 4), (9, 9, 3), (17, 3, 5)):
        args = arrays((n, d), (s, d))
        same(made(*args), net.f(*args))
    report = made.report()
    assert (report.calls, report.exact, report.compilations) == (5, 0, 4)
    assert "`n >= s` does not hold for the buckets of some calls" in str(report)


def test_a_size_that_is_a_sum_of_padded_ones_is_padded_as_they_are() -> None:
    net = axon.compile("f = fn (x : f32 [n], y : f32 [m], z : f32 [k]) { concat(x, y) + z };")
    args = arrays((5,), (6,), (11,))
    bucketed = agree(net, "f", poisoned(), args)
    assert {each.name for each in bucketed.report().dimensions if each.bucketed} == {"n", "m"}
    same(gradients(bucketed, args), gradients(net.on("jax").f, args))


def test_elements_in_order_under_another_shape() -> None:
    """What is padded inside another axis is looked for where it is."""
    net = axon.compile(
        """
        f = fn (x : f32 [n,m,2]) { y = reshape(x, [n*m,2]) * 2f; reshape(y, [m,n,2]), flatten(x) };
        g = fn (x : f32 [n,m,2]) { reshape(x, [n,2*m]) };
        """
    )
    (x,) = arrays((5, 3, 2))
    for name in "fg":
        bucketed = agree(net, name, poisoned(), [x])
        assert all(each.bucketed for each in bucketed.report().dimensions)
        same(gradients(bucketed, [x]), gradients(net.on("jax")[name], [x]))


def test_sizes_that_depend_on_values_run_as_before() -> None:
    net = axon.compile("f = fn (x : f32 [n]) { compress(x, x > 0f) };")
    bucketed = net.on("jax", buckets="auto").f
    (x,) = arrays((7,))
    same(bucketed(x), net.on("jax").f(x))
    report = bucketed.report()
    assert report.exact == 1 and report.reason == "its sizes depend on values"
    assert "depend on values" in str(report)


def test_an_operator_of_the_caller_is_not_padded() -> None:
    source = "op double : t s -> t s; f = fn (x : f32 [n]) { double(x) };"
    net = axon.compile(source, ops={"double": lambda x: x + x})
    (report,) = agree(net, "f", poisoned(), arrays((5,))).report().dimensions
    assert not report.bucketed and report.operator == "double" and report.line == 1


def test_wrong_arguments_are_refused_as_before() -> None:
    bucketed = axon.compile(ATTENTION).on("jax", buckets="auto").attention
    with pytest.raises(axon.ArgumentError, match="cannot be called"):
        bucketed(*arrays((5, 4), (7, 3), (7, 3)))


def test_programs_in_buckets_pickle() -> None:
    net = axon.compile(ATTENTION).on("jax", buckets={"n": 8})
    again = pickle.loads(pickle.dumps(net))
    args = attention(5, 7)
    same(again.attention(*args), net.attention(*args))
    assert again.attention.report().dimensions == net.attention.report().dimensions


# --- what is compiled ------------------------------------------------------------------------


def test_a_stream_of_sizes_compiles_once_for_each_bucket() -> None:
    net = axon.compile(ATTENTION)
    made = net.on("jax", buckets={"m": 16, "n": 16})
    random = np.random.default_rng(0)
    pairs = [(int(m), int(n)) for m, n in random.integers(2, 49, (200, 2))]
    for m, n in pairs:
        args = attention(m, n, seed=m)
        same(made.attention(*args), net.attention(*args))
    report = made.attention.report()
    lists = {(Policy(16).bucket(m), Policy(16).bucket(n)) for m, n in pairs}
    assert made.attention.compilations == report.compilations == len(lists) == 9
    assert (report.calls, report.hits, report.exact) == (200, 191, 0)
    true, whole = (sum(m * 4 + n * 7 for m, n in found) for found in (
        pairs, [(Policy(16).bucket(m), Policy(16).bucket(n)) for m, n in pairs]))  # fmt: skip
    assert report.waste == pytest.approx(1 - true / whole)


def test_the_report_can_be_read() -> None:
    bucketed = axon.compile(ATTENTION).on("jax", buckets={"n": [8, 16]}).attention
    bucketed(*attention(5, 6))
    assert str(bucketed.report()).splitlines() == [
        "attention: 1 call, 1 compilation, 0 hits, 18% padding",
        "  m, d, e: no buckets asked for",
        "  n: padded to 8, 16, 25% padding",
    ]


def test_the_reports_of_a_program() -> None:
    net = axon.compile(
        "op own : t s -> t s;"
        "f = fn (x : f32 [n]) { sum(x) }; g = fn (x : f32 [n]) { own(x) }; h = fn (x) { x };",
        ops={"own": lambda x: x},
    )
    made = net.on("jax", buckets={"n": 8})
    assert repr(made.reports()) == "no function was called in buckets"
    for n in (3, 5, 9):
        made.f(*arrays((n,)))
        made.g(*arrays((n,)))
    assert [(each.name, each.compilations, each.hits) for each in made.reports()] == [
        ("f", 2, 1),
        ("g", 3, 0),
    ]
    assert repr(made.reports()).splitlines() == [
        "f: 3 calls, 2 compilations, 1 hit, 47% padding",
        "  n: padded to multiples of 8, 47% padding",
        "g: 3 calls, 3 compilations, 0 hits, 0% padding; 3 at exact sizes",
        "  n: exact, because of `own` in line 1: it is not known what padding does to an operator"
        " of the caller",
    ]
    for shown in (made.reports(), made.f.report()):
        html = shown._repr_html_()
        assert "multiples of 8, 47% padding" in html and html.count("<table>") == 1
    with pytest.raises(axon.ArgumentError, match="no buckets"):
        net.reports()


def test_calls_for_gradients_are_reported() -> None:
    made = axon.compile("f = fn (x : f32 [n]) { sum(x * x) };").on("jax", buckets={"n": 8})
    for n in (3, 5, 9, 1):
        jax.grad(made.f.jax)(*arrays((n,)))
    report = made.f.report()
    assert (report.calls, report.compilations, report.hits, report.exact) == (4, 3, 1, 1)
