"""What the fuzzers share: seeds from the golden programs, a folder to keep what was found.

    python fuzz/syntax.py [SECONDS] [file of an earlier crash]

A fuzzer ends with status 0 if nothing was found. What breaks it is left in `.fuzz/<name>/`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import atheris

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 4096
WORDS = (
    "fn (x) { ", "op f : ", "where ", "import ", " -> ", " = ", "broadcast(", "axis=-1",
    "s@[n]", "[n]@s", "t s", "shape s", "dim n", "?k", "*", "min(n,2)", "n mod 2", "size(s)",
    "rank(s)", "concat(", "reshape(", "split(x, parts=2)", "map(", "loop(", "reduce(+, 0f, ",
    "slice(x, start=1)", "conv(", "matmul(", "nonzero(", ">= 1", "# c\n", "};\n",
)  # fmt: skip
SLOWEST = 25
"""Seconds for one input; the instrumented code is several times slower than the plain one."""


def run(name: str, one: Callable[[bytes], None], seeds: bool = True) -> None:
    folder = ROOT / ".fuzz" / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
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
        f"-max_len={LONGEST}",
        f"-timeout={SLOWEST}",
        f"-artifact_prefix={folder}/",
        *([f"-dict={words}"] if seeds else []),
        "-rss_limit_mb=4096",
        "-print_final_stats=1",
        "-verbosity=0",
        *(crashes or [str(corpus)]),
    ]
    atheris.Setup(arguments, one)
    atheris.Fuzz()
