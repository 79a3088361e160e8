"""The plain reading of a definition, confirmed: inferred with the reading as its annotation, the
definition has no error, no warning and no condition, and its signature is the reading.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from axon.diagnostics import Diagnostic, error
from axon.driver import Checked, prelude
from axon.graph.module import Module, make_module
from axon.inference.environment import Environment, bound_names
from axon.inference.generalise.schemes import visible
from axon.inference.program import Definition, ProgramInference
from axon.inference.report.plain import Reading, has_reading, read_plainly
from axon.inference.report.plain_sizes import settled
from axon.inference.report.signature import type_text
from axon.source import Span
from axon.syntax import ast, mentioned
from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.trees import NOWHERE, Trees, as_expression
from axon.types.type import Fn, Scheme, relation_variables, type_variables
from axon.types.variables import ShapeVar, Var
from axon.workspace import workspace


def plain_readings(checked: Checked) -> tuple[str | None, ...]:
    """The text of the confirmed reading of each definition, None for one that has none."""
    return tuple([None if found is None else found.text for found in confirmed(checked)])


def confirmed(checked: Checked) -> tuple[Reading | None, ...]:
    """The confirmed reading of each definition, None for one that has none."""
    definitions = checked.inferred.definitions
    if not any(has_reading(definition.scheme) for definition in definitions):
        return (None,) * len(definitions)
    module = make_module(checked.program, checked.inferred, {})
    places = _places(module)
    return tuple(_reading(checked, module, places.get(d.span), d) for d in definitions)


def plain_reading(checked: Checked, module: Module, definition: Definition) -> Reading | None:
    """What a person would write down for a type; None if it has no open rank and no broadcast, or
    if no reading was confirmed.
    """
    return _reading(checked, module, _places(module).get(definition.span), definition)


def _places(module: Module) -> dict[Span, int]:
    """The items that define one name, by the place of the name."""
    return {
        item.pattern.span: at
        for at, item in enumerate(module.items)
        if isinstance(item, ast.Binding) and isinstance(item.pattern, ast.NamePattern)
    }


def _reading(
    checked: Checked, module: Module, at: int | None, definition: Definition
) -> Reading | None:
    if at is None or not has_reading(definition.scheme):
        return None
    item = module.items[at]
    assert isinstance(item, ast.Binding)
    fn = _as_function(item.value, definition)
    if fn is None:
        return None
    with workspace():
        environment = _environment(checked, module, at, fn)
        if environment is None:
            return None
        return _confirmed(fn, definition, environment, checked.paper)


def reading_among(
    value: ast.Expr, definition: Definition, environment: Environment
) -> Reading | None:
    """The same for a definition by itself, whose names stand for what is in the environment."""
    fn = _as_function(value, definition) if has_reading(definition.scheme) else None
    if fn is None or _shares_variables(environment):
        return None
    with workspace():
        return _confirmed(fn, definition, environment)


def _confirmed(
    fn: ast.Fn, definition: Definition, environment: Environment, paper: bool = False
) -> Reading | None:
    """The reading, with its bounds in the text, if it is confirmed."""
    reading = read_plainly(definition, _taken(definition, fn), list(_numbers(fn)))
    if reading is not None and any(map(_is_runtime, type_variables(reading.type.result))):
        reading = _with_result(definition, fn, environment, reading)
    bounds = _bounds(definition, fn, environment, reading) if reading is not None else None
    if reading is None or bounds is None:
        return None
    text = type_text(reading.type, reading.names, paper=True) if paper else reading.text
    show = Show(reading.names, paper)
    meanings = [f"{name} = {show.dim(size)}" for name, size in _meanings(fn, reading).items()]
    where = [*meanings, *bounds]
    return replace(reading, text=f"{text} where {', '.join(where)}" if where else text)


def _as_function(value: ast.Expr, definition: Definition) -> ast.Fn | None:
    """The definition as a function whose parameters can be annotated; for another name of a
    function, one that calls it.
    """
    if isinstance(value, ast.Fn):
        return value
    if not isinstance(value, ast.Name | ast.OperatorName) or not isinstance(
        definition.scheme.type, Fn
    ):
        return None
    names = [f"{i}'" for i in range(len(definition.scheme.type.params))]  # no name is like these
    params = tuple(ast.Param(name, None, NOWHERE, NOWHERE) for name in names)
    args = tuple(ast.Name(name, NOWHERE) for name in names)
    body = ast.Block((), ast.Call(value, args, (), NOWHERE), NOWHERE)
    return ast.Fn(params, None, (), body, NOWHERE)


def _environment(checked: Checked, module: Module, at: int, fn: ast.Fn) -> Environment | None:
    """What the function sees. None if it shares open variables with another definition, which an
    inference of its own would not leave as they are.
    """
    found = module.environment(at, fn)
    imported = checked.inferred.environment.names
    for name in mentioned(fn):
        if "." in name and name not in found.names and name in imported:
            found.names[name] = imported[name]
    return None if _shares_variables(found) else found


def _shares_variables(environment: Environment) -> bool:
    types = [entry.type for entry in environment.names.values()]
    return any(not isinstance(type_, Scheme) and type_variables(type_) for type_ in types)


def _taken(definition: Definition, fn: ast.Fn) -> set[str]:
    """The names that have a meaning in the function: as an annotation they would keep it."""
    return {*definition.names.index, *mentioned(fn)} - set(_bound(fn))


def _numbers(fn: ast.Fn) -> Iterator[int]:
    """The parameters whose default is a number."""
    for at, param in enumerate(fn.params):
        default = param.default.operand if isinstance(param.default, ast.Negate) else param.default
        if isinstance(default, ast.Number):
            yield at


def _bound(fn: ast.Fn) -> Iterator[str]:
    """The parameters and the bindings of a function; those of functions inside are not needed."""
    yield from (param.name for param in fn.params)
    for binding in fn.body.bindings:
        yield from (name for name, _ in bound_names(binding.pattern))


def _with_result(
    definition: Definition, fn: ast.Fn, environment: Environment, reading: Reading
) -> Reading | None:
    """A reading whose result has a shape that the run makes: the result that the definition has
    with the reading of its parameters.
    """
    scheme = _inferred(definition, _annotated(fn, reading, with_result=False), environment)
    if scheme is None or not isinstance(scheme.type, Fn):
        return None
    names = Names()
    names.reserve(type_variables(scheme.type))
    text = type_text(scheme.type, names)
    names.given.update(reading.names.given)
    return replace(reading, type=scheme.type, names=names, text=text)


def _is_runtime(var: Var) -> bool:
    return isinstance(var, ShapeVar) and var.runtime


def _inferred(definition: Definition, fn: ast.Fn | None, environment: Environment) -> Scheme | None:
    if fn is None:
        return None
    pattern = ast.NamePattern(definition.name, definition.span)
    inference = ProgramInference(_no_import, prelude)
    scheme = inference.again(ast.Binding(pattern, fn, fn.span), environment)
    return None if scheme is None or scheme.stacked or scheme.choices else scheme


def _bounds(
    definition: Definition, fn: ast.Fn, environment: Environment, reading: Reading
) -> list[str] | None:
    """The bounds of sizes that the definition has with the reading as its annotation; None if the
    reading is not confirmed.
    """
    scheme = _inferred(definition, _annotated(fn, reading), environment)
    if scheme is None:
        return None
    names = Names()
    names.reserve(type_variables(scheme.type))
    if type_text(scheme.type, names) != reading.text:
        return None
    shown = set(type_variables(scheme.type))
    found = settled(visible(scheme.relations), kept=shown)
    if found is None:
        return None
    _, bounds = found
    if not all(shown.issuperset(relation_variables(each)) for each in bounds):
        return None
    return [Show(names).relation(each) for each in bounds]


def _meanings(fn: ast.Fn, reading: Reading) -> dict[str, Dim]:
    """What the names stand for that are in the function, but not in the reading."""
    names = set(mentioned(fn)) - set(_bound(fn))
    return {name: size for name, size in reading.meanings.items() if name in names}


def _annotated(fn: ast.Fn, reading: Reading, with_result: bool = True) -> ast.Fn | None:
    """The function with the reading for an annotation; None if it cannot be written."""
    trees = Trees(reading.names)
    try:
        types = [trees.type(each) for each in reading.type.params]
        result = trees.type(reading.type.result) if with_result else None
        bounds = [trees.at_least(each) for each in reading.bounds]
        sizes = {name: trees.dim(size) for name, size in _meanings(fn, reading).items()}
    except ValueError:
        return None
    pairs = zip(fn.params, types, strict=True)
    params = tuple(replace(p, type=t) for p, t in pairs)
    bindings = [
        ast.Binding(ast.NamePattern(name, NOWHERE), as_expression(size), NOWHERE)
        for name, size in sizes.items()
    ]
    body = replace(fn.body, bindings=(*bindings, *fn.body.bindings))
    return replace(fn, params=params, result=result, where=(*fn.where, *bounds), body=body)


def _no_import(item: ast.Import) -> Diagnostic:
    return error("AX211", "a definition imports nothing", item.span)
