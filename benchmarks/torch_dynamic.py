"""Does Axon name the line that fixes a size? Programs with a size that their author wanted free.

    python benchmarks/torch_dynamic.py [--corpus DIR] [-v]

Of each program the true line is known. Asked are the archive with fixed sizes, the one that was
exported with Dim.AUTO, and, where PyTorch is installed, the module itself. The answer counts if the
first line for a size that was wanted free is the true one. The argument for `torch.export` counts
if PyTorch exports the module with it. The programs stay outside the repository; without them there
is nothing to do.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import warnings
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import axon
from axon.importers.formats import read_model
from axon.importers.torch.dynamic.table import Dynamic

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "pt2" / "bugs"
LEAST = 9
"""Of ten, with the module at hand."""


def named(found: Dynamic, truth: dict[str, Any]) -> bool:
    """Whether a size that was wanted free is not, and the true line is the first given for it."""
    wanted = [found.inputs[name][int(i)] for name, axes in truth["wanted"].items() for i in axes]
    return any([p.short for p in each.places][:1] == [truth["cause"]] for each in wanted)


def of_archive(file: Path, truth: dict[str, Any]) -> str:
    if not file.exists():
        return "no archive"
    found = read_model(str(file)).dynamic()
    assert found is not None
    return "named" if named(found, truth) else "not named"


def loaded(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def of_module(file: Path, truth: dict[str, Any]) -> tuple[str, str]:
    """Whether the line is named, and whether PyTorch takes the argument."""
    source = loaded(file)
    module, inputs = source.Model().eval(), source.example()
    try:
        found = axon.from_torch(module, *inputs).dynamic
    except axon.AxonError as problem:
        return ("named" if truth["cause"] in str(problem) else "not named"), "no export"
    return ("named" if named(found, truth) else "not named"), taken(module, inputs, found)


def taken(module: Any, inputs: tuple[Any, ...], found: Dynamic) -> str:
    """What PyTorch says of the argument."""
    import torch

    if not found.argument.text:
        return "none"
    names: dict[str, Any] = {"Dim": torch.export.Dim}
    exec("\n".join(found.argument.lines), names)
    try:
        torch.export.export(
            module, inputs, dynamic_shapes=eval(found.argument.text, names), strict=False
        )
    except Exception as problem:
        return f"refused: {str(problem).splitlines()[0]}"
    return "taken"


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--corpus", type=Path, default=CORPUS)
    options = parser.parse_args()
    truths = {path: json.loads(path.read_text()) for path in sorted(options.corpus.glob("*.json"))}
    if not truths:
        print(f"there are no programs at {options.corpus}")
        return 0
    warnings.simplefilter("ignore")
    at_hand = importlib.util.find_spec("torch") is not None
    counts: Counter[str] = Counter()
    print("| program | recorded | fixed sizes | Dim.AUTO | module | its argument | PyTorch |")
    print("|---|---|---|---|---|---|---|")
    for path, truth in truths.items():
        archives = [path.with_suffix(".pt2"), path.with_name(f"{path.stem}__auto.pt2")]
        kept = bool(truth.get("nodes_at_cause"))
        said = [of_archive(each, truth) for each in archives]
        module, argument = of_module(path.with_suffix(".py"), truth) if at_hand else ("-", "-")
        own = "named" if truth["complaint_names_file_line"] else "not named"
        print(
            f"| {path.stem} | {'yes' if kept else 'no'} | {said[0]} | {said[1]} | {module} "
            f"| {argument} | {own} |",
            flush=True,
        )
        counts["recorded"] += kept
        counts["archive"] += kept and "named" in said
        counts["module"] += module == "named"
        counts["refused"] += argument.startswith("refused")
    print(
        f"from the archive {counts['archive']} of {counts['recorded']} whose line is in it"
        + (f"; with the module {counts['module']} of {len(truths)}" if at_hand else "")
    )
    short = at_hand and counts["module"] * 10 < LEAST * len(truths)
    return int(counts["archive"] < counts["recorded"] or short or counts["refused"] > 0)


if __name__ == "__main__":
    sys.exit(main())
