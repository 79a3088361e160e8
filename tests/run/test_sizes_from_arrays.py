"""A tensor given where a shape is expected: which of its numbers is which size."""

from __future__ import annotations

import numpy
import pytest

import axon
from tests.run.support import BACKENDS, close, floats, on_both, plain


@pytest.mark.parametrize("sizes", [(6, 4), (2, 3, 4), (2, 3, 2, 2), (1, 1, 24, 1)])
def test_sizes_after_a_part_of_unknown_rank_are_the_last(sizes: tuple[int, ...]) -> None:
    x = floats(4, 6)
    program = "f = fn (x, sizes : i64 [k]) { transpose(reshape(x, sizes)) };"
    made = plain(on_both(program, x, numpy.array(sizes)))
    close(made, numpy.swapaxes(x.reshape(sizes), -1, -2))


def test_a_product_of_matrices_of_unknown_rank() -> None:
    x, y = floats(2, 4, 3, 5), floats(8, 5, 6)
    program = "f = fn (x : f32 [a,b,n,d], y, sizes : i64 [k]) { x @ reshape(y, sizes) };"
    made = plain(on_both(program, x, y, numpy.array([2, 4, 5, 6])))
    close(made, x @ y.reshape(2, 4, 5, 6))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("program", "sizes", "why"),
    [
        ("transpose(reshape(x, sizes))", [24], "be [24], and its rank should be 2 or more"),
        (
            "transpose(reshape(x, sizes), perm=[1,0])",
            [1, 24, 1],
            "be [1,24,1], and its rank should be 2",
        ),
        ("transpose(x) @ reshape(x, sizes)", [6, 4], "be 6, and should be 4"),
    ],
)
def test_numbers_that_cannot_be_the_shape(
    backend: str, program: str, sizes: list[int], why: str
) -> None:
    net = axon.compile(f"f = fn (x, sizes : i64 [k]) {{ {program} }};", backend=backend)
    with pytest.raises(axon.RunError) as caught:
        net.f(floats(4, 6), numpy.array(sizes))
    assert why in str(caught.value)
