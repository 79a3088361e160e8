"""Loops whose state has another size after each iteration run, and what is said of them is true."""

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
    "grows and is read": """agraph (float[B,S] x, int64 n) => (float[B,m] y) <bool yes = {1}> {
        y = Loop (n, yes, x) <
            body = b (int64 i, bool keep, float[B,k] s) => (bool k2, float[B,l] s2) {
                k2 = Identity (keep)
                one = Constant <value_ints = [1]> ()
                mean = ReduceMean (s, one)
                s2 = Concat <axis = 1> (s, mean)
            }>
    }""",
    "shrinks": """agraph (float[B,S] x, int64 n) => (float[B,m] y) <bool yes = {1}> {
        y = Loop (n, yes, x) <
            body = b (int64 i, bool keep, float[B,k] s) => (bool k2, float[B,l] s2) {
                k2 = Identity (keep)
                one = Constant <value_ints = [1]> ()
                most = Constant <value_ints = [1000]> ()
                double = Add (s, s)
                s2 = Slice (double, one, most, one)
            }>
    }""",
    "one of several states": """agraph (float[B,S] x, float[B] h, int64 n)
            => (float[B] last, float[B,m] y, int64 count) <int64 zero = {0}, bool yes = {1}> {
        last, y, count = Loop (n, yes, h, x, zero) <
            body = b (int64 i, bool keep, float[B] a, float[B,k] s, int64 c)
                    => (bool k2, float[B] a2, float[B,l] s2, int64 c2) {
                k2 = Identity (keep)
                ones = Constant <value_ints = [1]> ()
                one = Constant <value_int = 1> ()
                most = ReduceMax <keepdims = 0> (s, ones)
                a2 = Add (a, most)
                column = Unsqueeze (a2, ones)
                s2 = Concat <axis = 1> (column, s)
                c2 = Add (c, one)
            }>
    }""",
    "two states, and outputs": """agraph (float[B,S] x, float[r] h, int64 n)
            => (float[B,m] y, float[q] z, float[e] sums, float[f,B] means) <bool yes = {1}> {
        y, z, sums, means = Loop (n, yes, x, h) <
            body = b (int64 i, bool keep, float[B,k] s, float[t] u)
                    => (bool k2, float[B,l] s2, float[v] u2, float sum, float[B] mean) {
                k2 = Identity (keep)
                one = Constant <value_ints = [1]> ()
                mean = ReduceMean <keepdims = 0> (s, one)
                s2 = Concat <axis = 1> (s, s)
                u2 = Concat <axis = 0> (u, mean)
                sum = ReduceSum <keepdims = 0> (u)
            }>
    }""",
    "while a condition holds": """agraph (float[B,S] x, int64 n) => (float[B,m] y, float[e] sums) {
        yes = Constant <value = bool {1}> ()
        y, sums = Loop (n, yes, x) <
            body = b (int64 i, bool keep, float[B,k] s) => (bool k2, float[B,l] s2, float sum) {
                one = Constant <value_ints = [1]> ()
                seven = Constant <value_int = 7> ()
                mean = ReduceMean (s, one)
                s2 = Concat <axis = 1> (s, mean)
                size = Size (s2)
                k2 = Less (size, seven)
                sum = ReduceSum <keepdims = 0> (s)
            }>
    }""",
    "sizes that the body computes": """agraph (float[B,S] x, int64 n) => (float[B,m] y)
            <bool yes = {1}> {
        y = Loop (n, yes, x) <
            body = b (int64 i, bool keep, float[B,k] s) => (bool k2, float[B,l] s2) {
                k2 = Identity (keep)
                shape = Shape (s)
                all = Constant <value_ints = [-1]> ()
                ones = Constant <value_float = 1.0> ()
                flat = Reshape (s, all)
                back = Reshape (flat, shape)
                wide = Expand (ones, shape)
                sum = Add (back, wide)
                s2 = Concat <axis = 1> (sum, s)
            }>
    }""",
    "a loop in a loop, a branch in it": """agraph (float[B,S] x, int64 n) => (float[B,m] y)
            <bool yes = {1}> {
        y = Loop (n, yes, x) <
            body = b (int64 i, bool keep, float[B,k] s) => (bool k2, float[B,l] s2) {
                k2 = Identity (keep)
                two = Constant <value_int = 2> ()
                one = Constant <value_ints = [1]> ()
                zero = Constant <value_int = 0> ()
                t = Loop (two, yes, s) <
                    body = c (int64 j, bool keep2, float[B,k1] u) => (bool k3, float[B,l1] u2) {
                        k3 = Identity (keep2)
                        mean = ReduceMean (u, one)
                        u2 = Concat <axis = 1> (u, mean)
                    }>
                first = Equal (i, zero)
                s2 = If (first) <
                    then_branch = d () => (float[B,l2] o) { o = Concat <axis = 1> (t, s) },
                    else_branch = e () => (float[B,l3] o) { o = Exp (t) }>
            }>
    }""",
}  # fmt: skip


def parsed(text: str) -> Any:
    return parser.parse_model(HEAD + text)


def given(made: Any, iterations: int) -> dict[str, Any]:
    """An input of each kind."""
    sizes = {"B": 2, "S": 3, "r": 4}
    found: dict[str, Any] = {}
    for info in made.graph.input:
        shape = [d.dim_value or sizes[d.dim_param] for d in info.type.tensor_type.shape.dim]
        values = np.random.default_rng(len(found)).normal(size=shape).astype(np.float32)
        found[info.name] = np.array(iterations) if info.name == "n" else values
    return found


@pytest.mark.parametrize("iterations", [1, 2, 3])
@pytest.mark.parametrize("backend", ["numpy", "jax"])
@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_a_state_that_changes_its_size(text: str, backend: str, iterations: int) -> None:
    made = parsed(text)
    written = write_program(import_model(made, "m"))
    assert not written.opaque, written.text
    values = given(made, iterations)
    expected = ReferenceEvaluator(made).run(None, values)
    found = axon.from_onnx(made, backend=backend).model(*values.values())
    found = found if isinstance(found, tuple) else (found,)
    report = infer_model(made, "m")
    for info, mine, true in zip(made.graph.output, found, expected, strict=True):
        assert np.asarray(mine).dtype == true.dtype
        # the evaluator joins the rows of a Loop along their own first axis
        assert np.size(mine) == true.size
        np.testing.assert_allclose(mine, true.reshape(np.shape(mine)), rtol=1e-5, atol=1e-5)
        shape = report.tensors[info.name].shape
        assert shape is not None and len(shape) == np.ndim(mine)
        assert all(size in ("B", "n") or not isinstance(size, int) for size in shape)
        assert "S" not in shape


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_no_iteration_leaves_the_state_as_it_is(backend: str) -> None:
    values = given(made := parsed(CASES["grows and is read"]), 0)
    found = axon.from_onnx(made, backend=backend).model(*values.values())
    np.testing.assert_array_equal(found, values["x"])


def test_what_an_iteration_is_given_is_not_what_is_left_in_the_end() -> None:
    """The sizes before an iteration, after it and after the last one have different names."""
    found = infer_model(parsed(CASES["grows and is read"]), "m").tensors
    before, end = found["s"].shape, found["y"].shape
    assert before is not None and end is not None
    assert before[0] == end[0] == "B" and before[1] != end[1]


@pytest.mark.parametrize("backend", ["numpy", "jax"])
def test_what_the_body_asks_of_a_size_is_checked_in_each_iteration(backend: str) -> None:
    made = parsed("""agraph (float[S] x, int64 n) => (float[m] y)
            <float[3] w = {1, 2, 3}, bool yes = {1}> {
        y = Loop (n, yes, x) <
            body = b (int64 i, bool keep, float[k] s) => (bool k2, float[l] s2) {
                k2 = Identity (keep)
                t = Add (s, w)
                s2 = Concat <axis = 0> (t, s)
            }>
    }""")
    program = axon.from_onnx(made, backend=backend)
    x = np.array([1, 1, 1], np.float32)
    np.testing.assert_array_equal(program.model(x, np.array(1)), [2, 3, 4, 1, 1, 1])
    with pytest.raises(axon.RunError):
        program.model(x, np.array(2))
