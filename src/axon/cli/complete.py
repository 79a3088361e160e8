"""What may stand where the cursor is on the command line: candidates for the shells."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence

from axon.cli import COMMANDS, add_arguments
from axon.diagnostics.pages import titles
from axon.files import Unreadable, read_program

Candidate = tuple[str, str]
"""A word, and a few words about it."""

FILES_OF = {
    "FILE": (".axon", ".onnx", ".pt2"),
    "FILE|CODE": (".axon", ".onnx", ".pt2"),
    "MODEL": (".onnx", ".pt2"),
    "PATH": (),
}
"""The endings of the files that an argument takes, by its name in the help; () for any."""
OF_PROGRAMS = {"doc", "fmt", "repl", "test"}
"""Commands that take no models."""


def candidates(words: Sequence[str]) -> list[Candidate]:
    """What may stand for the last word, which may be empty; `words` has all after `axon`."""
    *before, last = words or [""]
    command = next((word for word in before if word in COMMANDS), None)
    if command is None:
        listed = [*COMMANDS.items(), ("--version", "the version"), ("--help", "a list of commands")]
        return _beginning(last, listed)
    parser = argparse.ArgumentParser(prog=f"axon {command}", add_help=False)
    add_arguments(command, parser)
    after = before[before.index(command) + 1 :]
    option = _option(parser, after[-1]) if after else None
    if option is not None and option.nargs != 0:
        return _values(option, last, after, command)
    if last.startswith("-"):
        name, equals, value = last.partition("=")
        option = _option(parser, name) if equals else None
        if option is not None:
            found = _values(option, value, after, command)
            return [(f"{name}={word}", text) for word, text in found]
        return _beginning(last, _options(parser))
    at = len(list(_operands(parser, after)))
    places = [action for action in parser._actions if not action.option_strings]
    if not places:
        return []
    return _values(places[min(at, len(places) - 1)], last, after, command)


def _beginning(word: str, listed: Iterable[Candidate]) -> list[Candidate]:
    return [each for each in listed if each[0].startswith(word)]


def _options(parser: argparse.ArgumentParser) -> Iterator[Candidate]:
    for action in parser._actions:
        for name in action.option_strings[-1:]:
            yield name, (action.help or "").split(":")[0]


def _option(parser: argparse.ArgumentParser, word: str) -> argparse.Action | None:
    return next((a for a in parser._actions if word in a.option_strings), None)


def _operands(parser: argparse.ArgumentParser, words: Sequence[str]) -> Iterator[str]:
    """The words that are no options, nor values of options."""
    takes = False
    for word in words:
        option = _option(parser, word)
        if not takes and not word.startswith("-"):
            yield word
        takes = option is not None and option.nargs != 0


def _values(
    action: argparse.Action, last: str, before: Sequence[str], command: str
) -> list[Candidate]:
    if action.choices is not None:
        return _beginning(last, ((str(choice), "") for choice in action.choices))
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    match name:
        case "NAME" if command != "ops":
            return _beginning(last, _definitions(before))
        case "NAME|WORDS":
            return _beginning(last, _operators())
        case "X=VALUE" if "=" in last:
            parameter, _, value = last.partition("=")
            return [(f"{parameter}={word}", text) for word, text in _files(value, ())]
        case "X=VALUE":
            return _beginning(last, _parameters(before))
        case "FILE|CODE" if last.startswith("AX"):
            return _beginning(last, titles())
        case "FILE" | "PATH" if command in OF_PROGRAMS and not action.option_strings:
            return _files(last, (".axon",))
        case _ if name in FILES_OF:
            return _files(last, FILES_OF[name])
        case _:
            return []


def _operators() -> Iterator[Candidate]:
    from axon.reference.operators import every_name

    for name in every_name():
        yield name, ""


def _definitions(before: Sequence[str]) -> Iterator[Candidate]:
    """The definitions of the program that is named before; it need not be right."""
    from axon.driver import check
    from axon.files import find_import

    for path in before:
        if path.endswith(".axon") and os.path.isfile(path):
            try:
                checked = check(read_program(path), find_import)
            except Unreadable:
                return
            for signature in checked.signatures:
                yield signature.name, signature.signature
            return


def _parameters(before: Sequence[str]) -> Iterator[Candidate]:
    """The parameters of the definition that is named before, less those that have values."""
    from axon.driver import check
    from axon.files import find_import

    paths = [word for word in before if word.endswith(".axon") and os.path.isfile(word)]
    if not paths:
        return
    try:
        checked = check(read_program(paths[0]), find_import)
    except Unreadable:
        return
    given = {word.partition("=")[0] for word in before if "=" in word}
    for signature in checked.signatures:
        if signature.name in before:
            for name, type_ in signature.params:
                if name not in given:
                    yield f"{name}=", type_


def _files(word: str, endings: tuple[str, ...]) -> list[Candidate]:
    """Files with one of these endings, and folders."""
    folder, start = os.path.split(word)
    try:
        entries = sorted(os.scandir(os.path.expanduser(folder) or "."), key=lambda e: e.name)
    except OSError:
        return []
    found: list[Candidate] = []
    for entry in entries:
        if not entry.name.startswith(start) or (entry.name.startswith(".") and not start):
            continue
        path = os.path.join(folder, entry.name)
        if entry.is_dir():
            found.append((f"{path}/", ""))
        elif not endings or entry.name.endswith(endings):
            found.append((path, ""))
    return found
