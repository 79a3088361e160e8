"""`%%axon`: a cell is a program. `%axon_explain`: how a type is derived."""

from __future__ import annotations

import builtins
import keyword
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from axon.diagnostics import Severity
from axon.diagnostics.html import diagnostics_html
from axon.diagnostics.text import render_all
from axon.files import Finder
from axon.plain import plain_readings
from axon.run.errors import AxonError, ProgramError
from axon.run.function import Function
from axon.run.html import folded, framed, problem_html, signatures_html, text_html
from axon.run.program import Program
from axon.source import Source


class CellError(ProgramError):
    """A cell with errors, which have been shown already: it only has to fail."""

    def _render_traceback_(self) -> list[str]:
        return [self.message]


@magics_class
class AxonMagics(Magics):
    """The magics of one shell."""

    @magic_arguments()
    @argument("name", nargs="?", help="a name for the program; its definitions get none then")
    @argument("--plain", action="store_true", help="show what a person would write for a type")
    @argument("--strict", action="store_true", help="a warning makes the cell fail")
    @argument("--backend", default="numpy", choices=["numpy", "jax"], help="what computes")
    @cell_magic
    def axon(self, line: str, cell: str) -> None:
        """Check a program and give its definitions to Python.

        Each definition becomes a name: a function, or the value of what is none. With a name,
        `%%axon net`, there is only that: the program, with `net.f` for a definition.
        """
        options = parse_argstring(self.axon, line)
        name = options.name
        if name is not None and not _is_name(name):
            raise UsageError(f"{name!r} is no name of Python")
        program = self._program(cell, options.backend)
        readings = plain_readings(program._checked) if options.plain else None
        _show(program, readings)
        warnings = len(program.warnings)
        if options.strict and warnings:
            counted = "a warning" if warnings == 1 else f"{warnings} warnings"
            raise CellError(f"the cell has {counted}")
        if name is not None:
            self.shell.user_ns[name] = program
        else:
            self._give(program)

    def _program(self, cell: str, backend: str) -> Program:
        """The program in a cell; its errors are shown."""
        number = len(self.shell.history_manager.input_hist_parsed) - 1  # as in `In [3]`
        source = Source(f"cell [{number}]", cell)
        try:
            return Program(source, backend, finder=Finder())
        except ImportError as problem:
            raise UsageError(str(problem)) from None
        except ProgramError as problem:
            _show_error(problem)
            count = sum(d.severity == Severity.ERROR for d in problem.diagnostics)
            counted = "an error" if count == 1 else f"{count} errors"
            raise CellError(f"the cell has {counted}") from None

    def _give(self, program: Program) -> None:
        """Give each definition its name in Python."""
        found: dict[str, Any] = {}
        try:
            for name in program:
                if _is_name(name):
                    found[name] = program[name]
        except AxonError as problem:
            _show_error(problem)
            raise CellError(problem.message) from None
        self.shell.user_ns.update(found)
        hidden = [name for name in found if hasattr(builtins, name)]
        if hidden:
            listed = ", ".join(f"`{name}`" for name in hidden)
            print(f"{listed}: Python's own until now; `del` gives it back")
        others = [name for name in program if name not in found]
        if others:
            listed = ", ".join(f"`{name}`" for name in others)
            print(f"{listed}: not a name in Python; `%%axon net` and `net[…]` have it")

    @line_magic
    def axon_explain(self, line: str) -> None:
        """The derivation of a function's type: `%axon_explain f`, `%axon_explain net.f`."""
        path = line.strip()
        function = self._function(path)
        if function is None:
            raise UsageError(f"{path or 'this'!r} is no function of Axon; as in: %axon_explain f")
        text = function.explain()
        _display(
            framed(
                signatures_html([function.described], [function.plain]),
                folded("derivation", text_html(text), is_open=True),
            ),
            text,
        )

    def _function(self, path: str) -> Function | None:
        """A function by its name, or by that of its program and its own."""
        first, _, rest = path.partition(".")
        found = self.shell.user_ns.get(first)
        if isinstance(found, Program) and rest:
            return found.function(rest)
        return found if isinstance(found, Function) and not rest else None


def _is_name(text: str) -> bool:
    return text.isidentifier() and not keyword.iskeyword(text)


def _show(program: Program, readings: tuple[str | None, ...] | None) -> None:
    """The signatures of a program, and its warnings."""
    signatures = program._checked.signatures
    lines: list[str] = []
    for at, signature in enumerate(signatures):
        lines.append(signature.line(names=True))
        reading = readings[at] if readings is not None else None
        lines += [f"plain: {reading}"] if reading else []
    text = "\n".join(lines)
    if program.warnings:
        text += "\n\n" + render_all(program.warnings)
    pieces = [signatures_html(signatures, readings), diagnostics_html(program.warnings)]
    _display(framed(*pieces), text)


def _show_error(problem: AxonError) -> None:
    _display(framed(problem_html(problem.message, problem.diagnostics)), str(problem))


def _display(html: str, text: str) -> None:
    """HTML where it can be shown, else text."""
    display({"text/html": html, "text/plain": text}, raw=True)
