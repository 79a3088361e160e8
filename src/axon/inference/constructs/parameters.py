"""Parameters of functions that have names: given by name, or left out where they have a default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from axon.inference.constructs import size_values
from axon.inference.environment import Environment, Parameters
from axon.inference.generalise.schemes import instantiate
from axon.inference.recording.record import Default
from axon.inference.walk import Walk
from axon.solver.constraints import Origin
from axon.syntax import ast, free_names, sizes_mentioned, with_defaults
from axon.types.scope import Scope
from axon.types.type import Fn, Scheme, Type

Arguments = list[ast.Expr | Default]


def parameters_of(
    inference: Walk, name: str, fn: ast.Fn, env: Environment, names: Scope, sound: bool
) -> Parameters:
    """The parameters of a function that is bound to a name. `names` are those of the definition
    before the function was inferred; one that is not `sound` has been reported.
    """
    optional = [param for param in fn.params if param.default is not None]
    every = tuple([param.name for param in fn.params])
    if not optional:
        return Parameters(every)
    state = inference.state
    before, state.names = state.names, names
    defaults: dict[str, Scheme] = {}
    literals: dict[str, ast.Number | ast.Negate] = {}
    for param in optional:
        assert param.default is not None
        if _uses_parameters(inference, fn, param.default, env):
            sound = False
            continue
        match param.default:
            case ast.Number() | ast.Negate(ast.Number(), _) as literal:
                literals[param.name] = literal
            case default:
                found = _scheme(inference, param.name, constant(default), env)
                if found is not None:
                    defaults[param.name] = found
    value = _scheme(inference, name, with_defaults(fn), env) if sound else None
    state.names = before
    return Parameters(every, defaults, literals, value)


def _uses_parameters(inference: Walk, fn: ast.Fn, default: ast.Expr, env: Environment) -> bool:
    """Report a default that uses parameters, or sizes that only their types name."""
    used = set(free_names(default)).difference(sizes_mentioned(default))
    text = "a default cannot use the parameters of its function"
    if used.isdisjoint(param.name for param in fn.params):
        text = "a default cannot use the sizes of the parameters of its function"
        if not any(_is_new(inference, name, env) for name in used.intersection(_sizes(fn))):
            return False
    inference.error("AX220", text, default.span)
    return True


def _sizes(fn: ast.Fn) -> Iterator[str]:
    """The names in the types of parameters."""
    nothing = ast.Block((), ast.Broken(fn.span), fn.span)
    params = tuple([replace(param, default=None) for param in fn.params])
    return sizes_mentioned(replace(fn, params=params, body=nothing))


def _is_new(inference: Walk, name: str, env: Environment) -> bool:
    return env.find(name) is None and size_values.named_size(inference, name) is None


def as_value(inference: Walk, fn: ast.Fn, env: Environment) -> ast.Fn:
    """A function that has no name takes its required parameters."""
    for param in fn.params:
        if param.default is not None:
            _uses_parameters(inference, fn, param.default, env)
    found = with_defaults(fn)
    if inference.record is not None:
        inference.record.rewritten[fn.span] = found
    return found


def has_defaults(fn: ast.Fn) -> bool:
    return bool(fn.params) and fn.params[-1].default is not None


def constant(expr: ast.Expr) -> ast.Fn:
    """A value as a function without parameters."""
    return ast.Fn((), None, (), ast.Block((), expr, expr.span), expr.span)


def copied(names: Scope) -> Scope:
    """The names of a definition so far."""
    return replace(
        names,
        index=dict(names.index),
        elems=dict(names.elems),
        types=dict(names.types),
        rows=dict(names.rows),
        places=dict(names.places),
    )


def _scheme(inference: Walk, name: str, fn: ast.Fn, env: Environment) -> Scheme | None:
    inner = Environment(env)
    generalised = inference.bind(ast.Binding(ast.NamePattern(name, fn.span), fn, fn.span), inner)
    return generalised.scheme if generalised is not None else None


def arranged(
    inference: Walk, call: ast.Call, function: Parameters | None, name: str
) -> Arguments | None:
    """The arguments of a call in the order of the parameters; None after an error."""
    if function is None:
        if call.attributes:
            text = f"{name or 'a function'} has no named parameters here"
            help = "a function that is a parameter, or has no name, takes its arguments in order"
            inference.error("AX209", text, call.attributes[0].span, help=help)
        return list(call.args)
    if not call.attributes and len(call.args) >= len(function.names):
        return list(call.args)
    given: list[ast.Expr | Default | None] = [*call.args]
    given += [None] * (len(function.names) - len(given))
    for attribute in call.attributes:
        places = [at for at, each in enumerate(function.names) if each == attribute.name]
        if not places:
            listed = ", ".join(f"`{each}`" for each in function.names) or "none"
            text = f"{name or 'the function'} has no parameter `{attribute.name}`"
            inference.error("AX209", text, attribute.span, "not known", f"its parameters: {listed}")
            return None
        place = next((at for at in places if given[at] is None), None)
        if place is None:
            inference.error("AX209", f"`{attribute.name}` is given twice", attribute.span)
            return None
        given[place] = attribute.value
    return _completed(inference, call, function, name, given)


def _completed(
    inference: Walk,
    call: ast.Call,
    function: Parameters,
    name: str,
    given: list[ast.Expr | Default | None],
) -> Arguments | None:
    """The arguments with the defaults of those that are not given."""
    found: Arguments = []
    for each, argument in zip(function.names, given, strict=False):
        literal, scheme = function.literals.get(each), function.defaults.get(each)
        if argument is not None:
            found.append(argument)
        elif literal is not None:
            found.append(replace(literal))  # one for each call: types are known by expression
        elif scheme is not None:
            origin = Origin("call", call.span, name)
            type_ = instantiate(inference.state, scheme, origin, called=True)
            assert isinstance(type_, Fn)
            found.append(Default(each, type_))
        elif call.attributes:
            inference.error("AX203", f"{name or 'fn'}: `{each}` is missing", call.span, "not given")
            return None
        else:
            return list(call.args)  # too few: the count is reported
    return found


def types_of(inference: Walk, call: ast.Call, arguments: Arguments, env: Environment) -> list[Type]:
    """The types of the arguments."""
    if inference.record is not None and arguments != list(call.args):
        inference.record.arguments[call.span] = tuple(arguments)
    return [
        arg.type.result if isinstance(arg, Default) else inference.infer(arg, env)
        for arg in arguments
    ]
