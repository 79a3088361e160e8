"""Odd programs with records, structures and defaults: each ends, with a type or a message."""

from __future__ import annotations

import pytest

from axon.driver import check_text


def codes(text: str) -> list[str]:
    return [d.code for d in check_text(text).diagnostics if d.severity.name == "ERROR"]


def types(text: str) -> list[str]:
    checked = check_text(text)
    assert checked.ok, [d.message for d in checked.diagnostics]
    return [s.line() for s in checked.signatures]


def test_a_record_behind_a_block_is_no_pattern() -> None:
    """`a }, { a =` was taken for the pattern of a binding."""
    text = "f = fn (x : f32 [n,3]) { fold({ a = zeros([3]) }, fn (s, r) { s }, x) };"
    swapped = "g = fn (h, p) { h(fn (q) { q }, { a = p }) };"
    assert types(f"{text}\n{swapped}") == [
        "f : f32 [n,3] -> { a : f32 [3] }",
        "g : (((a) -> a, { a : b }) -> c, b) -> c",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "scan(fn (p, q) { q }, { a = x }, x)",
        "map(fn (r) { if true { r } else { { a = x } } }, x)",
        "g = fn (a, b) { map(fn (r) { if true { r } else { (b, b) } }, a) }; g(x, y), g(y, x)",
        "fold(x, fn (s, r) { (s, r) }, x)",
        "fold(x, fn (s, r) { { s | a = r } }, x)",
    ],
)
def test_a_structure_is_no_part_of_itself(body: str) -> None:
    """To take one apart did not end."""
    assert set(codes(f"f = fn (x, y) {{ {body} }};")) == {"AX208"}


@pytest.mark.parametrize("body", ["x[x]", "x[(x + 0)]", "x[x * x + 1]"])
def test_what_is_indexed_is_no_size(body: str) -> None:
    """An index that uses it is a tensor."""
    assert types(f"f = fn (x) {{ {body} }};") == ["f : t [a]@b -> t [a]@b@b"]


def test_that_there_are_rows_is_said_once() -> None:
    text = "f = fn (x) { map(fn (p, q) { 1f }, x, x) };\ng = fn (h, k, x) { map(h, x), map(k, x) };"
    assert types(text) == [
        "f : a -> t [b] where a = [b]@c",
        "g : ((a) -> b, (c) -> d, e) -> (f, g) where e = [h]@a, f = [h]@b, e = [h]@c, g = [h]@d",
    ]
