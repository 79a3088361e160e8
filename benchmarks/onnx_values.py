"""Do real models compute what onnxruntime computes? Outputs compared, model by model.

    python benchmarks/onnx_values.py [--corpus DIR] [--only NAME …] [--backend numpy jax]

Weights and inputs are random, and the same on both sides; onnxruntime runs on the CPU with its
optimisations off. Floats are equal if no element differs by more than a thousandth (a hundredth in
half precision) of the largest in its tensor; whole numbers and truth values must be the same. In a
quantised model an integer may be off by one step, where its number lies between two: if its outputs
differ, it is compared from one rounding to the next (`onnx_models/quantised.py`).
Where an output differs, the first tensor of the graph that does is looked for. Each model runs in
another process, and is given up after `--limit` seconds. `--every` compares every tensor.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import onnx
from onnx_models.fill import fill, inputs
from onnx_models.quantised import MADE, cut, off_by_a_step, rounded
from values.difference import difference

import axon

CORPUS = Path(__file__).parents[2] / "shared" / "corpus" / "open"
BETWEEN = 1e-5
"""How near to the middle between two steps a number is that either may be right for, as a part of
the largest number of its tensor: what f32 loses in a sum of some hundred terms.
"""
AT_ONCE = 500
"""A tuple of more outputs could be too large a type."""
VERDICTS = ("equal", "no reference", "takes too long", "does not run", "different")


@dataclass(frozen=True, slots=True)
class Outcome:
    verdict: str
    why: str = ""


class NoReference(Exception):
    """onnxruntime does not run the model."""


def reference(path: Path, given: list[Any]) -> dict[str, Any]:
    """What onnxruntime computes, by the name of the output."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        names = [info.name for info in session.get_inputs()]
        outputs = [info.name for info in session.get_outputs()]
        found = session.run(outputs, dict(zip(names, given, strict=True)))
    except Exception as problem:  # it has a class for each of its troubles, without a common one
        raise NoReference(_sentence(problem)) from None
    return dict(zip(outputs, found, strict=True))


def referred(
    model: Any, truth: dict[str, Any], run: int, path: Path
) -> tuple[list[Any], dict[str, Any]]:
    """Inputs for which onnxruntime computes something, and what that is."""
    for bound in (1 << 30, 2):
        with contextlib.suppress(NoReference):
            given = inputs(model, truth, run, bound)
            return given, reference(path, given)
    given = inputs(model, truth, run, bound=1)
    return given, reference(path, given)


def filled(model: Any, truth: dict[str, Any], folder: Path, name: str) -> Path:
    """A copy with values; if they are not finite in the end, with weights that are not negative."""
    path = fill(model, folder, name)
    _, true = referred(model, truth, 0, path)
    if all(map(is_finite, true.values())):
        return path
    return fill(model, folder, name, positive=True)


def results(path: Path, backend: str, given: list[Any], names: list[str]) -> dict[str, Any]:
    """What Axon computes, by the name of the output."""
    found = axon.from_onnx(path, backend=backend).model(*given)
    return dict(zip(names, found if isinstance(found, tuple) else (found,), strict=True))


def first_apart(model: Any, path: Path, backend: str, given: list[Any]) -> str | None:
    """The first tensor of the graph that differs, and the node that makes it."""
    makers = {name: node for node in model.graph.node for name in node.output if name}
    for names in batched(list(makers)):
        other = path.with_name("part.onnx")
        other.write_bytes(with_outputs(model, names).SerializeToString())
        try:
            true = reference(other, given)
            mine = results(other, backend, given, names)
        except Exception as problem:
            return f"with tensors inside as outputs: {type(problem).__name__}: {_sentence(problem)}"
        for name in names:
            how = difference(mine[name], true[name])
            if how:
                return f"first `{name}` of {makers[name].op_type}: {how}"
    return None


def batched(names: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(names), AT_ONCE):
        yield names[start : start + AT_ONCE]


def with_outputs(model: Any, names: list[str]) -> Any:
    """The model with other outputs."""
    other = onnx.ModelProto()
    other.CopyFrom(model)
    del other.graph.output[:]
    other.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    return other


def judge(path: Path, backend: str, runs: int, every: bool) -> Outcome:
    """One model on one backend."""
    truth = json.loads(path.with_suffix(".json").read_text())
    model = onnx.load(path, load_external_data=False)
    with tempfile.TemporaryDirectory() as folder:
        try:
            copy = filled(model, truth, Path(folder), path.name)
            of_runs = [
                judge_run(model, truth, run, copy, backend, every)
                for run in range(min(runs, len(truth["inputs"])))
            ]
        except NoReference as problem:
            return Outcome("no reference", str(problem))
    return max(of_runs, key=lambda outcome: (VERDICTS.index(outcome.verdict), outcome.why))


def judge_run(model: Any, truth: Any, run: int, path: Path, backend: str, every: bool) -> Outcome:
    """One model on one backend, with inputs of one of the recorded shapes."""
    given, true = referred(model, truth, run, path)
    names = [info.name for info in model.graph.output]
    try:
        mine = results(path, backend, given, names)
    except axon.AxonError as problem:
        return Outcome("does not run", _missing(path) or _sentence(problem))
    except Exception as problem:  # a bug, and what is looked for here
        return Outcome("does not run", f"{type(problem).__name__}: {_sentence(problem)}")
    for name in names:
        how = difference(mine[name], true[name])
        if how and rounded(model):
            return judge_steps(path, backend, given)
        if how:
            where = first_apart(model, path, backend, given)
            return Outcome("different", f"`{name}` {how}; {where or 'no other tensor'}")
    inside = first_apart(model, path, backend, given) if every else None
    if inside:
        return Outcome("different", f"no output; {inside}")
    is_whole = all(map(is_finite, true.values()))
    return Outcome("equal", "" if is_whole else "not all of it finite")


def judge_steps(path: Path, backend: str, given: list[Any]) -> Outcome:
    """A quantised model, from one rounding to the next."""
    model = onnx.load(path)
    nodes = rounded(model)
    before = [name for node in nodes for name in (node.input[0], node.input[1], node.output[0])]
    weights = {each.name: onnx.numpy_helper.to_array(each) for each in model.graph.initializer}
    asked = [name for name in dict.fromkeys(before) if name not in weights]
    other = path.with_name("steps.onnx")
    other.write_bytes(with_outputs(model, asked).SerializeToString())
    truth = {**weights, **reference(other, given)}
    parts = cut(model, truth)
    other.write_bytes(parts.SerializeToString())
    names = [info.name for info in parts.graph.output]
    values = [*given, *(truth[node.output[0]] for node in nodes)]
    true, mine = reference(other, values), results(other, backend, values, names)
    between = 0
    for name in names:
        if not name.endswith(MADE):
            how = difference(mine[name], true[name])
        else:
            node = next(n for n in nodes if n.output[0] + MADE == name)
            scale = _along(node, truth[node.input[1]], truth[node.input[0]].ndim)
            number = truth[node.input[0]]
            count, how = off_by_a_step(mine[name], true[name], number, scale, BETWEEN)
            between += count
        if how:
            return Outcome("different", f"`{name}` {how}, from the same integers")
    return Outcome("equal", f"but for {between} of its integers, which lie between two steps")


def _along(node: Any, scale: Any, rank: int) -> Any:
    """A scale for each row along an axis, in a shape that goes with the tensor's."""
    if scale.ndim != 1 or rank == 0:
        return scale
    axis = next((a.i for a in node.attribute if a.name == "axis"), 1) % rank
    return scale.reshape([-1 if i == axis else 1 for i in range(rank)])


def _missing(path: Path) -> str:
    """The operators that the program of a model only declares."""
    try:
        program = axon.from_onnx(path)
    except axon.AxonError:
        return ""
    from axon.run.program import _declared

    left = sorted(_declared(program._module) - set(program._ops))
    kinds = Counter(name.rsplit("_", 1)[0] for name in left)
    return "only declared: " + ", ".join(f"{k} ({n})" for k, n in kinds.items()) if left else ""


def is_finite(value: Any) -> bool:
    parts = value if isinstance(value, list | tuple) else [value]
    return all(
        numpy.isfinite(part.astype(float)).all()
        for part in map(numpy.asarray, parts)
        if part.dtype.kind not in "OUS"
    )


def _sentence(problem: Exception) -> str:
    lines = [line for line in str(problem).splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("error")]
    return " ".join([*lines[:1], *errors[:1]])[:300] or type(problem).__name__


def work(pipe: Any) -> None:
    """The other process: a model at a time."""
    warnings.simplefilter("ignore")
    while True:
        path, backend, *options = pipe.recv()
        try:
            pipe.send(judge(path, backend, *options))
        except Exception as problem:
            pipe.send(Outcome("does not run", f"{type(problem).__name__}: {_sentence(problem)}"))


class Worker:
    """A process that judges, and that is replaced when it dies or takes too long."""

    def __init__(self, limit: float, runs: int, every: bool) -> None:
        self.limit, self.options = limit, (runs, every)
        self._process: Any = None

    def judge(self, path: Path, backend: str) -> Outcome:
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(target=work, args=(other,), daemon=True)
            self._process.start()
            other.close()
        self._pipe.send((path, backend, *self.options))
        try:
            if self._pipe.poll(self.limit):
                return self._pipe.recv()  # type: ignore[no-any-return]
            outcome = Outcome("takes too long", f"more than {self.limit:g} s")
        except EOFError:
            outcome = Outcome("does not run", "the process ended")
        self.close()
        return outcome

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def judged(
    paths: list[Path], backends: list[str], worker: Worker
) -> Iterator[tuple[str, str, Outcome, float]]:
    try:
        for path in paths:
            for backend in backends:
                began = time.perf_counter()
                outcome = worker.judge(path, backend)
                yield path.stem, backend, outcome, time.perf_counter() - began
    finally:
        worker.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--corpus", type=Path, default=CORPUS, help="a folder of models")
    parser.add_argument("--only", nargs="*", help="parts of the names of models")
    parser.add_argument("--backend", nargs="*", default=["numpy", "jax"])
    parser.add_argument("--limit", type=float, default=120, help="seconds for one model")
    parser.add_argument("--runs", type=int, default=1, help="how many of the recorded input shapes")
    parser.add_argument("--every", action="store_true", help="compare what is inside as well")
    options = parser.parse_args()
    paths = sorted(options.corpus.glob("*.onnx"))
    if not paths:
        print(f"There are no models in {options.corpus}, so nothing is compared.")
        return 0
    if importlib.util.find_spec("onnxruntime") is None:
        print("onnxruntime is not installed, so nothing is compared.")
        return 0
    if options.only:
        paths = [path for path in paths if any(part in path.stem for part in options.only)]
    counts: dict[str, Counter[str]] = {backend: Counter() for backend in options.backend}
    worker = Worker(options.limit, options.runs, options.every)
    for name, backend, outcome, took in judged(paths, options.backend, worker):
        counts[backend][outcome.verdict] += 1
        print(f"{name:44}{backend:7}{took:6.1f} s  {outcome.verdict:16}{outcome.why}", flush=True)
    print(f"{len(paths)} models")
    for backend, found in counts.items():
        print(f"{backend}: " + ", ".join(f"{found[v]} {v}" for v in VERDICTS))
    return int(any(found["different"] for found in counts.values()))


if __name__ == "__main__":
    sys.exit(main())
