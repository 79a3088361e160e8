"""Random word systems of up to six shape variables, and the laws that each must keep.

They are drawn by a plain generator from a number, so that many can be tried in little time:

    python -m tests.properties.word_systems 1000000 [--start N]

tries that many and prints those that break a law, with the number that draws them.

Most systems are planted: values are chosen first and the relations are spelt so that they hold.
Some of those are broken in one place, so that many systems nearly have a solution.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from random import Random

from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types.type import DimEq, ShapeEq
from tests.properties.systems import (
    Assignment,
    Dims,
    Name,
    Op,
    Rel,
    System,
    Value,
    Var,
    Word,
    WordCast,
    Words,
    World,
    broadcast,
    holds,
    solutions,
)

# A system of six relations takes about thirty looks at constraints; of a hundred thousand one took
# more than four hundred.
MOST_WORK = 4_000

SHAPES = ("p", "q", "r", "s", "u", "v")
DIMS = ("a", "b", "c")
SIZES = (1, 2, 2, 3)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A system, and values for which it holds if any were planted; for others, some values."""

    system: System
    values: Assignment
    planted: bool


def draw(seed: int) -> Drawn:
    """The system with this number."""
    return _Draw(Random(seed)).system()


class _Draw:
    def __init__(self, random: Random) -> None:
        self.random = random
        self.shapes = SHAPES[: random.randint(1, 6)]
        self.dims = DIMS[: random.randint(1, 3)]
        self.values: dict[str, Value] = {name: random.choice(SIZES) for name in self.dims}
        for name in self.shapes:
            length = random.choice((0, 0, 1, 1, 2))
            self.values[name] = tuple(random.choice(SIZES) for _ in range(length))

    def system(self) -> Drawn:
        wanted = self.random.randint(2, 6)
        candidates = (self.relation() for _ in range(40))
        found = [rel for rel in candidates if rel is not None][:wanted]
        planted = self.random.random() < 0.6
        if not planted and found:
            at = self.random.randrange(len(found))
            found[at] = self.broken(found[at])
        system = System(self.dims, self.shapes, tuple(found), (0, 1, 2, 3), (1, 2, 3), 2)
        return Drawn(system, self.values, planted)

    def relation(self) -> Rel | None:
        """A relation that the values satisfy, if what was drawn has one."""
        kind = self.random.random()
        if kind < 0.6:
            lone = self.random.random() < 0.3
            left = (Var(self.random.choice(self.shapes)),) if lone else self.word()
            right = self.spelt(self.value(left))
            return Words(left, right) if left != right else None
        if kind < 0.9:
            parts = tuple(self.word() for _ in range(self.random.choice((2, 2, 3))))
            result = broadcast(*map(self.value, parts))
            return None if result is None else WordCast(self.spelt(result), parts)
        names = [Name(name) for name in self.dims]
        sizes: list[Name | int] = [*names, 1, 2]
        one, two = self.random.choices(sizes, k=2)
        equation = Dims(self.random.choice(names), Op(self.random.choice("+-*"), one, two))
        return equation if holds(equation, self.values) else None

    def word(self) -> Word:
        return tuple(self.item() for _ in range(self.random.choice((0, 1, 1, 2, 2, 3, 3))))

    def item(self) -> Var | Name | int:
        kind = self.random.random()
        if kind < 0.5:
            return Var(self.random.choice(self.shapes))
        if kind < 0.75:
            return self.random.choice(SIZES)
        return Name(self.random.choice(self.dims))

    def value(self, word: Word) -> tuple[int, ...]:
        found: list[int] = []
        for item in word:
            value = self.values[item.text] if isinstance(item, Var | Name) else item
            found.extend(value if isinstance(value, tuple) else [_number(value)])
        return tuple(found)

    def spelt(self, value: tuple[int, ...]) -> Word:
        """A word with this value."""
        word: list[Var | Name | int] = []
        at = 0
        while at < len(value) or self.random.random() < 0.35:
            if len(word) > 5:
                return (*word, *value[at:])
            fitting: list[Var | Name | int] = []
            for name in self.shapes:
                part = self.values[name]
                assert isinstance(part, tuple)
                if value[at : at + len(part)] == part and (part or self.random.random() < 0.3):
                    fitting.append(Var(name))
            if at < len(value):
                fitting += [Name(n) for n in self.dims if self.values[n] == value[at]]
                fitting.append(value[at])
            if not fitting:
                break
            item = self.random.choice(fitting)
            word.append(item)
            at += len(self.value((item,)))
        return tuple(word)

    def broken(self, rel: Rel) -> Rel:
        """The relation with one item of its left side replaced."""
        if isinstance(rel, Words) and rel.left:
            return Words(self.replaced(rel.left), rel.right)
        if isinstance(rel, WordCast) and rel.result:
            return WordCast(self.replaced(rel.result), rel.parts)
        return rel

    def replaced(self, word: Word) -> Word:
        at = self.random.randrange(len(word))
        return (*word[:at], self.item(), *word[at + 1 :])


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value


# --- laws -----------------------------------------------------------------------------------------


def broken_laws(seed: int, search: bool = True) -> Iterator[str]:
    """What is wrong with how the solver treats a system, in words."""
    drawn = draw(seed)
    forward, backward = _solved(drawn, 1), _solved(drawn, -1)
    if max(forward.work, backward.work) >= MOST_WORK:
        yield "does not end in the steps that it has"
        return
    if bool(forward.conflicts) != bool(backward.conflicts):
        yield "has another verdict in the opposite order"
    if drawn.planted and forward.conflicts:
        yield f"is rejected, but {drawn.values} is a solution"
    if search and forward.conflicts and len(drawn.system.shape_names) < 3:
        found = solutions(drawn.system)
        if found:
            yield f"is rejected, but {dict(zip(drawn.system.names, found[0], strict=True))}"
    yield from _with_values(drawn)


def _solved(drawn: Drawn, step: int) -> Store:
    return _post(World(drawn.system), drawn.system.relations[::step])


def _post(world: World, relations: tuple[Rel, ...]) -> Store:
    store = new_store(levels=False, most=MOST_WORK)
    for relation in chain.from_iterable(map(world.relations, relations)):
        store.post(relation)
    return store


def _with_values(drawn: Drawn) -> Iterator[str]:
    """With every variable known, as at a call, everything is decided, and rightly."""
    world = World(drawn.system)
    store = _post(world, drawn.system.relations)
    for name, var in world.dim_vars.items():
        store.post(DimEq(var, _number(drawn.values[name])))
    for name, shape in world.shape_vars.items():
        value = drawn.values[name]
        assert isinstance(value, tuple)
        store.post(ShapeEq((shape,), value))
    expected = all(holds(rel, drawn.values) for rel in drawn.system.relations)
    if expected and (store.conflicts or store.waiting):
        yield f"is not decided, or wrongly, at {drawn.values}"
    if not expected and not store.conflicts:
        yield f"is accepted at {drawn.values}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("count", type=int)
    parser.add_argument("--start", type=int, default=0)
    options = parser.parse_args()
    start, broken = time.monotonic(), 0
    for seed in range(options.start, options.start + options.count):
        for law in broken_laws(seed):
            broken += 1
            print(f"{seed}: {draw(seed).system} {law}", flush=True)
    taken = time.monotonic() - start
    print(f"{options.count:,} systems, {broken} broken laws, {taken:.0f} s")
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
