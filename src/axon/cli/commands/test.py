"""`axon test`: programs with `# expect:` lines."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from axon.cli.files import counted, for_each, no_programs, programs
from axon.cli.out import complain, print_diagnostics, say, say_json
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics.json import to_json
from axon.files import read_program, replacing

if TYPE_CHECKING:
    from axon.expect.judge import Judged, Verdict
    from axon.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", metavar="PATH", help="a program, or a folder of programs (.axon)"
    )
    parser.add_argument("--json", action="store_true", help="the results as JSON")
    parser.add_argument(
        "--update", action="store_true", help="write the types that are found into the comments"
    )


def run(options: argparse.Namespace) -> int:
    from axon.expect.judge import judge

    documents: list[dict[str, object]] = []
    passed = failed = 0

    def test_one(path: str) -> int:
        nonlocal passed, failed
        source = read_program(path)
        judged = judge(source)
        changed = _update(path, source, judged) if options.update else 0
        failed_here = judged.failed - changed
        passed += len(judged.verdicts) + len(judged.unexpected) - failed_here
        failed += failed_here
        if options.json:
            documents.append(_document(path, judged))
        else:
            _show(source.name, judged, changed)
        return HAS_ERRORS if failed_here else FINE

    paths = list(programs(options.files))
    if not paths:
        complain(no_programs(options.files))
        return WRONG_USAGE
    status = for_each(paths, test_one)
    if options.json:
        say_json({"files": documents, "passed": passed, "failed": failed})
    elif len(paths) > 1:
        say(f"{counted(len(paths), 'file')}: {passed} passed, {failed} failed")
    return status


def _show(name: str, judged: Judged, changed: int) -> None:
    for verdict in judged.verdicts:
        if not verdict.ok and not (changed and verdict.change):
            say(f"{name}:{verdict.line}: expected  {verdict.expected}")
            say(f"{' ' * len(f'{name}:{verdict.line}')}  found     {verdict.found}")
    print_diagnostics(judged.unexpected)
    if not judged.verdicts and not judged.unexpected:
        say(f"{name}: nothing is expected")
        return
    parts = [f"{len(judged.verdicts) + len(judged.unexpected) - judged.failed} passed"]
    if judged.failed - changed:
        parts.append(f"{judged.failed - changed} failed")
    if changed:
        parts.append(f"{changed} updated")
    say(f"{name}: {', '.join(parts)}")


def _update(path: str, source: Source, judged: Judged) -> int:
    """Write the types that were found into the file; how many."""
    changes = [verdict.change for verdict in judged.verdicts if verdict.change is not None]
    if not changes or path == "-":
        return 0
    text = source.text
    for start, end, found in sorted(changes, reverse=True):
        text = text[:start] + found + text[end:]
    with replacing(path, {}) as file:
        file.write(text.encode("utf-8"))
    return len(changes)


def _document(path: str, judged: Judged) -> dict[str, object]:
    return {
        "file": path,
        "results": [_result(verdict) for verdict in judged.verdicts],
        "diagnostics": [to_json(d) for d in judged.unexpected],
    }


def _result(verdict: Verdict) -> dict[str, object]:
    return {
        "line": verdict.line,
        "expected": verdict.expected,
        "found": verdict.found,
        "ok": verdict.ok,
    }
