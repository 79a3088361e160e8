"""How does the solver scale? Seconds, memory, constraints per second and growth by family.

    python benchmarks/solver.py [--most N] [--family NAME] [--profile]

The exponent is the slope of the line that fits the sizes best in log-log scale; a family whose
exponent passes 1.15, in time or in memory, makes the run fail. Each measurement has a process of
its own; a size that would take longer than two minutes, as the one before it tells, is left out.
`--profile` shows what the largest size of a family spends its time on.
"""

from __future__ import annotations

import argparse
import cProfile
import gc
import math
import pstats
import random
import resource
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from typing import NamedTuple

from axon.driver import check
from axon.solver.rules import new_store
from axon.source import Source
from axon.types import dim as dims
from axon.types.dim import Dim, Mono
from axon.types.show import Show
from axon.types.type import Broadcast, DimEq, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar

Family = Callable[[int], Iterator[Relation]]
LIMIT = 1.15
MOST_SECONDS = 120


class Row(NamedTuple):
    size: int
    seconds: float
    megabytes: float


def chain(n: int) -> Iterator[Relation]:
    """x0 = x1, x1 = x2, …, and at the end a constant."""
    variables = [DimVar() for _ in range(n)]
    for a, b in pairwise(variables):
        yield DimEq(a, b)
    yield DimEq(variables[-1], 7)


def chain_backwards(n: int) -> Iterator[Relation]:
    """The same from the other end: the constant first."""
    yield from reversed(list(chain(n)))


def shuffled_chain(n: int) -> Iterator[Relation]:
    """The same in no order."""
    relations = list(chain(n))
    random.Random(1).shuffle(relations)
    yield from relations


def steps(n: int) -> Iterator[Relation]:
    """x1 = x0 + 1, x2 = x1 + 1, …, known from the far end."""
    variables = [DimVar() for _ in range(n)]
    for a, b in pairwise(variables):
        yield DimEq(b, dims.add(a, 1))
    yield DimEq(variables[-1], n + 5)


def fan(n: int) -> Iterator[Relation]:
    """One variable equated with many, then known."""
    hub = DimVar()
    for _ in range(n):
        yield DimEq(hub, DimVar())
    yield DimEq(hub, 3)


def shapes(n: int) -> Iterator[Relation]:
    """s@[m,k] = [a,b,c], as every matrix product asks."""
    for _ in range(n // 5):
        yield ShapeEq((ShapeVar(), DimVar(), DimVar()), (DimVar(), 3, DimVar()))


def shape_chain(n: int) -> Iterator[Relation]:
    """A shape passed on through operators that keep it, its rank known at the end."""
    last = ShapeVar()
    for _ in range(n):
        new = ShapeVar()
        yield ShapeEq((last,), (new,))
        last = new
    yield ShapeEq((last,), (2, 3, 4))


def appends(n: int) -> Iterator[Relation]:
    """A batch of growing rank, to a depth of 16, again and again."""
    for _ in range(n // 17):
        last = ShapeVar()
        for _ in range(16):
            new = ShapeVar()
            yield ShapeEq((new,), (last, DimVar()))
            last = new
        yield ShapeEq((last,), tuple(range(20)))


def doublings(n: int) -> Iterator[Relation]:
    """x1 = 2*x0, x2 = 2*x1, … in towers of 18: what takes the paper's literal rules 37 s each."""
    for _ in range(n // 19):
        last: Dim = DimVar()
        for _ in range(18):
            new = DimVar()
            yield DimEq(new, dims.add(last, last))
            last = new
        yield DimEq(last, 1 << 20)


def strides(n: int) -> Iterator[Relation]:
    """A stride-2 convolution, then a resize by 2, in chains of 32 pairs."""
    for _ in range(n // 64):
        size: Dim = DimVar()
        for _ in range(32):
            half, back = DimVar(), DimVar()
            yield DimEq(half, dims.add(dims.floordiv(dims.sub(size, 1), 2), 1))
            yield DimEq(back, dims.scale(2, half))
            size = back


def dense(n: int) -> Iterator[Relation]:
    """Linear systems of 12 equations in 12 variables, with every coefficient from 2 to 9."""
    source = random.Random(2)
    for _ in range(n // 12):
        variables = [DimVar() for _ in range(12)]
        values = [source.randrange(9) for _ in variables]
        for _ in range(12):
            row = [source.randrange(2, 10) for _ in variables]
            left: Dim = 0
            for c, v in zip(row, variables, strict=True):
                left = dims.combine(left, c, v)
            yield DimEq(left, sum(c * x for c, x in zip(row, values, strict=True)))


def wide_sum(n: int) -> Iterator[Relation]:
    """One sum of many sizes, none with coefficient 1, which become known one by one."""
    variables = [DimVar() for _ in range(n)]
    terms: dict[Mono, int] = {(v,): 2 + i % 3 for i, v in enumerate(variables)}
    yield DimEq(dims.from_terms(dict(terms)), 5 * sum(terms.values()))
    for v in variables:
        yield DimEq(v, 5)


def wide_concat(n: int) -> Iterator[Relation]:
    """The size of a concatenation of many, which become known one by one."""
    variables = [DimVar() for _ in range(n)]
    yield DimEq(DimVar(), dims.from_terms({(v,): 1 for v in variables}))
    for v in variables:
        yield DimEq(v, 5)


def broadcasts(n: int) -> Iterator[Relation]:
    """Broadcasts that wait for both their parts."""
    for _ in range(n):
        yield Broadcast((ShapeVar(),), ((ShapeVar(),), (ShapeVar(),)))


def broadcast_chain(n: int) -> Iterator[Relation]:
    """x0 + x1 + x2 + …, all of unknown shape, then the first of them known."""
    first = last = ShapeVar()
    for _ in range(n):
        new = ShapeVar()
        yield Broadcast((new,), ((last,), (ShapeVar(),)))
        last = new
    yield ShapeEq((first,), (4, 5))


def broadcast_two(n: int) -> Iterator[Relation]:
    """x + y + x + y + …: two shapes, one result."""
    x, y = ShapeVar(), ShapeVar()
    last = x
    for i in range(n):
        new = ShapeVar()
        yield Broadcast((new,), ((last,), (x if i % 2 else y,)))
        last = new


def products(n: int) -> Iterator[Relation]:
    """a*b = 6*c, as a reshape asks, stuck until a is known; then b until c is."""
    rows = [(DimVar(), DimVar(), DimVar()) for _ in range(n // 3)]
    for a, b, c in rows:
        yield DimEq(dims.mul(a, b), dims.scale(6, c))
    for a, _, _ in rows:
        yield DimEq(a, 4)
    for _, _, c in rows:
        yield DimEq(c, 2)


FAMILIES: dict[str, Family] = {
    "chain": chain,
    "chain backwards": chain_backwards,
    "shuffled chain": shuffled_chain,
    "steps": steps,
    "fan": fan,
    "shapes": shapes,
    "shape chain": shape_chain,
    "appends": appends,
    "doublings": doublings,
    "strides": strides,
    "dense": dense,
    "wide sum": wide_sum,
    "wide concat": wide_concat,
    "broadcasts": broadcasts,
    "broadcast chain": broadcast_chain,
    "broadcast of two": broadcast_two,
    "products": products,
}
USES = "uses of a scheme"


def solve(relations: list[Relation]) -> float:
    gc.collect()
    gc.disable()
    start = time.process_time()
    store = new_store()
    for relation in relations:
        store.post(relation)
    taken = time.process_time() - start
    gc.enable()
    assert not store.conflicts
    return taken


def uses(size: int) -> float:
    """A program that uses one function with conditions, again and again, on shapes not known."""
    lines = ["f = fn(x, y) { softmax(x + y) * y };", "g = fn(x, y) {", "  v0 = x;"]
    lines += [f"  v{i} = f(v{i - 1}, y);" for i in range(1, size)]
    source = Source("uses.axon", "\n".join([*lines, f"  v{size - 1}", "}"]))
    start = time.process_time()
    checked = check(source)
    taken = time.process_time() - start
    assert not checked.diagnostics
    return taken


def once(name: str, size: int) -> float:
    return uses(size) if name == USES else solve(list(FAMILIES[name](size)))


def measure(name: str, sizes: list[int]) -> list[Row]:
    rows: list[Row] = []
    for size in sizes:
        if rows and rows[-1].seconds * size / rows[-1].size > MOST_SECONDS:
            break
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append(pool.submit(_measured, name, size).result())
    return rows


def _measured(name: str, size: int) -> Row:
    before = _peak()
    times = 3 if size <= 20_000 else 1
    seconds = min(once(name, size) for _ in range(times))
    return Row(size, seconds, _peak() - before)


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def exponents(rows: list[Row]) -> tuple[float, float | None]:
    """Of time, and of memory where there is enough of it to tell."""
    large = [(math.log(r.size), math.log(r.megabytes)) for r in rows if r.megabytes > 8]
    return (
        _slope([(math.log(r.size), math.log(r.seconds)) for r in rows]),
        _slope(large) if len(large) > 1 else None,
    )


def print_profile(name: str, size: int) -> None:
    profile = cProfile.Profile()
    profile.runcall(once, name, size)
    print(f"-- {name}, {size:,}")
    pstats.Stats(profile).sort_stats("tottime").print_stats(12)


def _slope(points: list[tuple[float, float]]) -> float:
    """Of the straight line that fits the points best."""
    x0 = sum(x for x, _ in points) / len(points)
    y0 = sum(y for _, y in points) / len(points)
    return sum((x - x0) * (y - y0) for x, y in points) / sum((x - x0) ** 2 for x, _ in points)


def print_pairs() -> None:
    """One chain of stride-2 convolutions and resizes, longer and longer."""
    print()
    for pairs in (2, 4, 8, 16, 32, 64):
        height = DimVar("h", user=True)
        start = time.process_time()
        store = new_store()
        size: Dim = height
        for _ in range(pairs):
            half, back = DimVar(), DimVar()
            store.post(DimEq(half, dims.add(dims.floordiv(dims.sub(size, 1), 2), 1)))
            store.post(DimEq(back, dims.scale(2, half)))
            size = back
        text = Show().dim(store.dim(size))
        taken = time.process_time() - start
        print(f"{pairs:>3} stride-2/resize pairs   {1000 * taken:7.2f} ms   {text}")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--most", type=int, default=100_000)
    parser.add_argument("--family", default="")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    sizes = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= options.most]
    names = [name for name in (*FAMILIES, USES) if options.family in name]
    failed = False
    print(f"{'family':<18}{'constraints':>12}{'seconds':>10}{'MB':>7}{'per second':>12}")
    for name in names:
        rows = measure(name, sizes)
        for row in rows:
            speed = row.size / row.seconds
            print(
                f"{name:<18}{row.size:>12,}{row.seconds:>10.3f}{row.megabytes:>7.0f}{speed:>12,.0f}"
            )
        if len(rows) > 1:
            time_grows, memory_grows = exponents(rows)
            memory = "" if memory_grows is None else f", memory n^{memory_grows:.2f}"
            print(f"{name:<18}time n^{time_grows:.2f}{memory}", flush=True)
            failed = failed or time_grows > LIMIT or (memory_grows or 0) > LIMIT
        if options.profile:
            print_profile(name, rows[-1].size)
    if not options.family:
        print_pairs()
    if failed:
        print(f"some family grows faster than n^{LIMIT}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
