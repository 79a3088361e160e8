"""A program with the type of every expression in it, at the general type of each definition.

The types are those that inference found on the way to a definition's scheme, so they are there for
open ranks, for polymorphic definitions, and as far as it came for definitions with errors.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from axon import stdlib
from axon.diagnostics import Diagnostic
from axon.driver import FindFile, Imports, no_files, prelude
from axon.inference.environment import Environment, bound_names
from axon.inference.recording.record import Record
from axon.inference.recording.recorded import RecordedInference
from axon.inference.state import State
from axon.source import Source, Span
from axon.syntax import ast, parse_program
from axon.types.type import Fn, Tensor, Type
from axon.workspace import workspace


@dataclass(slots=True, eq=False)
class Recorded:
    """A file: its items, where each name is bound, the files that it imports, and its types."""

    program: ast.Program
    items: list[ast.Item]
    places: dict[str, list[int]]
    state: State
    record: Record
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: bool = False
    imports: dict[str, Source] = field(default_factory=dict)
    files: Files | None = None

    def find(self, name: str, before: int) -> tuple[Recorded, ast.Item, int] | None:
        """Where a name is bound, seen from an item: the file, the item and its place."""
        found = self.places.get(name, [])
        at = bisect_left(found, before) - 1
        if at >= 0:
            return self, self.items[found[at]], found[at]
        alias, dot, rest = name.partition(".")
        if dot and alias in self.imports and self.files is not None:
            other = self.files.recorded(self.imports[alias])
            return other.find(rest, len(other.items))
        if not dot and self.files is not None and name in stdlib.files():
            path = stdlib.files()[name]
            if path != self.program.source.name:
                other = self.files.recorded(Source(path, stdlib.sources()[path]))
                return other.find(name, len(other.items))
        return None

    def type_of(self, expr: ast.Expr) -> Type | None:
        return self._resolved(self.record.types.get(id(expr)))

    def _resolved(self, type_: Type | None) -> Type | None:
        """A type that doubled at each step was reported; it is not written out."""
        if type_ is None or (not isinstance(type_, Tensor) and self.state.is_huge(type_)):
            return None
        return self.state.resolve(type_)

    def names(self) -> list[str]:
        """The definitions, in order, each once."""
        found: dict[str, None] = {}
        for item in self.items:
            if isinstance(item, ast.Binding):
                for name, _ in bound_names(item.pattern):
                    found[name] = None
        return list(found)

    def functions_at(self, span: Span) -> list[Fn]:
        """The types of the functions that an operator takes, where it is applied."""
        use = self.record.uses.get(span)
        type_ = None if use is None else self._resolved(use.type)
        return [p for p in type_.params if isinstance(p, Fn)] if isinstance(type_, Fn) else []

    def called(self, call: ast.Call) -> Fn | None:
        """The type of the function at a call."""
        type_ = self._resolved(self.record.calls.get(call.span))
        return type_ if isinstance(type_, Fn) else None


class Files:
    """The files of a program, each recorded when something in it is drawn."""

    def __init__(self, find_file: FindFile | None = None) -> None:
        self.imports = Imports(find_file or no_files)
        self._known: dict[str, Recorded] = {}

    def recorded(self, source: Source) -> Recorded:
        known = self._known.get(source.name)
        if known is None:
            with workspace():
                known = self._known[source.name] = self._record(source)
        return known

    def _record(self, source: Source) -> Recorded:
        program, problems = parse_program(source)
        imports: dict[str, Source] = {}

        def read(item: ast.Import) -> Environment | Diagnostic:
            found = self.imports.read(item, source)
            if isinstance(found, Environment):
                text = stdlib.find(item.path)
                other = (
                    Source(item.path, text)
                    if text is not None
                    else self.imports.find(item.path, source)
                )
                if isinstance(other, Source):
                    imports[item.alias] = other
            return found

        broken = tuple(p.span for p in problems if p.span is not None)
        walk = RecordedInference(read, prelude, broken)
        items: list[ast.Item] = list(program.items)
        if program.result is not None:
            span = program.result.span
            items.append(ast.Binding(ast.NamePattern("main", span), program.result, span))
        places: dict[str, list[int]] = {}
        for at, item in enumerate(items):
            if isinstance(item, ast.OpDecl):
                places.setdefault(item.name, []).append(at)
            elif isinstance(item, ast.Binding):
                for name, span in bound_names(item.pattern):
                    walk.inference.defined_below.setdefault(name, span)
                    places.setdefault(name, []).append(at)
        for item in items:
            walk.item(item)
        walk.finish()
        return Recorded(
            program,
            items,
            places,
            walk.state,
            walk.recorder.kept,
            (*problems, *walk.diagnostics),
            bool(problems),
            imports,
            self,
        )
