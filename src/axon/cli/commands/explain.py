"""`axon explain`: derivations, reasons, and the pages of error codes."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from axon.cli.out import complain, print_diagnostics, say, say_json, wrong
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE
from axon.diagnostics.json import to_json
from axon.files import Finder, find_import, read_program, write_page
from axon.importers.recognise import is_model

if TYPE_CHECKING:
    from axon.driver import Checked
    from axon.inference.program import Definition


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        metavar="FILE|CODE",
        help="a program; a model, with --why; or the code of an error, such as AX101",
    )
    parser.add_argument("name", metavar="NAME", nargs="?", help="a definition; without, all")
    parser.add_argument(
        "--why", metavar="WHAT", help="why is a dimension what it is: n, x[1], p.w[0], result[0]"
    )
    parser.add_argument(
        "--all", action="store_true", help="all constraints and steps of a large definition"
    )
    parser.add_argument("--from", dest="start", metavar="X", help="only what follows from X")
    parser.add_argument(
        "--short", action="store_true", help="the steps without the sets between them"
    )
    parser.add_argument(
        "--notation",
        choices=("infix", "paper"),
        default="infix",
        help="how sums and products of sizes are written: a+b, or (+ a b) as in the paper",
    )
    parser.add_argument(
        "--html", metavar="PATH", help="write a page to step through in a browser, errors included"
    )
    parser.add_argument("--json", action="store_true", help="the derivation or the answer as JSON")


def run(options: argparse.Namespace) -> int:
    if is_model(options.file):
        return _explain_model(options)
    if options.html is not None:
        return _explain_html(options)
    if re.fullmatch(r"AX\d{3}", options.file):
        return _explain_code(options.file, options.json)
    from axon.driver import check
    from axon.explain import Most, answer_text, derivation_text

    checked = check(read_program(options.file), find_import, reasons=True)
    chosen = checked.inferred.definitions
    if options.name is not None:
        found = checked.find(options.name)
        chosen = (found,) if found is not None else ()
    if not chosen:
        if options.json:
            say_json({"definitions": [], "diagnostics": [to_json(d) for d in checked.diagnostics]})
        else:
            print_diagnostics(checked.diagnostics)
        if options.name is None:
            return HAS_ERRORS if not checked.ok else FINE
        known = ", ".join(d.name for d in checked.inferred.definitions) or "none"
        what = "has errors or does not exist" if not checked.ok else "does not exist"
        complain(f"`{options.name}` {what}; typed definitions: {known}")
        return HAS_ERRORS if not checked.ok else WRONG_USAGE
    if options.json:
        return _as_json(checked, chosen, options)
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
    print_diagnostics(checked.diagnostics)
    return FINE if checked.ok else HAS_ERRORS


def _explain_model(options: argparse.Namespace) -> int:
    """Why the sizes of a tensor are what they are."""
    if options.why is None or options.html or options.start or options.name not in (None, "model"):
        return wrong(
            f"for a model, axon explain shows why a size is what it is: --why 'x[0]'; "
            f"`axon import {options.file} -o model.axon` writes a program to explain"
        )
    from axon.cli.models import model_errors

    with model_errors():
        from axon.importers.formats import read_model
        from axon.importers.reporting.why import NoSuchSize, as_json, lines_of

        try:
            answers = read_model(options.file).why(options.why)
        except NoSuchSize as problem:
            return wrong(str(problem))
    if options.json:
        say_json({"definitions": [as_json(each) for each in answers], "diagnostics": []})
    else:
        say("\n".join(line for each in answers for line in lines_of(each)))
    return FINE


def _as_json(checked: Checked, chosen: Sequence[Definition], options: argparse.Namespace) -> int:
    """The derivations, or the answers, as a document."""
    from axon.explain import answer_document, derivation_document

    paper = options.notation == "paper"
    documents: list[dict[str, object]] = []
    for definition in chosen:
        if options.why is None:
            documents.append(derivation_document(definition, paper))
            continue
        answer = answer_document(checked, definition, options.why)
        if isinstance(answer, str):
            return wrong(answer)
        documents.append(answer)
    diagnostics = [to_json(d) for d in checked.diagnostics]
    say_json({"definitions": documents, "diagnostics": diagnostics})
    return FINE if checked.ok else HAS_ERRORS


def _explain_html(options: argparse.Namespace) -> int:
    if re.fullmatch(r"AX\d{3}", options.file):
        return wrong("--html shows a program; a code's page is text")
    if options.why is not None or options.start is not None or options.short or options.json:
        return wrong("--html shows everything; it goes with none of --why, --from, --short, --json")
    from axon.driver import check
    from axon.pages.page import explain_page

    finder = Finder()
    checked = check(read_program(options.file), finder, reasons=True)
    inferred = checked.inferred
    known = [*(d.name for d in inferred.definitions), *(d.name for d in inferred.failed)]
    if options.name is not None and options.name not in known:
        print_diagnostics(checked.diagnostics)
        return wrong(f"`{options.name}` does not exist; definitions: {', '.join(known) or 'none'}")
    page = explain_page(checked, options.name, options.notation == "paper", finder)
    taken = dict.fromkeys(finder.read, "a program that it imports")
    write_page(options.html, page, {**taken, options.file: "the program itself"})
    say(options.html)
    print_diagnostics(checked.diagnostics)
    return FINE if checked.ok else HAS_ERRORS


def _explain_code(code: str, as_json: bool) -> int:
    from axon.diagnostics.pages import page

    text = page(code)
    if text is None:
        complain(f"there is no error code {code}")
        return WRONG_USAGE
    if as_json:
        say_json({"code": code, "text": text.rstrip()})
    else:
        print(text.rstrip())
    return FINE
