"""Names for sizes that are repeated or long: the signature reads back to an equivalent one."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pytest

from axon.driver import check_text

PROGRAM = (Path(__file__).parents[1] / "golden/conditions/named_sizes.axon").read_text()


def results(program: str, calls: list[str]) -> list[str | None]:
    checked = check_text(program + "\n".join(f"r{i} = {c};" for i, c in enumerate(calls)))
    found = {s.name: s for s in checked.signatures}
    assert not any(found[f"r{i}"].where for i in range(len(calls)) if f"r{i}" in found)
    return [found[f"r{i}"].signature if f"r{i}" in found else None for i in range(len(calls))]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        (
            "flattened",
            [
                f"zeros([2,3,{h},{w}]), zeros([4,3,{r},{s}])"
                for h, w, r, s in product((4, 7), (5, 6), (2, 3), (1, 5))
            ],
        ),
        (
            "repeated",
            [
                f"zeros([2,{n}]), zeros([{m},3]), zeros([{k}])"
                for n, m, k in product((4, 5), repeat=3)
            ],
        ),
        ("pyramid", [f"zeros([2,3,{h},{w}])" for h, w in product((5, 6, 9, 12), repeat=2)]),
    ],
)
def test_a_signature_with_names_reads_back(name: str, arguments: list[str]) -> None:
    signature = next(s for s in check_text(PROGRAM).signatures if s.name == name)
    assert signature.where, "it has names"
    declared = f"op g : {signature.line().partition(' : ')[2]};\n"
    expected = results(PROGRAM, [f"{name}({each})" for each in arguments])
    fine = [i for i, each in enumerate(expected) if each is not None]
    found = results(declared, [f"g({each})" for each in arguments])
    assert fine, "some of the calls fit"
    assert [found[i] for i in fine] == [expected[i] for i in fine]


@pytest.mark.parametrize(
    ("program", "line"),
    [
        # a name is not given where the line would be longer
        ("f = fn (x : f32 [(h+1)/2]) { x };", "f32 [(h+1)/2] -> f32 [(h+1)/2]"),
        # nor is one that is taken
        (
            "f = fn (h1, x : f32 [(h+r)/2+w,(h+r)/2+w,(h+r)/2+w,(h+r)/2+w,h2]) { x };",
            "(a, f32 [h1,h1,h1,h1,h2]) -> f32 [h1,h1,h1,h1,h2] where h1 = (h+r)/2+w",
        ),
        (
            "f = fn (x : f32 [h1,(h+r)/2+w,(h+r)/2+w,(h+r)/2+w,(h+r)/2+w]) { x };",
            "f32 [h1,h2,h2,h2,h2] -> f32 [h1,h2,h2,h2,h2] where h2 = (h+r)/2+w",
        ),
        # quotients inside other sizes
        (
            "f = fn (x : f32 [2*((h+r)/3)+1,3*((h+r)/3)+1,4*((h+r)/3)+1,5*((h+r)/3)]) { x };",
            "f32 [2*h1+1,3*h1+1,4*h1+1,5*h1] -> f32 [2*h1+1,3*h1+1,4*h1+1,5*h1] where h1 = (h+r)/3",
        ),
    ],
)
def test_lines(program: str, line: str) -> None:
    (signature,) = check_text(program).signatures
    assert signature.line() == f"f : {line}"


def test_a_name_is_no_variable() -> None:
    for signature in check_text(PROGRAM).signatures:
        names = {text.partition(" = ")[0] for text in signature.where}
        assert not names & signature.variables.keys()
