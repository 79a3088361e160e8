"""Rows of unsigned integers, which PyTorch stores and does not compute with."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import axon
from tests.run.all_rows import alike, outcome, row_by_row

BODIES = """
r + r * 3
r // 3
r > 2
max(r)
sum(r)
cumsum(r)
sort(r, descending=true)
argsort(r)
argmax(r)
unique(r)
reverse(r)
r[1:]
concat(r, r)
stack(r, r)
outer(r, r)
dot(r, r)
cast(r, to=f32)
cast(cast(r, to=f32) * 2f, to=ELEM)
bit_xor(r, r // 2)
shift_left(r, r)
clip(r, min=1, max=3)
where(r > 2, r, zeros_like(r))
gather(r, argsort(r))
gather(w, r % 3)
one_hot(r, depth=3)
reduce(+, 0, r)
scan(max, 0, r)
fold(1, fn (s, e) { s * 3 + e }, r)
loop(1, fn (s, e) { s * 3 + e, s }, r)
map(fn (e) { e * max(r) }, r)
if (sum(r) > 9) { r } else { r // 2 }
random_key(sum(r))
quantise(cast(r, to=f32), 0.5f, ZERO)
dequantise(r, 0.5f, ZERO)
"""


def program(elem: str, form: str) -> tuple[axon.Program, list[str]]:
    """A definition for each body."""
    bodies = BODIES.replace("ELEM", elem).replace("ZERO", f"cast(3, to={elem})")
    lines = bodies.strip().splitlines()
    head = f"fn (x : {elem} [{'n,*' if 'map' in form else 'n'}], w : {elem} [3,2])"
    text = (f"f{i} = {head} {{ {form.format(body)} }};" for i, body in enumerate(lines))
    return axon.compile("\n".join(text)), lines


def elements(elem: str, count: int) -> Any:
    most = (1 << int(elem[1:])) - 1
    return numpy.array([0, 3, most, 2, most - 7][:count], f"uint{elem[1:]}")


@pytest.mark.parametrize("elem", ["u16", "u32", "u64"])
def test_unsigned_integers_in_rows(elem: str) -> None:
    """As row by row on NumPy, for all rows at once."""
    net, bodies = program(elem, "map(fn (r) {{ {} }}, x)")
    on_torch, w = net.on("torch"), elements(elem, 3).repeat(2).reshape(3, 2)
    for lengths in ((2, 5, 3, 1), (2, 2), (4, 0)):
        x = [elements(elem, n) for n in lengths]
        for i, body in enumerate(bodies):
            found = outcome(on_torch[f"f{i}"], x, w)
            loops = on_torch[f"f{i}"].row_loops
            with row_by_row():
                expected = outcome(net[f"f{i}"], x, w)
            if isinstance(found, str) or isinstance(expected, str):
                assert isinstance(found, str) and isinstance(expected, str), (body, found, expected)
            else:
                assert alike(found[0], expected[0]), (body, found, expected)
                assert loops == (), body


@pytest.mark.parametrize("elem", ["u16", "u32", "u64"])
def test_unsigned_integers_without_rows(elem: str) -> None:
    net, bodies = program(elem, "(fn (r) {{ {} }})(x)")
    on_torch, w = net.on("torch"), elements(elem, 3).repeat(2).reshape(3, 2)
    for i, body in enumerate(bodies):
        found = outcome(on_torch[f"f{i}"], elements(elem, 5), w)
        expected = outcome(net[f"f{i}"], elements(elem, 5), w)
        assert found[1] == expected[1] and alike(found[0], expected[0]), (body, found, expected)


def test_compiled() -> None:
    net = axon.compile("f = fn (x : u64 [n]) { sum(x * 3) // 2 };", backend="torch", compiled=True)
    assert int(net.f(elements("u64", 2))) == 4
