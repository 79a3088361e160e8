"""Sequences of which only a run knows the length are pieces of a tensor."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import parser
from onnx.reference import ReferenceEvaluator

import axon
from axon.importers.writing.program import write_program
from tests.importers.onnx_models import import_model, infer_model

HEAD = '<ir_version: 9, opset_import: ["" : 19]>\n'

CASES = {
    "length, and without the last": """agraph (float[n,c] x) => (float[k,c] y, int64 l)
            <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        l = SequenceLength (s)
        t = SequenceErase (s)
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    "joined as it was cut": """agraph (float[n,c] x) => (float[k,c] y) <int64 two = {2}> {
        s = SplitToSequence <axis = -2> (x, two)
        t = Identity (s)
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    "elements": """agraph (float[n,c] x) => (float[2,c] a, float[k,c] b, float[2,c] d)
            <int64 two = {2}, int64 zero = {0}, int64 last = {-1}, int64 before = {-2}> {
        s = SplitToSequence <axis = 0> (x, two)
        a = SequenceAt (s, zero)
        b = SequenceAt (s, last)
        d = SequenceAt (s, before)
    }""",
    "rows": """agraph (float[n,c] x) => (float[c] a, float[c] b, float[c,k] y, float[m,c] z)
            <int64 one = {1}, int64 last = {-1}> {
        s = SplitToSequence <axis = 0, keepdims = 0> (x)
        a = SequenceAt (s, one)
        t = SequenceErase (s, one)
        b = SequenceAt (t, last)
        y = ConcatFromSequence <axis = -1, new_axis = 1> (t)
        u = SequenceInsert (t, a)
        v = SequenceInsert (u, b, one)
        z = ConcatFromSequence <axis = 0, new_axis = 1> (v)
    }""",
    "rows that keep their axis": """agraph (float[n,c] x, float[1,c] w)
            => (float[k,c] y, float[1,m] z, float[1,c] a) <int64 zero = {0}> {
        s = SplitToSequence <axis = 0> (x)
        t = SequenceInsert (s, w, zero)
        y = ConcatFromSequence <axis = 0> (t)
        z = ConcatFromSequence <axis = 1> (t)
        a = SequenceAt (t, zero)
    }""",
    "a place that a run knows": """agraph (float[n,c] x, int64 i)
            => (float[k,c] y, float[1,c] z, float[c] r) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        y = SequenceAt (s, i)
        t = SplitToSequence <axis = 0> (x)
        z = SequenceAt (t, i)
        u = SplitToSequence <axis = 0, keepdims = 0> (x)
        r = SequenceAt (u, i)
    }""",
    "all of one size": """agraph (float[n,c] x, int64 i)
            => (float[2,c] a, float[2,c] b, float[c,m] y, float[2,k,c] z, int64 l)
            <int64 two = {2}, int64 first = {0}> {
        d = Concat <axis = 0> (x, x)
        s = SplitToSequence <axis = 0> (d, two)
        a = SequenceAt (s, i)
        b = SequenceAt (s, first)
        t = SplitToSequence <axis = 0> (d, two)
        e = SequenceErase (t, first)
        y0 = ConcatFromSequence <axis = 1> (s)
        y = Transpose (y0)
        z = ConcatFromSequence <axis = 1, new_axis = 1> (s)
        l = SequenceLength (e)
    }""",
    "in a loop": """agraph (float[n,c] x) => (float[c] total) <bool yes = {1}, int64 one = {1}> {
        s = SplitToSequence <axis = 0, keepdims = 0> (x)
        l = SequenceLength (s)
        zero = Sub (one, one)
        begin = SequenceAt (s, zero)
        total = Loop (l, yes, begin) <
            body = b (int64 i, bool keep, float[c] h) => (bool k, float[c] h2) {
                k = Identity (keep)
                row = SequenceAt (s, i)
                h2 = Add (h, row)
            }>
    }""",
    "mapped, along another axis": """agraph (float[c,n] x) => (float[m,c] y) <int64 two = {2}> {
        d = Concat <axis = 1> (x, x)
        s = SplitToSequence <axis = 1> (d, two)
        t = SequenceMap (s) <
            body = b (float[c,2] e) => (float[c] o) {
                ones = Constant <value_ints = [1]> ()
                o = ReduceMax <keepdims = 0> (e, ones)
            }>
        y = ConcatFromSequence <axis = 0, new_axis = 1> (t)
    }""",
    "sizes in a list": """agraph (float[n,c] x) => (float[2,c] a, float[k,c] b)
            <int64[2] sizes = {2, 5}, int64 zero = {0}, int64 one = {1}> {
        s = SplitToSequence <axis = 0> (x, sizes)
        a = SequenceAt (s, zero)
        b = SequenceAt (s, one)
    }""",
}  # fmt: skip


@pytest.mark.parametrize("rows", [5, 7, 8])
@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_what_is_done_with_pieces_is_done_with_the_tensor(text: str, rows: int) -> None:
    made = parser.parse_model(HEAD + text)
    if "sizes = " in text:
        rows = 7
    given: dict[str, Any] = {}
    for info in made.graph.input:
        shape = [
            d.dim_value or {"n": rows, "c": 3}[d.dim_param] for d in info.type.tensor_type.shape.dim
        ]
        values = np.random.default_rng(len(given)).normal(size=shape).astype(np.float32)
        given[info.name] = np.array(1) if info.name == "i" else values
    written = write_program(import_model(made, "m"))
    assert not written.opaque, written.text
    expected = ReferenceEvaluator(made).run(None, given)
    for forget in (False, True):
        imported = import_model(made, "m", forget=forget)
        assert not imported.importer.state.store.conflicts
    report = infer_model(made, "m")
    assert not report.unsupported
    for backend in ("numpy", "jax"):
        found = axon.from_onnx(made, backend=backend).model(*given.values())
        found = found if isinstance(found, tuple) else (found,)
        for info, mine, true in zip(made.graph.output, found, expected, strict=True):
            assert np.shape(mine) == np.shape(true), (info.name, backend)
            np.testing.assert_allclose(mine, true, rtol=1e-5, atol=1e-5)
            said = report.tensors[info.name].shape
            assert said is not None and len(said) == np.ndim(true)
            for size, size_found in zip(said, np.shape(true), strict=True):
                assert size == size_found or not isinstance(size, int)


def test_sequences_side_by_side_and_several_results() -> None:
    made = parser.parse_model(HEAD + """agraph (float[n,c] x, float[c] w)
            => (float[m,c] y, float[m] z, float[c] a) <int64 one = {1}> {
        s = SplitToSequence <axis = 0, keepdims = 0> (x)
        t, u = SequenceMap (s, w, s) <
            body = b (float[c] e, float[c] v, float[c] f) => (float[c] o, float p) {
                g = Add (e, v)
                o = Mul (g, f)
                p = ReduceSum <keepdims = 0> (g)
            }>
        y = ConcatFromSequence <axis = 0, new_axis = 1> (t)
        z = ConcatFromSequence <axis = 0, new_axis = 1> (u)
        a = SequenceAt (t, one)
    }""")  # fmt: skip
    assert infer_model(made, "m").signature == (
        "(f32 [n,c], f32 [c]) -> (f32 [n,c], f32 [n], f32 [c])"
    )
    x, w = np.arange(15, dtype=np.float32).reshape(5, 3), np.ones(3, np.float32)
    for backend in ("numpy", "jax"):
        y, z, a = axon.from_onnx(made, backend=backend).model(x, w)
        np.testing.assert_allclose(y, (x + w) * x)
        np.testing.assert_allclose(z, (x + w).sum(axis=1))
        np.testing.assert_allclose(a, ((x + w) * x)[1])


@pytest.mark.parametrize("place", [-2, -1, 0, 1, 2])
def test_an_element_is_counted_from_either_end(place: int) -> None:
    made = parser.parse_model(HEAD + """agraph (float[n,c] x, int64 i) => (float[k,c] y)
            <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        y = SequenceAt (s, i)
    }""")  # fmt: skip
    x = np.arange(15, dtype=np.float32).reshape(5, 3)
    wanted = [x[:2], x[2:4], x[4:]][place]
    for backend in ("numpy", "jax"):
        found = axon.from_onnx(made, backend=backend).model(x, np.array(place))
        np.testing.assert_array_equal(found, wanted)


def test_what_is_known_of_the_sizes() -> None:
    found = infer_model(parser.parse_model(HEAD + CASES["elements"]), "m").signature
    assert found == "f32 [n,c] -> (f32 [min(n,2),c], f32 [n-2*((n+1)/2)+2,c], f32 [2,c])"


@pytest.mark.parametrize("text", [
    # a piece of another size than the others
    """agraph (float[n,c] x, float[m,c] w) => (float[k,c] y) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        t = SequenceInsert (s, w)
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    # behind a piece that may be smaller
    """agraph (float[n,c] x, float[2,c] w) => (float[k,c] y) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        t = SequenceInsert (s, w)
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    # side by side, where the last may be smaller
    """agraph (float[n,c] x) => (float[2,k] y) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        y = ConcatFromSequence <axis = 1> (s)
    }""",
    # mapped, where the last may be smaller
    """agraph (float[n,c] x) => (float[k,c] y) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        t = SequenceMap (s) <body = b (float[a,c] e) => (float[a,c] o) { o = Exp (e) }>
        y = ConcatFromSequence <axis = 0> (t)
    }""",
    # no size, no such axis
    """agraph (float[n,c] x) => (float[k,c] y) <int64 none = {0}> {
        s = SplitToSequence <axis = 0> (x, none)
        y = ConcatFromSequence <axis = 0> (s)
    }""",
    """agraph (float[n,c] x) => (float[k,c] y) <int64 two = {2}> {
        s = SplitToSequence <axis = 5> (x, two)
        y = ConcatFromSequence <axis = 0> (s)
    }""",
    """agraph (float[n,c] x) => (float[k,c] y) <int64 two = {2}> {
        s = SplitToSequence <axis = 0> (x, two)
        y = ConcatFromSequence <axis = 7> (s)
    }""",
    """agraph (float[n,c] x, int64 size) => (float[k,c] y) {
        s = SplitToSequence <axis = 0> (x, size)
        y = ConcatFromSequence <axis = 0> (s)
    }""",
])  # fmt: skip
def test_what_pieces_cannot_hold_is_not_known(text: str) -> None:
    report = infer_model(parser.parse_model(HEAD + text), "m")
    assert report.unsupported and report.tensors["y"].shape is None


def test_a_sequence_that_is_an_output_is_declared() -> None:
    made = parser.parse_model(HEAD + """agraph (float[n,c] x) => (seq(float[k,c]) s)
            <int64 two = {2}> { s = SplitToSequence <axis = 0> (x, two) }""")  # fmt: skip
    assert write_program(import_model(made, "m")).opaque


# --- what a loop appends to ------------------------------------------------------------------

LOOPS = {
    "from none": """agraph (float[n,c] x, int64 k) => (float[m,c] z, int64 l, float[c] last)
            <bool yes = {1}, int64 end = {-1}> {
        s = SequenceEmpty ()
        t = Loop (k, yes, s) <
            body = b (int64 i, bool keep, seq(float) u) => (bool c2, seq(float) v) {
                c2 = Identity (keep)
                row = Gather (x, i)
                e = Exp (row)
                v = SequenceInsert (u, e)
            }>
        z = ConcatFromSequence <axis = 0, new_axis = 1> (t)
        l = SequenceLength (t)
        last = SequenceAt (t, end)
    }""",
    "behind others, with a state": """agraph (float[n,c] x, int64 k)
            => (float[m,c] z, float[n,c] h) <bool yes = {1}> {
        y = Neg (x)
        s = SequenceConstruct (x, y)
        t, h = Loop (k, yes, s, x) <
            body = b (int64 i, bool keep, seq(float) u, float[n,c] g)
                    => (bool c2, seq(float) v, float[n,c] g2) {
                c2 = Identity (keep)
                g2 = Tanh (g)
                v = SequenceInsert (u, g2)
            }>
        z = ConcatFromSequence <axis = 0> (t)
    }""",
    "while a condition holds": """agraph (float[n,c] x, int64 k) => (float[m,n,c] z)
            <bool yes = {1}, int64 two = {2}> {
        s = SequenceEmpty ()
        t = Loop (k, yes, s) <
            body = b (int64 i, bool keep, seq(float) u) => (bool c2, seq(float) v) {
                c2 = Less (i, two)
                f = Cast <to = 1> (i)
                e = Add (x, f)
                v = SequenceInsert (u, e)
            }>
        z = ConcatFromSequence <axis = 0, new_axis = 1> (t)
    }""",
}  # fmt: skip


@pytest.mark.parametrize("iterations", [1, 2, 5])
@pytest.mark.parametrize("text", LOOPS.values(), ids=LOOPS)
def test_a_sequence_to_which_each_iteration_appends(text: str, iterations: int) -> None:
    made = parser.parse_model(HEAD + text)
    written = write_program(import_model(made, "m"))
    assert not written.opaque, written.text
    x = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    expected = ReferenceEvaluator(made).run(None, {"x": x, "k": np.array(iterations)})
    assert infer_model(made, "m").tensors["z"].shape is not None
    for backend in ("numpy", "jax"):
        found = axon.from_onnx(made, backend=backend).model(x, np.array(iterations))
        found = found if isinstance(found, tuple) else (found,)
        for mine, true in zip(found, expected, strict=True):
            assert np.shape(mine) == np.shape(true)
            np.testing.assert_allclose(mine, true, rtol=1e-5, atol=1e-5)


def test_a_sequence_that_a_loop_reads_is_not_known() -> None:
    made = parser.parse_model(HEAD + """agraph (float[n,c] x, int64 k) => (float[m,c] z, int64 l)
            <bool yes = {1}> {
        s = SequenceEmpty ()
        t = Loop (k, yes, s) <
            body = b (int64 i, bool keep, seq(float) u) => (bool c2, seq(float) v) {
                c2 = Identity (keep)
                length = SequenceLength (u)
                f = Cast <to = 1> (length)
                e = Add (x, f)
                v = SequenceInsert (u, e)
            }>
        z = ConcatFromSequence <axis = 0> (t)
        l = SequenceLength (t)
    }""")  # fmt: skip
    report = infer_model(made, "m")
    assert report.tensors["z"].shape is None
    assert report.tensors["l"].shape == ()
    assert "SequenceInsert" in report.unsupported


def test_what_a_node_without_sense_gives_can_be_handed_on() -> None:
    made = parser.parse_model(HEAD + """agraph (float[n] x) => (float[m] y) {
        a = Concat <axis = 0> ()
        b = SequenceErase (a)
        y = SequenceInsert (a, b)
    }""")  # fmt: skip
    assert "op sequenceinsert" in write_program(import_model(made, "m")).text
