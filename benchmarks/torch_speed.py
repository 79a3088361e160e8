"""Nodes in a second: PyTorch programs and ONNX models, read and inferred; torch.export itself.

    python benchmarks/torch_speed.py [--programs GLOB] [--models GLOB]

Without corpora beside the repository the examples are taken. The same modules are exported, to see
how long PyTorch takes, if it is installed. The figure for Axon is of a process that has started:
the best of three rounds over all files.
"""

from __future__ import annotations

import argparse
import glob
import runpy
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Any

from axon.importers.formats import read_model

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "corpus"
EXAMPLES = ROOT / "examples"
SLOWEST = 1.2
"""Of the time that ONNX models take: more than noise explains."""


def measured(files: list[str]) -> tuple[int, float, float]:
    """Nodes, and the seconds that reading and inferring take."""
    best = (0, float("inf"), float("inf"))
    for _ in range(3):
        nodes, reading, inferring = 0, 0.0, 0.0
        for file in files:
            begun = time.process_time()
            model = read_model(file)
            read = time.process_time()
            model.report(suggesting=False)
            inferring += time.process_time() - read
            reading += read - begun
            nodes += model.nodes
        if reading + inferring < best[1] + best[2]:
            best = nodes, reading, inferring
    return best


def line(name: str, files: list[str]) -> float:
    nodes, reading, inferring = measured(files)
    rate = nodes / (reading + inferring)
    print(
        f"{name:<18}{len(files):>5} files {nodes:>7} nodes   read {reading:6.2f} s   "
        f"infer {inferring:6.2f} s   {rate:8.0f} nodes/s"
    )
    return rate


def exported() -> float | None:
    """How many nodes torch.export makes in a second, of the modules in the examples."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    nodes, seconds = 0, 0.0
    inputs: dict[str, Any] = {
        "Encoder": torch.zeros(2, 7, dtype=torch.long),
        "Classifier": torch.rand(4, 3, 8, 8),
    }
    for name, given in inputs.items():
        module = runpy.run_path(str(EXAMPLES / "torch" / f"{name.lower()}.py"))[name]().eval()
        torch.export.export(module, (given,))  # what happens only once
        begun = time.process_time()
        program = torch.export.export(module, (given,))
        seconds += time.process_time() - begun
        nodes += sum(node.op == "call_function" for node in program.graph.nodes)
    return nodes / seconds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", default="")
    parser.add_argument("--models", default=str(SHARED / "open" / "*__dynamo.onnx"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if not options.programs and (SHARED / "pt2" / "open.tar.xz").exists():
            with tarfile.open(SHARED / "pt2" / "open.tar.xz") as archive:
                archive.extractall(folder, filter="data")
        programs = sorted(glob.glob(options.programs or f"{folder}/open/*.pt2"))
        models = sorted(glob.glob(options.models))
        ours = line("PyTorch programs", programs or sorted(glob.glob(f"{EXAMPLES}/torch/*.pt2")))
        onnx = line("ONNX models", models or sorted(glob.glob(f"{EXAMPLES}/onnx/encoder.onnx")))
    print(f"node for node, PyTorch programs take {onnx / ours:.2f} of the time of ONNX models")
    theirs = exported()
    if theirs is not None:
        print(f"torch.export: {theirs:.0f} nodes/s; Axon is {ours / theirs:.0f} times as fast")
    return int(onnx / ours > SLOWEST)


if __name__ == "__main__":
    sys.exit(main())
