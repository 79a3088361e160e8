"""Incremental checking of a program that is edited: what an edit does not affect is not inferred
again.

A text is cut at the beginning of each definition, at the left margin; each piece is parsed only if
it is new. A definition is inferred again only if its text, or the meaning of one of its names, has
changed. One whose result is the same as before keeps its identity, so its dependents are not
inferred again either. This holds across files: each imported file is looked up at every check, and
is checked in the same way. A text that does not parse is checked as one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise

from axon.diagnostics import Diagnostic, Severity
from axon.driver import FindFile, Imports, check_file, no_files, prelude
from axon.inference.environment import Entry, Environment, bound_names
from axon.inference.program import Definition, ProgramInference, first_ones
from axon.inference.report.signature import Signature, describe_definition
from axon.inference.unused import bound_twice, names_of, unused_names
from axon.ops import OPERATORS
from axon.source import Source, Span
from axon.syntax import ast, mentioned, parse_program
from axon.types.scope import Alias
from axon.types.show import Show
from axon.types.type import Scheme, relation_variables, type_variables
from axon.workspace import workspace

_BEGINNING = re.compile(r"^(?=[A-Za-z_(])", re.MULTILINE)
_COMMENTS = re.compile(r"(?:\s|#[^\n]*\n)*")
_ENDS = re.compile(r";\s*(#[^\n]*\s*)*\Z")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The result of checking a text: as `Checked`, without what only an explanation needs."""

    signatures: tuple[Signature, ...]
    diagnostics: tuple[Diagnostic, ...]
    inferred: int
    """How many definitions, here and in what is imported, were not known from before."""

    @property
    def ok(self) -> bool:
        return not any(d.severity == Severity.ERROR for d in self.diagnostics)


Meaning = Entry | Alias | bool
"""What a name stands for; if it has no entry, whether it belongs to an import that failed."""


@dataclass(slots=True)
class _Part:
    """A program of one item, the names it binds and mentions, and its last result."""

    program: ast.Program
    bound: tuple[tuple[str, Span], ...]
    free: tuple[str, ...]
    needs: tuple[Meaning, ...] = ()
    gives: dict[str, Entry] = field(default_factory=dict)
    types: dict[str, Alias] = field(default_factory=dict)
    signatures: tuple[Signature, ...] = ()
    shown: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    lines_above: int = 0
    known: bool = False

    def holds(self, needs: tuple[Meaning, ...]) -> bool:
        """Whether the last result is still valid. An error refers to lines by their number."""
        moved = self.lines_above != self.program.source.lines_above
        if moved and any(d.severity == Severity.ERROR for d in self.diagnostics):
            return False
        return self.known and _same(self.needs, needs)


class Session:
    """One file being edited, and those that it imports."""

    def __init__(self, name: str, find_file: FindFile | None = None) -> None:
        self.name = name
        self._find_file = find_file or no_files
        self._file = _File()
        self._imported: dict[str, _File] = {}
        self._inferred = 0

    def check(self, text: str) -> Snapshot:
        """The same as checking the entire text, at the cost of what has changed."""
        self._inferred = 0
        with workspace():
            imports = Imports(self._find_file, self._infer_import)
            found, _ = self._file.check(Source(self.name, text), imports)
        return replace(found, inferred=found.inferred + self._inferred)

    def _infer_import(self, source: Source, imports: Imports) -> Environment | None:
        file = self._imported.setdefault(source.name, _File())
        found, environment = file.check(source, imports)
        self._inferred += found.inferred
        return environment if found.ok else None


class _File:
    """A file, and the results of its last check."""

    def __init__(self) -> None:
        self._pieces: dict[tuple[str, int], list[_Part]] = {}
        self._last: dict[str, tuple[str, Entry]] = {}
        self._starts: dict[Source, int] = {}

    def check(self, source: Source, imports: Imports) -> tuple[Snapshot, Environment]:
        parts = self._cut(source)
        if parts is not None:
            return self._infer(source, parts, imports)
        checked = check_file(source, imports)
        count = len(checked.signatures)
        snapshot = Snapshot(checked.signatures, checked.diagnostics, count)
        return snapshot, checked.inferred.environment

    # --- cutting ---

    def _cut(self, source: Source) -> list[_Part] | None:
        """The parts of the text, unchanged ones reused; None if it cannot be parsed."""
        text = source.text
        starts = [m.start() for m in _BEGINNING.finditer(text)]
        if starts and _COMMENTS.fullmatch(text, 0, starts[0]):
            found = self._read_pieces(source, starts)
            if found is not None:
                return found
        return self._read_pieces(source, [0])

    def _read_pieces(self, source: Source, starts: list[int]) -> list[_Part] | None:
        text = source.text
        pieces: dict[tuple[str, int], list[_Part]] = {}
        placed: dict[Source, int] = {}
        above, at = 0, 0
        for start, end in pairwise((*starts, len(text))):
            above += text.count("\n", at, start)
            at = start
            piece = text[start:end]
            occurrence = 0
            while (piece, occurrence) in pieces:
                occurrence += 1
            parts = self._pieces.get((piece, occurrence)) or _read(source.name, piece)
            if not parts or (end < len(text) and not _stands_alone(parts[-1])):
                return None
            parts[0].program.source.lines_above = above
            placed[parts[0].program.source] = start
            pieces[piece, occurrence] = parts
        self._pieces, self._starts = pieces, placed
        return [part for parts in pieces.values() for part in parts]

    # --- inferring ---

    def _infer(
        self, source: Source, parts: list[_Part], imports: Imports
    ) -> tuple[Snapshot, Environment]:
        walk = ProgramInference(lambda item: imports.read(item, source), prelude)
        for part in parts:
            for name, span in part.bound:
                walk.inference.defined_below.setdefault(name, span)
        names = walk.environment.names
        anew: list[tuple[_Part, int, int]] = []
        for part in parts:
            needs = tuple(_meaning(walk, name) for name in part.free)
            if part.holds(needs):
                again = any(name in names for name, _ in part.bound)
                for item in part.program.items:
                    walk.enter_function(item, again)
                names.update(part.gives)
                walk.environment.types.update(part.types)
                for name, _ in part.bound:
                    walk.inference.defined_below.pop(name, None)
                continue
            part.needs = needs
            part.lines_above = part.program.source.lines_above
            first = len(walk.definitions)
            said, failed = len(walk.diagnostics), len(walk.failed)
            for item in part.program.items:
                walk.item(item)
            if part.program.result is not None:
                walk.result(part.program.result)
            program = part.program
            unused = unused_names(program.items, program.result, walk.failed[failed:])
            part.diagnostics = (*walk.diagnostics[said:], *unused)
            made = walk.definitions[first:]
            part.gives = {n: names[n] for n in _given(part) if n in names}
            types = walk.environment.types
            part.types = {n: types[n] for n in _named_types(part) if n in types}
            part.known = _is_closed(part, made)
            part.shown = _shown(made) if part.known else ""
            self._keep_identity(part, made)
            names.update(part.gives)
            anew.append((part, first, len(walk.definitions)))
        walk.finish()
        for part, first, end in anew:
            part.signatures = tuple(describe_definition(d) for d in walk.definitions[first:end])
        snapshot = Snapshot(
            tuple(s for part in parts for s in part.signatures),
            first_ones([*self._in_the_text(source, parts)]),
            sum(end - first for _, first, end in anew),
        )
        return snapshot, walk.environment

    def _in_the_text(self, source: Source, parts: list[_Part]) -> Iterator[Diagnostic]:
        """The diagnostics of the parts and of all together, with spans in the entire text: a
        diagnostic may point into several parts.
        """
        names = (found for part in parts for found in names_of(part.program.items))
        for found in (*(part.diagnostics for part in parts), bound_twice(names)):
            for diagnostic in found:
                labels = tuple(
                    replace(label, span=self._moved(label.span, source))
                    for label in diagnostic.labels
                )
                yield replace(diagnostic, labels=labels)

    def _moved(self, span: Span, source: Source) -> Span:
        start = self._starts.get(span.source)
        return span if start is None else Span(source, span.start + start, span.end + start)

    def _keep_identity(self, part: _Part, made: list[Definition]) -> None:
        """A definition with an unchanged result keeps its entry: its dependents stay valid."""
        for definition in made:
            name = definition.name
            before = self._last.get(name)
            if part.known and before is not None and before[0] == part.shown:
                part.gives[name] = before[1]
            elif part.known and name in part.gives:
                self._last[name] = part.shown, part.gives[name]


def _read(name: str, piece: str) -> list[_Part] | None:
    """The items of a piece of text, each a program of its own; None if it cannot be parsed."""
    program, problems = parse_program(Source(name, piece))
    if problems:
        return None
    alone = [replace(program, items=(item,), result=None) for item in program.items]
    if program.result is not None:
        alone.append(replace(program, items=()))
    return [
        _Part(each, _bound(each), tuple(sorted(set(mentioned(*each.items, each.result)))))
        for each in alone
    ]


def _bound(program: ast.Program) -> tuple[tuple[str, Span], ...]:
    return tuple(
        found
        for item in program.items
        if isinstance(item, ast.Binding)
        for found in bound_names(item.pattern)
    )


def _meaning(walk: ProgramInference, name: str) -> Meaning:
    known = walk.environment.names.get(name) or walk.environment.types.get(name)
    return known or name.partition(".")[0] in walk.inference.missing


def _same(left: tuple[Meaning, ...], right: tuple[Meaning, ...]) -> bool:
    """Whether the names stand for identical objects."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def _stands_alone(part: _Part) -> bool:
    """Whether more can follow: it ends in `;` and is not the final expression of a file."""
    return part.program.result is None and _ENDS.search(part.program.source.text) is not None


def _given(part: _Part) -> list[str]:
    ops = [item.name for item in part.program.items if isinstance(item, ast.OpDecl)]
    main = ["main"] if part.program.result is not None else []
    return [*(name for name, _ in part.bound), *ops, *main]


def _named_types(part: _Part) -> list[str]:
    return [item.name for item in part.program.items if isinstance(item, ast.TypeAlias)]


def _is_closed(part: _Part, made: list[Definition]) -> bool:
    """Whether the result depends on nothing outside the part except the names it needs."""
    if any(isinstance(item, ast.Import) for item in part.program.items):
        return False  # the file may have changed
    if any(d.code == "AX201" for d in part.diagnostics):
        return False  # names bound below are part of that message
    if any(d.subject and d.subject not in OPERATORS for d in part.diagnostics):
        return False  # a message about a call of a function shows a line of it
    for definition in made:
        scheme = definition.scheme
        inside = set(scheme.variables)
        mentioned = set(type_variables(scheme.type))
        for relation in scheme.relations:
            mentioned.update(relation_variables(relation))
        if any(v not in inside and getattr(v, "rank_of", None) not in inside for v in mentioned):
            return False
    return all(
        isinstance(entry.type, Scheme) or not set(type_variables(entry.type))
        for entry in part.gives.values()
    )


def _shown(made: list[Definition]) -> str:
    """Everything visible to the users of these definitions, as text."""
    lines: list[str] = []
    for definition in made:
        signature = describe_definition(definition)
        show = Show()
        show.type(definition.scheme.type)
        relations = [show.relation(relation) for relation in definition.scheme.relations]
        lines.append(f"{signature.line(classes=True)} | {'; '.join(relations)}")
    return "\n".join(lines)
