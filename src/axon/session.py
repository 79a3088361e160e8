"""Checking again while a program is edited: what an edit does not touch is not inferred again.

A text is cut where a definition begins, at the left margin. A part is inferred again only if its
text has changed, or what one of its names stands for; a definition that comes out as it was before
keeps its identity, so what depends on it is left alone too. A text that cannot be cut that way (it
does not parse, or imports) is checked whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic, Severity
from axon.driver import FindFile, Imports, check, no_files, prelude, room
from axon.inference.environment import Entry
from axon.inference.program import Definition, Walk, bound_names
from axon.inference.signature import Signature, describe_definition
from axon.source import Source, Span
from axon.syntax import ast, parse_program
from axon.types.show import Show
from axon.types.type import Scheme, relation_variables, type_variables

_BEGINNING = re.compile(r"^(?=[A-Za-z_(])", re.MULTILINE)
_COMMENTS = re.compile(r"(?:\s|#[^\n]*\n)*")
_ENDS = re.compile(r";\s*(#[^\n]*\s*)*\Z")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What there is to know about a text: as `Checked`, without what only an explanation needs."""

    signatures: tuple[Signature, ...]
    diagnostics: tuple[Diagnostic, ...]
    inferred: int
    """How many of the definitions were inferred for this, rather than known from before."""

    @property
    def ok(self) -> bool:
        return not any(d.severity == Severity.ERROR for d in self.diagnostics)


@dataclass(slots=True)
class _Part:
    """A piece of the text, what it binds and what it mentions, and what came of it last time."""

    source: Source
    program: ast.Program
    bound: tuple[tuple[str, Span], ...]
    free: tuple[str, ...]
    needs: tuple[Entry | None, ...] = ()
    gives: dict[str, Entry] = field(default_factory=dict)
    signatures: tuple[Signature, ...] = ()
    shown: str = ""
    diagnostics: tuple[Diagnostic, ...] = ()
    known: bool = False


class Session:
    """One file being edited."""

    def __init__(self, name: str, find_file: FindFile | None = None) -> None:
        self.name = name
        self._find_file = find_file or no_files
        self._parts: dict[tuple[str, int], _Part] = {}
        self._last: dict[str, tuple[str, Entry]] = {}

    def check(self, text: str) -> Snapshot:
        """The same as checking the whole text, at the cost of what has changed."""
        with room():
            parts = self._cut(text)
            if parts is None:
                return self._whole(text)
            return self._infer(parts)

    def _whole(self, text: str) -> Snapshot:
        checked = check(Source(self.name, text), self._find_file)
        count = len(checked.signatures)
        return Snapshot(checked.signatures, checked.diagnostics, count)

    # --- cutting ---

    def _cut(self, text: str) -> list[_Part] | None:
        """The parts of the text, known ones as they are; None if it is no list of definitions."""
        starts = [m.start() for m in _BEGINNING.finditer(text)]
        if not starts or not _COMMENTS.fullmatch(text, 0, starts[0]):
            return None
        found: dict[tuple[str, int], _Part] = {}
        parts: list[_Part] = []
        above, at = 0, 0
        for i, start in enumerate(starts):
            above += text.count("\n", at, start)
            at = start
            piece = text[start : starts[i + 1] if i + 1 < len(starts) else len(text)]
            occurrence = 0
            while (piece, occurrence) in found:
                occurrence += 1
            part = self._parts.get((piece, occurrence)) or self._read(piece)
            last = i + 1 == len(starts)
            if part is None or (not last and not _stands_alone(part)):
                return None
            part.source.lines_above = above
            found[piece, occurrence] = part
            parts.append(part)
        self._parts = found
        return parts

    def _read(self, piece: str) -> _Part | None:
        source = Source(self.name, piece)
        program, problems = parse_program(source)
        if problems or any(isinstance(item, ast.Import) for item in program.items):
            return None
        bound = tuple(
            found
            for item in program.items
            if isinstance(item, ast.Binding)
            for found in bound_names(item.pattern)
        )
        return _Part(source, program, bound, tuple(sorted(set(_mentioned(program)))))

    # --- inferring ---

    def _infer(self, parts: list[_Part]) -> Snapshot:
        walk = Walk(Imports(self._find_file).read_none, prelude, ())
        for part in parts:
            for name, span in part.bound:
                walk.inference.later.setdefault(name, span)
        names = walk.environment.names
        anew: list[tuple[_Part, int, int]] = []
        for part in parts:
            needs = tuple(names.get(name) for name in part.free)
            if part.known and _same(part.needs, needs):
                names.update(part.gives)
                for name, _ in part.bound:
                    walk.inference.later.pop(name, None)
                continue
            part.needs = needs
            first = len(walk.definitions)
            said = len(walk.diagnostics)
            for item in part.program.items:
                walk.item(item)
            if part.program.result is not None:
                walk.result(part.program.result)
            part.diagnostics = tuple(sorted(walk.diagnostics[said:], key=_place))
            made = walk.definitions[first:]
            part.gives = {n: names[n] for n in _given(part) if n in names}
            part.known = _is_closed(part, made)
            part.shown = _shown(made) if part.known else ""
            self._keep_identity(part, made)
            names.update(part.gives)
            anew.append((part, first, len(walk.definitions)))
        walk.finish()
        for part, first, end in anew:
            part.signatures = tuple(describe_definition(d) for d in walk.definitions[first:end])
        return Snapshot(
            tuple(s for part in parts for s in part.signatures),
            tuple(d for part in parts for d in part.diagnostics),
            sum(end - first for _, first, end in anew),
        )

    def _keep_identity(self, part: _Part, made: list[Definition]) -> None:
        """A definition that came out as it was keeps its entry: its users need no second look."""
        for definition in made:
            name = definition.name
            before = self._last.get(name)
            if part.known and before is not None and before[0] == part.shown:
                part.gives[name] = before[1]
            elif part.known and name in part.gives:
                self._last[name] = part.shown, part.gives[name]


def _same(left: tuple[Entry | None, ...], right: tuple[Entry | None, ...]) -> bool:
    """Whether the names stand for the very same things."""
    return len(left) == len(right) and all(a is b for a, b in zip(left, right, strict=True))


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span is not None else 0


def _stands_alone(part: _Part) -> bool:
    """Whether more can follow: it ends in `;` and is not the expression that a file ends in."""
    return part.program.result is None and _ENDS.search(part.source.text) is not None


def _given(part: _Part) -> list[str]:
    ops = [item.name for item in part.program.items if isinstance(item, ast.OpDecl)]
    main = ["main"] if part.program.result is not None else []
    return [*(name for name, _ in part.bound), *ops, *main]


def _is_closed(part: _Part, made: list[Definition]) -> bool:
    """Whether nothing that is outside the part can change what came of it."""
    if any(d.code == "AX201" for d in part.diagnostics):
        return False  # what is bound later is part of that message
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
    """All that a user of these definitions can see of them, as text."""
    lines: list[str] = []
    for definition in made:
        signature = describe_definition(definition)
        show = Show()
        show.type(definition.scheme.type)
        relations = [show.relation(relation) for relation in definition.scheme.relations]
        lines.append(f"{signature.line(classes=True)} | {'; '.join(relations)}")
    return "\n".join(lines)


def _mentioned(program: ast.Program) -> Iterator[str]:
    """Every name in the expressions of a program."""
    todo: list[object] = [*program.items, program.result]
    while todo:
        node = todo.pop()
        match node:
            case ast.Name(name, _):
                yield name
            case ast.Binding(_, value, _):
                todo.append(value)
            case ast.Call(function, args, attributes, _):
                todo.extend((function, *args, *(a.value for a in attributes)))
            case ast.Infix(_, left, right, _, _):
                todo.extend((left, right))
            case ast.Negate(operand, _):
                todo.append(operand)
            case ast.TupleExpr(items, _) | ast.ListExpr(items, _):
                todo.extend(items)
            case ast.Fn(_, _, _, body, _):
                todo.extend((*body.bindings, body.result))
            case _:
                pass
