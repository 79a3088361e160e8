"""What iterations append need not have one size: it is joined as it is, and no size is made up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser
from onnx.reference import ReferenceEvaluator

import axon
from tests.importers.onnx_models import infer_model

HEAD = '<ir_version: 9, opset_import: ["" : 19]>\n'

BODY = """body = b (int64 i, bool keep, seq(float) u) => (bool c2, seq(float) v) {
                c2 = Identity (keep)
                number = Unsqueeze (i, zero)
                stop = Add (number, one)
                rows = Slice (x, zero, stop, axis)
                v = SequenceInsert (u, rows)
            }"""
NUMBERS = "bool yes = {1}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] axis = {AT}"

REPEATED = """agraph (float[n,c] x, int64[n] times) => (float[m,c] z)
        <bool yes = {1}, int64[1] one = {1}> {
    count = Shape <end = 1> (x)
    ones = ConstantOfShape <value = int64[1] {1}> (count)
    rows = SplitToSequence <axis = 0> (x, ones)
    numbers = SplitToSequence <axis = 0> (times, ones)
    empty = SequenceEmpty ()
    k = Squeeze (count)
    s = Loop (k, yes, empty) <
        body = b (int64 i, bool keep, seq(float) u) => (bool c2, seq(float) v) {
            c2 = Identity (keep)
            row = SequenceAt (rows, i)
            number = SequenceAt (numbers, i)
            sizes = Concat <axis = 0> (number, one)
            all = Expand (row, sizes)
            v = SequenceInsert (u, all)
        }>
    z = ConcatFromSequence <axis = 0> (s)
}"""


def model(text: str, at: int = 0) -> Any:
    text = text.replace("BODY", BODY).replace("NUMBERS", NUMBERS).replace("AT", str(at))
    return parser.parse_model(HEAD + text)


def agree(made: Any, *given: Any) -> None:
    names = [info.name for info in made.graph.input]
    expected = ReferenceEvaluator(made).run(None, dict(zip(names, given, strict=True)))
    for backend in ("numpy", "jax"):
        found = axon.from_onnx(made, backend=backend).model(*given)
        for mine, true in zip(
            found if isinstance(found, tuple) else (found,), expected, strict=True
        ):
            assert np.shape(mine) == np.shape(true), backend
            np.testing.assert_allclose(mine, true, rtol=1e-5, atol=1e-5)


def floats(*shape: int) -> Any:
    return np.random.default_rng(len(shape)).normal(size=shape).astype(np.float32)


@pytest.mark.parametrize("axis", [0, 1])
def test_a_sequence_of_tensors_that_grow_is_joined_in_the_loop(axis: int) -> None:
    made = model(
        """agraph (float[n,c] x, int64 k) => (float[p,q] z) <NUMBERS> {
        s = SequenceEmpty ()
        t = Loop (k, yes, s) <BODY>
        z = ConcatFromSequence <axis = AT> (t)
    }""",
        axis,
    )
    report = infer_model(made, "m")
    shape = report.tensors["z"].shape
    assert shape is not None and shape[1 - axis] == ("c", "n")[axis]
    assert shape[axis] not in ("n", "c") and not report.unsupported
    agree(made, floats(5, 6), np.array(3))


def test_what_was_there_before_comes_first() -> None:
    made = model("""agraph (float[n,c] x, int64 k, float[a,c] y) => (float[p,c] z) <NUMBERS> {
        s = SequenceConstruct (y, x)
        t = Loop (k, yes, s) <BODY>
        z = ConcatFromSequence <axis = 0> (t)
    }""")
    agree(made, floats(5, 6), np.array(3), floats(2, 6))


def test_what_is_known_of_such_a_sequence_is_no_more_than_that() -> None:
    made = model("""agraph (float[n,c] x, int64 k)
            => (float[n,c] z, float[1,c] y, int64 l) <NUMBERS> {
        s = SequenceEmpty ()
        t = Loop (k, yes, s) <BODY>
        first = Constant <value = int64 {0}> ()
        z = SequenceAt (t, first)
        u = SequenceMap (t) <body = f (float[r,c] e) => (float[r,c] o) { o = Neg (e) }>
        y = ConcatFromSequence <axis = 0> (u)
        l = SequenceLength (t)
    }""")
    report = infer_model(made, "m")
    size, width = report.tensors["z"].shape or ()
    assert width == "c" and size not in ("n", "c")
    assert report.tensors["y"].shape is None and report.tensors["l"].shape == ()
    assert set(report.unsupported) == {"SequenceMap", "ConcatFromSequence"}
    with pytest.raises(axon.AxonError, match="only declares"):
        axon.from_onnx(made).model(floats(5, 6), np.array(3))


def test_a_branch_may_join_it() -> None:
    made = model("""agraph (float[n,c] x, int64 k, bool test) => (float[p,c] z) <NUMBERS> {
        s = SequenceEmpty ()
        t = Loop (k, yes, s) <BODY>
        z = If (test) <
            then_branch = yes () => (float[p,c] a) { a = ConcatFromSequence <axis = 0> (t) },
            else_branch = no () => (float[p,c] b) { b = Neg (x) }>
    }""")
    assert infer_model(made, "m").tensors["z"].shape is not None
    for test in (True, False):
        agree(made, floats(5, 6), np.array(3), np.array(test))


def test_rows_repeated_as_often_as_a_run_says() -> None:
    """As exporters write `repeat_interleave`."""
    made = model(REPEATED)
    report = infer_model(made, "m")
    shape = report.tensors["z"].shape
    assert shape is not None and len(shape) == 2 and shape[1] == "c" and shape[0] not in ("n", "c")
    x, times = floats(4, 3), np.array([2, 0, 1, 3])
    agree(made, x, times)
    np.testing.assert_array_equal(axon.from_onnx(made).model(x, times), np.repeat(x, times, axis=0))


@pytest.mark.parametrize("times", [3, 4])
def test_a_state_that_grows_by_more_each_iteration_is_no_multiple(times: int) -> None:
    made = parser.parse_model(
        HEAD
        + """agraph (float[n,4] x, float[s,4] begin) => (float[m,4] z)
        <int64 k = {TIMES}, bool yes = {1}, int64[1] zero = {0}, int64[1] one = {1}> {
        z = Loop (k, yes, begin) <
            body = b (int64 i, bool keep, float[a,4] all) => (bool c, float[e,4] more) {
                c = Identity (keep)
                stop = Reshape (i, one)
                part = Slice (x, zero, stop)
                more = Concat <axis = 0> (all, part)
            }>
    }""".replace("TIMES", str(times))
    )
    size = infer_model(made, "m").tensors["z"].shape
    assert size is not None and size[1] == 4
    assert isinstance(size[0], str) and size[0].isidentifier()  # some size, and no expression
    agree(made, floats(5, 4), floats(1, 4))


def test_two_states_of_which_one_grows_evenly() -> None:
    made = parser.parse_model(
        HEAD
        + """agraph (float[n,4] x, float[s,4] begin, int64 k) => (float[m,4] z, float[e,4] y)
        <bool yes = {1}, int64[1] zero = {0}, int64[1] one = {1}> {
        z, y = Loop (k, yes, begin, x) <
            body = b (int64 i, bool keep, float[a,4] all, float[d,4] even)
                    => (bool c, float[e,4] more, float[f,4] next) {
                c = Identity (keep)
                stop = Reshape (i, one)
                part = Slice (x, zero, stop)
                more = Concat <axis = 0> (all, part)
                next = Concat <axis = 0> (even, x)
            }>
    }"""
    )
    tensors = infer_model(made, "m").tensors
    assert tensors["z"].shape is not None and tensors["y"].shape is not None
    agree(made, floats(5, 4), floats(1, 4), np.array(3))


def test_sizes_that_are_repeated_are_known() -> None:
    """As exporters write `chunk`: so many parts of one size, and so many of another."""
    made = parser.parse_model(
        HEAD
        + """agraph (float[n,8] x) => (float[n,3] y, float[n,2] z)
        <int64 three = {3}, int64[1] at = {1}, int64 one = {1}, int64 first = {0}> {
        size = Shape <start = 1> (x)
        each = Div (size, three)
        more = Add (each, one)
        left = Mod (size, three)
        others = Sub (three, left)
        large = Tile (more, left)
        small = Tile (each, others)
        sizes = Concat <axis = 0> (large, small)
        parts = SplitToSequence <axis = 1> (x, sizes)
        y = SequenceAt (parts, first)
        last = Constant <value = int64 {-1}> ()
        z = SequenceAt (parts, last)
    }"""
    )
    tensors = infer_model(made, "m").tensors
    assert tensors["y"].shape == ("n", 3) and tensors["z"].shape == ("n", 2)
    agree(made, floats(4, 8))


def test_parts_of_sizes_that_inputs_have() -> None:
    made = parser.parse_model(
        HEAD
        + """agraph (float[n] x, float[a] y, float[b] z) => (float[a] p, float[b] q)
        <int64 first = {0}, int64 second = {1}> {
        one = Shape (y)
        two = Shape (z)
        sizes = Concat <axis = 0> (one, two)
        parts = SplitToSequence <axis = 0> (x, sizes)
        p = SequenceAt (parts, first)
        q = SequenceAt (parts, second)
    }"""
    )
    report = infer_model(made, "m")
    assert report.signature == "(f32 [a+b], f32 [a], f32 [b]) -> (f32 [a], f32 [b])"
    agree(made, floats(5), floats(2), floats(3))
