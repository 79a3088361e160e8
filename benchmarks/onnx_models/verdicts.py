"""What onnxruntime and onnx's reference evaluator say of changed models, kept in a file."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import onnx

from onnx_models.shared import Change, Made, make
from onnx_models.worker import Lost, Worker

SECONDS = 20.0
NEWEST_IR = 10
"""onnxruntime refuses files with a newer number, whatever is in them."""
TAKES, REFUSES, LOST = "takes", "refuses", "lost"
FILLINGS = ((0, 0), (1, 1), (-1, 1))
"""The first integer and the others; the last one is a shape that fits any number of elements."""


@dataclass(frozen=True, slots=True)
class Answer:
    """`contents` is whether a refused model is taken with other integers in its inputs."""

    verdict: str
    why: str = ""
    contents: bool = False


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The answers by the key of the change and the name of the runtime."""

    versions: dict[str, str]
    answers: dict[str, dict[str, Answer]]

    def of(self, change: Change) -> list[Answer]:
        """The answers of both runtimes; none from one that cannot run the unchanged model."""
        own, plain = (self.answers.get(c.key, {}) for c in (change, change.unchanged))
        return [own[name] for name in own if name in plain and plain[name].verdict == TAKES]


def read(path: Path) -> Verdicts:
    held = json.loads(path.read_text())
    answers = {
        key: {name: Answer(**answer) for name, answer in by_name.items()}
        for key, by_name in held["answers"].items()
    }
    return Verdicts(held["versions"], answers)


def write(path: Path, verdicts: Verdicts) -> None:
    answers = {
        key: {name: asdict(answer) for name, answer in by_name.items()}
        for key, by_name in verdicts.answers.items()
    }
    path.write_text(json.dumps({"versions": verdicts.versions, "answers": answers}, indent=1))


def judge(every: list[Change], progress: Callable[[list[Change]], Iterable[Change]]) -> Verdicts:
    """Run each model on both; this needs onnxruntime."""
    from importlib.metadata import version

    def asked(run: Callable[[Any, dict[str, Any]], object]) -> Worker:
        return Worker(lambda at: _answer(make(every[at]), run), SECONDS)

    workers = {"onnxruntime": asked(_run_onnxruntime), "reference": asked(_run_reference)}
    answers: dict[str, dict[str, Answer]] = {}
    for at, change in enumerate(progress(every)):
        answers[change.key] = {name: _ask(worker, at) for name, worker in workers.items()}
    for worker in workers.values():
        worker.stop()
    return Verdicts({"onnx": onnx.__version__, "onnxruntime": version("onnxruntime")}, answers)


def _ask(worker: Worker, at: int) -> Answer:
    try:
        found: Answer = worker.ask(at)
    except Lost as lost:
        return Answer(LOST, str(lost))
    return found


def _answer(made: Made, run: Callable[[Any, dict[str, Any]], object]) -> Answer:
    why = _refusal(made, made.feeds, run)
    if why is None:
        return Answer(TAKES)
    if why.startswith("MemoryError"):
        return Answer(LOST, why)
    others = (made.filled(*filling) for filling in FILLINGS) if made.has_integers() else ()
    return Answer(REFUSES, why, any(_refusal(made, feeds, run) is None for feeds in others))


def _refusal(
    made: Made, feeds: dict[str, Any], run: Callable[[Any, dict[str, Any]], object]
) -> str | None:
    """The first line of the exception, if there is one."""
    try:
        run(made.model, feeds)
    except Exception as problem:  # any exception is a refusal
        text = " ".join(str(problem).split())
        return f"{type(problem).__name__}: {text[:300]}"
    return None


def _run_onnxruntime(model: Any, feeds: dict[str, Any]) -> object:
    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"  # it may know operators of newer ones
    import onnxruntime

    model.ir_version = min(model.ir_version, NEWEST_IR)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    data = model.SerializeToString()
    session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def _run_reference(model: Any, feeds: dict[str, Any]) -> object:
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(model).run(None, feeds)
