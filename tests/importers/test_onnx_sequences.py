"""Sequences whose length is known are tensors one by one."""

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
    "inserted, erased, joined": """agraph (float[n,4] x, float[m,4] y) => (float[k,4] z)
            <int64 at = {0}> {
        s = SequenceConstruct (x, y, x)
        t = SequenceInsert (s, y, at)
        u = SequenceErase (t)
        w = Identity (u)
        z = ConcatFromSequence <axis = 0> (w)
    }""",
    "from none": """agraph (float[n,4] x, float[n,4] y) => (float[n,k,4] z, int64 l) {
        s = SequenceEmpty ()
        t = SequenceInsert (s, x)
        u = SequenceInsert (t, y)
        z = ConcatFromSequence <axis = 1, new_axis = 1> (u)
        l = SequenceLength (u)
    }""",
    "elements": """agraph (float[n,4] x, float[m,4] y) => (float[n,4] a, float[m,4] b)
            <int64 last = {-1}> {
        s = SequenceConstruct (x, y)
        z = Constant <value_int = 0> ()
        c = SequenceAt (s, z)
        a = Exp (c)
        b = SequenceAt (s, last)
    }""",
    "cut": """agraph (float[n,5] x, float[n,2] y) => (float[n,2] a, float[n,1] b, int64 l)
            <int64 two = {2}> {
        s = SplitToSequence <axis = 1> (x, two)
        zero = Constant <value_int = 0> ()
        p = SequenceAt (s, zero)
        a = Add (p, y)
        b = SequenceAt (s, two)
        l = SequenceLength (s)
    }""",
    "mapped": """agraph (float[n,4] x, float[m,4] y) => (float[k,4] z) {
        s = SequenceConstruct (x, y)
        t = SequenceMap (s, y) <
            body = b (float[a,4] e, float[m,4] u) => (float[1,4] o) {
                axes = Constant <value_ints = [0]> ()
                f = ReduceMax (e, axes)
                g = ReduceSum (u, axes)
                o = Add (f, g)
            }>
        z = ConcatFromSequence <axis = 0> (t)
    }""",
}  # fmt: skip


@pytest.mark.parametrize("text", CASES.values(), ids=CASES)
def test_what_is_done_with_sequences_is_done_with_their_elements(text: str) -> None:
    made = parser.parse_model(HEAD + text)
    names = [info.name for info in made.graph.input]
    sizes = {"n": 3, "m": 3 if "n,4] y" in text else 2}
    given: dict[str, Any] = {}
    for info in made.graph.input:
        shape = [d.dim_value or sizes[d.dim_param] for d in info.type.tensor_type.shape.dim]
        given[info.name] = np.random.default_rng(len(given)).normal(size=shape).astype(np.float32)
    program = write_program(import_model(made, "m")).text
    assert "op " not in program, program
    assert not infer_model(made, "m").unsupported
    expected = ReferenceEvaluator(made).run(None, given)
    for backend in ("numpy", "jax"):
        found = axon.from_onnx(made, backend=backend).model(*(given[n] for n in names))
        for one, other in zip(
            found if isinstance(found, tuple) else (found,), expected, strict=True
        ):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
