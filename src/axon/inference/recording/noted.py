"""A definition inferred once more, with the type of everything in it: for who reads or edits it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic, error
from axon.inference.calls import IN_PLACE
from axon.inference.environment import Entry, Environment, bound_names
from axon.inference.generalise.schemes import Generalised
from axon.inference.infer import Inference
from axon.inference.program import Definition, ProgramInference
from axon.inference.recording.elaborate import Recording
from axon.inference.report.naming import factor_sizes
from axon.inference.report.signature import Signature, describe_definition, shapes_of
from axon.inference.state import State
from axon.inference.walk import Prelude
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.scope import Alias
from axon.types.show import Names, Show
from axon.types.type import (
    UNKNOWN,
    DimValue,
    Fn,
    Renaming,
    Scheme,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar

Place = tuple[int, int]


class Noting(Recording):
    """Inference that also keeps what each name stands for, and each function, by its place."""

    def __init__(self, state: State, prelude: Prelude) -> None:
        super().__init__(state, prelude)
        self.names: dict[Place, Type] = {}
        self.functions: dict[Place, Fn] = {}
        self._aside = False

    def infer(self, expr: ast.Expr, env: Environment) -> Type:
        return Inference.infer(self, expr, env) if self._aside else super().infer(expr, env)

    def bind(self, binding: ast.Binding, env: Environment) -> Generalised | None:
        pattern = binding.pattern
        match pattern:
            case ast.NamePattern(name, span) if span == binding.value.span and name != IN_PLACE:
                # a function as it is where defaults are left out
                return self._bind_aside(binding, env)
            case _:
                pass
        found = super().bind(binding, env)
        for name, span in bound_names(binding.pattern):
            entry = env.names.get(name)
            if entry is not None:
                scheme = isinstance(entry.type, Scheme)
                known = found.type if found is not None and scheme else entry.type
                self.names[span.start, span.end] = (
                    known.type if isinstance(known, Scheme) else known
                )
        return found

    def _bind_aside(self, binding: ast.Binding, env: Environment) -> Generalised | None:
        """Bind what is not written in the text: its types are not kept."""
        before, self._aside = self._aside, True
        names, functions = self.names, self.functions
        self.names, self.functions = {}, {}
        found = super().bind(binding, env)
        self._aside, self.names, self.functions = before, names, functions
        return found

    def infer_fn(
        self,
        fn: ast.Fn,
        env: Environment,
        given: Sequence[Type] = (),
        arguments: Sequence[tuple[Type, Origin] | None] = (),
    ) -> Type:
        found = super().infer_fn(fn, env, given, arguments)
        if isinstance(found, Fn):
            self.functions[fn.span.start, fn.span.end] = found
            for param, type_ in zip(fn.params, found.params, strict=True):
                self.names[param.name_span.start, param.name_span.end] = type_
        return found


@dataclass(slots=True)
class Noted:
    """What is known of a definition: its own result, and types as text. All types of one definition
    are written with the same names, those of its signature.
    """

    definitions: tuple[Definition, ...]
    diagnostics: tuple[Diagnostic, ...]
    state: State
    _inference: Noting
    _names: Names = field(default_factory=Names)
    _renaming: Renaming = field(default_factory=lambda: Renaming({}, {}, {}, {}))

    @property
    def signatures(self) -> tuple[Signature, ...]:
        return tuple(map(describe_definition, self.definitions))

    def raw(self, span: Span) -> Type | None:
        """The type of a name that is bound here, as inference made it."""
        found = self._inference.names.get((span.start, span.end))
        return None if found is None else self.state.prune(found)

    def type_of(self, expr: ast.Expr) -> Type | None:
        return self._known(self._inference.kept.types.get(id(expr)))

    def named(self, span: Span) -> Type | None:
        """The type of a name that is bound here."""
        return self._known(self._inference.names.get((span.start, span.end)))

    def function(self, fn: ast.Fn) -> Fn | None:
        found = self._known(self._inference.functions.get((fn.span.start, fn.span.end)))
        return found if isinstance(found, Fn) else None

    def applied(self, span: Span) -> Fn | None:
        """The type of what is called here, an operator or a function."""
        record = self._inference.kept
        use = record.uses.get(span)
        found = self._known(use.type if use is not None else record.calls.get(span))
        return found if isinstance(found, Fn) else None

    def size(self, name: str) -> Dim | Shape | None:
        """What a name in annotations stands for."""
        var = self.state.names.index.get(name)
        if isinstance(var, DimVar):
            return self._renaming.dim(self.state.store.dim(var))
        return None if var is None else self._renaming.shape(self.state.store.word((var,)))

    def text(self, type_: Type) -> str:
        """A type as text."""
        show = Show(self._names)
        text = show.type(type_)
        factored = factor_sizes(shapes_of(type_), show)
        return show.type(factored.type(type_)) if factored.sizes else text

    def size_text(self, size: Dim | Shape) -> str:
        show = Show(self._names)
        return show.shape(size) if isinstance(size, tuple) else show.dim(size)

    def _known(self, type_: Type | None) -> Type | None:
        if type_ is None or self.state.is_huge(type_):
            return None  # a type that doubles at each step would fill the memory
        found = self.state.resolve(type_)
        return None if found is UNKNOWN else self._renaming.type(found)


def note(
    item: ast.Item,
    known: dict[str, Entry],
    types: dict[str, Alias],
    *,
    prelude: Prelude,
    files: frozenset[str] = frozenset(),
    missing: frozenset[str] = frozenset(),
    broken: tuple[Span, ...] = (),
    reasons: bool = False,
) -> Noted:
    """Infer an item whose names have these meanings. Mistakes in it are not reported here: what is
    left of it has types.
    """
    walk = ProgramInference(_no_import, prelude, broken, reasons, trial=True)
    inference = walk.inference = Noting(walk.state, prelude)
    inference.files |= files
    inference.missing |= missing
    walk.environment.names.update(known)
    walk.environment.types.update(types)
    walk.item(item)
    walk.finish()
    noted = Noted(tuple(walk.definitions), tuple(walk.diagnostics), walk.state, inference)
    _share_names(noted)
    return noted


def _share_names(noted: Noted) -> None:
    """Let the names of the signature stand for the same variables in all types."""
    state, names, renaming = noted.state, noted._names, noted._renaming
    for definition in noted.definitions:
        for name, var in describe_definition(definition).variables.items():
            names.given.setdefault(var, name)
            names.taken.add(name)
        _match(state.resolve(definition.type), definition.scheme.type, renaming)
    for var in state.names.index.values():
        names.reserve((var,))
    names.reserve(v for v in state.names.elems.values() if v.user)
    found = [noted._known(known) for _, known in sorted(noted._inference.names.items(), key=_place)]
    for known in found:
        if known is not None:
            names.reserve(type_variables(known))
    for known in found:  # so that which question is asked first makes no difference
        if known is not None:
            Show(names).type(known)


def _place(entry: tuple[Place, Type]) -> Place:
    return entry[0]


def _match(raw: Type, final: Type, found: Renaming) -> None:
    """Where a signature has another variable, or a size, for a variable of inference."""
    match raw, final:
        case TypeVar(), _:
            if raw is not final:
                found.types.setdefault(raw, final)
        case Tensor(elem, shape), Tensor(other, word):
            if isinstance(elem, ElemVar) and elem is not other:
                found.elems.setdefault(elem, other)
            _match_shape(shape, word, found)
        case ShapeValue(shape), ShapeValue(word):
            _match_shape(shape, word, found)
        case DimValue(dim), DimValue(size):
            _match_shape((dim,), (size,), found)
        case Tuple(items), Tuple(others) if len(items) == len(others):
            for item, other_item in zip(items, others, strict=True):
                _match(item, other_item, found)
        case Fn(params, result), Fn(others, made) if len(params) == len(others):
            for item, other_item in zip((*params, result), (*others, made), strict=True):
                _match(item, other_item, found)
        case _:
            pass


def _match_shape(raw: Shape, final: Shape, found: Renaming) -> None:
    if len(raw) == 1 and isinstance(raw[0], ShapeVar):
        if raw != final:
            found.shapes.setdefault(raw[0], final)
    elif len(raw) == len(final):
        for item, other in zip(raw, final, strict=True):
            if item is other:
                continue
            if isinstance(item, ShapeVar):
                if isinstance(other, ShapeVar):
                    found.shapes.setdefault(item, (other,))
            elif isinstance(item, DimVar) and not isinstance(other, ShapeVar):
                found.dims.setdefault(item, other)


def _no_import(item: ast.Import) -> Diagnostic:
    return error("AX211", "a definition imports nothing", item.span)
