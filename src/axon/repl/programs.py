"""From a line to a program: with what the line needs, checked, and linked for the run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from axon.diagnostics import Diagnostic, Severity
from axon.driver import Checked, check_tree
from axon.files import Finder
from axon.graph.module import Module
from axon.inference.program import Definition
from axon.inference.report.signature import Signature
from axon.repl.names import Known, Table, needs_of
from axon.repl.reports import Diagnosed, Refusal, refusal
from axon.run.backend import Backend
from axon.run.function import Function
from axon.run.program import Program
from axon.source import Source
from axon.syntax import ast
from axon.types.type import Fn, Tuple, Type

MAIN = "main"
"""The name of an expression, in messages too."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program without errors, and the warnings about what is new in it."""

    checked: Checked
    module: Module
    warnings: tuple[Diagnostic, ...]
    program: Program

    def definition(self, name: str) -> Definition:
        found = self.checked.find(name)
        assert found is not None, name
        return found

    def signature(self, name: str) -> Signature:
        return [s for s in self.checked.signatures if s.name == name][-1]

    def type(self, name: str) -> Type:
        """The type as inference left it: an integer is still a size."""
        definition = self.definition(name)
        return self.checked.inferred.state.resolve(definition.type)

    def function(self, name: str) -> Function:
        found = self.program.function(name)
        assert found is not None, name
        return found

    def run(self, name: str) -> Any:
        function = self.function(name)
        return function.finished(function())


def tree(
    table: Table, new: Iterable[ast.Item], result: ast.Expr | None, source: Source
) -> tuple[ast.Program, list[Known]]:
    """The program of some new items and an expression."""
    new = list(new)
    nodes: list[ast.Item | ast.Expr] = [*new, *([] if result is None else [result])]
    needed = table.needed(need for node in nodes for need in needs_of(node))
    items = (*(each.item for each in needed), *new)
    return ast.Program(items, result, source), needed


def check_new(
    table: Table,
    new: Iterable[ast.Item],
    result: ast.Expr | None,
    source: Source,
    finder: Finder,
    backend: Backend,
    reasons: bool = False,
) -> Compiled:
    """Check and link new items and an expression; a `Refusal` if there is an error."""
    program, needed = tree(table, new, result, source)
    held = {held.name: held for each in needed for held in each.held or ()}
    entries = {name: each.entry for name, each in held.items()}
    checked, module = check_tree(program, finder, reasons, entries)
    about = tuple(d for d in checked.diagnostics if concerns(d, source))
    if not checked.ok:
        raise Refusal(Diagnosed(about))
    linked = Program.linked(checked, module, backend, dict(held), finder)
    return Compiled(checked, module, about, linked)


def concerns(diagnostic: Diagnostic, source: Source) -> bool:
    """Whether a message is news: an error, or a warning about this text. That a name is bound again
    is what a session is for.
    """
    if diagnostic.severity == Severity.ERROR:
        return True
    here = diagnostic.span is not None and diagnostic.span.source is source
    return here and diagnostic.code != "AX304"


def refuse_declared(needed: Iterable[Known]) -> None:
    """Nothing says what an operator does that is only declared."""
    for each in needed:
        if isinstance(each.item, ast.OpDecl):
            raise refusal(
                f"`{each.key}` is only declared (`op`): what uses it is checked here, and not run"
            )


def has_function(type_: Type) -> bool:
    """Whether a value has a function in it."""
    if isinstance(type_, Fn):
        return True
    return isinstance(type_, Tuple) and any(map(has_function, type_.items))
