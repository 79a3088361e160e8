"""One file, inferred part by part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from operator import is_

from axon.diagnostics import Diagnostic, Severity
from axon.driver import Imports, prelude
from axon.inference.environment import Entry, Environment
from axon.inference.program import Definition, ProgramInference, first_ones, place_in_text
from axon.inference.report.signature import Signature, describe_definition
from axon.inference.unused import bound_twice, names_of, unused_names
from axon.ops import OPERATORS
from axon.session.fragments import Cutter, Fragment
from axon.session.parts import Meaning, Part, Result
from axon.source import Source, Span
from axon.syntax import ast
from axon.types.show import Show
from axon.types.type import UNKNOWN, Scheme, relation_variables, type_variables

MOST_ENTRIES = 4


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


class File:
    """A file, its fragments, and what is known of them. `files` and `missing` are the names of its
    imports that were read, and of those that could not be.
    """

    def __init__(self, name: str) -> None:
        self.fragments: list[Fragment] = []
        self.files: frozenset[str] = frozenset()
        self.missing: frozenset[str] = frozenset()
        self._cutter = Cutter(name)
        self._last: dict[str, dict[str, Entry]] = {}
        self._starts: dict[Source, int] = {}
        self._makers: dict[str, Result] = {}
        self._settled: dict[int, Entry] = {}

    @property
    def parts(self) -> Iterator[Part]:
        return (part for fragment in self.fragments for part in fragment.parts)

    def check(self, source: Source, imports: Imports) -> tuple[Snapshot, Environment]:
        self.fragments = self._cutter.cut(source.text)
        self._starts = {fragment.source: fragment.start for fragment in self.fragments}
        walk = ProgramInference(lambda item: imports.read(item, source), prelude)
        for part in self.parts:
            for name, span in part.bound:
                walk.inference.defined_below.setdefault(name, span)
        inferred = 0
        new: list[tuple[Result, int, int]] = []
        self._settled.clear()
        named, typed = walk.environment.names.get, walk.environment.types.get
        missing, makers = walk.inference.missing, self._makers
        makers.clear()
        for fragment in self.fragments:
            walk.read_as(fragment.broken)
            for part in fragment.parts:
                needs = tuple(
                    [
                        self._value(walk, name)
                        if name in makers
                        else named(name) or typed(name) or _is_missing(name, missing)
                        for name in part.free
                    ]
                )
                if part.find(needs):
                    self._enter(walk, part)
                    continue
                first = len(walk.definitions)
                self._infer(walk, part, needs)
                new.append((part.result, first, len(walk.definitions)))
                inferred += len(walk.definitions) - first
        walk.finish()
        for result, first, end in new:
            made = walk.definitions[first:end]
            result.signatures = tuple(describe_definition(d) for d in made)
        self._close(walk, [result for result, _, _ in new])
        self.files, self.missing = (
            frozenset(walk.inference.files),
            frozenset(walk.inference.missing),
        )
        said = first_ones([*self._in_the_text(source)])
        problems = [
            self._in_text(p, source) for fragment in self.fragments for p in fragment.problems
        ]
        snapshot = Snapshot(
            tuple(s for part in self.parts for s in part.result.signatures),
            tuple(sorted((*problems, *said), key=lambda d: place_in_text(d)[0])),
            inferred,
        )
        return snapshot, walk.environment

    def _value(self, walk: ProgramInference, name: str) -> Entry:
        """What the name of a value stands for. It is inferred at each check, since an error may
        tell where its type is from; once that is known, it is the same value as long as its text
        is the same and what that mentions.
        """
        entry = walk.environment.names[name]
        settled = self._settled.get(id(entry))
        if settled is not None:
            return settled
        if isinstance(entry.type, Scheme):
            return entry
        type_ = walk.state.resolve(entry.type)
        if type_variables(type_):
            return entry  # what mentions it may decide it
        known = self._makers[name].settled.setdefault(name, [])
        settled = next((each for each in known if each.type == type_), None)
        if settled is None:
            settled = replace(entry, type=type_)
            known.append(settled)
        self._settled[id(entry)] = settled
        return settled

    def _enter(self, walk: ProgramInference, part: Part) -> None:
        """What a part gives whose result is valid."""
        names = walk.environment.names
        again = any(name in names for name, _ in part.bound)
        for item in part.program.items:
            walk.enter_function(item, again)
        names.update(part.result.gives)
        walk.environment.types.update(part.result.types)
        for name, _ in part.bound:
            walk.inference.defined_below.pop(name, None)
            self._makers.pop(name, None)

    def _infer(self, walk: ProgramInference, part: Part, needs: tuple[Meaning, ...]) -> None:
        program = part.program
        result = Result(needs, program.source.lines_above)
        if part.results and _are_same(part.result.needs, needs):
            result.settled = part.result.settled
        first, names = len(walk.definitions), walk.environment.names
        said, failed = len(walk.diagnostics), len(walk.failed)
        for item in program.items:
            walk.item(item)
        if program.result is not None:
            walk.result(program.result)
        result.failed = tuple(walk.failed[failed:])
        unused = unused_names(program.items, program.result, result.failed)
        result.diagnostics = (*walk.diagnostics[said:], *unused)
        made = walk.definitions[first:]
        result.gives = {n: names[n] for n in _declared_names(part) if n in names}
        types = walk.environment.types
        result.types = {n: types[n] for n in _named_types(part) if n in types}
        result.known = _is_closed(part, result, made)
        if result.known:
            self._keep_identity(result, made)
        names.update(result.gives)
        for name in result.gives:
            self._makers.pop(name, None)
            if not result.known:
                self._makers[name] = result
        part.enter(result)

    def _close(self, walk: ProgramInference, new: list[Result]) -> None:
        """Results keep what their names stood for, without variables of this inference, which may
        be bound by what came after.
        """
        final = {d.span: d.scheme for at in walk.open for d in (walk.definitions[at],)}
        for result in new:
            result.needs = tuple([_closed(each, final) for each in result.needs])

    def _in_the_text(self, source: Source) -> Iterator[Diagnostic]:
        """The diagnostics of the parts and of all together: one may point into several parts."""
        names = (found for part in self.parts for found in names_of(part.program.items))
        for found in (*(part.result.diagnostics for part in self.parts), bound_twice(names)):
            for diagnostic in found:
                yield self._in_text(diagnostic, source)

    def _in_text(self, diagnostic: Diagnostic, source: Source) -> Diagnostic:
        """A diagnostic with spans in the entire text."""
        labels = tuple(
            replace(label, span=self._moved(label.span, source)) for label in diagnostic.labels
        )
        fix = diagnostic.fix
        if fix is not None:
            fix = replace(fix, span=self._moved(fix.span, source))
        return replace(diagnostic, labels=labels, fix=fix)

    def _moved(self, span: Span, source: Source) -> Span:
        start = self._starts.get(span.source)
        return span if start is None else Span(source, span.start + start, span.end + start)

    def _keep_identity(self, result: Result, made: list[Definition]) -> None:
        """A definition with a result that it had before keeps its entry: its dependents stay
        valid.
        """
        shown = dict.fromkeys(result.gives, "")  # a declaration, or without a type
        for definition in made:
            shown[definition.name] = _shown(definition)
        single = len(shown) == 1
        for name, text in shown.items():
            if not text and result.gives[name].type is not UNKNOWN:
                continue
            entries = self._last.setdefault(name, {})
            key = text if single else f"{text} | {', '.join(shown)}"
            result.gives[name] = entries.setdefault(key, result.gives[name])
            if len(entries) > MOST_ENTRIES:
                del entries[next(iter(entries))]


def _are_same(needs: tuple[Meaning, ...], others: tuple[Meaning, ...]) -> bool:
    return len(needs) == len(others) and all(map(is_, needs, others))


def _is_missing(name: str, missing: set[str]) -> bool:
    """Whether a name belongs to an import that failed."""
    return bool(missing) and name.partition(".")[0] in missing


def _closed(meaning: Meaning, final: dict[Span, Scheme]) -> Meaning:
    if not isinstance(meaning, Entry) or isinstance(meaning.type, Scheme):
        return meaning
    if not type_variables(meaning.type):
        return meaning
    known = final.get(meaning.span) if meaning.span is not None else None
    return replace(meaning, type=known or UNKNOWN)


def _declared_names(part: Part) -> list[str]:
    ops = [item.name for item in part.program.items if isinstance(item, ast.OpDecl)]
    main = ["main"] if part.program.result is not None else []
    return [*(name for name, _ in part.bound), *ops, *main]


def _named_types(part: Part) -> list[str]:
    return [item.name for item in part.program.items if isinstance(item, ast.TypeAlias)]


def _is_closed(part: Part, result: Result, made: list[Definition]) -> bool:
    """Whether the result depends on nothing outside the part except the names it needs."""
    if any(isinstance(item, ast.Import) for item in part.program.items):
        return False  # the file may have changed
    if any(d.code == "AX201" for d in result.diagnostics):
        return False  # names bound below are part of that message
    if any(d.subject and d.subject not in OPERATORS for d in result.diagnostics):
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
        for entry in result.gives.values()
    )


def _shown(definition: Definition) -> str:
    """Everything visible to the users of this definition, as text."""
    signature = describe_definition(definition)
    show = Show()
    show.type(definition.scheme.type)
    relations = [show.relation(relation) for relation in definition.scheme.relations]
    return f"{signature.line(classes=True)} | {'; '.join(relations)}"
