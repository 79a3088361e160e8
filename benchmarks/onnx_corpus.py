"""Real models with the true shape of every tensor: how many does Axon get right?

    python benchmarks/onnx_corpus.py [--corpus DIR] [--settings bc] [--table FILE]

The corpus and its scorer stay outside the repository; without them there is nothing to do. The
settings: a is a model as it was exported, b has the dims of the inputs and no other annotation, c
not even those, and s is c with the inputs that Axon suggests.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from axon.importers.formats import of_onnx
from axon.importers.onnx.load import read_model
from axon.importers.reporting.report import Report, report_on
from axon.importers.reporting.suggest import suggest

CORPUS = Path(__file__).parents[2] / "shared" / "corpus"
HEADING = """# Real models, one by one

How many tensors have the right shape, of 151 models from PyTorch's two exporters, JAX and by hand,
with what is declared taken away step by step. A shape is right if it has the true sizes in every
run, from the sizes of the inputs alone, or where only a run can tell, consistently from it.

Written by `python benchmarks/onnx_corpus.py --table docs/onnx-models.md`.
"""
WORDS = {"a": "as exported", "b": "input dims only", "c": "nothing", "s": "suggested inputs"}


def scorer(corpus: Path) -> Any:
    """The corpus's own `score.py`."""
    spec = importlib.util.spec_from_file_location("score", corpus / "score.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inferred(path: str, suggested: bool) -> Report:
    model = read_model(path)
    found = of_onnx(model, path).imported(program=False)
    if suggested:
        said = suggest(path, found, False)
        found = of_onnx(model, path).imported(said=said, program=False) if said else found
    return report_on(found, path)


def answer(score: Any, path: str, suggested: bool) -> Any:
    tensors = {
        name: {"shape": None if t.shape is None else list(t.shape), "partial": t.partial}
        for name, t in inferred(path, suggested).tensors.items()
    }
    return score.from_axon({"tensors": tensors, "diagnostics": []})


def rows(score: Any, corpus: Path, settings: str) -> list[dict[str, Any]]:
    found = []
    for setting in settings:
        suggested = setting == "s"
        of_setting = score.score_corpus(
            lambda path, s=suggested: answer(score, path, s),
            str(corpus / "open"),
            "c" if suggested else setting,
        )
        found += [{**row, "setting": setting} for row in of_setting]
    return found


def totals(found: list[dict[str, Any]]) -> str:
    lines = [
        "| what is declared | right | wrong | whole models right | input ranks | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for setting in dict.fromkeys(row["setting"] for row in found):
        mine = [row for row in found if row["setting"] == setting]

        def total(key: str, among: list[dict[str, Any]] = mine) -> Any:
            return sum(row[key] for row in among)

        whole = sum(row["best"] == row["n"] for row in mine)
        lines.append(
            f"| {WORDS[setting]} | {100 * total('best') / total('n'):.2f}% | {total('wrong')} | "
            f"{whole} of {len(mine)} | {total('in_rank')} of {total('in_n')} | "
            f"{total('seconds'):.1f} |"
        )
    return "\n".join(lines) + "\n"


def table(found: list[dict[str, Any]]) -> str:
    """A line for each model."""
    settings = list(dict.fromkeys(row["setting"] for row in found))
    by_model: dict[str, dict[str, dict[str, Any]]] = {}
    for row in found:
        by_model.setdefault(row["model"], {})[row["setting"]] = row
    lines = [
        f"| model | tensors | {' | '.join(WORDS[s] for s in settings)} | input ranks |",
        "|---" * (len(settings) + 3) + "|",
    ]
    for name, each in sorted(by_model.items()):
        some = next(iter(each.values()))
        cells = []
        for setting in settings:
            row = each[setting]
            wrong = f", {row['wrong']} wrong" if row["wrong"] else ""
            cells.append(f"{row['best']}{wrong}")
        ranks = each.get("c", some)
        cells.append(f"{ranks['in_rank']} of {ranks['in_n']}")
        lines.append(f"| {name} | {some['n']} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--settings", default="abcs")
    parser.add_argument("--table", type=Path, help="write the table by model here")
    options = parser.parse_args()
    if not (options.corpus / "score.py").exists():
        print(f"There is no corpus in {options.corpus}: nothing is measured.")
        return 0
    found = rows(scorer(options.corpus), options.corpus, options.settings)
    print(totals(found))
    for row in found:
        if row["error"] or (row["wrong"] and row["setting"] != "s"):
            print(f"{row['model']} ({row['setting']}): {row['error'] or row['wrong_list'][:2]}")
    if options.table:
        page = f"{HEADING}\n{totals(found)}\n{table(found)}"
        options.table.write_text(page, encoding="utf-8")
    return int(any(row["wrong"] for row in found if row["setting"] != "s"))


if __name__ == "__main__":
    sys.exit(main())
