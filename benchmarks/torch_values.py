"""Do real PyTorch programs compute what PyTorch computed? Outputs compared, program by program.

    python benchmarks/torch_values.py [--corpus DIR] [--models REGEX] [--level aten] \
        [--backend numpy jax]

Weights are those of the program, inputs and outputs were recorded when it was exported. Floats are
equal if no element differs by more than a thousandth (a hundredth in half precision) of the largest
in its tensor; whole numbers and truth values must be the same. The corpus stays outside the
repository; without it there is nothing to do.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import re
import sys
import tarfile
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
from values.difference import difference

import axon

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "pt2"
VERDICTS = ("equal", "random", "only declared", "does not run", "different")
DRAWN = re.compile(
    r"\b(rand|randn|randint|bernoulli|multinomial|normal|randperm|dropout)(_like)?\b"
)


def recorded(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """The inputs by name, and the outputs in their order."""
    with numpy.load(path) as held:
        inputs = {name[3:]: held[name] for name in held if name.startswith("in.")}
        outputs = sorted((n for n in held if n.startswith("out.")), key=lambda n: int(n[4:]))
        return inputs, [held[name] for name in outputs]


def judge(program: Path, values: Path, backend: str) -> tuple[str, str]:
    """A verdict, and why."""
    inputs, true = recorded(values)
    try:
        net = axon.from_torch(str(program), backend=backend)
    except axon.AxonError as problem:
        return "does not run", sentence(problem)
    lacking = declared(net)
    if lacking:
        kind = "random" if all(DRAWN.search(name) for name in lacking) else "only declared"
        return kind, ", ".join(sorted(lacking))
    try:
        found = net.model(*in_order(net, inputs))
    except axon.AxonError as problem:
        return "does not run", sentence(problem)
    every = list(found) if isinstance(found, tuple) else [found]
    for number, (mine, theirs) in enumerate(zip(every[-len(true) :], true, strict=True)):
        how = difference(mine, theirs)
        if how:
            return "different", f"output {number}: {how}"
    return "equal", ""


def declared(net: Any) -> set[str]:
    """The operators that a program only declares."""
    from axon.run.program import _declared

    return _declared(net._module) - set(net._ops)


def in_order(net: Any, inputs: dict[str, Any]) -> list[Any]:
    """The arguments of the program: inputs by name, or by their order."""
    names = net.model.params
    by_name = {name.lower(): value for name, value in inputs.items()}
    if all(name.lower() in by_name for name in names):
        return [by_name[name.lower()] for name in names]
    return list(inputs.values())


def sentence(problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    return " ".join(lines[:2])[:300] or type(problem).__name__


@contextlib.contextmanager
def opened(corpus: Path) -> Iterator[Path]:
    """The folder of the programs: the corpus itself, or what its archive holds."""
    packed = corpus / "open.tar.xz"
    if not packed.exists():
        yield corpus
        return
    with tempfile.TemporaryDirectory() as folder, tarfile.open(packed) as archive:
        archive.extractall(folder, filter="data")
        yield Path(folder) / "open"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--models", default="", help="a regular expression")
    parser.add_argument("--level", default="", help="aten or core")
    parser.add_argument("--backend", nargs="*", default=["numpy", "jax"])
    options = parser.parse_args()
    if not options.corpus.exists():
        print(f"there is no corpus at {options.corpus}")
        return 0
    warnings.simplefilter("ignore")
    backends = [b for b in options.backend if b == "numpy" or importlib.util.find_spec(b)]
    counts = {backend: Counter[str]() for backend in backends}
    with opened(options.corpus) as folder:
        for values in sorted(folder.glob("*.npz")):
            if not re.search(options.models, values.stem):
                continue
            for program in sorted(folder.glob(f"{values.stem}__{options.level or '*'}.pt2")):
                for backend in backends:
                    began = time.perf_counter()
                    verdict, why = judge(program, values, backend)
                    took = time.perf_counter() - began
                    counts[backend][verdict] += 1
                    print(
                        f"{program.stem:34}{backend:6}{took:6.1f} s  {verdict:14}{why}", flush=True
                    )
    for backend, found in counts.items():
        print(f"{backend}: " + ", ".join(f"{found[v]} {v}" for v in VERDICTS if found[v]))
    return int(any(found["different"] for found in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
