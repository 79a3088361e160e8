"""What the prover says of some four hundred statements, each looked at by brute force as well.

`cases.py` has them, as text. Brute force goes over all sizes from 0 to 12, in Python's arithmetic
and from the text, so that it shares nothing with the prover, not even the normal forms.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from axon.prove.decide import Counterexample, Proved, Prover, Refuted, Unknown
from tests.prove.cases import FALSE, NEVER, OPEN, TRUE
from tests.prove.statements import Statement, read

SECONDS = 10.0  # so that a busy machine changes nothing: none needs a tenth of a second


def _lines(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest.fixture(scope="module")
def prover() -> Iterator[Prover]:
    with Prover(SECONDS) as found:
        yield found


def test_there_are_enough() -> None:
    every = [*_lines(TRUE), *_lines(OPEN), *_lines(FALSE), *_lines(NEVER)]
    assert len(set(every)) == len(every)
    assert len(_lines(TRUE)) >= 250
    assert len(_lines(FALSE)) >= 100
    assert len(_lines(OPEN)) / len(every) < 0.05


@pytest.mark.parametrize("text", _lines(TRUE))
def test_true(text: str, prover: Prover) -> None:
    statement = read(text)
    assert not [point for point in statement.points() if statement.fails_at(point)]
    prover.rewind()
    assert prover.decide(statement.condition, statement.assumptions) == Proved()


@pytest.mark.parametrize("text", _lines(FALSE))
def test_sometimes_false(text: str, prover: Prover) -> None:
    statement = read(text)
    assert any(statement.fails_at(point) for point in statement.points())
    prover.rewind()
    answer = prover.decide(statement.condition, statement.assumptions)
    assert isinstance(answer, Counterexample)
    assert statement.fails_at(_by_name(statement, answer))


@pytest.mark.parametrize("text", _lines(NEVER))
def test_never_true(text: str, prover: Prover) -> None:
    statement = read(text)
    assert not any(statement.holds(**p) and statement.assumed(**p) for p in statement.points())
    prover.rewind()
    assert prover.decide(statement.condition, statement.assumptions) == Refuted()


@pytest.mark.parametrize("text", _lines(OPEN))
def test_true_but_too_hard(text: str) -> None:
    """Nothing wrong is said; a later solver may well prove them."""
    statement = read(text)
    assert not any(statement.fails_at(point) for point in statement.points())
    with Prover(0.2) as prover:
        answer = prover.decide(statement.condition, statement.assumptions)
    assert isinstance(answer, Unknown | Proved)


def _by_name(statement: Statement, answer: Counterexample) -> dict[str, int]:
    """A variable that the normal form does not mention may be anything."""
    return {name: answer.sizes.get(var, 0) for name, var in statement.variables.items()}


# --- statements that no one has thought of ----------------------------------------------------


def _expression(chance: random.Random, depth: int) -> str:
    if depth == 0 or chance.random() < 0.2:
        return chance.choice(["n", "m", "n", "m", str(chance.randrange(5))])
    left, right = _expression(chance, depth - 1), _expression(chance, depth - 1)
    match chance.randrange(8):
        case 0 | 1:
            return f"({left} + {right})"
        case 2:
            return f"({left} - {right})"
        case 3:
            return f"({left}/{chance.randrange(2, 6)})"
        case 4:
            return f"({left} mod {chance.randrange(2, 6)})"
        case 5:
            return f"{chance.choice(['min', 'max'])}({left},{right})"
        case 6:
            return f"({chance.randrange(2, 4)}*{left})"
        case _:
            return f"({left}*{right})" if depth == 1 else f"({left}/(m+1))"


def _random(seed: int) -> str:
    chance = random.Random(seed)
    op = chance.choice(["=", ">=", "<", "<=", "="])
    claim = f"{_expression(chance, 3)} {op} {_expression(chance, 2)}"
    if chance.random() < 0.5:
        return claim
    op = chance.choice([">=", "="])
    return f"{claim} | {_expression(chance, 1)} mod 2 = 0; {_expression(chance, 2)} {op} m"


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_random_statements(start: int) -> None:
    """Whatever it says is so."""
    unknown = 0
    with Prover(0.5) as prover:
        for seed in range(start, start + 50):
            statement = read(f"{_random(seed)}")
            prover.rewind()
            answer = prover.decide(statement.condition, statement.assumptions)
            points = [p for p in statement.points() if statement.assumed(**p)]
            match answer:
                case Proved():
                    assert all(statement.holds(**p) for p in points), statement.text
                case Refuted():
                    assert not any(statement.holds(**p) for p in points), statement.text
                case Counterexample():
                    assert statement.fails_at(_by_name(statement, answer)), statement.text
                case Unknown():
                    unknown += 1
    assert unknown <= 5
