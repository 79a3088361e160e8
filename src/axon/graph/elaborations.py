"""Elaborations: functions inferred again at the types that they have where they are used."""

from __future__ import annotations

from collections.abc import Sequence

from axon.diagnostics import Diagnostic
from axon.graph.graph import Function, OperatorFunction
from axon.graph.module import Module
from axon.graph.scope import Closure, Declared, Known, Stop, Structure, operand_type
from axon.graph.state import Shared, State
from axon.inference.environment import Entry, Environment, Parameters
from axon.inference.infer import Inference
from axon.inference.operators import scheme_of_value
from axon.inference.recording.elaborate import Elaboration, elaborate, enter_name
from axon.solver.constraints import Guard
from axon.syntax import ast, mentioned
from axon.types.trees import NOWHERE as NOWHERE_SPAN
from axon.types.type import (
    UNKNOWN,
    Fn,
    Record,
    Renaming,
    Tuple,
    Type,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar, made_at


def of_item(
    shared: Shared,
    module: Module,
    name: str,
    at: int,
    fn: ast.Fn,
    params: Sequence[Type | None],
    result: Type | None,
) -> Elaboration:
    """A definition of a file at these types."""
    return _found(
        elaborate(
            fn,
            lambda _: module.environment(at, fn),
            shared.prelude,
            params,
            result,
            name=name,
            concrete=True,
        )
    )


def of_closure(state: State, closure: Closure, type_: Fn) -> Elaboration:
    """A function at the type that it has here, among the names that it sees."""
    key = (id(closure), state.depth, type_)
    known = state.shared.elaborations.get(key)
    if known is not None:
        return known[1]
    around = closure.scope.around
    inner = _further_in(type_, state.depth)
    found = _found(
        elaborate(
            closure.fn,
            lambda inference: _environment(inference, closure),
            state.shared.prelude,
            inner.params,
            inner.result,
            name=closure.name,
            names=around.names() if around is not None else None,
            depth=state.depth,
            concrete=True,
        )
    )
    runtime_checks = split(found.checks)[1]
    if runtime_checks:  # on sizes that differ in each call
        state.checks += runtime_checks
    else:
        state.shared.elaborations[key] = closure, found
    return found


def _found(elaboration: Elaboration | list[Diagnostic]) -> Elaboration:
    if isinstance(elaboration, list):
        raise Stop(elaboration)
    return elaboration


def split(checks: Sequence[Guard]) -> tuple[list[Guard], list[Guard]]:
    """The conditions that can be checked before anything runs, and those on run-time sizes."""
    runtime_checks = [g for g in checks if any(v.runtime for v in relation_variables(g.relation))]
    return [g for g in checks if g not in runtime_checks], runtime_checks


def _environment(inference: Inference, closure: Closure) -> Environment:
    """The types of the names that a function mentions."""
    scope = closure.scope
    outer = scope.module.environment(scope.before, closure.fn)
    inner = Environment(outer)
    for name in set(mentioned(closure.fn)):
        match scope.find(name):
            case None | Function():
                pass
            case Closure() as other if other.of_file:
                entry = other.scope.module.entry(other.name, other.scope.before + 1)
                if entry is not None:
                    inner.names[name] = entry
            case Closure() as other:
                env = _seen_by(inference, other)
                pattern = ast.NamePattern(name, other.fn.span)
                inference.bind(ast.Binding(pattern, other.fn, other.fn.span), env)
                inner.names[name] = env.names[name]
            case Declared(declared):
                entry = scope.module.entry(declared, scope.before)
                if entry is not None:
                    inner.names[name] = entry
            case OperatorFunction(operator):
                scheme = scheme_of_value(operator.name)
                if scheme is not None:
                    function = Parameters((), operator=operator.name)
                    inner.names[name] = Entry(scheme, function=function)
            case known:
                inner.names[name] = Entry(_type_of(inference, known))
    return inner


def _seen_by(inference: Inference, closure: Closure) -> Environment:
    """The environment of a function, and the sizes that are named around it."""
    env = _environment(inference, closure)
    around = closure.scope.around.names() if closure.scope.around is not None else {}
    for known, value in around.items():
        if known not in inference.state.names.index:
            enter_name(inference.state, known, value)
    return env


def _type_of(inference: Inference, known: Known) -> Type:
    """The type of a value; a function in a structure has one type."""
    match known:
        case Structure(items, names):
            types = tuple(_type_of(inference, item) for item in items)
            return Tuple(types) if names is None else Record(types, names)
        case Closure():
            return inference.infer_fn(known.fn, _seen_by(inference, known))
        case OperatorFunction(operator):
            return inference.infer(ast.OperatorName(operator.name, NOWHERE_SPAN), Environment())
        case Declared():
            return UNKNOWN
        case _:
            return operand_type(known)


def _further_in(type_: Fn, depth: int) -> Fn:
    """The type of a function as its body sees it, one deeper than its call: so are the calls of its
    function arguments, with the sizes that belong to them.
    """
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(type_):
        if isinstance(var, DimVar) and var.scope > made_at(depth):
            inner = DimVar(
                var.name,
                var.level,
                scope=var.scope + 2,
                runtime=var.runtime,
                over=var.over,
                derived=var.derived,
                row=var.row,
            )
            renaming.dims.setdefault(var, inner)
        elif isinstance(var, ShapeVar) and var.scope > made_at(depth):
            shape = ShapeVar(var.name, var.level, scope=var.scope + 2, runtime=var.runtime)
            renaming.shapes.setdefault(var, (shape,))
    if not renaming.dims and not renaming.shapes:
        return type_
    result = renaming.type(type_)
    assert isinstance(result, Fn)
    return result
