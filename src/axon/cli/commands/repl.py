"""`axon repl`: definitions and values, line by line."""

from __future__ import annotations

import argparse
import sys

from axon.cli.out import complain, in_colour
from axon.cli.status import FINE, HAS_ERRORS, WRONG_USAGE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", nargs="?", help="a program to load first")
    parser.add_argument(
        "--backend", choices=("numpy", "jax"), default="numpy", help="what computes"
    )


def run(options: argparse.Namespace) -> int:
    from axon import __version__
    from axon.repl import lines
    from axon.repl.interpreter import Interpreter
    from axon.repl.memory import bound_memory
    from axon.repl.showing import Printer

    try:
        interpreter = Interpreter(options.backend)
    except ImportError as problem:
        complain(str(problem))
        return WRONG_USAGE
    bound_memory()
    terminal = sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()
    printer = Printer(in_colour(sys.stdout if terminal else sys.stderr), terminal)
    if terminal:
        print(f"Axon {__version__}; :help lists the commands, Ctrl-D leaves")
    if options.file is not None:
        printer.show(interpreter.answer(f":load {options.file}"))
    if not terminal:
        lines.talk(interpreter, printer, lines.from_pipe)
        return HAS_ERRORS if printer.failed else FINE
    try:
        from axon.repl.terminal import talk
    except ImportError:
        print("with history and completion: pip install 'axon-shapes[repl]'")
        lines.talk(interpreter, printer, input)
    else:
        talk(interpreter, printer)
    return FINE
