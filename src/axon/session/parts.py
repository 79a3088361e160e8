"""One item of a program, and the results that it had."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic, Severity
from axon.inference.environment import Entry
from axon.inference.program import Failed
from axon.inference.report.signature import Signature
from axon.source import Span
from axon.syntax import ast
from axon.types.scope import Alias

Meaning = Entry | Alias | bool
"""What a name stands for; if it has no entry, whether it belongs to an import that failed."""

MOST_RESULTS = 3
"""A definition around which another one is broken, mended and broken again has two results."""


@dataclass(slots=True, eq=False)
class Result:
    """What inference found for an item, where its names stood for what it `needs`."""

    needs: tuple[Meaning, ...]
    lines_above: int
    gives: dict[str, Entry] = field(default_factory=dict)
    types: dict[str, Alias] = field(default_factory=dict)
    signatures: tuple[Signature, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    failed: tuple[Failed, ...] = ()
    known: bool = False
    """Whether it depends on nothing but what it needs."""
    settled: dict[str, list[Entry]] = field(default_factory=dict)
    """What its values are to others, once their types are known."""

    def holds(self, needs: tuple[Meaning, ...], lines_above: int) -> bool:
        """Whether it is still valid. An error refers to lines by their number."""
        if not self.known or len(needs) != len(self.needs):
            return False
        if any(a is not b for a, b in zip(self.needs, needs, strict=True)):
            return False
        moved = self.lines_above != lines_above
        return not (moved and any(d.severity == Severity.ERROR for d in self.diagnostics))


@dataclass(slots=True, eq=False)
class Part:
    """A program of one item, the names that it binds and mentions, and its results, the one that
    holds first.
    """

    program: ast.Program
    bound: tuple[tuple[str, Span], ...]
    free: tuple[str, ...]
    results: list[Result] = field(default_factory=list)

    @property
    def result(self) -> Result:
        return self.results[0]

    @property
    def item(self) -> ast.Item:
        """The item; a plain expression at the end of a file is called `main`."""
        if self.program.items:
            return self.program.items[0]
        result = self.program.result
        assert result is not None
        return ast.Binding(ast.NamePattern("main", result.span), result, result.span)

    def find(self, needs: tuple[Meaning, ...]) -> bool:
        """Whether one of the results is valid; it is the first then."""
        above = self.program.source.lines_above
        for at, result in enumerate(self.results):
            if result.holds(needs, above):
                self.results.insert(0, self.results.pop(at))
                return True
        return False

    def enter(self, result: Result) -> None:
        """A new result. One that cannot hold again is kept as the last that was good."""
        kept = [each for each in self.results if each.known or each.signatures]
        self.results = [result, *kept][:MOST_RESULTS]
