"""How does the solver scale? Seconds, constraints per second and the growth exponent by family.

    python benchmarks/solver.py [--most N] [--family NAME]

The exponent is the slope of the line that fits the sizes best in log-log scale; a family whose
exponent passes 1.15 makes the run fail.
"""

from __future__ import annotations

import argparse
import gc
import math
import random
import resource
import time
from collections.abc import Callable, Iterator
from itertools import pairwise

from axon.solver.rules import new_store
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Show
from axon.types.type import Broadcast, DimEq, Relation, ShapeEq
from axon.types.variables import DimVar, ShapeVar

Family = Callable[[int], Iterator[Relation]]
LIMIT = 1.15


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
    terms = {(v,): 2 + i % 3 for i, v in enumerate(variables)}
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
}


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


def measure(family: Family, sizes: list[int]) -> tuple[list[tuple[int, float]], float]:
    rows: list[tuple[int, float]] = []
    for size in sizes:
        times = 3 if size <= 20_000 else 1
        found = [solve(list(family(size))) for _ in range(times)]
        rows.append((size, min(found)))
    return rows, _slope([(math.log(n), math.log(t)) for n, t in rows])


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
    options = parser.parse_args()
    sizes = [n for n in (1_000, 10_000, 100_000, 1_000_000) if n <= options.most]
    failed = False
    print(f"{'family':<18}{'constraints':>12}{'seconds':>10}{'per second':>12}{'exponent':>10}")
    for name, family in FAMILIES.items():
        if options.family not in name:
            continue
        rows, exponent = measure(family, sizes)
        for size, taken in rows:
            last = f"{exponent:10.2f}" if size == rows[-1][0] else ""
            print(f"{name:<18}{size:>12,}{taken:>10.3f}{size / taken:>12,.0f}{last}", flush=True)
        failed = failed or exponent > LIMIT
    if not options.family:
        print_pairs()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"memory at the peak: {peak} MB")
    if failed:
        print(f"some family grows faster than n^{LIMIT}")
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
