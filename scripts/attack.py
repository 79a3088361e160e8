"""Random programs with run-time and ragged sizes against an interpreter that knows nothing of Axon.

    python scripts/attack.py --programs 30000 --seed 1
    python scripts/attack.py --metamorphic --programs 5000

Each program has a time limit. Findings are counted by class; for each class the smallest programs
are made smaller still and printed, with the seed that gives them again.
"""

from __future__ import annotations

import argparse
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.properties.judge import Finding, judge
from tests.properties.limits import OutOfTime, within
from tests.properties.runtime_programs import draw_program
from tests.properties.shrinking import shrink
from tests.properties.trees import Program
from tests.properties.values import show

MEMORY = 4 << 30


@dataclass(slots=True)
class Class:
    """Findings of one kind at one place."""

    count: int
    programs: list[tuple[str, Program, Finding]]


def findings(
    program: Program, limit: float, look: Callable[[Program], list[Finding]]
) -> list[Finding]:
    try:
        return within(limit, lambda: look(program))
    except OutOfTime:
        return [Finding("does not end", f"in {limit} s")]
    except (MemoryError, RecursionError) as problem:
        return [Finding("does not end", type(problem).__name__)]


def key(finding: Finding) -> str:
    """The class of a finding: its kind, and its text without names and numbers."""
    detail = finding.detail
    if "internal" in finding.kind:
        rows = "inhomogeneous" in detail or "'Ragged'" in detail
        detail = "rows reach NumPy" if rows else detail.split(" at ")[-1]
    elif finding.kind.startswith(("right program", "refused", "error that")):
        detail = re.sub(r".*?[;] ", "", detail, count=1)
    elif finding.kind.startswith("value not"):
        detail = re.sub(r":.*", "", detail)
    else:
        detail = ""
    detail = re.sub(r"for .* in its rows.*", "in its rows", detail)
    return f"{finding.kind}: " + re.sub(r"[?]?\b\w{1,2}\b|\d+|\[.*", "_", detail)[:90]


def run(options: argparse.Namespace) -> dict[str, Class]:
    if options.metamorphic:
        from tests.properties.metamorphic import look
    else:
        look = judge
    classes: dict[str, Class] = {}
    start = time.time()
    for i in range(options.programs):
        seed = f"{options.seed}:{i}"
        program = draw_program(seed)
        for k, finding in {key(f): f for f in findings(program, options.limit, look)}.items():
            known = classes.setdefault(k, Class(0, []))
            known.count += 1
            known.programs.append((seed, program, finding))
            known.programs.sort(key=lambda each: len(each[1].text()))
            del known.programs[8:]
        if (i % 200 == 199 and sys.stderr.isatty()) or i % 5000 == 4999:
            rate = (i + 1) / (time.time() - start)
            total = sum(c.count for c in classes.values())
            print(f"{i + 1} programs, {rate:.0f}/s, {total} findings in {len(classes)} classes",
                  file=sys.stderr)  # fmt: skip
    return classes


def report(classes: dict[str, Class], options: argparse.Namespace) -> None:
    if options.metamorphic:
        from tests.properties.metamorphic import look
    else:
        look = judge
    for name, found in sorted(classes.items(), key=lambda each: -each[1].count):
        print(f"\n## {found.count} x {name}\n")
        shown: set[str] = set()
        for seed, program, finding in found.programs[: options.show]:
            small, what = smallest(program, finding, options, look)
            if small.text() in shown:
                continue
            shown.add(small.text())
            print(small.text())
            if what.call is not None and what.call < len(small.calls):
                print(f"  called with {show(small.calls[what.call])}")
            print(f"  {what.kind}: {what.detail}   (seed {seed})\n")


def smallest(
    program: Program,
    finding: Finding,
    options: argparse.Namespace,
    look: Callable[[Program], list[Finding]],
) -> tuple[Program, Finding]:
    wanted = key(finding)
    if finding.call is not None:
        program = replace(program, calls=(program.calls[finding.call],))

    def again(candidate: Program) -> Finding | None:
        try:
            found = findings(candidate, min(options.limit, 3), look)
        except Exception:
            return None
        return next((f for f in found if key(f) == wanted), None)

    if again(program) is None:
        return program, finding
    small = shrink(program, lambda p: again(p) is not None, 40 if "end" in finding.kind else 300)
    return small, again(small) or finding


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", type=int, default=2_000)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--limit", type=float, default=10, help="seconds for one program")
    parser.add_argument("--show", type=int, default=3, help="programs shown of each class")
    parser.add_argument("--metamorphic", action="store_true", help="try the metamorphic properties")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    classes = run(options)
    report(classes, options)
    return 1 if classes else 0


if __name__ == "__main__":
    sys.exit(main())
