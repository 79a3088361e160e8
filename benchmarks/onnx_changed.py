"""Is a wrong model noticed? onnx's node tests with the shape of one input changed.

    python benchmarks/onnx_changed.py --verdicts FILE --judge [--only OPERATOR …]
    python benchmarks/onnx_changed.py --verdicts FILE [--only OPERATOR …] [--why] [--record FILE]

Of each input each dimension is changed by one, or a leading 1 is added, or the leading dimension
dropped (`tests/importers/onnx_changes.py`). Declared shapes are removed but for those of the
inputs. Integer inputs of rank 0 or 1 (shapes, axes, repeats) are in the file, with the test's data,
except the one that is changed: what is in it only a run can tell.

`--judge` asks onnxruntime and onnx's reference evaluator, which run each model on the test's data,
cut or repeated at the edge; it needs onnxruntime. A runtime that does not take the unchanged model
has no say. Then, for each model, `axon infer` is asked through its Python API. Refused by both, it
should be

- refused: there is an error; or
- guarded: a condition is left to the run, and the call does not succeed.

Otherwise it is `warned` (there is a warning), `import` (only the program that `axon import` writes
is rejected) or `silent`. If both would take it with other integers in its inputs, it must not be
refused: it is `contents unknown`, and not counted, where there is no guard. Taken by both, it must
not be refused either. The exit status is 1 if less than 98 % are refused or guarded, or if a model
is refused that must not be, takes longer than 1 s, or makes Axon crash.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from onnx_models import verdicts
from onnx_models.shared import Change, Kind, make
from onnx_models.shared import changes as every_change
from onnx_models.verdicts import REFUSES, TAKES, Verdicts
from onnx_models.worker import Lost, Worker

SECONDS = 30.0
SLOW = 1.0
WANTED = 0.98
STEP = 1000
BAD = ("refused", "guarded", "contents unknown", "warned", "import", "silent", "crashed")
"""What becomes of a model that both runtimes refuse."""
GOOD = ("taken", "wrongly refused", "crashed wrongly")
"""What becomes of a model that both runtimes take."""


@dataclass(frozen=True, slots=True)
class Inferred:
    """What `axon infer` says: a list of errors, one of warnings, one of conditions."""

    errors: list[str]
    warnings: list[str]
    conditions: list[str]
    seconds: float
    crash: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    operator: str
    key: str
    shapes: str
    verdict: str
    said: str
    runtimes: list[str]
    seconds: float


def progress(every: list[Change]) -> Iterator[Change]:
    """Each change, with a line about how far it is."""
    tty, begun = sys.stderr.isatty(), time.perf_counter()
    for i, change in enumerate(every, 1):
        yield change
        if tty or i % STEP == 0 or i == len(every):
            text = f"{i} of {len(every)}, {time.perf_counter() - begun:.0f} s"
            print(f"\r{text}" if tty else text, end="" if tty else "\n", file=sys.stderr)
    if tty:
        print(file=sys.stderr)


class Axon:
    """Axon in a process of its own, since a model may take all the time and memory there is."""

    def __init__(self, every: list[Change], folder: str) -> None:
        self._infer = Worker(lambda at: _infer(every[at], folder), SECONDS)
        self._call = Worker(lambda at: _call(every[at], folder), SECONDS)
        self._unchanged = Worker(lambda at: _call(every[at].unchanged, folder), SECONDS)
        self._runs: dict[str, bool] = {}

    def infer(self, at: int) -> Inferred:
        begun = time.perf_counter()
        try:
            found: Inferred = self._infer.ask(at)
        except Lost as lost:
            return Inferred([], [], [], time.perf_counter() - begun, str(lost))
        return found

    def call(self, at: int) -> tuple[str, str]:
        """What becomes of a call: `ran`, `refused`, `not run` (an operator has no implementation),
        `rejected` (the program) or `failed`.
        """
        try:
            found: tuple[str, str] = self._call.ask(at)
        except Lost as lost:
            return "failed", str(lost)
        return found

    def runs_unchanged(self, at: int, key: str) -> bool:
        """Whether the model runs before the change; `key` is that of the unchanged model."""
        if key not in self._runs:
            try:
                self._runs[key] = self._unchanged.ask(at)[0] == "ran"
            except Lost:
                self._runs[key] = False
        return self._runs[key]

    def stop(self) -> None:
        self._infer.stop()
        self._call.stop()
        self._unchanged.stop()


def _infer(change: Change, folder: str) -> Inferred:
    """The time is that of the processor, the better of two if the first one is slow."""
    from axon.importers.formats import read_model
    from axon.importers.operations import NoModel

    path = Path(folder, "infer.onnx")
    path.write_bytes(make(change).model.SerializeToString())
    seconds = float("inf")
    for _ in range(2):
        begun = time.process_time()
        try:
            report = read_model(str(path)).report()
        except NoModel as problem:
            return Inferred([str(problem)], [], [], time.process_time() - begun)
        except Exception as problem:  # a bug of Axon's, which is to be counted
            crash = f"{type(problem).__name__}: {problem}"
            return Inferred([], [], [], time.process_time() - begun, crash)
        seconds = min(seconds, time.process_time() - begun)
        if seconds < SLOW:
            break
    said: dict[str, list[str]] = defaultdict(list)
    for diagnostic in report.diagnostics:
        said[str(diagnostic.severity)].append(f"{diagnostic.code} {diagnostic.message}")
    return Inferred(said["error"], said["warning"], [*report.where, *report.guards], seconds)


def _call(change: Change, folder: str) -> tuple[str, str]:
    import axon
    from axon.run.errors import ProgramError, RunError

    made, path = make(change), Path(folder, "call.onnx")
    path.write_bytes(made.model.SerializeToString())
    try:
        axon.from_onnx(path).model(*made.feeds.values())
    except ProgramError as problem:
        errors = [d.message for d in problem.diagnostics]
        return "rejected", (errors or str(problem).splitlines())[0]
    except axon.AxonError as problem:
        told = [f"{d.code} {d.message}" for d in problem.diagnostics]
        is_check = bool(told) or isinstance(problem, RunError)  # or an operator is only declared
        return "refused" if is_check else "not run", (told or str(problem).splitlines())[0]
    except Exception as problem:  # NumPy's, where Axon checks nothing
        return "failed", f"{type(problem).__name__}: {problem}"
    return "ran", ""


def judged_bad(
    axon: Axon, at: int, change: Change, found: Inferred, contents: bool
) -> tuple[str, str]:
    """The verdict on a model that both runtimes refuse, and what Axon says."""
    if found.crash:
        return "crashed", found.crash
    if found.errors:
        return "wrongly refused" if contents else "refused", found.errors[0]
    called, why = "not possible", ""
    if axon.runs_unchanged(at, change.unchanged.key):  # or a call says nothing about the change
        called, why = axon.call(at)
    if called == "refused":
        return "guarded", f"the call: {why}"
    if found.conditions and called != "ran":
        return "guarded", f"where {', '.join(found.conditions)}"
    if contents:
        return "contents unknown", why
    if found.warnings:
        return "warned", found.warnings[0]
    if called == "rejected":
        return "import", f"the program: {why}"
    return "silent", f"the call: {called} {why}".strip()


def judged(axon: Axon, at: int, change: Change, held: Verdicts) -> Outcome | None:
    """Nothing where the runtimes have no verdict, or not the same."""
    answers = held.of(change)
    if len(answers) != 2 or len({a.verdict for a in answers}) != 1:
        return None
    if answers[0].verdict not in (TAKES, REFUSES):
        return None
    found = axon.infer(at)
    if answers[0].verdict == REFUSES:
        verdict, said = judged_bad(axon, at, change, found, all(a.contents for a in answers))
    elif found.crash:
        verdict, said = "crashed wrongly", found.crash
    elif found.errors:
        verdict, said = "wrongly refused", found.errors[0]
    else:
        verdict, said = "taken", ""
    shapes = make(change).shapes() if verdict not in ("taken", "refused") else ""
    runtimes = [a.why for a in answers]
    return Outcome(change.operator, change.key, shapes, verdict, said, runtimes, found.seconds)


def table(outcomes: list[Outcome]) -> list[str]:
    """The operators for which something is left to do."""
    by_operator: dict[str, Counter[str]] = defaultdict(Counter)
    for o in outcomes:
        by_operator[o.operator][o.verdict] += 1
        by_operator[o.operator]["slow"] += o.seconds > SLOW
    columns = [*BAD, *GOOD, "slow"]
    shown = {"warned", "import", "silent", "crashed", *GOOD[1:], "slow"}
    heads = [f"{column:>{len(column) + 2}}" for column in columns]
    lines = [f"{'':36}" + "".join(heads)]
    for name, counts in sorted(by_operator.items(), key=lambda each: -each[1]["silent"]):
        if any(counts[column] for column in shown):
            cells = (f"{counts[c] or '':>{len(c) + 2}}" for c in columns)
            lines.append(f"{name:36}" + "".join(cells))
    every = Counter(o.verdict for o in outcomes) + Counter(slow=sum(_slow(o) for o in outcomes))
    lines.append(f"{'all':36}" + "".join(f"{every[c]:>{len(c) + 2}}" for c in columns))
    return lines


def _slow(outcome: Outcome) -> bool:
    return outcome.seconds > SLOW


def summary(outcomes: list[Outcome], of: str) -> tuple[str, bool]:
    """The totals in words, and whether they are as wanted."""
    counts = Counter(o.verdict for o in outcomes)
    bad = sum(counts[word] for word in BAD) - counts["contents unknown"]
    good = sum(counts[word] for word in GOOD)
    share = (counts["refused"] + counts["guarded"]) / bad if bad else 1.0
    slow = sum(map(_slow, outcomes))
    crashed = counts["crashed"] + counts["crashed wrongly"]
    words = (
        f"{of}: {share:.2%} of {bad} that both refuse are refused or guarded "
        f"(and {counts['contents unknown']} depend on contents that only a run knows); "
        f"{counts['wrongly refused']} of {good} that both take are refused; "
        f"{crashed} crashed or did not end; {slow} took longer than {SLOW:g} s"
    )
    return words, share >= WANTED and not (counts["wrongly refused"] or slow or crashed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--verdicts", type=Path, help="what the runtimes say")
    parser.add_argument("--judge", action="store_true", help="ask the runtimes, write the file")
    parser.add_argument("--only", nargs="*", help="operators to look at")
    parser.add_argument("--why", action="store_true", help="list what is not as it should be")
    parser.add_argument("--record", type=Path, help="write every outcome here, as JSON")
    options = parser.parse_args()
    if options.verdicts is None:
        print("left out: it needs what the runtimes say (--verdicts, see --judge)")
        return 0
    warnings.simplefilter("ignore")
    every = every_change(options.only)
    if options.judge:
        verdicts.write(options.verdicts, verdicts.judge(every, progress))
        return 0
    held = verdicts.read(options.verdicts)
    missing = sum(change.key not in held.answers for change in every)
    every = [change for change in every if change.kind is not Kind.UNCHANGED]
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        axon = Axon(every, folder)
        for at, change in enumerate(progress(every)):
            outcome = judged(axon, at, change, held)
            if outcome is not None:
                outcomes.append(outcome)
        axon.stop()
    if options.record:
        options.record.write_text(json.dumps([asdict(o) for o in outcomes], indent=1))
    if options.why:
        for o in outcomes:
            if o.verdict not in ("refused", "guarded", "taken", "contents unknown") or _slow(o):
                print(f"{o.verdict:16} {o.operator:24} {o.key}; {o.shapes}; {o.said}")
    print("\n".join(table(outcomes)))
    print(f"{len(every)} changed models, {len(outcomes)} with one verdict of both runtimes")
    if missing:
        print(f"{missing} models are not in {options.verdicts}: run with --judge")
    expanded = [o for o in outcomes if o.operator.endswith("(expanded)")]
    direct = [o for o in outcomes if not o.operator.endswith("(expanded)")]
    for group, of in ((direct, "one node"), (expanded, "written out as other nodes")):
        print(summary(group, of)[0])
    text, is_fine = summary(outcomes, "all")
    print(text)
    if outcomes:
        slowest = max(outcomes, key=lambda o: o.seconds)
        print(f"the slowest: {slowest.seconds:.2f} s, {slowest.key}")
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(main())
