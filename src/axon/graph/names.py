"""Name lookup: the value of a name where it is used."""

from __future__ import annotations

from dataclasses import replace

from axon.graph import elaborations
from axon.graph.calls import inline
from axon.graph.graph import OperatorFunction, ShapeOf, SizeOf
from axon.graph.module import Module
from axon.graph.scope import Closure, Declared, Known, Scope
from axon.graph.walk import Walk
from axon.inference.constructs.parameters import constant, has_defaults
from axon.ops import OPERATORS, written_as
from axon.syntax import ast, with_defaults
from axon.types.type import DimValue, Scheme, ShapeValue, Type


def value_of(lowering: Walk, expr: ast.Name, scope: Scope) -> Known:
    """The value of a name. A name bound in an annotation is a size."""
    return as_value(_named(lowering, expr, scope))


def bound_to(lowering: Walk, value: ast.Expr, scope: Scope) -> Known:
    """The value of a binding. Another name for a function keeps its parameters with defaults."""
    if isinstance(value, ast.Name):
        return _named(lowering, value, scope)
    if isinstance(value, ast.Field) and is_imported(value, scope):
        return _imported(lowering, value, scope)
    return lowering.expr(value, scope)


def _named(lowering: Walk, expr: ast.Name, scope: Scope) -> Known:
    elaboration = lowering.state.elaboration
    known = id(expr) in elaboration.record.types
    type_ = lowering.state.size_of(expr) if known else None
    if isinstance(type_, DimValue):
        return SizeOf(type_.dim, "", type_.number)
    if isinstance(type_, ShapeValue):
        return ShapeOf(type_.shape)
    return look_up(lowering, expr.name, scope, type_)


def as_value(found: Known) -> Known:
    """A function that is used as a value takes its required parameters."""
    if isinstance(found, Closure) and has_defaults(found.fn):
        return replace(found, fn=with_defaults(found.fn), scope=found.scope.within())
    return found


def is_imported(expr: ast.Field, scope: Scope) -> bool:
    """Whether `a.b` is a name of an imported file, and not a field of a value."""
    if not isinstance(expr.record, ast.Name) or scope.find(expr.record.name) is not None:
        return False
    module, file = scope.module, expr.record.name
    return module.find(file, scope.before) is None and file in module.imports


def imported(lowering: Walk, expr: ast.Field, scope: Scope) -> Known:
    """The value of a name of an imported file."""
    return as_value(_imported(lowering, expr, scope))


def _imported(lowering: Walk, expr: ast.Field, scope: Scope) -> Known:
    types = lowering.state.elaboration.record.types
    type_ = lowering.state.size_of(expr) if id(expr) in types else None
    return look_up(lowering, expr.dotted, scope, type_)


def look_up(lowering: Walk, name: str, scope: Scope, type_: Type | None = None) -> Known:
    """Innermost first: the enclosing functions, the file, the operators, the library."""
    found = scope.find(name)
    if found is not None:
        return found
    place = scope.module.find(name, scope.before)
    if place is None and name in OPERATORS:
        return OperatorFunction(OPERATORS[name])
    place = place or lowering.state.shared.library(name)
    assert place is not None, name
    module, known, at = place
    item = module.items[at]
    if isinstance(item, ast.OpDecl):
        return Declared(known)
    assert isinstance(item, ast.Binding)
    if isinstance(item.value, ast.Fn):
        return Closure(item.value, Scope(module, at), known)
    if isinstance(item.pattern, ast.NamePattern) and _is_function(module, known, at):
        if isinstance(item.value, ast.OperatorName):
            return OperatorFunction(written_as(item.value.op))
        if isinstance(item.value, ast.Name):
            return look_up(lowering, item.value.name, Scope(module, at))
        if isinstance(item.value, ast.Field):
            return look_up(lowering, item.value.dotted, Scope(module, at))
    return _top_level(lowering, module, known, at, item, type_)


def _is_function(module: Module, name: str, at: int) -> bool:
    """Whether a value of a file is a function that may be used at many types."""
    entry = module.types.get((name, at))
    return entry is not None and isinstance(entry.type, Scheme)


def _top_level(
    lowering: Walk,
    module: Module,
    name: str,
    at: int,
    item: ast.Binding,
    type_: Type | None,
) -> Known:
    """A value of a file: computed once, before everything else."""
    state = lowering.state
    key = (id(module), at, name, type_)
    if key in state.constants:
        return state.constants[key]
    closure = Closure(constant(item.value), Scope(module, at), name)
    wanted = _wanted(module, name, at, item.pattern, type_)
    found = elaborations.of_item(state.shared, module, name, at, closure.fn, (), wanted)
    nodes = state.take_nodes()
    value = inline(lowering, closure, found, [], found.type)
    names: dict[str, Known] = {}
    lowering.bind(item.pattern, value, names)
    state.first += state.nodes
    state.nodes = nodes
    state.constants[key] = names[name]
    return names[name]


def _wanted(
    module: Module, name: str, at: int, pattern: ast.Pattern, type_: Type | None
) -> Type | None:
    """The type at which a value of a file is made: the one that it is used at, or its only one."""
    if not isinstance(pattern, ast.NamePattern):
        return None
    if type_ is not None:
        return type_
    entry = module.types.get((name, at))
    return None if entry is None or isinstance(entry.type, Scheme) else entry.type
