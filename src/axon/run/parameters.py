"""The parameters of a function: the tensors in the records that it takes, and their types once some
sizes are known.

Without a choice of theirs its parameters are its arguments that are records. The rows of such a
record are closed: it holds what the function uses, and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from axon.diagnostics import Diagnostic
from axon.driver import prelude
from axon.graph.module import Module
from axon.graph.scope import as_function
from axon.inference.program import Definition
from axon.inference.recording.elaborate import Elaboration, elaborate
from axon.inference.report.plain import Reading
from axon.inference.report.signature import describe_definition
from axon.ops.memory import shown
from axon.run.errors import ArgumentError
from axon.run.specialise import type_of
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.elements import BIT, class_name
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.show import Names, Show
from axon.types.type import (
    Fn,
    Record,
    Renaming,
    Shape,
    Tuple,
    Type,
    has_runtime_sizes,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, Var, given_at
from axon.workspace import workspace

LARGEST = 1 << 62


@dataclass(frozen=True, slots=True)
class Subject:
    """A function: its definition, the names of its arguments, and the program that it is in."""

    definition: Definition
    arguments: tuple[str, ...]
    module: Module
    plain: Reading | None = None
    """The plain reading of its type, which decides ranks that the type leaves open."""

    @property
    def name(self) -> str:
        return self.definition.name


@dataclass(frozen=True, slots=True)
class Settled:
    """The types of all arguments, by name, and which of them are parameters. `variables` are those
    that a size can be given for.
    """

    types: dict[str, Type]
    chosen: tuple[str, ...]
    variables: dict[str, Var]
    show: Show

    def parts(self) -> Iterator[tuple[str, Type]]:
        """The parameters; each with what the names of its tensors begin with. A record that is
        the only one has no name of its own.
        """
        alone = len(self.chosen) == 1
        for name in self.chosen:
            type_ = self.types[name]
            yield "" if alone and isinstance(type_, Record) else name, type_


def argument_names(definition: Definition) -> tuple[str, ...]:
    type_ = definition.scheme.type
    count = len(type_.params) if isinstance(type_, Fn) else 0
    return definition.params or tuple(f"arg{i}" for i in range(count))


def chosen(subject: Subject, params: str | Sequence[str] | None) -> tuple[str, ...]:
    """The arguments that are parameters: those that are asked for, else the records."""
    if params is None:
        types = zip(subject.arguments, _parameter_types(subject.definition), strict=True)
        return tuple(name for name, each in types if isinstance(each, Record))
    asked = (params,) if isinstance(params, str) else tuple(params)
    for name in asked:
        _check_argument(subject, name)
    if len(set(asked)) != len(asked):
        raise ArgumentError(f"{subject.name}: an argument is in `params` twice")
    return asked


def _parameter_types(definition: Definition) -> tuple[Type, ...]:
    type_ = definition.scheme.type
    return type_.params if isinstance(type_, Fn) else ()


def no_parameters(subject: Subject) -> ArgumentError:
    listed = ", ".join(subject.arguments) or "none"
    return ArgumentError(
        f"{subject.name} takes no record: say which of its arguments ({listed}) are parameters, "
        'params="…"'
    )


def _check_argument(subject: Subject, name: str) -> None:
    if name not in subject.arguments:
        listed = ", ".join(subject.arguments) or "none"
        raise ArgumentError(f"{subject.name} has no argument `{name}`: its arguments are {listed}")


def unsettled(definition: Definition, plain: Reading | None = None) -> Settled:
    """The types of the parameters while no size is known."""
    params, variables = _own(definition) if plain is None else _plainly(plain)
    closed = map(_closing(params).type, params)
    types = dict(zip(argument_names(definition), closed, strict=True))
    which = tuple(name for name, each in types.items() if isinstance(each, Record))
    return Settled(types, which, variables, Show(_names(variables)))


def settled(
    subject: Subject,
    params: str | Sequence[str] | None,
    sizes: Mapping[str, Any],
    like: Mapping[str, Any],
) -> Settled:
    """The types of the parameters. `sizes` are those of names in the signature, `like` has types
    of arguments, or values of these types; what follows from them is inferred.
    """
    which = chosen(subject, params)
    readings = [_own(subject.definition)]
    if subject.plain is not None:
        readings.insert(0, _plainly(subject.plain))
    fitting = [each for each in readings if sizes.keys() <= each[1].keys()]
    if not fitting:
        known = readings[0][1]
        name = next((name for name in sizes if name not in known), "")
        listed = ", ".join(known) or "none"
        raise ArgumentError(f"{subject.name} has no size `{name}`: its sizes are {listed}")
    for reading in fitting:
        found = _settled(subject, *reading, which, sizes, like)
        if isinstance(found, Settled):
            return found
    assert isinstance(found, ArgumentError)
    raise found


def by_name(about: str, option: str, given: Any) -> Mapping[str, Any]:
    """What a caller gives by names, in a dict; empty if nothing is given."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise ArgumentError(f"{about}: {option}= is a dict by names, and not {given!r}"[:200])
    return given


def _settled(
    subject: Subject,
    params: tuple[Type, ...],
    variables: dict[str, Var],
    which: tuple[str, ...],
    sizes: Mapping[str, Any],
    like: Mapping[str, Any],
) -> Settled | ArgumentError:
    """The same, if the arguments have these types to begin with."""
    renaming = _closing(params)
    for name, value in sizes.items():
        _enter(renaming, subject, variables, name, value)
    types = dict(zip(subject.arguments, map(renaming.type, params), strict=True))
    reader = Reader(Scope(), 0, 1)
    reader.in_parameter = True
    for name, value in like.items():
        _check_argument(subject, name)
        types[name] = type_of(subject.name, name, value, types[name], reader)
    if not sizes and not like:
        return Settled(types, which, variables, Show(_names(variables)))
    found = inferred(subject, types)
    if isinstance(found, list):
        show = Show(_names(variables))
        arguments = ", ".join(f"{name} : {show.type(type_)}" for name, type_ in types.items())
        return ArgumentError(f"{subject.name} cannot be called with {arguments}", found)
    resolved = dict(zip(subject.arguments, found.type.params, strict=True))
    return Settled(resolved, which, variables, Show(_names(variables, found)))


def _own(definition: Definition) -> tuple[tuple[Type, ...], dict[str, Var]]:
    """The types of the arguments with variables of their own, by the names in the signature: sizes
    first, then element types.
    """
    known = {var: name for name, var in describe_definition(definition).variables.items()}
    return _with_own(_parameter_types(definition), known)


def _plainly(plain: Reading) -> tuple[tuple[Type, ...], dict[str, Var]]:
    """The same for a plain reading."""
    return _with_own(plain.type.params, plain.names.given)


def _with_own(
    params: tuple[Type, ...], known: Mapping[Var, str]
) -> tuple[tuple[Type, ...], dict[str, Var]]:
    renaming = Renaming({}, {}, {}, {})
    variables: dict[str, Var] = {}
    scope = given_at(1)
    for var in dict.fromkeys(v for param in params for v in type_variables(param)):
        name = known.get(var, "")
        new: Var
        match var:
            case DimVar() if not var.runtime:
                new = renaming.dims[var] = DimVar(name, 1, True, scope)
            case ShapeVar() if not var.runtime:
                new = ShapeVar(name, 1, True, scope)
                renaming.shapes[var] = (new,)
            case ElemVar():
                new = renaming.elems[var] = ElemVar(name, 1, True, var.allowed)
            case TypeVar():
                new = renaming.types[var] = TypeVar(name, 1, True, scope, row=var.row)
            case _:
                continue
        if name and not isinstance(new, TypeVar):
            variables[name] = new
    ordered = sorted(variables.items(), key=lambda each: isinstance(each[1], ElemVar))
    return tuple(renaming.type(param) for param in params), dict(ordered)


def signature_names(definition: Definition) -> Show:
    """The names in its signature, for the variables of its type."""
    names = Names()
    variables = describe_definition(definition).variables
    names.taken.update(variables)
    names.given.update((var, name) for name, var in variables.items())
    return Show(names)


def _closing(types: Sequence[Type]) -> Renaming:
    """Records have no fields but those that are known."""
    rows = [v for t in types for v in type_variables(t) if isinstance(v, TypeVar) and v.row]
    return Renaming({}, {}, {}, dict.fromkeys(rows, Record((), ())))


def _enter(
    renaming: Renaming, subject: Subject, variables: Mapping[str, Var], name: str, value: Any
) -> None:
    """A size, a shape or an element type for a name of the signature."""
    about = f"{subject.name}: `{name}`"
    match variables[name]:
        case DimVar() as var:
            renaming.dims[var] = _size(about, value)
        case ShapeVar() as var:
            if not isinstance(value, tuple | list):
                raise ArgumentError(f"{about} is a shape: give a tuple of sizes, such as (3, 4)")
            renaming.shapes[var] = tuple(_size(about, size) for size in value)
        case ElemVar() as var:
            if not isinstance(value, str) or not BIT.get(value, 0) & var.allowed:
                may_be = class_name(var.allowed)
                raise ArgumentError(f'{about} is an element type, such as "f32" ({may_be})')
            renaming.elems[var] = value
        case TypeVar():
            raise AssertionError(name)


def _size(about: str, value: Any) -> int:
    try:
        size = index(value)
    except TypeError:
        kind = type(value).__name__
        raise ArgumentError(f"{about} is a size, and a {kind} is given") from None
    if not 0 <= size < LARGEST:
        raise ArgumentError(f"{about} is a size, and cannot be {shown(size)}")
    return size


def inferred(subject: Subject, types: Mapping[str, Type | None]) -> Elaboration | list[Diagnostic]:
    """The definition at these types of its arguments; None is one that is left open."""
    place = subject.module.find(subject.name, len(subject.module.items))
    assert place is not None
    module, _, at = place
    item = module.items[at]
    assert isinstance(item, ast.Binding)
    fn = as_function(item.value, len(types))
    given = [None if t is None or _is_left_open(t) else t for t in types.values()]
    with workspace():
        return elaborate(
            fn, lambda _: module.environment(at, fn), prelude, given, name=subject.name
        )


def _is_left_open(type_: Type) -> bool:
    """Whether an argument says nothing here: a function, or one with sizes that vary."""
    return isinstance(type_, Fn) or has_runtime_sizes(type_) or _has_function(type_)


def _has_function(type_: Type) -> bool:
    return isinstance(type_, Record) and any(
        isinstance(part, Fn) or _has_function(part) for part in type_.items
    )


def _names(variables: Mapping[str, Var], found: Elaboration | None = None) -> Names:
    """The names of the signature; after inference, for what each variable stands for."""
    names = Names()
    names.taken.update(variables)
    for name, var in variables.items():
        stands_for: Any = var
        if found is not None:
            stands_for = _image(found, var)
        if isinstance(stands_for, Var) and stands_for not in names.given:
            names.given[stands_for] = name
    return names


def _image(found: Elaboration, var: Var) -> Dim | Shape | Var | str | None:
    store = found.state.store
    match var:
        case DimVar():
            return store.dim(var)
        case ShapeVar():
            word = store.word((var,))
            return word[0] if len(word) == 1 else word
        case _:
            return found.state.elems.get(var, var) if isinstance(var, ElemVar) else var


def leaves(type_: Type, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Type]]:
    """The types in a structure that are no structures, by their paths."""
    match type_:
        case Record():
            for name, part in type_.fields.items():
                yield from leaves(part, (*path, name))
        case Tuple(items):
            for i, part in enumerate(items):
                yield from leaves(part, (*path, str(i)))
        case _:
            yield path, type_
