"""What is shown of many models: a line each, in the order of their names, and a summary."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

from axon.cli.bar import Bar
from axon.cli.files import counted, programs
from axon.cli.many.options import MEGABYTES, SECONDS
from axon.cli.many.pool import CannotWork, Limits, Pool, processors
from axon.cli.out import FORMAT, complain, say, wrong
from axon.cli.status import BUG, FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics.cells import shown
from axon.importers.recognise import ENDINGS

Json = dict[str, Any]

MOST_SHOWN = 120
"""How much of a signature is shown."""

STATUS = {
    "fine": FINE,
    "errors": HAS_ERRORS,
    "time": HAS_ERRORS,
    "memory": HAS_ERRORS,
    "unreadable": WRONG_USAGE,
    "bug": BUG,
}
"""What may become of a model, and the exit status for it."""
FAILED = {
    "time": "out of time",
    "memory": "out of memory",
    "unreadable": "not readable",
    "bug": "with a bug of Axon's",
}
OF_ONE = ("write", "input", "params", "plain", "names", "classes", "dynamic")
"""Options that change what is shown of one file."""
PASSED_ON = ("notation", "forget_inputs", "check", "prove")


def run(options: argparse.Namespace) -> int:
    for name in OF_ONE:
        if getattr(options, name):
            return wrong(f"--{name} is for one file at a time")
    if "-" in options.files:
        return wrong("- is for one file at a time: standard input is not read beside others")
    paths = list(dict.fromkeys(programs(options.files, (".axon", *ENDINGS))))
    if not paths:
        listed = ", ".join(options.files)
        return wrong(f"{listed}: no programs and no models in this directory")
    limits = Limits(options.timeout or SECONDS, options.memory or MEGABYTES)
    jobs = min(options.jobs or processors(), len(paths))
    passed_on = {name: getattr(options, name) for name in PASSED_ON}
    pool = Pool(jobs, limits, {"json": True, **dict.fromkeys(OF_ONE, ()), **passed_on})
    try:
        return _run(pool, paths, options.json)
    except CannotWork as problem:
        return wrong(str(problem))
    finally:
        pool.close()


def _run(pool: Pool, paths: Sequence[str], as_json: bool) -> int:
    began = time.monotonic()
    outcomes, sums = Counter[str](), Counter[str]()
    waiting: dict[int, Json] = {}
    written = 0
    with Bar() as bar:
        for done, (at, found) in enumerate(pool.results(paths), 1):
            waiting[at] = found
            if written in waiting:
                bar.clear()
            while written in waiting:
                found = waiting.pop(written)
                found = {"format": FORMAT, "file": paths[written], **found}
                found |= {"unknown": _unknown(found)}
                outcomes[found["outcome"]] += 1
                sums["unknown"] += found["unknown"]
                sums["nodes"] += found.get("nodes", 0)
                print(json.dumps(found)) if as_json else say(_line(found))
                written += 1
            sys.stdout.flush()
            if sys.stderr.isatty():
                bar(done, len(paths))
    seconds = round(time.monotonic() - began, 2)
    if pool.unlimited:
        complain("this system has no limit of memory for a process: --memory was of no effect")
    if as_json:
        by_outcome = {outcome: outcomes[outcome] for outcome in STATUS}
        counts = {"files": len(paths), **by_outcome, **{k: sums[k] for k in ("nodes", "unknown")}}
        print(json.dumps({"format": FORMAT, "summary": {**counts, "seconds": seconds}}))
    else:
        say(_summary(len(paths), outcomes, sums, seconds))
    return max(STATUS[outcome] for outcome in outcomes)


def _unknown(found: Json) -> int:
    """How many tensors have no type that is known in all its dimensions."""
    return sum(
        tensor["shape"] is None or tensor["dtype"] is None
        for tensor in found.get("tensors", {}).values()
    )


def _line(found: Json) -> str:
    """A file in a line."""
    path, outcome = shown(found["file"]), found["outcome"]
    if outcome not in ("fine", "errors"):
        message = " ".join(shown(found["message"]).split())
        return message if path in message else f"{path}: {message}"
    if outcome == "errors":
        errors = [d for d in found["diagnostics"] if d["severity"] == "error"]
        first = errors[0]
        message = first["message"].partition("\n")[0]
        return f"{path}: {counted(len(errors), 'error')}: {first['code']}: {message}"
    parts = ["fine"]
    if "nodes" not in found:
        return f"{path}: fine, {counted(len(found['definitions']), 'definition')}"
    parts.append(counted(found["nodes"], "node"))
    if found["unknown"]:
        parts.append(counted(found["unknown"], "unknown tensor"))
    signature = found["definitions"][0]["signature"]
    if len(signature) > MOST_SHOWN:
        signature = f"{signature[:MOST_SHOWN]}…"
    return f"{path}: {', '.join(parts)}: {signature}"


def _summary(files: int, outcomes: Counter[str], sums: Counter[str], seconds: float) -> str:
    parts = [f"{outcomes['fine']} fine"]
    if outcomes["errors"]:
        parts.append(f"{outcomes['errors']} with errors")
    parts += [
        f"{outcomes[outcome]} {text}" for outcome, text in FAILED.items() if outcomes[outcome]
    ]
    of = f"{counted(sums['nodes'], 'node')}, {counted(sums['unknown'], 'unknown tensor')}"
    return f"{counted(files, 'file')} in {seconds:.1f} s: {', '.join(parts)}; {of}"
