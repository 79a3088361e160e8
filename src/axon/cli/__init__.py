"""The command line: arguments, files, terminals and exit codes; no logic."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from axon import __version__
from axon.cli.out import complain, say, say_json
from axon.files import Finder, Unreadable, Unwritable, find_import, read_program, write_page

if TYPE_CHECKING:
    from axon.diagnostics import Diagnostic
    from axon.driver import Checked
    from axon.run.parameter_table import Parameters

FINE, HAS_ERRORS, WRONG_USAGE, BUG = 0, 1, 2, 3

FILES = "a program, - for standard input, or an ONNX model (.onnx)"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 when fine, 1 when a program has errors, 2 on wrong usage, 3 on a bug."""
    try:
        parser = _parser()
        options, more = parser.parse_known_args(argv)
        if more and (not hasattr(options, "inputs") or any(m.startswith("-") for m in more)):
            parser.error(f"unrecognized arguments: {' '.join(more)}")
        if more:  # inputs may stand behind options too
            options.inputs += more
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else WRONG_USAGE
    except (Unreadable, Unwritable) as problem:
        complain(str(problem))
        return WRONG_USAGE
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return FINE
    except KeyboardInterrupt:
        return 130
    except OSError as problem:
        complain(f"{problem.strerror or problem}")
        return WRONG_USAGE
    except Exception as bug:
        if os.environ.get("AXON_DEBUG"):
            raise
        complain(f"a bug in Axon, please report it: {type(bug).__name__}: {bug}")
        return BUG


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="axon", description="Infer the shapes of a deep-learning graph."
    )
    parser.add_argument("--version", action="version", version=f"axon {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    check = commands.add_parser(
        "check", help="check programs; exit 0 when they are fine, 1 when not"
    )
    check.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    check.add_argument("--json", action="store_true", help="the diagnostics as JSON")
    check.add_argument("--strict", action="store_true", help="exit 1 on warnings too")
    _add_prove(check)
    check.set_defaults(run=_check)

    infer = commands.add_parser("infer", help="print the signature of every definition")
    infer.add_argument("files", nargs="+", metavar="FILE", help=FILES)
    infer.add_argument("--json", action="store_true", help="signatures and diagnostics as JSON")
    infer.add_argument(
        "--classes", action="store_true", help="show element classes (t : float) too"
    )
    infer.add_argument("--names", action="store_true", help="show the names of parameters too")
    infer.add_argument(
        "--params", action="store_true", help="list the tensors in the records that functions take"
    )
    infer.add_argument(
        "--plain",
        action="store_true",
        help="show what a person would write down for a type with open ranks or broadcasts too",
    )
    infer.add_argument("--notation", choices=("infix", "paper"), default="infix")
    infer.add_argument(
        "--forget-inputs",
        action="store_true",
        help="of an ONNX model: recover the shapes of its inputs from its weights",
    )
    infer.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="X=TYPE",
        help="of an ONNX model: say the type of an input, as in 'x=f32 [n,3,h,w]'",
    )
    infer.add_argument(
        "--write", metavar="PATH", help="of an ONNX model: write it with all shapes declared"
    )
    infer.add_argument(
        "--check",
        action="store_true",
        help="of an ONNX model: an annotation that the graph contradicts is an error",
    )
    _add_prove(infer)
    infer.set_defaults(run=_infer)

    explain = commands.add_parser(
        "explain", help="show how a type is derived, or what an error code means"
    )
    explain.add_argument("file", metavar="FILE|CODE")
    explain.add_argument("name", metavar="NAME", nargs="?")
    explain.add_argument(
        "--why", metavar="WHAT", help="why is a dimension what it is: n, x[1], p.w[0], result[0]"
    )
    explain.add_argument(
        "--all", action="store_true", help="all constraints and steps of a large definition"
    )
    explain.add_argument("--from", dest="start", metavar="X", help="only what follows from X")
    explain.add_argument(
        "--short", action="store_true", help="the steps without the sets between them"
    )
    explain.add_argument("--notation", choices=("infix", "paper"), default="infix")
    explain.add_argument(
        "--html", metavar="PATH", help="write a page to step through in a browser, errors included"
    )
    explain.set_defaults(run=_explain)

    import_ = commands.add_parser("import", help="write an ONNX model as a program")
    import_.add_argument("file", metavar="MODEL.onnx")
    import_.add_argument(
        "-o", "--output", metavar="PATH", help="write it there, not on the terminal"
    )
    import_.add_argument(
        "--weights",
        metavar="PATH",
        help="write the weights there too, as a safetensors file that `axon run` takes",
    )
    import_.set_defaults(run=_import)

    run = commands.add_parser("run", help="run a definition on arrays")
    run.add_argument("file", metavar="FILE", help=FILES)
    run.add_argument("name", metavar="NAME", nargs="?", help="a definition; `model` of a model")
    run.add_argument(
        "inputs",
        metavar="X=VALUE",
        nargs="*",
        help="a .npy, .npz (FILE.npz:KEY) or .safetensors file, a number, a list, rand[8,16], "
        "zeros[3], ones[3]",
    )
    run.add_argument("--backend", choices=("numpy", "jax"), default="numpy")
    run.add_argument("--seed", type=_count, metavar="N", default=0, help="of what rand[…] makes up")
    run.add_argument("--save", metavar="PATH", help="write the result to a .npy or .npz file")
    run.add_argument(
        "--weights",
        metavar="PATH",
        help="a safetensors file with the values of the operators without arguments",
    )
    run.set_defaults(run=_run)
    return parser


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text} is no whole number")
    return int(text)


def _add_prove(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--prove",
        action="store_true",
        help="drop conditions that follow from others, reject those that no sizes meet",
    )


# --- commands
# --------------------------------------------------------------------------------------------


def _lacks_prover(options: argparse.Namespace) -> bool:
    """Whether `--prove` is asked for and cannot be done; if so, say what to do."""
    if not options.prove:
        return False
    from axon.prove.extra import INSTALL, missing

    lacking = missing()
    if lacking:
        complain(f"--prove needs {' and '.join(lacking)}: {INSTALL}")
    return bool(lacking)


def _import(options: argparse.Namespace) -> int:
    from axon.cli.onnx import import_

    return import_(options)


def _run(options: argparse.Namespace) -> int:
    from axon.cli.run import run

    return run(options)


def _each(paths: Sequence[str], command: Callable[[str], int]) -> int:
    """Apply a command to each file, also behind one that cannot be read; the worst status."""
    status = FINE
    for path in paths:
        try:
            status = max(status, command(path))
        except Unreadable as problem:
            complain(str(problem))
            status = WRONG_USAGE
    return status


def _check(options: argparse.Namespace) -> int:
    if _lacks_prover(options):
        return WRONG_USAGE
    found: list[Diagnostic] = []

    def check_one(path: str) -> int:
        if path.endswith(".onnx"):
            from axon.cli.onnx import check as check_model

            diagnostics, name, verdict = check_model(path)
        else:
            from axon.driver import check

            result = check(read_program(path), find_import, prove=options.prove)
            name = result.program.source.name
            diagnostics, verdict = result.diagnostics, _verdict(result)
        ok = not any(d.severity == "error" for d in diagnostics)
        if options.json:
            found.extend(diagnostics)
        else:
            _print_diagnostics(diagnostics)
            if ok:
                say(f"{name}: {verdict}")
        warned = options.strict and any(d.severity == "warning" for d in diagnostics)
        return FINE if ok and not warned else HAS_ERRORS

    status = _each(options.files, check_one)
    if options.json:
        say_json({"diagnostics": [_json(d) for d in found]})
    return status


def _verdict(result: Checked) -> str:
    warnings = len(result.warnings)
    fine = f"{_counted(warnings, 'warning')} in" if warnings else "fine,"
    return f"{fine} {_counted(len(result.inferred.definitions), 'definition')}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _infer(options: argparse.Namespace) -> int:
    if _lacks_prover(options):
        return WRONG_USAGE
    several = len(options.files) > 1
    if several and options.write:
        return _wrong("--write takes one model at a time")
    documents: list[dict[str, object]] = []

    def infer_one(path: str) -> int:
        if several and not options.json:
            say(f"# {path}")
        if path.endswith(".onnx"):
            if options.params:
                return _wrong("--params is for programs; a model has its weights inside")
            from axon.cli.onnx import infer

            document, status = infer(path, options)
        else:
            document, status = _infer_program(path, options)
        if document is not None:
            documents.append({"file": path, **document} if several else document)
        return status

    status = _each(options.files, infer_one)
    if options.json and documents:
        say_json({"files": documents} if several else documents[0])
    return status


def _infer_program(path: str, options: argparse.Namespace) -> tuple[dict[str, object] | None, int]:
    """Print the signatures of a program, or give them as a document."""
    from axon.driver import check

    paper = options.notation == "paper"
    checked = check(read_program(path), find_import, paper, options.prove)
    status = FINE if checked.ok else HAS_ERRORS
    plain: Sequence[str | None] = (None,) * len(checked.signatures)
    if options.json or options.plain or options.params:
        from axon.plain import plain_readings

        plain = plain_readings(checked)
    tables = _tables(checked, plain) if options.params else [None] * len(plain)
    if options.json:
        definitions = [
            {
                "name": s.name,
                "signature": s.signature,
                "where": list(s.where),
                "guards": list(s.guards),
                "classes": list(s.classes),
                "params": [name for name, _ in s.params],
                "plain": reading,
                **({} if table is None else {"parameters": table.as_json()}),
            }
            for s, reading, table in zip(checked.signatures, plain, tables, strict=True)
        ]
        diagnostics = [_json(d) for d in checked.diagnostics]
        return {"definitions": definitions, "diagnostics": diagnostics}, status
    for signature, reading, table in zip(checked.signatures, plain, tables, strict=True):
        say(signature.line(options.classes, options.names))
        if options.plain and reading is not None:
            say(f"plain: {reading}")
        if table:
            say("\n".join(f"  {line}" for line in repr(table).splitlines()))
    _print_diagnostics(checked.diagnostics)
    return None, status


def _tables(checked: Checked, plain: Sequence[str | None]) -> list[Parameters | None]:
    """The parameters of each definition, with the ranks of its plain reading if it has one."""
    from axon.run.parameter_table import table
    from axon.run.parameters import unsettled

    definitions = zip(checked.inferred.definitions, plain, strict=True)
    return [table(unsettled(definition, reading)) for definition, reading in definitions]


def _explain(options: argparse.Namespace) -> int:
    if options.file.endswith(".onnx"):
        return _wrong(
            f"axon explain shows programs: `axon import {options.file} -o model.axon` writes one; "
            f"`axon infer {options.file}` has the types of the model"
        )
    if options.html is not None:
        return _explain_html(options)
    if re.fullmatch(r"AX\d{3}", options.file):
        return _explain_code(options.file)
    from axon.driver import check
    from axon.explain import Most, answer_text, derivation_text

    checked = check(read_program(options.file), find_import, reasons=True)
    chosen = checked.inferred.definitions
    if options.name is not None:
        found = checked.find(options.name)
        chosen = (found,) if found is not None else ()
    if not chosen:
        _print_diagnostics(checked.diagnostics)
        if options.name is None:
            return HAS_ERRORS if not checked.ok else FINE
        known = ", ".join(d.name for d in checked.inferred.definitions) or "none"
        what = "has errors or does not exist" if not checked.ok else "does not exist"
        complain(f"`{options.name}` {what}; typed definitions: {known}")
        return HAS_ERRORS if not checked.ok else WRONG_USAGE
    for i, definition in enumerate(chosen):
        if i:
            print()
        if options.why is not None:
            text, good = answer_text(checked, definition, options.why)
            if not good:
                complain(text)
                return WRONG_USAGE
            say(text)
        else:
            paper = options.notation == "paper"
            most = None if options.all else Most("--all")
            say(derivation_text(definition, paper, options.short, options.start, most))
    _print_diagnostics(checked.diagnostics)
    return FINE if checked.ok else HAS_ERRORS


def _explain_html(options: argparse.Namespace) -> int:
    if re.fullmatch(r"AX\d{3}", options.file):
        return _wrong("--html shows a program; a code's page is text")
    if options.why is not None or options.start is not None or options.short:
        return _wrong("--html shows everything; it does not go with --why, --from or --short")
    from axon.cli.html import explain_page
    from axon.driver import check

    finder = Finder()
    checked = check(read_program(options.file), finder, reasons=True)
    inferred = checked.inferred
    known = [*(d.name for d in inferred.definitions), *(d.name for d in inferred.failed)]
    if options.name is not None and options.name not in known:
        _print_diagnostics(checked.diagnostics)
        return _wrong(f"`{options.name}` does not exist; definitions: {', '.join(known) or 'none'}")
    page = explain_page(checked, options.name, options.notation == "paper")
    taken = dict.fromkeys(finder.read, "a program that it imports")
    write_page(options.html, page, {**taken, options.file: "the program itself"})
    say(options.html)
    _print_diagnostics(checked.diagnostics)
    return FINE if checked.ok else HAS_ERRORS


def _wrong(sentence: str) -> int:
    complain(sentence)
    return WRONG_USAGE


def _explain_code(code: str) -> int:
    from axon.diagnostics.pages import page

    text = page(code)
    if text is None:
        complain(f"there is no error code {code}")
        return WRONG_USAGE
    print(text.rstrip())
    return FINE


# --- output
# ----------------------------------------------------------------------------------------------


def _print_diagnostics(diagnostics: Sequence[Diagnostic]) -> None:
    if not diagnostics:
        return
    from axon.diagnostics.text import render_all

    colour = sys.stderr.isatty() and "NO_COLOR" not in os.environ
    sys.stdout.flush()
    print(render_all(diagnostics, colour), file=sys.stderr)


def _json(diagnostic: Diagnostic) -> dict[str, object]:
    from axon.diagnostics.json import to_json

    return to_json(diagnostic)
