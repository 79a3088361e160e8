"""How long does inference of shapes take, next to other tools? One run, in turns, in process.

    python benchmarks/onnx_peers.py [--corpus DIR] [--only NAME …] [--rounds N]
    python benchmarks/onnx_peers.py --stack [--sizes N …]

Of each model only the dims of the inputs are left declared. The tools are Axon, onnx (C++, with
data propagation), onnxruntime's symbolic inference and onnx-shape-inference (both in Python); those
not installed are left out. Each begins with the model as onnx has it in memory, and ends when it
has said what it knows; reading and copying the model does not count. The last one cannot begin with
that, so the making of its own form of the model counts; how long it takes without it is shown too.
The least of the rounds counts. Who raises an exception (!), or does not even tell the rank of some
output of the model (?), was not faster at the same work. `--stack` is a transformer of 1,000 to
50,000 nodes, on Axon and onnx.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import io
import logging
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import onnx
from onnx_models.shared import bare, copied
from onnx_models.stack import stack

from axon.importers.formats import of_onnx
from axon.inference import infer as inference

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "open"
SIZES = (1_000, 5_000, 10_000, 50_000)


@dataclass(frozen=True, slots=True)
class Tool:
    """`prepare` makes what `infer` is given, and does not count; `ranked` tells of what came back
    whether it has the rank of each output. One that is only `shown` is not compared with.
    """

    name: str
    infer: Callable[[Any], Any]
    prepare: Callable[[Any], Any]
    ranked: Callable[[Any, Any], bool]
    is_python: bool = True
    shown: bool = False


@dataclass(frozen=True, slots=True)
class Timing:
    seconds: float
    mark: str = " "
    """What it did not do: `!` if it raised an exception, `?` if an output has no rank."""


def tools() -> list[Tool]:
    """Axon, and what of the others is installed."""
    found = [
        Tool("axon", lambda model: of_onnx(model, "model").report(), copied, _reported),
        Tool("onnx", _onnx, copied, _declared, is_python=False),
    ]
    if _installed("onnxruntime", "sympy"):
        from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

        def symbolic(model: Any) -> Any:
            """As its `infer_shapes` does, which would also save the model when it gives up."""
            with contextlib.redirect_stdout(io.StringIO()):
                inference = SymbolicShapeInference(2**31 - 1, True, False, 0)
                inference._preprocess(model)
                done = False
                while inference.run_:
                    done = inference._infer_impl()
                inference._update_output_from_vi()
            if not done:
                raise ValueError("incomplete")
            return inference.out_mp_

        found.append(Tool("onnxruntime", symbolic, copied, _declared))
    if _installed("onnx_shape_inference", "onnx_ir"):
        import onnx_ir
        import onnx_shape_inference

        def infer(model: Any) -> Any:
            onnx_shape_inference.infer_symbolic_shapes(model)
            return model

        whole = lambda model: infer(onnx_ir.from_proto(model))  # noqa: E731
        found.append(Tool("onnx-shape-inference", whole, copied, _held))
        found.append(Tool("its inference alone", infer, onnx_ir.from_proto, _held, shown=True))
    return found


def _reported(report: Any, model: Any) -> bool:
    return all(report.tensors[o.name].shape is not None for o in _tensors(model))


def _declared(made: Any, model: Any) -> bool:
    names = {o.name for o in _tensors(model)}
    given = (o.type.tensor_type for o in made.graph.output if o.name in names)
    return all(type_.HasField("shape") for type_ in given)


def _held(made: Any, model: Any) -> bool:
    names = {o.name for o in _tensors(model)}
    return all(o.shape is not None for o in made.graph.outputs if o.name in names)


def _tensors(model: Any) -> list[Any]:
    """The outputs that are tensors."""
    return [o for o in model.graph.output if o.type.HasField("tensor_type")]


def _onnx(model: Any) -> Any:
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


def _installed(*names: str) -> bool:
    return all(importlib.util.find_spec(name) is not None for name in names)


def _is_compiled() -> bool:
    return inference.__file__.endswith(tuple(EXTENSION_SUFFIXES))


def measure(model: Any, among: list[Tool], rounds: int) -> dict[str, Timing]:
    """The least time of each tool, taking turns."""
    least: dict[str, Timing] = {}
    gc.freeze()
    for _ in range(rounds):
        for tool in among:
            given = tool.prepare(model)
            gc.collect()  # what others have left does not count
            began = time.perf_counter()
            made: Any = None
            try:
                made = tool.infer(given)
            except Exception:  # each has troubles of its own; how long it took to find them counts
                mark = "!"
            taken = time.perf_counter() - began
            if made is not None:
                mark = " " if tool.ranked(made, model) else "?"
            if tool.name not in least or taken < least[tool.name].seconds:
                least[tool.name] = Timing(taken, mark)
    return least


def row(name: str, timings: dict[str, Timing]) -> str:
    axon, *others = timings.values()
    cells = "".join(
        f"{1e3 * t.seconds:>12.1f} ms{axon.seconds / t.seconds:>9.2f}x{t.mark}" for t in others
    )
    return f"{name:<44}{1e3 * axon.seconds:>9.1f} ms{axon.mark}{cells}"


def on_corpus(paths: list[Path], rounds: int) -> int:
    among = tools()
    print(f"Axon is {'compiled' if _is_compiled() else 'plain Python'}")
    print(f"{'':<44}{'axon':>12} " + "".join(f"{t.name:>25} " for t in among[1:]))
    every = []
    for path in paths:
        every.append(measure(bare(onnx.load(path)), among, rounds))
        print(row(path.stem, every[-1]), flush=True)
    print(row(f"{len(every)} models", {t.name: _total(e[t.name] for e in every) for t in among}))
    print("milliseconds, and Axon's time as a multiple; ! it raised an exception, ? an output open")
    fine = True
    for tool in among:
        marks = [e[tool.name].mark for e in every]
        text = f"{tool.name} raises on {marks.count('!')} models, leaves an output open on "
        print(f"{text}{marks.count('?')}", end="")
        if tool.name == "axon":
            fine = "!" not in marks
            print()
            continue
        faster = [e[tool.name].mark for e in every if e["axon"].seconds > e[tool.name].seconds]
        print(f"; faster on {len(faster)}, and {faster.count(' ')} of those it does whole")
        if tool.is_python and not tool.shown:
            fine = fine and " " not in faster
    return 0 if fine else 1


def _total(timings: Iterable[Timing]) -> Timing:
    return Timing(sum(each.seconds for each in timings))


def on_stack(sizes: list[int], rounds: int) -> int:
    among = [tool for tool in tools() if tool.name in ("axon", "onnx")]
    measure(stack(1), among, 1)  # both warm up
    print(f"{'nodes':>8}{'axon':>12}{'onnx':>12}{'ratio':>9}{'growth':>9}")
    before: tuple[int, float] | None = None
    first: tuple[int, float] | None = None
    for size in sizes:
        model = stack(size)
        nodes = len(model.graph.node)
        timings = measure(model, among, rounds)
        axon, other = timings["axon"].seconds, timings["onnx"].seconds
        growth = f"{_exponent(before, (nodes, axon)):>9.2f}" if before else ""
        failed = " (raised an exception)" if any(t.mark == "!" for t in timings.values()) else ""
        print(
            f"{nodes:>8}{axon:>10.3f} s{other:>10.3f} s{axon / other:>8.1f}x{growth}{failed}",
            flush=True,
        )
        before = nodes, axon
        first = first or before
    if first and before and first != before:
        print(f"Axon's time grows with the power {_exponent(first, before):.2f} of the nodes")
    return 0


def _exponent(first: tuple[int, float], last: tuple[int, float]) -> float:
    return math.log(last[1] / first[1]) / math.log(last[0] / first[0])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="a folder of models")
    parser.add_argument("--only", nargs="*", help="parts of the names of models")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--stack", action="store_true", help="a transformer of growing depth")
    parser.add_argument(
        "--sizes", type=int, nargs="*", default=SIZES, help="of the stack, in nodes"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    if options.stack:
        return on_stack(options.sizes, options.rounds)
    paths = sorted(options.corpus.glob("*.onnx"))
    if not paths:
        print(f"There are no models in {options.corpus}, so nothing is measured.")
        return 0
    if options.only:
        paths = [path for path in paths if any(part in path.stem for part in options.only)]
    return on_corpus(paths, options.rounds)


if __name__ == "__main__":
    sys.exit(main())
