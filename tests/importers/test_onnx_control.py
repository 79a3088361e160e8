"""Graphs inside nodes: what they become in the program, and that it computes what ONNX does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import parser
from onnx.reference import ReferenceEvaluator

import axon
from axon.driver import check_text
from axon.importers.writing.program import write_program
from tests.importers.onnx_agreement import disagreement
from tests.importers.onnx_models import import_model, infer_model

HEAD = '<ir_version: 9, opset_import: ["" : 19, "own" : 1]>\n'


def floats(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def model(text: str) -> Any:
    return parser.parse_model(HEAD + text)


def written(made: Any) -> str:
    """The program, which checks without an error."""
    text = write_program(import_model(made, "m")).text
    errors = [d.message for d in check_text(text, "m").diagnostics if d.severity == "error"]
    assert not errors, f"{errors}\n{text}"
    return text


def agree(made: Any, **given: Any) -> None:
    """The program computes what ONNX's own evaluator does, on both backends. That one joins the
    rows of a Loop along their own first axis, so only their elements are compared.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ReferenceEvaluator(made).run(None, given)
    for backend in ("numpy", "jax"):
        results = axon.from_onnx(made, backend=backend).model(*given.values())
        results = results if isinstance(results, tuple) else (results,)
        assert len(results) == len(expected)
        for found, wanted in zip(results, expected, strict=True):
            assert np.asarray(found).dtype == wanted.dtype, backend
            assert np.size(found) == wanted.size, backend
            alike = wanted.reshape(np.shape(found))
            np.testing.assert_allclose(found, alike, rtol=1e-5, atol=1e-5)


# --- If --------------------------------------------------------------------------------------

BRANCHES = """agraph (bool c, float[n,4] x) => (float[n,4] y, float[4] z) <float[4] w = {1,2,3,4}> {
    y, z = If (c) <
        then_branch = then () => (float[n,4] a, float[4] b) <float[4] inner = {4,3,2,1}> {
            t = Add (x, w)
            a = Mul (t, inner)
            b = Identity (w)
        },
        else_branch = otherwise () => (float[n,4] a, float[4] b) <float[4] inner = {1,1,2,2}> {
            t = Sub (x, w)
            a = Mul (t, inner)
            b = Exp (inner)
        }>
}"""


def test_an_if_is_a_cond() -> None:
    made = model(BRANCHES)
    assert "y, z = cond(" in written(made)
    assert infer_model(made, "m").signature == "(bool, f32 [n,4]) -> (f32 [n,4], f32 [4])"
    for c in (True, False):
        agree(made, c=np.array(c), x=floats(3, 4))


def test_an_if_whose_condition_is_known_is_its_branch() -> None:
    made = model("""agraph (float[n,4] x) => (float[n,4] y) <bool c = {1}> {
        y = If (c) <
            then_branch = then () => (float[n,4] a) { t = Relu (x) a = Exp (t) },
            else_branch = otherwise () => (float[n,4] a) { a = Identity (x) }>
    }""")
    text = written(made)
    assert "cond" not in text and "exp(" in text
    agree(made, x=floats(3, 4))


def test_an_if_whose_branches_give_different_ranks() -> None:
    made = model("""agraph (bool c, float[n,4] x) => (float y) {
        t = If (c) <
            then_branch = then () => (float a) { a = ReduceSum <keepdims = 0> (x) },
            else_branch = otherwise () => (float a) { a = Identity (x) }>
        y = Relu (t)
    }""")
    assert "ranks=true" in written(made)
    for c in (True, False):
        agree(made, c=np.array(c), x=floats(3, 4))


def test_an_if_whose_branches_give_different_elements_is_declared() -> None:
    made = model("""agraph (bool c, float[n,4] x) => (float y) {
        y = If (c) <
            then_branch = then () => (int64 a) { a = Cast <to = 7> (x) },
            else_branch = otherwise () => (float a) { a = Identity (x) }>
    }""")
    assert "op if_1 : bool ->" in written(made)


SQUEEZED = """agraph (float[b,n] x) => (float y) <int64[1] axis = {1}, int64 one = {1}> {
    sizes = Shape (x)
    size = Gather (sizes, one)
    c = Equal (size, one)
    t = If (c) <
        then_branch = then () => (float a) { a = Squeeze (x, axis) },
        else_branch = otherwise () => (float a) { a = Identity (x) }>
    y = Relu (t)
}"""


@pytest.mark.parametrize("size", [1, 3])
def test_exporters_leave_out_a_dimension_if_it_is_one(size: int) -> None:
    made = model(SQUEEZED)
    assert "measured(x, axis=[1])" in written(made)
    agree(made, x=floats(2, size))


ASKING = {
    "a weight": "p = MatMul (x, w)",
    "a sum": "s = Add (x, v) p = Abs (s)",
    "a size": "s = Reshape (x, six) p = MatMul (s, u)",
    "sizes": "h = Shape (x) s = Reshape (x, h) p = MatMul (s, w)",
    "an inner one": """p = If (d) <
        then_branch = three () => (float[q] i) { i = MatMul (x, w) },
        else_branch = two () => (float[q] j) { r = Neg (x) j = MatMul (r, w) }>""",
    "an output": "s = MatMul (x, w) p = Identity (s)",
}


@pytest.mark.parametrize("asked", ASKING)
def test_what_a_branch_asks_is_asked_where_it_runs(asked: str) -> None:
    """A run in which the other branch would not fit is one of the program, too."""
    made = model(f"""agraph (bool c, bool d, float[n,m] x) => (float y, float after)
        <float[3,2] w = {{1, 2, 3, 4, 5, 6}}, float[3] v = {{1, 2, 3}}, float[6,1] u = {{1, 2, 3, 4,
         5, 6}}, int64[2] six = {{-1, 6}}> {{
        y = If (c) <
            then_branch = one () => (float[q] p) {{ {ASKING[asked]} }},
            else_branch = other () => (float[q] r) {{ r = Exp (x) }}>
        after = Neg (x)
    }}""")
    assert "op if" not in written(made)
    assert infer_model(made, "m").tensors["after"].shape == ("n", "m")
    for c, d, sizes in ((1, 1, (4, 3)), (1, 0, (4, 3)), (0, 1, (4, 3)), (0, 0, (5, 7))):
        agree(made, c=np.array(bool(c)), d=np.array(bool(d)), x=floats(*sizes))
    with pytest.raises(axon.RunError):
        axon.from_onnx(made).model(np.array(True), np.array(True), floats(5, 7))


def test_an_output_of_a_branch_may_be_a_tensor_outside() -> None:
    made = model("""agraph (bool c, float[n,m] x) => (float[n,m] y) <float[3] v = {1, 2, 3}> {
        t = Exp (x)
        y = If (c) <
            then_branch = one () => (float[n,m] t) { },
            else_branch = other () => (float[n,m] r) { r = Add (x, v) }>
    }""")
    agree(made, c=np.array(True), x=floats(2, 5))
    agree(made, c=np.array(False), x=floats(2, 3))


def test_an_if_whose_branches_give_different_sizes() -> None:
    made = model("""agraph (bool c, float[n,4] x) => (float[m,4] y) {
        y = If (c) <
            then_branch = then () => (float[m,4] a) { a = Concat <axis = 0> (x, x, x) },
            else_branch = otherwise () => (float[m,4] a) { a = Exp (x) }>
    }""")
    assert "differ=[0]" in written(made) or "differ=0" in written(made)
    for c in (True, False):
        agree(made, c=np.array(c), x=floats(3, 4))


def test_numbers_that_branches_give_have_their_types() -> None:
    made = model("""agraph (bool c) => (int64 y) {
        y = If (c) <
            then_branch = then () => (int64 a) { a = Constant <value_int: int = 3> () },
            else_branch = otherwise () => (int64 a) { a = Constant <value_int: int = -4> () }>
    }""")
    agree(made, c=np.array(False))


def test_a_tensor_inside_may_be_called_like_one_outside() -> None:
    made = model("""agraph (bool c, float[n] x) => (float[n] y) {
        t = Exp (x)
        u = If (c) <
            then_branch = then () => (float[n] a) { t = Neg (x) a = Abs (t) },
            else_branch = otherwise () => (float[n] a) { a = Relu (t) }>
        y = Add (u, t)
    }""")
    for c in (True, False):
        agree(made, c=np.array(c), x=floats(3))


def test_an_if_inside_a_function_of_the_model() -> None:
    made = model("""agraph (bool c, float[n] x) => (float[n] y) {
        a = own.choose (c, x)
        y = own.choose (c, a)
    }
    <domain: "own", opset_import: ["" : 19]>
    choose (c, x) => (y) {
        twice = Add (x, x)
        y = If (c) <
            then_branch = then () => (float[n] a) { a = Neg (twice) },
            else_branch = otherwise () => (float[n] a) { a = Mul (twice, x) }>
    }""")
    assert "op if" not in written(made)
    for c in (True, False):
        agree(made, c=np.array(c), x=floats(3))


DIFFERING = """agraph (bool c, float[n,4] x) => (float[k,4] y, float z, float[n,4] w)
        <int64[1] ax = {1}> {
    y, z, w = If (c) <
        then_branch = then () => (float[p,4] a, float[n,4] b, float[n,4] d) {
            a = Concat <axis = 0> (x, x)
            b = Exp (x)
            d = Neg (x)
        },
        else_branch = otherwise () => (float[n,4] a, float[n] b, float[n,4] d) {
            a = Sin (x)
            b = ReduceSum <keepdims = 0> (x, ax)
            d = Cos (x)
        }>
}"""


def test_outputs_that_differ_between_the_branches_are_chosen_one_by_one() -> None:
    made = model(DIFFERING)
    report = infer_model(made, "m")
    assert report.tensors["z"].shape is None and report.tensors["w"].shape == ("n", 4)
    assert report.tensors["y"].shape is not None and report.tensors["y"].shape[1] == 4
    text = written(made)
    assert "cond(c, fn () { concat(x, x) }, fn () { sin(x) }, differ=[0])" in text
    assert "cond(c, fn () { negate(x) }, fn () { cos(x) })" in text
    for c in (True, False):
        agree(made, c=np.array(c), x=floats(3, 4))


# --- Loop ------------------------------------------------------------------------------------


def test_a_loop_over_a_size_is_a_loop_over_a_range() -> None:
    made = model("""agraph (float[T,B,3] x, float[B,3] h) => (float[B,3] last, float[T,B,3] all) {
        T = Shape <start = 0, end = 1> (x)
        z = Constant <value_ints = [0]> ()
        n = Squeeze (T, z)
        yes = Constant <value = bool {1}> ()
        last, all = Loop (n, yes, h) <
            body = b (int64 i, bool keep, float[B,3] s) => (bool k, float[B,3] s2, float[B,3] row) {
                row_in = Gather (x, i)
                u = Add (s, row_in)
                s2 = Tanh (u)
                k = Identity (keep)
                row = Exp (s2)
            }>
    }""")
    assert "range(T)" in written(made)
    assert (
        infer_model(made, "m").signature == "(f32 [T,B,3], f32 [B,3]) -> (f32 [B,3], f32 [T,B,3])"
    )
    agree(made, x=floats(4, 2, 3), h=floats(2, 3))


COUNTED = """agraph (int64 n, bool c, float[k] h)
        => (float[k] last, float[m,k] rows, float[m] sums) {
    last, rows, sums = Loop (n, c, h) <
        body = b (int64 i, bool keep, float[k] s) => (bool t, float[k] s2, float[k] r, float u) {
            t = Constant <value = bool {1}> ()
            f = Cast <to = 1> (i)
            s2 = Add (s, f)
            r = Mul (s, s)
            u = ReduceSum <keepdims = 0> (s2)
        }>
}"""


@pytest.mark.parametrize("count", [0, 3])
@pytest.mark.parametrize("start", [True, False])
def test_a_loop_whose_count_only_a_run_knows(count: int, start: bool) -> None:
    made = model(COUNTED)
    assert "arange(0, where(c, n, 0), 1)" in written(made)
    given = {"n": np.array(count), "c": np.array(start), "h": floats(5)}
    if count and start:
        agree(made, **given)
        return
    for backend in ("numpy", "jax"):
        last, rows, sums = axon.from_onnx(made, backend=backend).model(*given.values())
        np.testing.assert_array_equal(last, given["h"])
        assert rows.shape == (0, 5) and sums.shape == (0,)


def test_a_loop_without_states_is_a_map() -> None:
    made = model("""agraph (float[n] x) => (float[4,n] y) <int64 four = {4}, bool yes = {1}> {
        y = Loop (four, yes) <
            body = b (int64 i, bool keep) => (bool k, float[n] row) {
                k = Identity (keep)
                f = Cast <to = 1> (i)
                row = Mul (x, f)
            }>
    }""")
    assert "map(" in written(made)
    agree(made, x=floats(3))


WHILE = """agraph (float[n] x, int64 most) => (float[n] y, int64 iterations) <int64 zero = {0}> {
    start = Constant <value = bool {1}> ()
    y, iterations = Loop (most, start, x, zero) <
        body = b (int64 i, bool keep, float[n] s, int64 c) => (bool k, float[n] s2, int64 c2) {
            half = Constant <value_float = 0.5> ()
            one = Constant <value_int = 1> ()
            s2 = Mul (s, half)
            c2 = Add (c, one)
            size = ReduceMax <keepdims = 0> (s2)
            k = Greater (size, half)
        }>
}"""


@pytest.mark.parametrize("most", [0, 2, 50])
def test_a_loop_that_goes_on_while_a_condition_holds(most: int) -> None:
    made = model(WHILE)
    text = written(made)
    assert "iterate(" in text and "op " not in text
    given = {"x": np.array([9, 3, 5], np.float32), "most": np.array(most)}
    if most:
        agree(made, **given)
        return
    y, iterations = axon.from_onnx(made).model(*given.values())
    assert iterations == 0 and (y == given["x"]).all()


def test_a_loop_that_ends_and_has_outputs() -> None:
    made = model("""agraph (float[n] x) => (float[n] y, float[m,n] rows, float[m] sizes) {
        start = Constant <value = bool {1}> ()
        y, rows, sizes = Loop (, start, x) <
            body = b (int64 i, bool keep, float[n] s)
                    => (bool k, float[n] s2, float[n] r, float z) {
                half = Constant <value_float = 0.5> ()
                s2 = Mul (s, half)
                z = ReduceMax <keepdims = 0> (s2)
                k = Greater (z, half)
                r = Identity (s)
            }>
    }""")
    assert "outputs=2" in written(made)
    agree(made, x=np.array([9, 3, 5], np.float32))


def test_a_state_that_grows_keeps_its_other_sizes() -> None:
    made = model("""agraph (float[B,S] x, int64 n) => (float[B,m] y) {
        y = Loop (n, , x) <
            body = b (int64 i, bool keep, float[B,k] s) => (bool k2, float[B,l] s2) {
                k2 = Identity (keep)
                one = Constant <value_ints = [1]> ()
                zero = Constant <value_ints = [0]> ()
                first = Slice (s, zero, one, one)
                s2 = Concat <axis = 1> (s, first)
            }>
    }""")
    report = infer_model(made, "m")
    assert report.tensors["y"].shape is not None and report.tensors["y"].shape[0] == "B"
    assert report.tensors["s"].shape not in ((("B", "S")),)
    assert "differ=[1]" in written(made)


@pytest.mark.parametrize("count", [1, 3])
def test_a_state_to_which_each_iteration_appends_is_an_output_of_the_iterations(count: int) -> None:
    made = model("""agraph (int64 k, float[n,4] x, float[s,4] begin)
            => (float[m,4] z, float[n,4] h) {
        yes = Constant <value = bool {1}> ()
        z, h = Loop (k, yes, begin, x) <
            body = b (int64 i, bool keep, float[a,4] all, float[n,4] g)
                    => (bool c, float[e,4] more, float[n,4] g2) {
                c = Identity (keep)
                g2 = Tanh (g)
                more = Concat <axis = 0> (all, g2)
            }>
    }""")
    report = infer_model(made, "m")
    assert report.tensors["z"].shape is not None
    given = {"k": np.array(count), "x": floats(3, 4), "begin": floats(2, 4)}
    fixed = model("""agraph (float[n,4] x, float[s,4] begin) => (float[m,4] z)
            <int64 k = {3}, bool yes = {1}> {
        z = Loop (k, yes, begin) <
            body = b (int64 i, bool keep, float[a,4] all) => (bool c, float[e,4] more) {
                c = Identity (keep)
                f = Cast <to = 1> (i)
                g = Add (x, f)
                more = Concat <axis = 0> (all, g)
            }>
    }""")
    assert infer_model(fixed, "m").signature == "(f32 [n,4], f32 [s,4]) -> f32 [3*n+s,4]"
    agree(fixed, x=given["x"], begin=given["begin"])
    assert "op " not in written(made)
    agree(made, **given)


PASTED = """agraph (int64[k] at, float[2] x, float[b,w] begin, int64[1] wide) => (float[m,w] z)
        <bool yes = {1}, int64[1] first = {0}, int64[1] one = {1}, int64[1] two = {2}> {
    count = Size (at)
    z = Loop (count, yes, begin) <
        body = b (int64 i, bool keep, float[a,w] all) => (bool c, float[e,w] more) {
            c = Identity (keep)
            place = Gather (at, i)
            before = Reshape (place, one)
            left = Sub (wide, before)
            after = Sub (left, two)
            zeros = ConstantOfShape (before)
            others = ConstantOfShape (after)
            row = Concat <axis = 0> (zeros, x, others)
            piece = Unsqueeze (row, first)
            more = Concat <axis = 0> (all, piece)
        }>
}"""


def test_rows_whose_sizes_each_iteration_computes_have_those_of_what_they_are_appended_to() -> None:
    made = model(PASTED)
    assert "concat(none, " in written(made) and "op loop" not in written(made)
    tensors = infer_model(made, "m").tensors
    assert tensors["z"].shape == ("b + k", "w") and tensors["piece"].shape == (1, "w")
    assert tensors["more"].shape is not None and tensors["more"].shape[1] == "w"
    given = {"at": np.array([0, 3, 1]), "x": floats(2), "begin": floats(2, 7)}
    agree(made, **given, wide=np.array([7]))
    with pytest.raises(axon.AxonError, match="computed to be 4, and should be 5"):
        axon.from_onnx(made).model(*given.values(), np.array([6]))


def test_loops_in_loops() -> None:
    made = model("""agraph (float[n,m] x) => (float[n,m] y, float s)
            <float zero = {0}, bool yes = {1}> {
        shape = Shape (x)
        i0 = Constant <value_int = 0> ()
        i1 = Constant <value_int = 1> ()
        n = Gather (shape, i0)
        s, y = Loop (n, yes, zero) <
            body = outer (int64 i, bool keep, float a) => (bool k, float a2, float[m] row) {
                k = Identity (keep)
                xi = Gather (x, i)
                m = Gather (shape, i1)
                a2, row = Loop (m, keep, a) <
                    body = inner (int64 j, bool keep2, float b) => (bool k2, float b2, float e) {
                        k2 = Identity (keep2)
                        xij = Gather (xi, j)
                        positive = Greater (xij, zero)
                        e = If (positive) <
                            then_branch = t () => (float o) { o = Add (xij, b) },
                            else_branch = f () => (float o) { o = Neg (xij) }>
                        b2 = Add (b, e)
                    }>
            }>
    }""")
    assert "op " not in written(made)
    agree(made, x=floats(3, 4))


# --- Scan ------------------------------------------------------------------------------------


def test_a_scan_is_a_loop_over_rows() -> None:
    made = model("""agraph (float[B,3] h, float[T,B,3] x) => (float[B,3] last, float[T,B,3] all) {
        last, all = Scan <num_scan_inputs = 1,
            body = b (float[B,3] s, float[B,3] r) => (float[B,3] s2, float[B,3] o) {
                s2 = Add (s, r)
                o = Tanh (s2)
            }> (h, x)
    }""")
    assert "last, all_2 = loop(" in written(made) or "last, all = loop(" in written(made)
    agree(made, h=floats(2, 3), x=floats(4, 2, 3))


def test_a_scan_along_other_axes_and_backwards() -> None:
    made = model("""agraph (float[B] h, float[B] c, float[B,T] x, float[T] y)
            => (float[B] last, float[B] d, float[B,T] all, float[T,B] back) {
        last, d, all, back = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0],
            scan_output_axes = [1, 0], scan_input_directions = [1, 0],
            scan_output_directions = [0, 1],
            body = b (float[B] s, float[B] u, float[B] r, float v)
                    => (float[B] s2, float[B] u2, float[B] o, float[B] o2) {
                s2 = Add (s, r)
                u2 = Mul (u, v)
                o = Tanh (s2)
                o2 = Identity (u2)
            }> (h, c, x, y)
    }""")
    text = written(made)
    assert "op " not in text and "reverse" in text
    wanted = "(f32 [B], f32 [B], f32 [B,T], f32 [T,B])"
    assert infer_model(made, "m").signature.endswith(wanted)
    x, y, h, c = floats(2, 4), floats(4), floats(2), floats(2) + 1
    for backend in ("numpy", "jax"):
        last, d, all_, back = axon.from_onnx(made, backend=backend).model(h, c, x, y)
        sums = h[:, None] + np.cumsum(x[:, ::-1], axis=1)
        products = c[None, :] * np.cumprod(y)[:, None]
        np.testing.assert_allclose(last, sums[:, -1], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(d, products[-1], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(all_, np.tanh(sums), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(back, products[::-1], rtol=1e-4, atol=1e-5)


# --- what is said of the tensors inside ------------------------------------------------------


def test_tensors_inside_are_reported_where_their_names_are_clear() -> None:
    found = infer_model(model(BRANCHES), "m").tensors
    assert found["t"].shape == ("n", 4)  # the same in both branches
    assert found["inner"].shape == (4,)
    assert not any("⟨" in name for name in found)
    other = model("""agraph (bool c, float[n,4] x) => (float[k] y) {
        y = If (c) <
            then_branch = then () => (float[k] a) { t = ReduceSum (x) a = Exp (t) },
            else_branch = otherwise () => (float[k] a) { t = Flatten (x) a = Exp (t) }>
    }""")
    assert infer_model(other, "m").tensors["t"].shape is None


@pytest.mark.parametrize("text", [
    "agraph (bool c, float[n] x) => (float[n] y) { y = If (c) }",
    "agraph (int64 c, float[n] x) => (float[n] y) { y = Loop (c, , x) }",
    """agraph (int64 c, float[n] x) => (float[n] y) {
        y = Loop (c, , x) <body = b (int64 i) => (float[n] o) { o = Exp (x) }>
    }""",
    """agraph (float[n] x) => (float[n] y) {
        y = Scan <num_scan_inputs = 9, body = b (float r) => (float o) { o = Exp (r) }> (x)
    }""",
    """agraph (float[n] x) => (float[n] y) {
        y = Scan <num_scan_inputs = 1, body = b () => (float o) { o = Exp (x) }> (x)
    }""",
])  # fmt: skip
def test_nonsense_is_no_reason_to_stop(text: str) -> None:
    made = model(text)
    codes = [each.code for each in infer_model(made, "m").diagnostics]
    assert not {"AX503", "AX505"}.isdisjoint(codes)
    assert isinstance(written(made), str)


def test_an_axis_that_is_not_there_is_refused_in_the_program_too() -> None:
    made = model("""agraph (float[n] x) => (float[n] y) {
        y = Scan <num_scan_inputs = 1, scan_input_axes = [7],
            body = b (float r) => (float o) { o = Exp (r) }> (x)
    }""")
    assert not disagreement(made)
    checked = check_text(write_program(import_model(made, "m")).text, "m")
    assert [each.code for each in checked.diagnostics] == ["AX102"]


def test_models_written_by_hand_round_trip(tmp_path: Any) -> None:
    made = model(BRANCHES)
    onnx.save(made, str(tmp_path / "m.onnx"))
    net = axon.from_onnx(tmp_path / "m.onnx")
    y, _ = net.model(np.array(True), floats(3, 4))
    assert y.shape == (3, 4)


# --- functions of the model's own ------------------------------------------------------------


def test_calls_of_a_function_are_calls_of_one_function() -> None:
    made = model("""agraph (float[n,4] x) => (float[n,4] y, float[n,4] z)
            <float[4] a = {1,2,3,4}, float[4] b = {4,3,2,1}> {
        first = own.Soft_Step (x, a)
        between = Exp (first)
        y = own.Soft_Step (between, b)
        z = own.Soft_Step <scale = 3.0> (between, b)
    }
    <domain: "own", opset_import: ["" : 19]>
    Soft_Step <scale: float = 2.0> (data, slope) => (out) {
        factor = Constant <value_float: float = @scale> ()
        steep = Mul (data, slope)
        scaled = Mul (steep, factor)
        out = Sigmoid (scaled)
    }""")
    text = written(made)
    assert text.count("= fn (") == 2
    assert "Soft_Step = fn (data : f32 [n,4], slope : f32 [4])" in text
    assert "y = Soft_Step(between, b());" in text
    x, a, b = floats(3, 4), np.arange(1.0, 5.0), np.arange(4.0, 0.0, -1.0)
    between = np.exp(1 / (1 + np.exp(-2 * a * x)))
    for backend in ("numpy", "jax"):
        y, z = axon.from_onnx(made, backend=backend).model(x)
        np.testing.assert_allclose(y, 1 / (1 + np.exp(-2 * b * between)), rtol=1e-5)
        np.testing.assert_allclose(z, 1 / (1 + np.exp(-3 * b * between)), rtol=1e-5)
