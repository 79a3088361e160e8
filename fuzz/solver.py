"""Bytes decoded to a system of constraints; the solver against all its solutions in a small domain.

The same law as `tests/properties/test_solver.py`, the systems chosen by coverage instead of chance.
"""

from __future__ import annotations

import sys

import atheris
from harness import ROOT, run

sys.path.insert(0, str(ROOT))

with atheris.instrument_imports(include=["axon"]):
    from axon.solver.rules import new_store  # noqa: F401 - imported here to be instrumented

from tests.properties.systems import (
    DimCast,
    Dims,
    Expr,
    Name,
    NotNegative,
    Op,
    Rel,
    System,
    Var,
    Word,
    WordCast,
    Words,
)
from tests.properties.test_solver import check_meaning

DIMS = ("k", "m", "n")
SHAPES = ("p", "s")


class Decoder:
    """A system from bytes, one byte a choice; zeros when they run out."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def pick(self, count: int) -> int:
        self.at += 1
        return self.data[self.at - 1] % count if self.at <= len(self.data) else 0

    def system(self) -> System:
        shapes = self.pick(2)
        dims = DIMS[: 1 + self.pick(2 if shapes else 3)]
        names = SHAPES[: shapes * (1 + self.pick(2))]
        relations = tuple(self.relation(dims, names) for _ in range(1 + self.pick(5)))
        return System(dims, names, relations, word_length=3 if len(names) == 1 else 2)

    def relation(self, dims: tuple[str, ...], shapes: tuple[str, ...]) -> Rel:
        match self.pick(6 if shapes else 4):
            case 0 | 1:
                return Dims(self.expr(dims), self.expr(dims))
            case 2:
                parts = tuple(self.expr(dims) for _ in range(1 + self.pick(3)))
                return DimCast(self.expr(dims), parts)
            case 3:
                return NotNegative(self.expr(dims))
            case 4:
                return Words(self.word(dims, shapes), self.word(dims, shapes))
            case _:
                words = tuple(self.word(dims, shapes) for _ in range(1 + self.pick(3)))
                return WordCast(self.word(dims, shapes), words)

    def word(self, dims: tuple[str, ...], shapes: tuple[str, ...]) -> Word:
        return tuple(
            Var(shapes[self.pick(len(shapes))]) if self.pick(3) == 0 else self.expr(dims)
            for _ in range(self.pick(4))
        )

    def expr(self, dims: tuple[str, ...], depth: int = 2) -> Expr:
        name = Name(dims[self.pick(len(dims))])
        match self.pick(7 if depth else 2):
            case 0:
                return name
            case 1:
                return self.pick(5)
            case 2:
                return Op("+", self.expr(dims, depth - 1), self.expr(dims, depth - 1))
            case 3:
                return Op("-", self.expr(dims, depth - 1), self.expr(dims, depth - 1))
            case 4:
                return Op("*", self.expr(dims, 0), self.expr(dims, depth - 1))
            case 5:
                return Op("//", self.expr(dims, depth - 1), 1 + self.pick(4))
            case _:
                kind = ("min", "max")[self.pick(2)]
                return Op(kind, self.expr(dims, depth - 1), self.expr(dims, 0))


def one(data: bytes) -> None:
    check_meaning(Decoder(data).system())


if __name__ == "__main__":
    run("solver", one, seeds=False)
