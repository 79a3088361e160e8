"""Function application: a function is inlined where it is called, or becomes a graph of its own."""

from __future__ import annotations

from dataclasses import replace

from axon.diagnostics import error
from axon.graph import elaborations, ragged
from axon.graph.convert import argument, coerce_all, under_callers_type, under_param_type
from axon.graph.graph import Call, Extern, OperatorFunction
from axon.graph.module import Module
from axon.graph.operators import apply_operator
from axon.graph.scope import Closure, Declared, Known, Scope, Stop
from axon.graph.walk import Walk
from axon.inference.recording.elaborate import Elaboration
from axon.ops import Operator
from axon.ops.scheme import scheme_of
from axon.source import Source, Span
from axon.syntax import ast, eta_expanded
from axon.types.show import Show
from axon.types.type import (
    DimValue,
    Fn,
    Renaming,
    Scheme,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    type_variables,
)
from axon.types.variables import DimVar, ShapeVar

NO_FILE = Module(ast.Program((), None, Source("", "")))
"""Where functions stand that no file has."""


def apply(
    lowering: Walk,
    callee: Known,
    args: list[Known],
    type_: Fn,
    span: Span,
    alone: bool = False,
) -> Known:
    """Apply a function to arguments; `type_` is its type here. One that is `alone` is a nested
    graph: if it is written there, it is applied nowhere else.
    """
    state = lowering.state
    match callee:
        case OperatorFunction(operator):
            if is_demanding(operator, type_):
                callee = written_out(callee, len(args), span)
                return apply(lowering, callee, args, type_, span, alone)
            given = coerce_all(state, args, type_.params)
            return apply_operator(state, operator, given, {}, type_, type_, span, makes=False)
        case Declared(name):
            given = coerce_all(state, args, type_.params)
            result = state.value(type_.result)
            state.emit(Extern(result, name, given, span))
            return result
        case Closure():
            each = zip(args, type_.params, strict=True)
            args = [argument(state, a, p, span) for a, p in each]
            known = callee.elaboration
            here = alone and known is state.elaboration
            if known is not None and (here or not _has_sizes(callee, type_)):
                return inline(lowering, callee, known, args, type_)
            if callee.of_file and callee.scope.module is not NO_FILE and _plain(callee, type_):
                return _call(lowering, callee, args, type_, span)
            elaboration = elaborations.of_closure(state, callee, type_)
            callee = replace(callee, elaboration=None)
            return inline(lowering, callee, elaboration, args, type_)
        case _:  # the state of a loop, say: which function it is, only the run knows
            text = "a function returned by an operator cannot be called"
            raise Stop([error("AX403", text, span)])


def _has_sizes(closure: Closure, type_: Fn) -> bool:
    """Whether the type of a function has run-time sizes, which differ in each call."""
    assert closure.elaboration is not None
    if elaborations.split(closure.elaboration.checks)[1]:
        return True
    whole = closure.elaboration.type_of(closure.fn)
    return ragged.runtime(whole) or ragged.runtime(type_)


def is_demanding(operator: Operator, type_: Fn) -> bool:
    """Whether an operator makes run-time sizes, or has conditions on them: its type where it is
    used does not show this.
    """
    scheme = scheme_of(operator, len(type_.params), {})
    assert isinstance(scheme, Scheme)
    return ragged.runtime(scheme.type) or (bool(scheme.relations) and ragged.runtime(type_))


def written_out(function: OperatorFunction, count: int, span: Span) -> Closure:
    """An operator as a function that applies it."""
    name = ast.OperatorName(function.operator.name, span)
    return Closure(eta_expanded(name, count, span), Scope(NO_FILE, 0), function.operator.name)


def inline(
    lowering: Walk,
    closure: Closure,
    elaboration: Elaboration,
    args: list[Known],
    type_: Fn,
) -> Known:
    """Evaluate the body of a function where it is called."""
    state, around = lowering.state, closure.scope
    before, depth = state.elaboration, state.depth
    state.elaboration = elaboration
    state.depth = elaboration.state.depth + 1 if closure.elaboration is None else closure.depth
    if closure.elaboration is None:
        args = [under_param_type(state, elaboration, i, arg) for i, arg in enumerate(args)]
    names = {p.name: a for p, a in zip(closure.fn.params, args, strict=True)}
    scope = Scope(around.module, around.before, around, names, elaboration)
    result = lowering.result(closure.fn, scope)
    state.elaboration, state.depth = before, depth
    return under_callers_type(state, result, type_.result)


def _call(lowering: Walk, closure: Closure, args: list[Known], type_: Fn, span: Span) -> Known:
    """A function of a file becomes a graph of its own, made once for each type."""
    state, scope = lowering.state, closure.scope
    key = (
        id(scope.module),
        closure.name,
        scope.before,
        Show(named=True).type(type_),
    )
    graph = state.shared.graphs.get(key)
    if graph is None:
        fresh = _renamed(type_)
        graph = lowering.graph(scope.module, closure.name, scope.before, fresh.params, fresh.result)
        state.shared.graphs[key] = graph
    result = state.value(type_.result)
    state.emit(Call(result, graph, coerce_all(state, args, type_.params), span))
    return result


# --- the types of what is called ---------------------------------------------------------------


def _plain(closure: Closure, type_: Fn) -> bool:
    """Whether all arguments are tensors or sizes, and all results tensors: no functions, no ragged
    types. A function that makes run-time sizes makes different ones in each call. One of
    sizes alone, such as a mask, is no layer: what it makes is better seen where it is used.
    """
    entry = closure.scope.module.entry(closure.name, closure.scope.before + 1)
    if entry is not None and isinstance(entry.type, Scheme) and ragged.runtime(entry.type.type):
        return False
    if any(map(ragged.runtime, (*type_.params, type_.result))):
        return False
    if type_.params and all(isinstance(t, DimValue | ShapeValue) for t in type_.params):
        return False
    return _of_tensors(type_.result) and all(_of_tensors(t, sizes=True) for t in type_.params)


def _of_tensors(type_: Type, sizes: bool = False) -> bool:
    """Whether a value consists of tensors, or also of sizes."""
    match type_:
        case Tuple(items):
            return all(_of_tensors(item, sizes) for item in items)
        case DimValue() | ShapeValue():
            return sizes
        case _:
            return isinstance(type_, Tensor)


def _renamed(type_: Fn) -> Fn:
    """The type with variables of its own."""
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(type_):
        if isinstance(var, DimVar) and var not in renaming.dims:
            renaming.dims[var] = DimVar(var.name)
        elif isinstance(var, ShapeVar) and var not in renaming.shapes:
            renaming.shapes[var] = (ShapeVar(var.name),)
    result = renaming.type(type_)
    assert isinstance(result, Fn)
    return result
