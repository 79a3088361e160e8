"""Inference of a program: one definition after the other, each with its type or its errors."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from axon.diagnostics import Diagnostic, Fix, Severity, error
from axon.inference import operators
from axon.inference.constructs.ragged_results import check_ragged
from axon.inference.environment import Entry, Environment, Parameters, bound_names
from axon.inference.generalise.existentials import conditions
from axon.inference.generalise.schemes import Generalised, as_run_finds_it, generalise
from axon.inference.infer import Inference
from axon.inference.report.forced import forced_names, is_zero_product, warn_of
from axon.inference.state import State
from axon.inference.unify import widened
from axon.inference.walk import Prelude
from axon.solver.constraints import NOWHERE, Constraint, Guard
from axon.source import Span
from axon.syntax import ast
from axon.types.elements import ELEMENTS
from axon.types.read import make_alias, read_signature
from axon.types.scope import Scope
from axon.types.sign import is_nonnegative
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    Fn,
    Scheme,
    Type,
    type_variables,
)
from axon.types.variables import DimVar, owner

MOST_DIAGNOSTICS = 200

ImportReader = Callable[[ast.Import], "Environment | Diagnostic"]


@dataclass(frozen=True, slots=True)
class Definition:
    """A name, its scheme, the run-time checks in its body, and the constraints posted for it, if it
    was inferred with reasons.

    `type` is as inference left it, before substitution: questions about the definition start from
    it.
    """

    name: str
    span: Span
    scheme: Scheme
    guards: tuple[Guard, ...]
    asked: tuple[Constraint, ...] | None
    type: Type
    params: tuple[str, ...]
    names: Scope
    function: Parameters | None = None

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        assert self.asked is not None, "a definition is explained that was inferred without reasons"
        return self.asked


@dataclass(frozen=True, slots=True)
class Failed:
    """A definition without a type: its name with its span, the span of the entire definition, and
    the constraints posted for it, with those elsewhere that they conflict with.
    """

    name: str
    span: Span
    whole: Span
    constraints: tuple[Constraint, ...]
    names: Scope


@dataclass(frozen=True, slots=True)
class Inferred:
    definitions: tuple[Definition, ...]
    failed: tuple[Failed, ...]
    diagnostics: tuple[Diagnostic, ...]
    environment: Environment
    state: State


def infer_program(
    program: ast.Program,
    read_import: ImportReader,
    prelude: Prelude,
    broken: tuple[Span, ...] = (),
    reasons: bool = False,
    held: Mapping[str, Entry] = MappingProxyType({}),
) -> Inferred:
    """Infer every definition that can be; the errors of the others are in the diagnostics.

    `broken` are the spans that could not be parsed: a definition around one of them has no type. A
    definition is inferred with `reasons` only on request, or if it has an error whose message needs
    them. `held` are names that are known from outside the program.
    """
    program_inference = ProgramInference(read_import, prelude, broken, reasons)
    program_inference.environment.names.update(held)
    for item in program.items:
        if isinstance(item, ast.Binding):
            for name, span in bound_names(item.pattern):
                program_inference.inference.defined_below.setdefault(name, span)
    for item in program.items:
        program_inference.item(item)
    if program.result is not None:
        program_inference.result(program.result)
    program_inference.finish()
    return Inferred(
        tuple(program_inference.definitions),
        tuple(program_inference.failed),
        tuple(program_inference.diagnostics),
        program_inference.environment,
        program_inference.state,
    )


def first_ones(diagnostics: list[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The first diagnostics in the order of the text, and a note if there are more. Errors are
    counted before warnings.
    """
    ordered = sorted(diagnostics, key=place_in_text)
    more = len(ordered) - MOST_DIAGNOSTICS
    if more <= 0:
        return tuple(ordered)
    worst_first = sorted(ordered, key=lambda d: d.severity != Severity.ERROR)
    *first, last = sorted(worst_first[:MOST_DIAGNOSTICS], key=place_in_text)
    text = f"{more} more problems are not shown"
    return (*first, last, Diagnostic("AX002", Severity.NOTE, text, last.labels))


class ProgramInference:
    def __init__(
        self,
        read_import: ImportReader,
        prelude: Prelude,
        broken: tuple[Span, ...] = (),
        reasons: bool = False,
        trial: bool = False,
    ) -> None:
        self.state = State()
        self.inference = Inference(self.state, prelude)
        self.environment = Environment()
        self.definitions: list[Definition] = []
        self.failed: list[Failed] = []
        self.diagnostics: list[Diagnostic] = []
        self.open: list[int] = []
        self._read_import = read_import
        self._reasons = reasons
        self._undecided: list[Type] = []
        self._explained = True
        self._trials = 0
        self._is_trial = trial
        self.functions: dict[str, tuple[ast.Fn, Span]] = {}
        self.read_as(broken)

    def read_as(self, broken: tuple[Span, ...]) -> None:
        """The items that follow were read with mistakes at these places."""
        self._broken = sorted(span.start for span in broken)

    # --- items ---

    def item(self, item: ast.Item) -> None:
        match item:
            case ast.Import():
                self._import(item)
            case ast.OpDecl():
                self._op(item)
            case ast.TypeAlias():
                self._alias(item)
            case ast.Binding():
                self._binding(item)

    def _import(self, item: ast.Import) -> None:
        found = self._read_import(item)
        if isinstance(found, Diagnostic):
            if not self._unreadable(item.span):
                self.diagnostics.append(found)
            self.inference.missing.add(item.alias)
            return
        self.inference.files.add(item.alias)
        for name, entry in found.names.items():
            if "." not in name:
                self.environment.names[f"{item.alias}.{name}"] = entry
        for name, alias in found.types.items():
            if "." not in name:
                self.environment.types[f"{item.alias}.{name}"] = alias

    def _alias(self, item: ast.TypeAlias) -> None:
        made, problems = make_alias(item, self.environment.find_type)
        if self._unreadable(item.span):
            made = replace(made, broken=True)
        else:
            self.diagnostics.extend(problems)
            if item.name in ELEMENTS:
                text = f"`{item.name}` is an element type, so no other type can be called that"
                self.diagnostics.append(error("AX002", text, item.name_span, "an element type"))
        self.environment.types[item.name] = made

    def _op(self, item: ast.OpDecl) -> None:
        find = self.environment.find_type
        scheme, problems = read_signature(item.signature, user=True, aliases=find)
        self.diagnostics.extend(problems)
        is_function = isinstance(scheme.type, Fn)
        if not is_function and not problems and not self._unreadable(item.span):
            text = f"`{item.name}` is declared as an operator, but its type is not a function"
            span = item.signature.span
            self.diagnostics.append(error("AX204", text, span, "not a function type"))
        type_ = scheme if is_function and not problems else UNKNOWN
        self.environment.names[item.name] = Entry(type_, item.name_span, item.span)

    def _binding(self, item: ast.Binding) -> None:
        names = bound_names(item.pattern)
        before = {name: self.environment.names.get(name) for name, _ in names}
        generalised = self._bound(item)
        readable = not self._unreadable(item.span)
        first = len(self.diagnostics)
        bad, constraints, guards = self._end(generalised.scheme if generalised else None, readable)
        if bad and not self._is_trial:
            self.diagnostics[first:] = self._improved(item, before, self.diagnostics[first:])
        self.enter_function(item, any(entry is not None for entry in before.values()))
        bad = bad or self.inference.tainted or not readable
        for name, span in names:
            entry = self.environment.names.get(name)
            self.inference.defined_below.pop(name, None)
            if bad or entry is None or entry.type is UNKNOWN:
                self.environment.names[name] = Entry(UNKNOWN, span)
                self.failed.append(Failed(name, span, item.span, constraints, self.state.names))
                continue
            scheme = entry.type if isinstance(entry.type, Scheme) else Scheme((), entry.type)
            if generalised is None:
                self.open.append(len(self.definitions))
            else:
                guards += tuple(Guard(r, NOWHERE, 1) for r in generalised.guards)
            params = entry.function.names if entry.function is not None else ()
            type_ = generalised.type if generalised is not None else scheme.type
            asked = constraints if self._explained else None
            self.definitions.append(
                Definition(
                    name,
                    span,
                    scheme,
                    guards,
                    asked,
                    type_,
                    params,
                    self.state.names,
                    entry.function,
                )
            )

    def enter_function(self, item: ast.Item, again: bool) -> None:
        """Keep what a function is, for messages about its calls. A name that is bound `again` may
        be another one in the functions before.
        """
        if again:
            self.functions.clear()
        elif isinstance(item, ast.Binding) and isinstance(item.value, ast.Fn):
            for name, _ in bound_names(item.pattern):
                self.functions[name] = item.value, item.span

    def _improved(
        self, item: ast.Binding, before: dict[str, Entry | None], found: list[Diagnostic]
    ) -> list[Diagnostic]:
        """The messages with the lines inside the functions that are called, and with the
        suggestions that work.
        """
        from axon.inference.habits.trials import MOST_TRIALS, settled

        self._trials = MOST_TRIALS
        found = self._with_inner_places(item, before, found)
        return settled(found, lambda fix: self._works(item, before, fix))

    def _works(self, item: ast.Binding, before: dict[str, Entry | None], fix: Fix) -> bool:
        """Whether a definition has no error at a place that is changed like this."""
        from axon.inference.habits.trials import changed, is_clear

        self._trials -= 1
        trial = changed(item.span, fix) if self._trials >= 0 else None
        if trial is None:
            return False
        program, place = trial
        other = self._again(before)
        for each in program.items:
            other.item(each)
        if program.result is not None:
            other.result(program.result)
        return is_clear(other.diagnostics, place)

    def _with_inner_places(
        self, item: ast.Binding, before: dict[str, Entry | None], found: list[Diagnostic]
    ) -> list[Diagnostic]:
        """The messages about calls of functions of this file, with the lines inside them."""
        if not any(each.subject in self.functions for each in found):
            return found
        from axon.inference.recording.inlined import MOST_INLINES, with_inner_places

        other = self._again(before)
        environment = other.environment
        other.inference.inlined = {k: (fn, environment) for k, (fn, _) in self.functions.items()}
        other.inference.inlines = MOST_INLINES
        other._reasons = True
        other.item(item)
        places = {name: span for name, (_, span) in self.functions.items()}
        return with_inner_places(found, other.diagnostics, places)

    def _again(self, before: dict[str, Entry | None]) -> ProgramInference:
        """Inference of a definition apart from the program, as if it came next; `before` are the
        entries that its names had.
        """
        from axon.inference.habits.trials import closed

        other = ProgramInference(self._read_import, self.inference.prelude, trial=True)
        other.inference.missing |= self.inference.missing
        other.inference.files |= self.inference.files
        known = {**self.environment.names, **{k: e for k, e in before.items() if e is not None}}
        for name in (k for k, e in before.items() if e is None):
            known.pop(name, None)
        other.environment.names.update({k: closed(self.state, e) for k, e in known.items()})
        other.environment.types.update(self.environment.types)
        return other

    def _unreadable(self, span: Span) -> bool:
        at = bisect_left(self._broken, span.start)
        return at < len(self._broken) and self._broken[at] <= span.end

    def result(self, expr: ast.Expr) -> None:
        """A file may end in a plain expression: it is called `main`."""
        self._binding(ast.Binding(ast.NamePattern("main", expr.span), expr, expr.span))

    # --- one definition ---

    def _bound(self, item: ast.Binding) -> Generalised | None:
        """Infer a definition; again, with reasons, if it has an error or decides a name. A variable
        that it shares with another definition is bound once, and with a reason.
        """
        alone = isinstance(item.value, ast.Fn) and isinstance(item.pattern, ast.NamePattern)
        if alone and not self._reasons and not self._shares():
            assert isinstance(item.pattern, ast.NamePattern)
            before = self.environment.names.get(item.pattern.name)
            self.state.reasons = False
            generalised, fine = self._attempt(item)
            self.state.reasons = True
            if fine and not forced_names(self.state) and not self._is_empty(generalised):
                self._explained = False
                return generalised
            self._forget(item.pattern.name, before)
        self._explained = True
        generalised, _ = self._attempt(item)
        if generalised is None:
            self._undecided += self._open_types(item)
        return generalised

    def _is_empty(self, generalised: Generalised | None) -> bool:
        """Whether a definition is for tensors without elements only."""
        relations = generalised.scheme.relations if generalised is not None else ()
        return any(is_zero_product(self.state, each) for each in relations)

    def again(self, item: ast.Binding, environment: Environment) -> Scheme | None:
        """The scheme of a function among these names, inferred without reasons; None if there is
        anything to report.
        """
        self.environment = environment
        self.state.reasons = False
        generalised, fine = self._attempt(item)
        if generalised is None or not fine:
            return None
        self._end(generalised.scheme, readable=True)
        return None if self.diagnostics else generalised.scheme

    def _open_types(self, item: ast.Binding) -> list[Type]:
        """The types with free variables of a definition that is not a function."""
        entries = (self.environment.names.get(name) for name, _ in bound_names(item.pattern))
        types = [e.type for e in entries if e is not None and not isinstance(e.type, Scheme)]
        return [type_ for type_ in types if type_variables(self.state.resolve(type_))]

    def _shares(self) -> bool:
        """Whether a definition may share a variable with one before it."""
        if self._undecided:
            resolve = self.state.resolve
            self._undecided = [t for t in self._undecided if type_variables(resolve(t))]
        return bool(self._undecided)

    def _attempt(self, item: ast.Binding) -> tuple[Generalised | None, bool]:
        """The result of inference for a definition, and whether it has no error."""
        self._begin()
        conflicts, diagnostics = self._mark.conflicts, self._first_diagnostic
        generalised = self.inference.bind(item, self.environment)
        operators.settle(self.inference, 0, final=True)
        state = self.state
        if len(state.store.conflicts) == conflicts and not any(
            d.severity == Severity.ERROR for d in state.diagnostics[diagnostics:]
        ):
            check_ragged(self.inference)
        self._report_members(diagnostics)
        fine = len(state.store.conflicts) == conflicts and len(state.diagnostics) == diagnostics
        return generalised, fine

    def _report_members(self, first: int) -> None:
        """Members of tensors. What such a value is taken for elsewhere follows from that."""
        if not self.inference.members:
            return
        from axon.inference.constructs.records import report_members

        found = self.state.diagnostics
        before = len(found)
        report_members(self.inference)
        if len(found) > before:
            follow = ("AX207", "AX209")
            found[first:before] = [d for d in found[first:before] if d.code not in follow]

    def _forget(self, name: str, before: Entry | None) -> None:
        """Undo everything since the definition of a name began; `before` is the previous entry of
        the name. All waiting constraints are its own: every other definition has a type.
        """
        if before is None:
            self.environment.names.pop(name, None)
        else:
            self.environment.names[name] = before
        self.state.store.take_back(self._mark)
        del self.state.diagnostics[self._first_diagnostic :]
        self.state.stacked.clear()
        self.state.choices.clear()

    def _begin(self) -> None:
        state = self.state
        state.names = Scope()
        state.sizes.clear()
        self.inference.tainted = False
        self.inference.results.clear()
        self.inference.applied.clear()
        self.inference.pending.clear()
        state.names_level = state.level + 1
        self._mark, self._first_diagnostic = state.store.mark(), len(state.diagnostics)

    def _end(
        self, scheme: Scheme | None, readable: bool
    ) -> tuple[bool, tuple[Constraint, ...], tuple[Guard, ...]]:
        store = self.state.store
        posted, conflicts, guards, _ = self._mark
        constraints = tuple(store.posted[posted:])
        found = self.state.diagnostics[self._first_diagnostic :]
        bad = any(d.severity == Severity.ERROR for d in found)
        if readable:
            self.diagnostics.extend(found)
        reported: list[Constraint] = []
        if readable and len(store.conflicts) > conflicts:
            from axon.inference.report.conflict import describe_all

            bad = True
            messages, reported = describe_all(store, store.conflicts[conflicts:], constraints)
            self.diagnostics.extend(messages)
        checks = [as_run_finds_it(store, guard) for guard in store.guards[guards:]]
        checks = list(conditions(checks))
        if scheme is not None:
            silent = [r for r in scheme.relations if isinstance(r, AtLeast) and r.silent]
            checks += [Guard(r, NOWHERE, 1) for r in silent if not is_nonnegative(r.dim)]
        if not bad and readable and self._explained:
            self.diagnostics.extend(warn_of(self.state, constraints))
        if reported:
            own = set(constraints)
            constraints = (*(c for c in reported if c not in own), *constraints)
        return bad, constraints, tuple(dict.fromkeys(checks))

    # --- the end ---

    def finish(self) -> None:
        """Choose defaults for open types; definitions that are not functions get final types."""
        for at in self.open:
            definition = self.definitions[at]
            type_ = self.state.resolve(widened(self.state, definition.scheme.type))
            self.state.default_elements(type_)
            self.state.level = -1
            scheme = generalise(self.state, type_, len(self.state.store.guards)).scheme
            self.state.level = 0
            self.definitions[at] = replace(definition, scheme=scheme)
        for at, definition in enumerate(self.definitions):
            scheme = definition.scheme
            variables = type_variables(scheme.type)
            used = {owner(v) if isinstance(v, DimVar) else v for v in variables}
            if used - set(scheme.variables):
                # it shares a variable with a definition that is not a function, known by now
                known = replace(scheme, type=self.state.resolve(scheme.type))
                self.definitions[at] = replace(definition, scheme=known)


def place_in_text(diagnostic: Diagnostic) -> tuple[int, int]:
    """Its beginning and its end."""
    span = diagnostic.span
    return (span.start, span.end) if span is not None else (0, 0)
