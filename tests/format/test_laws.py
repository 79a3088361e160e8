"""The laws of formatting, on every program of the repository, on others drawn at random, and on
all of those with other line breaks and with comments anywhere.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from axon.syntax.ast import Program
from axon.syntax.printer import print_program
from tests.budget import QUARTER
from tests.format.laws import code, comments, formatted, tree
from tests.format.programs import PROGRAMS
from tests.format.scrambled import scrambled
from tests.properties.syntax_trees import bones, programs

PARTS = 6


def part(number: int) -> list[tuple[str, str]]:
    return sorted(PROGRAMS.items())[number::PARTS]


def same_program(text: str, other: str) -> bool:
    a, b = tree(text), tree(other)
    return a is not None and b is not None and bones(a) == bones(b)


def test_there_are_many_programs() -> None:
    assert len(PROGRAMS) > 700
    assert sum(name.startswith("docs") for name in PROGRAMS) > 100
    assert sum("errors_" in name for name in PROGRAMS) > 100


@pytest.mark.parametrize("number", range(PARTS))
def test_programs_of_the_repository(number: int) -> None:
    for name, text in part(number):
        for line in formatted(text).split("\n"):
            assert len(line) <= 100 or "#" in line, name


@pytest.mark.parametrize("number", range(PARTS))
def test_line_breaks_do_not_matter(number: int) -> None:
    """What is formatted depends on the tree, not on where its lines were broken."""
    fine = 0
    for name, text in part(number):
        plain = formatted(scrambled(text, Random(0), breaks=0, comments=0))
        for breaks in (0.05, 0.4):
            other = scrambled(text, Random(f"{name} {breaks}"), breaks, comments=0)
            if same_program(text, other):
                fine += 1
                assert code(formatted(other)) == code(plain), name
    assert fine > 1.9 * len(part(number))


@pytest.mark.parametrize("number", range(PARTS))
def test_comments_anywhere(number: int) -> None:
    fine = 0
    for name, text in part(number):
        for share in (0.03, 0.3):
            random = Random(f"{name} {share}")
            other = scrambled(text, random, breaks=random.choice((0, 0.2)), comments=share)
            if same_program(text, other):
                fine += 1
                formatted(other)
    assert fine > 1.9 * len(part(number))


@QUARTER
@given(programs, st.integers(0, 1 << 32), st.sampled_from([0, 0.05, 0.3]))
def test_trees_of_every_kind(program: Program, seed: int, share: float) -> None:
    text = print_program(program)
    assert code(formatted(text)) == code(text)
    other = scrambled(text, Random(seed), breaks=0.2, comments=share)
    assume(same_program(text, other))
    again = formatted(other)
    if not share:
        assert code(again) == code(text)
    found = tree(other)
    assert found is not None
    assert all(comment in again for comment in comments(found))
