"""Real PyTorch programs with the true shape of every value: how many does Axon get right?

    python benchmarks/torch_corpus.py [--settings bcs] [--level aten] [--models REGEX] \
        [--table FILE]

The corpus and its scorer stay outside the repository; without them there is nothing to do. In
setting b the sizes of inputs are as declared, in c not even those, and s is c with the inputs that
Axon suggests; what PyTorch wrote about other values is taken out of the files.
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

from axon.importers.formats import read_model
from axon.importers.reporting.report import Report, report_on
from axon.importers.reporting.suggest import suggest
from axon.workspace import workspace

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "pt2"
HEADING = """# Real PyTorch programs, one by one

How many values have the right shape, of {count} programs that `torch.export` made of {models}
models, as exported (aten) and after `run_decompositions()` (core). What PyTorch wrote about the
sizes of values is taken out first, and then what is declared too. A shape is right if it has the
true sizes in every run, from the sizes of the inputs alone, or where only a run can tell,
consistently from it. The rank of an input is found if it follows from the program; where it does
not, Axon suggests one that it has tried.

Written by `python benchmarks/torch_corpus.py --table docs/pytorch-models.md`.
"""
WORDS = {"b": "input dims only", "c": "nothing", "s": "suggested inputs"}


def scorer(corpus: Path) -> Any:
    """The corpus's own `score_pt2.py`."""
    spec = importlib.util.spec_from_file_location("score_pt2", corpus / "score_pt2.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def inferred(path: str, forget: bool, suggested: bool) -> Report:
    """What there is to know about a program, with the inputs suggested for it or without."""
    model = read_model(path)
    with workspace():
        found = model.imported(forget, program=False)
        said = suggest(model.name, found, forget) if suggested else {}
        found = model.imported(forget, said, program=False) if said else found
        return report_on(found, model.name, forget, suggesting=False)


def answer(score: Any, path: str, setting: str, lacking: Counter[str]) -> Any:
    report = inferred(path, setting != "b", setting == "s")
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
        "| what is declared | right | wrong | whole programs right | input ranks | seconds |",
        "|---|---|---|---|---|---|",
    ]
    for setting in dict.fromkeys(row["setting"] for row in rows):
        mine = [row for row in rows if row["setting"] == setting]
        count, best, wrong, ranks, inputs, seconds = (
            sum(row[key] for row in mine)
            for key in ("n", "best", "wrong", "in_rank", "in_n", "seconds")
        )
        whole = sum(row["best"] == row["n"] for row in mine)
        lines.append(
            f"| {WORDS[setting]} | {100 * best / max(count, 1):.2f}% of {count} | {wrong} "
            f"| {whole} of {len(mine)} | {ranks} of {inputs} | {seconds:.1f} |"
        )
    return "\n".join(lines) + "\n"


def table(rows: list[dict[str, Any]]) -> str:
    """A line for each program."""
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    ranked = [setting for setting in settings if setting != "b"]
    ranks = ["ranks found", "right with suggestions"][: len(ranked)]
    lines = [
        f"| program | values | {' | '.join([*(WORDS[s] for s in settings), *ranks])} |",
        "|---" * (len(settings) + len(ranks) + 2) + "|",
    ]
    by_program: dict[str, dict[str, dict[str, Any]]] = {}
    for row in rows:
        by_program.setdefault(row["model"], {})[row["setting"]] = row
    for name, each in sorted(by_program.items()):
        cells = [name, str(next(iter(each.values()))["n"])]
        for setting in settings:
            row = each[setting]
            wrong = f", {row['wrong']} wrong" if row["wrong"] else ""
            cells.append(f"{row['best']}{wrong}")
        cells += [f"{each[s]['in_rank']} of {each[s]['in_n']}" for s in ranked]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    parser.add_argument("--settings", default="bcs")
    parser.add_argument("--level", default="")
    parser.add_argument("--models", default="")
    parser.add_argument("--table", type=Path, help="write the table by program here")
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
        found: list[dict[str, Any]] = []
        for setting in options.settings:
            rows = score.score_corpus(
                lambda path, _, own=setting: answer(score, path, own, lacking),
                str(Path(folder) / "open"),
                "b" if setting == "b" else "c",
                options.level,
                options.models,
                options.v,
            )
            found += [{**row, "setting": setting} for row in rows]
    print(totals(found))
    for row in found:
        wrong = (row["wrong"] or row["in_wrong"]) and row["setting"] != "s"
        if row["error"] or wrong:
            print(f"  {row['model']} {row['setting']}: {row['error'] or row['wrong_list'][:2]}")
    if options.table:
        programs = {row["model"] for row in found}
        models = {name.rpartition(" ")[0] for name in programs}
        heading = HEADING.format(count=len(programs), models=len(models))
        page = f"{heading}\n{totals(found)}\n{table(found)}"
        options.table.write_text(page, encoding="utf-8")
    if lacking:
        print("without a rule:", ", ".join(f"{name} {n}" for name, n in lacking.most_common()))
    return int(any(row["wrong"] or row["in_wrong"] for row in found if row["setting"] != "s"))


if __name__ == "__main__":
    sys.exit(main())
