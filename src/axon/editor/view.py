"""A definition of a document: the names in it, and its types, found out when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.driver import prelude
from axon.editor.names import Names
from axon.inference.environment import Entry, Environment
from axon.inference.recording.noted import Noted, note
from axon.inference.report.signature import Signature
from axon.session import File, Part, Result
from axon.source import Span
from axon.syntax import ast
from axon.types.scope import Alias
from axon.workspace import workspace


@dataclass(slots=True, eq=False)
class View:
    """One part of a file. `start` is where the text that it was read from stands in the document,
    `at` how many definitions are before it.
    """

    part: Part
    start: int
    at: int
    broken: tuple[Span, ...]
    file: File
    _names: Names | None = None
    _noted: Noted | None = None
    _noted_for: Result | None = None
    kept: dict[str, object] = field(default_factory=dict)
    """Answers that hold as long as the types do."""

    @property
    def item(self) -> ast.Item:
        return self.part.item

    @property
    def extent(self) -> tuple[int, int]:
        span = self.part.item.span
        return span.start + self.start, span.end + self.start

    @property
    def names(self) -> Names:
        if self._names is None:
            self._names = Names(self.part.item)
        return self._names

    @property
    def best(self) -> Result:
        """The result to show: if it has no type because of another definition alone, the last one
        that it had.
        """
        result = self.part.result
        if result.failed and not result.diagnostics and not self.broken:
            return next((r for r in self.part.results if r.signatures), result)
        return result

    @property
    def noted(self) -> Noted:
        """The types in it."""
        result = self.best
        if self._noted is None or self._noted_for is not result:
            # without reasons it would fail, and be inferred once more
            self._noted, self._noted_for = self.note(reasons=bool(result.failed)), result
            self.kept.clear()
        return self._noted

    @property
    def signatures(self) -> tuple[Signature, ...]:
        return self.best.signatures

    def note(self, item: ast.Item | None = None, reasons: bool = False) -> Noted:
        """The types in it, or in another item in its place."""
        known, types = self.meanings()
        with workspace():
            return note(
                item or self.part.item,
                known,
                types,
                prelude=prelude,
                files=self.file.files,
                missing=self.file.missing,
                broken=self.broken if item is None else (),
                reasons=reasons,
            )

    def meanings(self) -> tuple[dict[str, Entry], dict[str, Alias]]:
        """What the names that it mentions stand for."""
        pairs = list(zip(self.part.free, self.best.needs, strict=True))
        known = {name: m for name, m in pairs if isinstance(m, Entry)}
        return known, {name: m for name, m in pairs if isinstance(m, Alias)}

    def environment(self) -> Environment:
        known, types = self.meanings()
        return Environment(None, known, types)
