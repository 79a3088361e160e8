"""Calls of functions."""

from __future__ import annotations

from dataclasses import replace

from axon.inference.apply import Site, apply_scheme
from axon.inference.constructs.parameters import arranged, types_of
from axon.inference.environment import Entry, Environment, Parameters
from axon.inference.generalise.existentials import opened_by_call
from axon.inference.generalise.schemes import instantiate
from axon.inference.operators import apply_operator, wrong_count
from axon.inference.recording.record import Default
from axon.inference.unify import unify
from axon.inference.walk import Walk
from axon.ops import OPERATORS, written_as
from axon.solver.constraints import Origin
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.type import (
    UNKNOWN,
    DimValue,
    Fn,
    Scheme,
    Type,
)
from axon.types.variables import TypeVar, is_ragged

IN_PLACE = "fn"
"""A name that no binding has."""


def infer_call(inference: Walk, call: ast.Call, env: Environment) -> Type:
    function = call.function
    name = ""
    if isinstance(function, ast.Field):
        function = imported(inference, function, env) or function
        if isinstance(function, ast.Field) and is_of_library(inference, function, env):
            from axon.inference.habits.unbound import report_library  # only for a message

            report_library(inference, function, call)
            return UNKNOWN
    if isinstance(function, ast.OperatorName):
        name = written_as(function.op).name
        return apply_operator(inference, name, call.args, call.attributes, call.span, env)
    if isinstance(function, ast.Name):
        name = function.name
        entry = env.find(name)
        if entry is None and name not in inference.defining:
            if name in OPERATORS:
                if call.args and isinstance(call.args[0], ast.ListExpr | ast.TupleExpr):
                    from axon.inference.constructs.joined import (
                        takes_list,  # which few operators do
                    )

                    if takes_list(inference, name, call, env):
                        return UNKNOWN
                return apply_operator(inference, name, call.args, call.attributes, call.span, env)
            entry = inference.prelude(name)
        if entry is None:
            from axon.inference.habits.unbound import report_unbound  # only for a message

            report_unbound(inference, function, env, call)
            for arg in call.args:
                inference.infer(arg, env)
            return UNKNOWN
        if isinstance(entry.type, Scheme):
            operator = entry.function.operator if entry.function is not None else ""
            if operator and _differs(call, entry.type):
                return apply_operator(
                    inference, operator, call.args, call.attributes, call.span, env
                )
            known = entry.function if not operator else None
            return _call_scheme(inference, entry.type, call, name, env, known)
        type_ = entry.type
        inference.tainted = inference.tainted or type_ is UNKNOWN
    elif isinstance(function, ast.Fn):
        entry = _bound_in_place(inference, function, env)
        assert isinstance(entry.type, Scheme)
        return _call_scheme(inference, entry.type, call, "", env, entry.function)
    else:
        inference.calling = call
        type_ = inference.infer(function, env)
        if isinstance(function, ast.Field):
            call = _without_libraries(inference, function, call, env)
    if type_ is UNKNOWN:
        for arg in call.args:
            inference.infer(arg, env)
        return UNKNOWN
    arguments = arranged(inference, call, None, name) or []
    return apply(inference, type_, types_of(inference, call, arguments, env), call, name)


def _differs(call: ast.Call, scheme: Scheme) -> bool:
    """Whether a call of an operator by another name has attributes, or a number of arguments that
    its scheme, which is for the operator as a value, has not.
    """
    count = len(scheme.type.params) if isinstance(scheme.type, Fn) else 0
    return bool(call.attributes) or len(call.args) != count


def _without_libraries(
    inference: Walk, method: ast.Field, call: ast.Call, env: Environment
) -> ast.Call:
    """A call of a tensor's method without what only other libraries have, `x.to(torch.float32)`:
    the message about the method says all.
    """
    from axon.inference.habits.foreign_names import is_known

    if not is_known(method.name):
        return call
    args = tuple(
        arg
        for arg in call.args
        if not (isinstance(arg, ast.Field) and is_of_library(inference, arg, env))
    )
    return replace(call, args=args)


def imported(inference: Walk, expr: ast.Field, env: Environment) -> ast.Name | None:
    """The name in an imported file that `file.name` is, unless `file` is a value."""
    if not isinstance(expr.record, ast.Name) or env.find(expr.record.name) is not None:
        return None
    file = expr.record.name
    if file in inference.files or file in inference.missing or env.find(expr.dotted) is not None:
        return ast.Name(expr.dotted, expr.span)
    return None


def _call_scheme(
    inference: Walk,
    scheme: Scheme,
    call: ast.Call,
    name: str,
    env: Environment,
    function: Parameters | None,
) -> Type:
    """A call of a generalised function: its scheme is instantiated for this call."""
    arguments = arranged(inference, call, function, name)
    if arguments is None:
        for arg in call.args:
            inference.infer(arg, env)
        return UNKNOWN
    args = types_of(inference, call, arguments, env)
    if inference.inlined and name in inference.inlined and env.is_global(name):
        from axon.inference.recording.inlined import inlined

        return inlined(inference, name, args)
    if not isinstance(scheme.type, Fn) or len(scheme.type.params) != len(args):
        type_ = instantiate(inference.state, scheme, Origin("call", call.span, name), called=True)
        return apply(inference, type_, args, call, name)
    spans = [call.span if isinstance(arg, Default) else arg.span for arg in arguments]
    site = Site(name, call.span, tuple(spans))
    return _result(inference, apply_scheme(inference.state, scheme, args, site), call)


def _bound_in_place(inference: Walk, function: ast.Fn, env: Environment) -> Entry:
    """A function called where it is written, `(fn (x) { … })(y)`, generalised like a bound one."""
    inner = Environment(env)
    pattern = ast.NamePattern(IN_PLACE, function.span)
    inference.bind(ast.Binding(pattern, function, function.span), inner)
    return inner.names[IN_PLACE]


def apply(inference: Walk, type_: Type, args: list[Type], call: ast.Call, name: str) -> Type:
    """Apply a function value to arguments."""
    state = inference.state
    type_ = state.prune(type_)
    if type_ is UNKNOWN:
        return UNKNOWN
    if isinstance(type_, TypeVar):
        params = tuple(state.fresh_type() for _ in args)
        result = state.fresh_type()
        result.scope = min(result.scope, type_.scope)  # the result is not made here
        for var in (*params, result):
            var.level = min(var.level, type_.level)
        state.types[type_] = Fn(params, result)
        type_ = Fn(params, result)
    if not isinstance(type_, Fn):
        text = f"{name or 'this'} is not a function"
        piped = call.span.start < call.function.span.start
        help = "a value is given to a function: `x |> f`, `x |> f(a)`" if piped else None
        inference.error("AX204", text, call.function.span, "called here", help)
        return UNKNOWN
    if len(type_.params) != len(args):
        wrong_count(inference, name or "this function", len(type_.params), len(args), call.span)
        return UNKNOWN
    for i, (param, arg, expr) in enumerate(zip(type_.params, args, call.args, strict=True)):
        unify(state, param, arg, Origin("argument", expr.span, name, i + 1, "", call.span))
    return _result(inference, opened_by_call(state, type_), call)


def _result(inference: Walk, opened: Fn, call: ast.Call) -> Type:
    """The result of a call, recorded for the checks at the end of the definition."""
    state = inference.state
    size = state.prune(opened.result)
    if isinstance(size, DimValue) and any(
        map(is_ragged, dims.variables(state.store.dim(size.dim)))
    ):
        opened = Fn(opened.params, DimValue(state.fresh_dim(runtime=True)))  # counted at the run
    if inference.record is not None:
        inference.record.calls[call.span] = opened
    inference.results.append((opened.result, call.span))
    if inference.bounded(opened.result, call.span) is UNKNOWN:
        return UNKNOWN
    return opened.result


def is_of_library(inference: Walk, expr: ast.Field, env: Environment) -> bool:
    """Whether it is `np.exp` or `torch.nn.Linear`, where nothing has the name of that library."""
    root: ast.Expr = expr
    while isinstance(root, ast.Field):
        root = root.record
    if not isinstance(root, ast.Name) or root.name in inference.missing:
        return False
    if env.find(root.name) is not None:
        return False
    from axon.inference.habits.foreign_names import LIBRARIES

    return root.name in LIBRARIES
