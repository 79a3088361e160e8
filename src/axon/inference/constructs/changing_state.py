"""Operators that pass to a function sizes known only in its call: a state whose size changes
between iterations.

Usually the type of a function is inferred first and then compared with what the operator requires.
Here each call makes the sizes of the parameters, so the body is inferred with these run-time sizes
from the beginning: what it requires of them is checked in each iteration, and no variable outside
can be bound to them.
"""

from __future__ import annotations

from dataclasses import replace

from axon.inference.environment import Environment
from axon.inference.generalise.schemes import instantiate
from axon.inference.recording.record import Use
from axon.inference.unify import unify
from axon.inference.walk import Walk
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types.type import UNKNOWN, Fn, Scheme, Tensor, Tuple, Type, has_runtime_sizes


def passes_run_time_sizes(scheme: Scheme, count: int) -> bool:
    """Whether the operator passes to a function sizes that are known only in its call."""
    assert isinstance(scheme.type, Fn)
    taken = [p for each in scheme.type.params if isinstance(each, Fn) for p in each.params]
    return len(scheme.type.params) == count and any(map(has_runtime_sizes, taken))


def apply_to_changing_state(
    inference: Walk,
    scheme: Scheme,
    use: Use,
    exprs: tuple[ast.Expr, ...],
    span: Span,
    env: Environment,
) -> Type:
    """The result of an operator; its function arguments are inferred last."""
    state, name = inference.state, use.operator.name
    type_ = instantiate(state, scheme, Origin("call", span, name), called=True)
    assert isinstance(type_, Fn)
    each = list(enumerate(zip(type_.params, exprs, strict=True)))
    for i, (param, expr) in sorted(each, key=lambda one: isinstance(one[1][0], Fn)):
        given = _argument_type(inference, name, param, expr, env)
        if isinstance(param, Tensor) and isinstance(state.prune(given), Tuple):
            text = "with `differ`, a state and rows are tensors"
            help = "a state of two tensors is a tuple: `parts=2, differ=[[0, 0]]`"
            inference.error("AX210", text, expr.span, "a structure", help, name)
            return UNKNOWN
        unify(state, param, given, Origin("argument", expr.span, name, i + 1, "", span))
    if inference.record is not None:
        inference.record.uses[span] = replace(use, type=type_)
    inference.results.append((type_.result, span))
    return type_.result


def _argument_type(
    inference: Walk, name: str, param: Type, expr: ast.Expr, env: Environment
) -> Type:
    """The type of an argument; a function has the parameter types that the operator passes."""
    if not isinstance(param, Fn):
        return inference.infer(expr, env)
    if not isinstance(expr, ast.Fn):
        _error(inference, name, expr.span)
        return UNKNOWN
    if len(expr.params) != len(param.params):
        return inference.infer(expr, env)
    for each, given in zip(expr.params, param.params, strict=True):
        if each.type is not None and has_runtime_sizes(given):
            _error(inference, name, each.span)
            return UNKNOWN
    found = inference.infer_fn(expr, env, param.params)
    if inference.record is not None:
        inference.record.types[id(expr)] = found
    return found


def _error(inference: Walk, name: str, span: Span) -> None:
    inference.error(
        "AX210",
        "a function on a state that changes is written where it is used, and its state has no type",
        span,
        "not so here",
        help="call a function that has a name in one: `fn (state, row) { f(state, row) }`",
        subject=name,
    )
