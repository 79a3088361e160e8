"""The pipeline on one page: text, tree, types.

Nothing here touches a file: the shell hands in a function that finds what a program imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

from axon import stdlib
from axon.diagnostics import Diagnostic, Severity, error
from axon.inference.environment import Entry, Environment
from axon.inference.program import Definition, Inferred, first_ones, infer_program
from axon.inference.report.signature import Signature, describe_definition
from axon.inference.unused import bound_twice, names_of, unused_names
from axon.source import Source
from axon.syntax import ast, parse_program
from axon.types.type import Type
from axon.workspace import workspace

if TYPE_CHECKING:
    from axon.graph.graph import Graph
    from axon.graph.module import Module

FindFile = Callable[[str, Source], Source | str]
"""From a path as written and the file it is written in: the text, or a sentence that says why
there is none.
"""

InferFile = Callable[[Source, "Imports"], Environment | None]

MOST_NESTED_IMPORTS = 20


@dataclass(frozen=True)
class Checked:
    """The result of checking a program."""

    program: ast.Program
    inferred: Inferred
    diagnostics: tuple[Diagnostic, ...]
    paper: bool = False

    @property
    def ok(self) -> bool:
        return not any(d.severity == Severity.ERROR for d in self.diagnostics)

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        return tuple(d for d in self.diagnostics if d.severity == Severity.WARNING)

    @cached_property
    def signatures(self) -> tuple[Signature, ...]:
        """The signatures of the definitions; computed on demand."""
        with workspace():
            return tuple(describe_definition(d, self.paper) for d in self.inferred.definitions)

    @property
    def definitions(self) -> tuple[Signature, ...]:
        return self.signatures

    def find(self, name: str) -> Definition | None:
        """The definition of that name, the last one if there are several."""
        found = [d for d in self.inferred.definitions if d.name == name]
        return found[-1] if found else None


def check_text(text: str, name: str = "program.axon", reasons: bool = False) -> Checked:
    """Check a program that imports nothing."""
    return check(Source(name, text), reasons=reasons)


def check(
    source: Source,
    find_file: FindFile | None = None,
    paper: bool = False,
    prove: bool = False,
    reasons: bool = False,
) -> Checked:
    """Parse, infer, describe. Explaining a definition needs `reasons`; `prove` needs the extra of
    that name: see `axon.prove.extra`.
    """
    with workspace():
        return check_file(source, Imports(find_file or no_files), paper, prove, reasons)


def check_file(
    source: Source,
    imports: Imports,
    paper: bool = False,
    prove: bool = False,
    reasons: bool = False,
) -> Checked:
    """The same for one file among others."""
    program, problems = parse_program(source)
    broken = tuple(p.span for p in problems if p.span is not None)

    def read(item: ast.Import) -> Environment | Diagnostic:
        return imports.read(item, source)

    inferred = infer_program(program, read, prelude, broken, reasons)
    if prove:
        inferred = _proved(inferred)
    return _checked(program, inferred, problems, paper)


def _checked(
    program: ast.Program,
    inferred: Inferred,
    problems: tuple[Diagnostic, ...] = (),
    paper: bool = False,
) -> Checked:
    found = first_ones([*inferred.diagnostics, *_unintended(program, inferred)])
    return Checked(program, inferred, tuple(sorted((*problems, *found), key=_place)), paper)


def _unintended(program: ast.Program, inferred: Inferred) -> list[Diagnostic]:
    """Warnings about names that are bound and not used, or bound twice."""
    unused = unused_names(program.items, program.result, inferred.failed)
    return [*unused, *bound_twice(names_of(program.items))]


def _proved(inferred: Inferred) -> Inferred:
    """Remove conditions that follow from others, and report those that cannot hold."""
    from axon.prove.definitions import prove_definitions

    definitions, problems = prove_definitions(inferred.definitions)
    diagnostics = (*inferred.diagnostics, *problems)
    return replace(inferred, definitions=definitions, diagnostics=diagnostics)


def _place(diagnostic: Diagnostic) -> int:
    return diagnostic.span.start if diagnostic.span is not None else 0


# --- imports
# -----------------------------------------------------------------------------------------


def no_files(path: str, _source: Source) -> str:
    return f"`{path}` cannot be found from here"


def infer_file(source: Source, imports: Imports) -> Environment | None:
    """The environment of a file; None if it has errors."""
    checked = imports.files[source.name] = check_file(source, imports)
    return checked.inferred.environment if checked.ok else None


@dataclass(slots=True)
class Imports:
    """Files already read, and those being read, by name; `infer` is called once for each."""

    find: FindFile
    infer: InferFile = infer_file
    done: dict[str, Environment | None] = field(default_factory=dict)
    active: list[str] = field(default_factory=list)
    circular: set[str] = field(default_factory=set)
    files: dict[str, Checked] = field(default_factory=dict)

    def read(self, item: ast.Import, source: Source) -> Environment | Diagnostic:
        text = stdlib.find(item.path)
        found = Source(item.path, text) if text is not None else self.find(item.path, source)
        if isinstance(found, str):
            return error("AX211", found, item.path_span, "imported here")
        if found.name in (*self.active, source.name):
            self.circular.update((*self.active, source.name))
            return error(
                "AX212",
                f"`{item.path}` imports itself, directly or through others",
                item.path_span,
                "imported here again",
            )
        if len(self.active) >= MOST_NESTED_IMPORTS:
            return error("AX212", "imports are nested too deeply", item.path_span)
        if found.name not in self.done:
            self.active.append(source.name)
            self.done[found.name] = self.infer(found, self)
            self.active.pop()
        environment = self.done[found.name]
        if environment is None and found.name in self.circular:
            self.circular.update(self.active, (source.name,))
            return error(
                "AX212",
                f"`{item.path}` imports this file in turn, directly or through others",
                item.path_span,
                "imported here",
            )
        if environment is None:
            return error(
                "AX211",
                f"`{item.path}` has errors of its own",
                item.path_span,
                help=f"check it first: axon check {item.path}",
            )
        return environment


# --- the standard library
# --------------------------------------------------------------------------------

_library: dict[str, tuple[Entry, ast.Program, Inferred]] = {}


def prelude(name: str) -> Entry | None:
    """A name of the standard library. The file that defines it is read the first time that one of
    its names is not found elsewhere.
    """
    path = stdlib.files().get(name)
    if path is None:
        return None
    if name not in _library:
        program, problems = parse_program(Source(path, stdlib.sources()[path]))
        inferred = infer_program(program, no_import, lambda _name: None)
        assert not problems and not inferred.diagnostics, (path, problems, inferred.diagnostics)
        for known, entry in inferred.environment.names.items():
            _library[known] = entry, program, inferred
    return _library[name][0]


def library_definition(name: str) -> Definition | None:
    """A function of the standard library, with its type."""
    if prelude(name) is None:
        return None
    _, _, inferred = _library[name]
    return next(d for d in inferred.definitions if d.name == name)


def library(name: str) -> tuple[Module, str, int] | None:
    """The place of a name in the standard library."""
    if prelude(name) is None:
        return None
    from axon.graph.module import make_module

    _, program, inferred = _library[name]
    module = _modules.get(program.source.name)
    if module is None:
        module = make_module(program, inferred, {})
        _modules[program.source.name] = module
    return module.find(name, len(module.items))


_modules: dict[str, Module] = {}


# --- from types to graphs
# --------------------------------------------------------------------------------


def check_and_link(source: Source, find_file: FindFile | None = None) -> tuple[Checked, Module]:
    """Check a program and link its files, so that it can run."""
    imports = Imports(find_file or no_files)
    with workspace():
        checked = check_file(source, imports)
        return checked, _link(checked, imports if checked.ok else Imports(no_files))


def check_tree(
    program: ast.Program,
    find_file: FindFile | None = None,
    reasons: bool = False,
    held: Mapping[str, Entry] = MappingProxyType({}),
) -> tuple[Checked, Module]:
    """The same for items that were read already, perhaps from several texts. `held` are operators
    that the caller has, with their types; no item declares them.
    """
    imports = Imports(find_file or no_files)

    def read(item: ast.Import) -> Environment | Diagnostic:
        return imports.read(item, item.span.source)

    with workspace():
        inferred = infer_program(program, read, prelude, (), reasons, held)
        checked = _checked(program, inferred)
        return checked, _link(checked, imports if checked.ok else Imports(no_files), held)


def _link(
    checked: Checked, imports: Imports, held: Mapping[str, Entry] = MappingProxyType({})
) -> Module:
    from axon.graph.module import make_module

    found: dict[str, Module] = {}
    for item in checked.program.items:
        if isinstance(item, ast.Import):
            text = stdlib.find(item.path)
            place = item.span.source
            source = Source(item.path, text) if text is not None else imports.find(item.path, place)
            known = imports.files.get(source.name) if isinstance(source, Source) else None
            if known is not None and known.ok:
                found[item.alias] = _link(known, imports)
    return make_module(checked.program, checked.inferred, found, held)


def graph(
    module: Module,
    name: str,
    params: Sequence[Type | None],
    left_out: frozenset[str] = frozenset(),
) -> Graph | list[Diagnostic]:
    """The graph of a definition at these argument types (None: any), without the parameters that
    are `left_out`.
    """
    from axon.graph.lower import lower

    with workspace():
        return lower(module, name, params, prelude, library, left_out)


def no_import(item: ast.Import) -> Diagnostic:
    return error("AX211", "the standard library imports nothing", item.span)
