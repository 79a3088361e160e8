"""Nodes in a second: PyTorch programs and ONNX models, read and inferred; torch.export itself.

    python benchmarks/torch_speed.py [--programs GLOB] [--models GLOB]

Without corpora beside the repository the examples are taken. Where PyTorch is installed, some of
the programs are exported again from their graphs, with the sizes open that are open in them, to see
how long it takes for the same nodes. The figure for Axon is of a process that has started: the best
of three rounds over all files. All times are of the processor.
"""

from __future__ import annotations

import argparse
import glob
import importlib.util
import io
import logging
import sys
import tarfile
import tempfile
import time
import warnings
import zipfile
from pathlib import Path
from typing import Any

from axon.importers.formats import read_model

ROOT = Path(__file__).parents[1]
SHARED = ROOT.parent / "shared" / "corpus"
EXAMPLES = ROOT / "examples"
SAMPLE = 24
"""Programs that are exported again."""
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


def exported(file: str) -> tuple[int, float] | None:
    """The nodes that torch.export makes of a program that is exported again, and the seconds; None
    if it does not take its own program.
    """
    import torch
    from torch.export import Dim
    from torch.utils import _pytree as pytree

    def example(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        sizes = [size if isinstance(size, int) else size.node.hint for size in value.shape]
        return torch.ones(sizes, dtype=value.dtype)

    def open_sizes(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return None
        return [None if isinstance(size, int) else Dim.AUTO for size in value.shape]

    try:
        program = torch.export.load(with_inputs(file))
        values = {node.name: node.meta.get("val") for node in program.graph.nodes}
        signature = program.graph_signature
        given = [
            values.get(s.arg.name, getattr(s.arg, "value", None))
            for s in signature.input_specs
            if s.kind is torch.export.graph_signature.InputKind.USER_INPUT
        ]
        args, named = pytree.tree_unflatten(given, program.call_spec.in_spec)
        module = program.module(check_guards=False)
        shapes = pytree.tree_map(open_sizes, (*args, *named.values()))
        args, named = pytree.tree_map(example, (args, named))
        begun = time.process_time()
        found = torch.export.export(module, args, named, dynamic_shapes=shapes, strict=False)
        seconds = time.process_time() - begun
    except Exception:  # of any kind, as for a size that PyTorch fixes now
        return None
    return sum(node.op == "call_function" for node in found.graph.nodes), seconds


def with_inputs(file: str) -> io.BytesIO:
    """An archive as torch.export.load takes it, with example inputs, which the corpus leaves out:
    none.
    """
    import torch

    held = io.BytesIO(Path(file).read_bytes())
    with zipfile.ZipFile(held, "a") as archive:
        names = archive.namelist()
        inputs = f"{names[0].partition('/')[0]}/data/sample_inputs/model.pt"
        if inputs not in names:
            none = io.BytesIO()
            torch.save(((), {}), none)
            archive.writestr(inputs, none.getvalue())
    held.seek(0)
    return held


def beside(programs: list[str]) -> None:
    """The same programs, some of them, in Axon and in torch.export, in turns."""
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    exported(programs[0])  # what happens only once
    nodes, taken, seconds, own = 0, [], 0.0, 0.0
    for file in programs[:: max(1, len(programs) // SAMPLE)]:
        found = exported(file)
        if found is None:
            continue
        count, reading, inferring = measured([file])
        nodes, seconds, own = nodes + found[0], seconds + found[1], own + reading + inferring
        taken.append(count)
    print(
        f"{len(taken)} of them again: torch.export {nodes / seconds:.0f} nodes/s, "
        f"Axon {sum(taken) / own:.0f}, {seconds / nodes * sum(taken) / own:.0f} times as fast"
    )


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
        programs = programs or sorted(glob.glob(f"{EXAMPLES}/torch/*.pt2"))
        models = sorted(glob.glob(options.models))
        ours = line("PyTorch programs", programs)
        onnx = line("ONNX models", models or sorted(glob.glob(f"{EXAMPLES}/onnx/encoder.onnx")))
        print(f"node for node, PyTorch programs take {onnx / ours:.2f} of the time of ONNX models")
        if importlib.util.find_spec("torch") is not None:
            beside(programs)
    return int(onnx / ours > SLOWEST)


if __name__ == "__main__":
    sys.exit(main())
