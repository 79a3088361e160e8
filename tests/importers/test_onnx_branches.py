"""What a branch of an If asks of tensors outside it is asked only where it runs."""

from __future__ import annotations

from typing import Any

import onnx.parser
import pytest

from axon.importers.imported import Imported
from axon.types.show import Show
from axon.types.type import Tensor
from tests.importers.onnx_models import import_model

HEAD = '<ir_version: 8, opset_import: ["" : 18, "own" : 1]>'


def parsed(text: str) -> Any:
    return onnx.parser.parse_model(f"{HEAD} {text}")


def shown(imported: Imported, *names: str) -> list[str]:
    show = Show(imported.names())
    return [show.type(imported.type(name)) for name in names]


SEQUENCES = [
    ("SequenceConstruct(x, y)", "at = SequenceAt(s, zero)"),
    ("SequenceConstruct(y, x)", "at = ConcatFromSequence<axis = 0>(s)"),
    ("SplitToSequence<axis = 0>(x)", "at = SequenceAt(s, zero)"),
    ("SplitToSequence<axis = 0>(x)", "at = ConcatFromSequence<axis = 0>(s)"),
]


@pytest.mark.parametrize(("made", "taken"), SEQUENCES)
def test_elements_of_a_sequence_outside_are_outside_too(made: str, taken: str) -> None:
    found = import_model(
        parsed(f"""g (float[n, m] x, float[n, m] y, bool c) => (float[k] z, float[l] after)
        <float[3, 2] w = {{1, 2, 3, 4, 5, 6}}, int64 zero = {{0}}> {{
            s = {made}
            z = If(c) <
                then_branch = a () => (float[q] p) {{ {taken} p = MatMul(at, w) }},
                else_branch = b () => (float[q] r) {{ r = Relu(x) }}
            >
            after = Neg(x)
        }}"""),
        "m",
    )
    assert shown(found, "x", "after") == ["f32 [n,m]"] * 2
    z = found.type("z")
    assert isinstance(z, Tensor) and len(z.shape) == 2


@pytest.mark.parametrize("forget", [False, True])
def test_an_expression_that_a_branch_wants_to_be_a_number(forget: bool) -> None:
    found = import_model(
        parsed("""g (float[2, n] x, bool c) => (float[k] z, float[l] y)
        <float[3, 2] w = {1, 2, 3, 4, 5, 6}, int64[2] s = {2, -1}, int64[1] one = {1},
         int64[1] two = {2}, int64[1] three = {3}> {
            flat = Reshape(x, s)
            sizes = Shape(flat)
            size = Gather(sizes, one)
            more = Mul(size, three)
            half = Div(more, two)
            y = ConstantOfShape(half)
            z = If(c) <
                then_branch = a () => (float[q] p) { p = MatMul(y, w) },
                else_branch = b () => (float[q] r) { r = Neg(y) }
            >
        }"""),
        "m",
        forget,
    )
    y = found.type("y")
    assert isinstance(y, Tensor) and not isinstance(y.shape[0], int)


def test_what_was_tried_in_vain_leaves_nothing_behind() -> None:
    found = import_model(
        parsed("""g (float[n, m] x, bool c) => (float[k] z)
        <float[3, 2] w = {1, 2, 3, 4, 5, 6}> {
            z = If(c) <
                then_branch = a () => (float[q] p) { h = own.f(x) p = MatMul(h, w) },
                else_branch = b () => (float[q] r) { r = own.f(x) }
            >
        }
        <domain: "own", opset_import: ["" : 18]> f (a) => (b) { t = Relu(a) b = Neg(t) }"""),
        "m",
    )
    assert [each.name for each in found.importer.calls] == ["f", "f"]
    state = found.importer.state
    assert not state.sealed and state.depth == state.level == 1
