"""The command line: arguments, files, terminals and exit codes; no logic.

A command is a module of `axon.cli.commands` with `HELP`, `add_arguments(parser)` and
`run(options)`. Only the module of the command that is asked for is imported.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from axon import __version__
from axon.cli.out import COLOUR_CHOICES, choose_colour, complain
from axon.cli.status import BUG, FINE, WRONG_USAGE

COMMANDS = {
    "check": "check programs; exit 0 when they are fine, 1 when not",
    "infer": "print the signature of every definition",
    "explain": "show how a type is derived, or what an error code means",
    "graph": "draw a definition or a model: boxes, and edges with their shapes",
    "run": "run a definition on arrays",
    "repl": "define and compute line by line",
    "import": "write a model of ONNX or PyTorch as a program",
    "fmt": "bring programs into their canonical form",
    "test": "test programs that say in comments what is expected of them",
    "doc": "write a page about the definitions of a program",
    "ops": "the reference of operators, by name or by words",
    "schema": "print the JSON schema of what commands print with --json",
    "completion": "print a script that completes command lines in bash, zsh or fish",
    "lsp": "serve an editor: types, errors and more while you type",
    "play": "a page with an editor, types, derivations and graphs, on this machine",
}
"""Every command, in the order of `axon --help`, with its line there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; 0 when fine, 1 when a program has errors, 2 on wrong usage, 3 on a bug."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    _open_closed()
    try:
        parser = make_parser(next((a for a in arguments if a in COMMANDS), None))
        if not arguments:
            parser.print_help(sys.stderr)
            return WRONG_USAGE
        options, more = parser.parse_known_args(arguments)
        if more and (not hasattr(options, "inputs") or any(m.startswith("-") for m in more)):
            options.parser.error(f"unrecognized arguments: {' '.join(more)}")
        if more:  # inputs may stand behind options too
            options.inputs += more
        choose_colour(options.color)
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else WRONG_USAGE
    except _file_problems() as problem:
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
        from axon.cli.crash import report

        complain(report(bug, arguments))
        return BUG


def _open_closed() -> None:
    """What is said on a closed stream (`axon … >&-`) is said to nobody."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _file_problems() -> tuple[type[Exception], ...]:
    """Asked for when there is an exception, so that start-up need not know of files."""
    from axon.files import Unreadable, Unwritable

    return Unreadable, Unwritable


def make_parser(*full: str | None) -> argparse.ArgumentParser:
    """The parser of the command line, with the arguments of these commands; of the others it knows
    the names.
    """
    parser = argparse.ArgumentParser(
        prog="axon", description="Infer the shapes of a deep-learning graph."
    )
    parser.add_argument("--version", action="version", version=f"axon {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, line in COMMANDS.items():
        command = commands.add_parser(name, help=line)
        if name in full:
            add_arguments(name, command)
    return parser


def add_arguments(name: str, parser: argparse.ArgumentParser) -> None:
    """Give the parser of a command its arguments."""
    module = import_module(f"axon.cli.commands.{module_name(name)}")
    add: Callable[[argparse.ArgumentParser], None] = module.add_arguments
    add(parser)
    parser.add_argument(
        "--color", choices=COLOUR_CHOICES, default="auto", help="colours in messages"
    )
    parser.set_defaults(run=module.run, parser=parser)


def module_name(command: str) -> str:
    return "import_" if command == "import" else command.replace("-", "_")
