"""Random numbers in rows: PyTorch does not compute with the words of a key, and Axon does, for all
rows at once.
"""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.all_rows import alike, row_by_row

SHARED = [
    "uniform(key, [size(r)]) + r",
    "uniform(key, [2,size(r)], to=f64)",
    "uniform(key, [size(r)], to=bf16)",
    "dropout(r, key=key, rate=0.5)",
    "normal(key, [size(r)])",
    "randint(key, [size(r)], low=-3, high=1000)",
    "randint(key, [size(r)], high=70, to=u16)",
    "bernoulli(key, sigmoid(r))",
    "permutation(key, size(r))",
    "split_key(key, size(r))",
]
"""With a key that all rows share, and with one for each row."""


@pytest.mark.parametrize("keys", ["key : u32 [2]", "key : u32 [n,2]"])
@pytest.mark.parametrize("body", SHARED)
def test_random_numbers_in_rows(body: str, keys: str) -> None:
    own = "n" in keys
    params, given = ("(key, r)", "key, x") if own else ("(r)", "x")
    net = axon.compile(
        f"f = fn ({keys}, x : f32 [n,*]) {{ map(fn {params} {{ {body} }}, {given}) }};"
    )
    on_torch = net.on("torch")
    for lengths in ((3, 5, 2), (3, 3, 3), (1, 7, 0, 40), (0,)):
        key: Any = [axon.random_key(i) for i in range(len(lengths))]
        x = [numpy.linspace(-1, 1, n, dtype=numpy.float32) for n in lengths]
        found = on_torch.f(numpy.stack(key) if own else key[0], x)
        assert on_torch.f.row_loops == ()
        with row_by_row():
            expected = net.f(numpy.stack(key) if own else key[0], x)
        close = 1e-6 if "normal" in body else 0
        assert all(
            alike(a, b, rtol=close, atol=close) for a, b in zip(found, expected, strict=True)
        )


@pytest.mark.parametrize(
    "body",
    [
        *(f"randint(key, [9], low=-3, high=100, to={to})" for to in ("i8", "i16", "i32", "i64")),
        *(f"randint(key, [9], low=7, high=100, to={to})" for to in ("u8", "u16", "u32", "u64")),
        *(f"uniform(key, [9], to={to})" for to in ("f16", "bf16", "f32", "f64")),
    ],
)
def test_random_numbers_of_other_elements(body: str) -> None:
    net = axon.compile(f"f = fn (key : u32 [2]) {{ {body} }};")
    found, expected = net.on("torch").f(axon.random_key(3)), net.f(axon.random_key(3))
    assert found.dtype == expected.dtype
    numpy.testing.assert_array_equal(found, expected)
