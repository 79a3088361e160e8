"""Real PyTorch programs with the true shape of every value: how many does Axon get right?

    python benchmarks/torch_corpus.py [--settings bc] [--level aten] [--models REGEX] [-v]

The corpus and its scorer stay outside the repository; without them there is nothing to do. In
setting b the sizes of inputs are as declared, in c not even those; what PyTorch wrote about other
values is taken out of the files.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tarfile
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from axon.importers.torch.model import infer_file

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "pt2"


def scorer(corpus: Path) -> Any:
    """The corpus's own `score_pt2.py`."""
    spec = importlib.util.spec_from_file_location("score_pt2", corpus / "score_pt2.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def answer(score: Any, path: str, forget: bool, lacking: Counter[str]) -> Any:
    report = infer_file(path, forget)
    lacking.update(report.unsupported)
    tensors = {
        name: {"shape": None if t.shape is None else list(t.shape), "partial": t.partial}
        for name, t in report.tensors.items()
    }
    errors = [
        {"message": each.message, "severity": str(each.severity.value)}
        for each in report.diagnostics
    ]
    return score.from_axon({"tensors": tensors, "diagnostics": errors})


def totals(rows: list[dict[str, Any]]) -> str:
    lines = [
        "| setting | values | right | wrong | whole programs right | input ranks | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        mine = [row for row in rows if row["setting"] == setting]
        count, best, wrong, ranks, inputs, seconds = (
            sum(row[key] for row in mine)
            for key in ("n", "best", "wrong", "in_rank", "in_n", "seconds")
        )
        whole = sum(row["best"] == row["n"] for row in mine)
        lines.append(
            f"| {setting} | {count} | {100 * best / max(count, 1):.2f}% | {wrong} "
            f"| {whole} of {len(mine)} | {ranks} of {inputs} | {seconds:.1f} |"
        )
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--settings", default="bc")
    parser.add_argument("--level", default="")
    parser.add_argument("--models", default="")
    parser.add_argument("-v", action="store_true")
    options = parser.parse_args()
    if not (options.corpus / "score_pt2.py").exists():
        print(f"there is no corpus at {options.corpus}")
        return 0
    score = scorer(options.corpus)
    lacking: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(options.corpus / "open.tar.xz") as archive:
            archive.extractall(folder, filter="data")
        found = score.score_corpus(
            lambda path, more: answer(score, path, bool(more), lacking),
            str(Path(folder) / "open"),
            options.settings,
            options.level,
            options.models,
            options.v,
        )
    print(totals(found))
    for row in found:
        if row["error"]:
            print(f"  {row['model']} {row['setting']}: {row['error']}")
    if lacking:
        print("without a rule:", ", ".join(f"{name} {n}" for name, n in lacking.most_common()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
