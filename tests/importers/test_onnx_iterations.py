"""What is said of a Loop holds for what the last iteration gives, and programs do what models do:
each model here was found by trying many at random next to onnxruntime.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser

import axon
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import import_model, infer_model

HEAD = '<ir_version: 9, opset_import: ["" : 19]>\n'
NUMBERS = (
    "bool yes = {1}, int64[1] v0 = {0}, int64[1] v1 = {1}, int64[1] vm = {-1}, "
    "int64 zero = {0}, int64 one = {1}, int64 three = {3}, int64 four = {4}"
)


def model(text: str) -> Any:
    return parser.parse_model(HEAD + text.replace("NUMBERS", NUMBERS))


def floats(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


def runs(made: Any, *given: Any) -> list[Any]:
    """What the program gives, the same on both backends."""
    found = [axon.from_onnx(made, backend=each).model(*given) for each in ("numpy", "jax")]
    results = [each if isinstance(each, tuple) else (each,) for each in found]
    for one, other in zip(*results, strict=True):
        assert not isinstance(one, axon.Ragged) and not isinstance(other, axon.Ragged)
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    return list(results[0])


# --- shapes ----------------------------------------------------------------------------------


def test_what_an_iteration_asks_of_a_state_is_not_said_of_what_it_gives() -> None:
    """The state has as many rows as x when it is joined with it, and one row less afterwards."""
    made = model("""agraph (float[n,c] x) => (float[p,q] z) <NUMBERS> {
        z = Loop (one, yes, x) <
            body = b (int64 i, bool keep, float[d,e] s) => (bool c2, float[f,g] s2) {
                c2 = Identity (keep)
                both = Concat <axis = 1> (s, x)
                s2 = Slice (both, v0, vm, v0)
            }>
    }""")
    shape = infer_model(made, "m").tensors["z"].shape
    assert shape is not None and "n" not in shape and "c" not in shape
    x = floats(5, 2)
    np.testing.assert_array_equal(runs(made, x)[0], np.concatenate([x, x], 1)[:-1])


def test_states_of_one_size_before_need_not_have_it_after() -> None:
    made = model("""agraph (float[n,c] x, float[n,c] w, int64 k) => (float[p,q] y, float[r,s] z)
            <NUMBERS> {
        y, z = Loop (k, yes, x, w) <
            body = b (int64 i, bool keep, float[d,e] s, float[f,g] t)
                    => (bool c2, float[h,j] s2, float[l,m] t2) {
                c2 = Less (i, zero)
                s2 = Concat <axis = 1> (s, t)
                t2 = Concat <axis = 0> (t, x)
            }>
    }""")
    tensors = infer_model(made, "m").tensors
    y, z = tensors["y"].shape, tensors["z"].shape
    assert y is not None and z is not None and y[0] != z[0] and z[1] == "c"
    found = runs(made, floats(5, 2), floats(5, 2), np.array(3))
    assert [np.shape(each) for each in found] == [(5, 4), (10, 2)]


def test_a_branch_in_a_loop_asks_in_the_iterations_in_which_it_runs() -> None:
    """In the first iteration both have one size; in the others, with the other branch, not."""
    made = model("""agraph (float[m] y) => (float[p] z) <NUMBERS> {
        z, w = Loop (three, yes, y, y) <
            body = b (int64 i, bool keep, float[d] s, float[m] t)
                    => (bool c2, float[e] s2, float[f] t2) {
                c2 = Identity (keep)
                later = Greater (i, zero)
                t2 = If (later) <
                    then_branch = yes () => (float[m] a) { a = Neg (t) },
                    else_branch = no () => (float[m] o) { o = Max (s, t) }>
                s2 = Concat <axis = 0> (s, y)
            }>
    }""")
    y = floats(4)
    np.testing.assert_array_equal(runs(made, y)[0], np.tile(y, 4))


def test_no_parts_are_no_error() -> None:
    made = model("""agraph (float[0,c] x) => (int64 z) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        z = SequenceLength (s)
    }""")
    report = infer_model(made, "m")
    assert report.ok and report.tensors["z"].shape == ()


# --- values ----------------------------------------------------------------------------------


def test_a_state_that_begins_as_a_size_is_a_number() -> None:
    made = model("""agraph (float[n,c] x) => (int64 z) <NUMBERS> {
        t = Size (x)
        z = Loop (three, yes, t) <
            body = b (int64 i, bool keep, int64 s) => (bool c2, int64 s2) {
                c2 = Identity (keep)
                s2 = Add (s, one)
            }>
    }""")
    assert runs(made, floats(2, 5)) == [13]


@pytest.mark.parametrize(("test", "expected"), [(True, 10), (False, 7)])
def test_a_branch_gives_a_size_and_the_other_a_number(test: bool, expected: int) -> None:
    made = model("""agraph (float[n,c] x, bool test, int64 k) => (int64 z) {
        z = If (test) <
            then_branch = yes () => (int64 p) { p = Size (x) },
            else_branch = no () => (int64 q) { q = Identity (k) }>
    }""")
    assert runs(made, floats(2, 5), np.array(test), np.array(7)) == [expected]


def test_rows_of_a_size_that_a_run_computes_are_an_array() -> None:
    made = model("""agraph (float[m] y, int64 k) => (float[p,q] z, float s) <NUMBERS> {
        z = Loop (k, yes) <
            body = b (int64 i, bool keep) => (bool c2, float[f] row) {
                c2 = Identity (keep)
                stop = Reshape (k, v1)
                row = Slice (y, v0, stop)
            }>
        s = ReduceSum <keepdims = 0> (z)
    }""")
    y = floats(5)
    z, s = runs(made, y, np.array(3))
    np.testing.assert_array_equal(z, np.tile(y[:3], (3, 1)))
    assert np.isclose(s, 3 * y[:3].sum())


def test_rows_of_a_size_that_only_the_model_tells_are_an_array() -> None:
    """How often the columns are repeated changes in each iteration, and the rows are not."""
    made = model("""agraph (float[2,c] w, int64 k) => (float[p,q] z) <NUMBERS> {
        z = Loop (k, yes) <
            body = b (int64 i, bool keep) => (bool c2, float[f] row) {
                c2 = Identity (keep)
                number = Add (i, one)
                last = Reshape (number, v1)
                times = Concat <axis = 0> (v1, last)
                all = Tile (w, times)
                row = Gather <axis = 1> (all, zero)
            }>
    }""")
    shape = infer_model(made, "m").tensors["z"].shape
    assert shape is not None and shape[1] == 2
    text = write_program(import_model(made, "m")).text
    assert "(fn (x : f32 [2]) { x })(" in text
    w = floats(2, 5)
    np.testing.assert_array_equal(runs(made, w, np.array(3))[0], np.tile(w[:, 0], (3, 1)))


@pytest.mark.parametrize("read", ["", "z = ConcatFromSequence <axis = 0> (t)"])
def test_a_loop_that_stops_may_append_what_grows(read: str) -> None:
    made = model(
        """agraph (float[m] y) => (float[p] OUT) <NUMBERS> {
        begin = SequenceEmpty ()
        w, t = Loop (four, yes, y, begin) <
            body = b (int64 i, bool keep, float[d] s, seq(float) u)
                    => (bool c2, float[e] s2, seq(float) v) {
                s2 = Concat <axis = 0> (s, y)
                v = SequenceInsert (u, s)
                c2 = Less (i, one)
            }>
        READ
    }""".replace("READ", read).replace("OUT", "z" if read else "w")
    )
    y = floats(3)
    np.testing.assert_array_equal(runs(made, y)[0], np.tile(y, 3))


@pytest.mark.parametrize("how", ["scan_output_axes = [1, 0]", "scan_output_directions = [1, 0]"])
def test_two_outputs_of_a_scan_of_which_one_is_turned(how: str) -> None:
    made = model(
        """agraph (float[n,c] x) => (float[p,q] y, float[n,c] z) {
        y, z = Scan <num_scan_inputs = 1, HOW, body = b (float[c] r) => (float[c] o, float[c] o2) {
            o = Neg (r)
            o2 = Abs (r)
        }> (x)
    }""".replace("HOW", how)
    )
    x = floats(3, 4)
    y, z = runs(made, x)
    np.testing.assert_array_equal(y, -x.T if "axes" in how else -x[::-1])
    np.testing.assert_array_equal(z, np.abs(x))


def test_what_is_only_declared_says_so() -> None:
    """A state that changes its rank, in a Loop that stops."""
    made = model("""agraph (float[n,c] x, int64 k) => (float z, float[n] y)
            <NUMBERS, float[1] begin = {0}> {
        z, y = Loop (k, yes, x, begin) <
            body = b (int64 i, bool keep, float s, float[a] t) => (bool c2, float s2, float[d] t2) {
                c2 = Less (i, zero)
                s2 = Unsqueeze (s, v0)
                t2 = Concat <axis = 0> (t, t)
            }>
    }""")
    with pytest.raises(axon.AxonError, match="only declares"):
        axon.from_onnx(made).model(floats(2, 3), np.array(2))
