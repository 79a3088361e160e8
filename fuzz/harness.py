"""What the fuzzers share: seeds from the golden programs, a folder to keep what was found.

    FUZZ_SEED=7 python fuzz/syntax.py [SECONDS] [file of an earlier crash]

The same seed gives the same inputs, in a fresh checkout and as far as the seconds reach; without
one, or with 0, it is drawn by chance and printed. A fuzzer ends with status 0 if nothing was found.
What breaks it is left in `.fuzz/<name>/`.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

try:
    import atheris
except ImportError:  # where it cannot be installed, chance stands in for coverage
    atheris = None

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 4096
WORDS = (
    "fn (x) { ", "op f : ", "where ", "import ", " -> ", " = ", "broadcast(", "axis=-1",
    "s@[n]", "[n]@s", "t s", "shape s", "dim n", "?k", "*", "min(n,2)", "n mod 2", "size(s)",
    "rank(s)", "concat(", "reshape(", "split(x, parts=2)", "map(", "loop(", "reduce(+, 0f, ",
    "slice(x, start=1)", "conv(", "matmul(", "nonzero(", ">= 1", "# c\n", "};\n",
    "{ w = e, b = e }", "{ p | w = e }", "{ r | w : f32 [d] }", "{ w, b } = p;", ".w", ".0",
    "type P(d) = ", "if c { ", " } else { ", " and ", " or ", "not ", "**", "//", "%", " |> ",
    "x[0]", "x[:, 1:n]", "[..., None]", "[::2]", "x[ids]", "[1.0, 2.0]", "[[1,2],[3,4]]",
    "fn (x, eps = 1e-5) { ", "true", "fold(", "scan(", "either(p, q)", "split_key(k)",
    "dropout(x, key=k, rate=0.1)", "uniform(k, [b,n])", "key u32 [2]",
)  # fmt: skip
SLOWEST = 25
"""Seconds for one input; the instrumented code is several times slower than the plain one."""


def installed() -> bool:
    """Whether inputs can be chosen by coverage."""
    return atheris is not None


def instrumented() -> AbstractContextManager[object]:
    """What is imported inside is watched."""
    return atheris.instrument_imports(include=["axon"]) if atheris else contextlib.nullcontext()


def chosen_seed() -> int:
    """The seed of `FUZZ_SEED`, or one by chance."""
    text = os.environ.get("FUZZ_SEED", "0")
    if not text.isdecimal() or int(text) >= 1 << 32:
        sys.exit(f"FUZZ_SEED is a number below 2**32, or 0 for one by chance, and not {text!r}")
    seed = int(text) or random.SystemRandom().randrange(1, 1 << 32)
    print(f"FUZZ_SEED={seed}", flush=True)
    return seed


def by_chance(
    name: str, one: Callable[[bytes], object], make: Callable[[random.Random], bytes]
) -> None:
    """Inputs that are drawn, for as many seconds; the same ones for each seed."""
    folder = ROOT / ".fuzz" / name
    folder.mkdir(parents=True, exist_ok=True)
    seconds, *crashes = sys.argv[1:] or ["60"]
    for path in crashes:
        one(Path(path).read_bytes())
    chance, end, count = random.Random(chosen_seed()), time.monotonic() + float(seconds), 0
    while not crashes and time.monotonic() < end:
        data = make(chance)
        try:
            one(data)
        except BaseException:
            (folder / "crash").write_bytes(data)
            raise
        count += 1
    print(f"stat::number_of_executed_units: {count}")


def run(
    name: str,
    one: Callable[[bytes], None],
    seeds: bool = True,
    more: Sequence[bytes] = (),
) -> None:
    folder = ROOT / ".fuzz" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for number, data in enumerate(more):
        (corpus / f"seed-{number}").write_bytes(data)
    if seeds:
        for path in sorted((ROOT / "tests" / "golden").rglob("*.axon")):
            flat = "-".join(path.relative_to(ROOT / "tests" / "golden").parts)
            (corpus / flat).write_bytes(path.read_bytes())
    words = folder / "words"
    words.write_text("".join(f'"{w}"\n'.replace('\n"', '\\x0a"') for w in WORDS))
    seconds, *crashes = sys.argv[1:] or ["60"]
    arguments = [
        sys.argv[0],
        f"-max_total_time={seconds}",
        f"-seed={chosen_seed()}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOWEST}",
        f"-artifact_prefix={folder}/",
        *([f"-dict={words}"] if seeds or more else []),
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
        "-verbosity=0",
        *(crashes or [str(corpus)]),
    ]
    atheris.Setup(arguments, one)
    atheris.Fuzz()
