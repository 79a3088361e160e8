"""Calls: of functions, and of operators, whose signature may depend on attributes and on a rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from axon.diagnostics import Diagnostic, Label, Severity
from axon.inference import sizes
from axon.inference.attributes import AttributeReader
from axon.inference.schemes import instantiate
from axon.inference.unify import lower, unify
from axon.ops import OPERATORS, Operator, Problem
from axon.solver.constraints import Origin
from axon.source import Source, Span
from axon.syntax import ast, parse_signature
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.elements import BIT, NUM
from axon.types.read import read_signature
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    DimEq,
    DimValue,
    Fn,
    Renaming,
    Scheme,
    ShapeValue,
    Tensor,
    Type,
    shape_size,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar

if TYPE_CHECKING:
    from axon.inference.environment import Environment
    from axon.inference.infer import Inference

_signatures: dict[tuple[object, ...], Scheme | Problem] = {}


def is_operator(name: str) -> bool:
    return name in OPERATORS


def signature_of(
    operator: Operator,
    arity: int,
    attributes: dict[str, object],
    spatial: int | None = None,
    given: dict[str, Dim] | None = None,
) -> Scheme | Problem:
    """The operator's scheme for so many arguments and these attributes, read once."""
    key = (operator.name, arity, spatial, *sorted(attributes.items()))
    if not given and key in _signatures:
        return _signatures[key]
    text = operator.signature(arity, attributes, spatial)
    if isinstance(text, Problem):
        return text
    parsed, problems = parse_signature(Source(f"the signature of {operator.name}", text))
    assert parsed is not None and not problems, (operator.name, text, problems)
    scheme, problems_read = read_signature(parsed, given=given)
    assert not problems_read, (operator.name, text, problems_read)
    if not given:
        _signatures[key] = scheme
    return scheme


# --- calls
# -----------------------------------------------------------------------------------------------


def infer_call(inference: Inference, call: ast.Call, env: Environment) -> Type:
    function = call.function
    name, called = "", False
    if isinstance(function, ast.OperatorName):
        return apply_operator(inference, function.op, call.args, call.attributes, call.span, env)
    if isinstance(function, ast.Name):
        name = function.name
        entry = env.find(name)
        if entry is None and name not in inference.defining:
            if is_operator(name):
                return apply_operator(inference, name, call.args, call.attributes, call.span, env)
            entry = inference.prelude(name)
        if entry is None:
            report_unbound(inference, function, env)
            for arg in call.args:
                inference.infer(arg, env)
            return UNKNOWN
        if isinstance(entry.type, Scheme):
            called = True
            type_ = instantiate(
                inference.state, entry.type, Origin("call", call.span, name), called
            )
        else:
            type_ = entry.type
            inference.tainted = inference.tainted or type_ is UNKNOWN
    else:
        type_ = inference.infer(function, env)
    if call.attributes:
        inference.error(
            "AX209",
            f"{name or 'a function'} has no attributes: only operators do",
            call.attributes[0].span,
        )
    args = [inference.infer(arg, env) for arg in call.args]
    return apply(inference, type_, args, call, name, called)


def apply(
    inference: Inference, type_: Type, args: list[Type], call: ast.Call, name: str, called: bool
) -> Type:
    """Apply a function type to arguments. One that was `called` is made for this call alone."""
    state = inference.state
    type_ = state.prune(type_)
    if type_ is UNKNOWN:
        return UNKNOWN
    if isinstance(type_, TypeVar):
        params = tuple(state.fresh_type() for _ in args)
        result = state.fresh_type()
        for var in (*params, result):
            var.level = min(var.level, type_.level)
        state.types[type_] = Fn(params, result)
        type_ = Fn(params, result)
    if not isinstance(type_, Fn):
        inference.error(
            "AX204", f"{name or 'this'} is not a function", call.function.span, "called here"
        )
        return UNKNOWN
    if len(type_.params) != len(args):
        _wrong_count(inference, name or "this function", len(type_.params), len(args), call.span)
        return UNKNOWN
    for i, (param, arg, expr) in enumerate(zip(type_.params, args, call.args, strict=True)):
        unify(state, param, arg, Origin("argument", expr.span, name, i + 1, "", call.span))
    inference.results.append((type_.result, call.span, state.depth))
    if inference.bounded(type_.result, call.span) is UNKNOWN:
        return UNKNOWN
    return type_.result if called else _opened(inference, type_)


def _opened(inference: Inference, type_: Fn) -> Type:
    """A run-time size in the result of a function is made anew by each call of it (D9)."""
    state = inference.state
    result = state.resolve(type_.result)
    found = [
        v
        for v in type_variables(result)
        if isinstance(v, DimVar | ShapeVar) and v.runtime and v.scope > state.depth
    ]
    if not found:
        return type_.result
    from_outside = {v for p in type_.params for v in type_variables(state.resolve(p))}
    renaming = Renaming({}, {}, {}, {})
    for var in found:
        if var in from_outside:
            continue
        scope = max(state.depth, var.scope - 1)
        if isinstance(var, DimVar):
            renaming.dims[var] = DimVar(var.name, state.level, scope=scope, runtime=True)
        else:
            renaming.shapes[var] = (ShapeVar(var.name, state.level, scope=scope, runtime=True),)
    return renaming.type(result) if renaming.dims or renaming.shapes else type_.result


def _wrong_count(inference: Inference, name: str, wanted: int, given: int, span: Span) -> None:
    plural = "argument" if wanted == 1 else "arguments"
    inference.error(
        "AX203",
        f"{name} takes {wanted} {plural}, {given} {'is' if given == 1 else 'are'} given",
        span,
        f"{given} given",
    )


def report_unbound(inference: Inference, expr: ast.Name, env: Environment) -> None:
    name = expr.name if len(expr.name) <= 60 else f"{expr.name[:60]}…"
    if name.partition(".")[0] in inference.missing and "." in name:
        inference.tainted = True  # the import that would have it was reported
        return
    if name in inference.defining:
        inference.error(
            "AX202",
            f"`{name}` is used inside its own definition",
            expr.span,
            "not bound yet",
            help="there is no recursion: use `loop`, `map` or `reduce`"
            + (f"; the operator `{name}` is hidden here" if is_operator(name) else ""),
        )
        return
    later = inference.later.get(name)
    labels = [Label(expr.span, "not bound", primary=True)]
    help_: list[str] = []
    if later is not None:
        labels.append(Label(later, "bound here, later"))
        help_.append("a name is seen from the line after its binding on")
    elif inference.guesses > 0:
        from difflib import get_close_matches

        inference.guesses -= 1  # each looks at every name there is
        known = env.all_names() | set(OPERATORS) | set(inference.state.names.index)
        close = get_close_matches(name, sorted(known), n=1, cutoff=0.7)
        if close:
            help_.append(f"did you mean `{close[0]}`?")
    inference.state.diagnostics.append(
        Diagnostic(
            "AX201", Severity.ERROR, f"`{name}` is not bound", tuple(labels), (), tuple(help_)
        )
    )


# --- operators
# -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pending:
    """An operator call whose signature waits for a rank."""

    operator: Operator
    attributes: dict[str, object]
    given: dict[str, Dim]
    args: list[Type]
    exprs: tuple[ast.Expr, ...]
    result: Type
    span: Span
    depth: int


def operator_value(inference: Inference, name: str, span: Span, arity: int = 2) -> Type:
    """An operator on its own, as a function value of so many arguments."""
    operator = OPERATORS.get(name)
    if operator is None:
        inference.error("AX201", f"`{name}` is not an operator", span)
        return UNKNOWN
    if operator.required:
        needed = sorted(operator.required)[0]
        inference.error(
            "AX210", f"{name} needs `{needed}=…`, so it cannot be a function value", span
        )
        return UNKNOWN
    scheme = signature_of(operator, arity, {})
    if isinstance(scheme, Problem):
        inference.error("AX210", f"{name}: {scheme.text}", span)
        return UNKNOWN
    return instantiate(inference.state, scheme, Origin("value", span, name), called=False)


def apply_infix(inference: Inference, node: ast.Infix, left: Type, right: Type) -> Type:
    if node.op in "+-*/" and (same := _same_tensor(inference, left, right)) is not None:
        return same
    scheme = signature_of(OPERATORS[node.op], 2, {})
    assert isinstance(scheme, Scheme)
    return _apply_scheme(
        inference, scheme, node.op, [left, right], (node.left, node.right), node.span
    )


def _same_tensor(inference: Inference, left: Type, right: Type) -> Type | None:
    """`x + y` of one number type and one shape is of that type: there is nothing to solve."""
    left, right = inference.state.prune(left), inference.state.prune(right)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.shape != right.shape:
        return None
    elem = inference.state.elem(left.elem)
    if elem is not inference.state.elem(right.elem):
        return None
    allowed = BIT[elem] if isinstance(elem, str) else elem.allowed
    return left if allowed & NUM == allowed else None


def apply_operator(
    inference: Inference,
    name: str,
    exprs: tuple[ast.Expr, ...],
    attributes: tuple[ast.Attribute, ...],
    span: Span,
    env: Environment,
) -> Type:
    operator = OPERATORS[name]
    state = inference.state
    reader = AttributeReader(lambda expr: sizes.read_dim(inference, expr, env))
    call = ast.Call(ast.Name(name, span), exprs, attributes, span)
    values = reader.read(operator, attributes, call)
    state.diagnostics.extend(reader.diagnostics)
    if values is None:
        for expr in exprs:
            inference.infer(expr, env)
        return UNKNOWN
    if operator.spatial:
        args = [inference.infer(expr, env) for expr in exprs]
        spatial = _spatial(inference, args)
        pending = Pending(
            operator, values, reader.given, args, exprs, state.fresh_type(), span, state.depth
        )
        if spatial is None and not any(
            isinstance(v, tuple) and len(v) > 1 for v in values.values()
        ):
            inference.pending.append(pending)
            return pending.result
        return _choose(inference, pending, spatial)
    scheme = signature_of(operator, len(exprs), values, None, reader.given)
    if isinstance(scheme, Problem):
        inference.error("AX210", f"{name}: {scheme.text}", span)
        for expr in exprs:
            inference.infer(expr, env)
        return UNKNOWN
    args = _arguments(inference, scheme, exprs, env, name == "reshape")
    return _apply_scheme(inference, scheme, name, args, exprs, span)


def _arguments(
    inference: Inference,
    scheme: Scheme,
    exprs: tuple[ast.Expr, ...],
    env: Environment,
    wildcard: bool,
) -> list[Type]:
    """The arguments' types; where a size is wanted an expression is read as one."""
    params = scheme.type.params if isinstance(scheme.type, Fn) else ()
    types: list[Type] = []
    for i, expr in enumerate(exprs):
        param = params[i] if i < len(params) else None
        if isinstance(param, DimValue):
            types.append(DimValue(sizes.read_dim(inference, expr, env)))
        elif isinstance(param, ShapeValue) and wildcard and isinstance(expr, ast.ListExpr):
            types.append(_reshaped(inference, types[0] if types else UNKNOWN, expr, env))
        elif isinstance(param, Fn) and (name := _bare_operator(inference, expr, env)):
            types.append(operator_value(inference, name, expr.span, len(param.params)))
        else:
            types.append(inference.infer(expr, env))
    return types


def _bare_operator(inference: Inference, expr: ast.Expr, env: Environment) -> str:
    """The name of an operator that is given as a function, else nothing."""
    match expr:
        case ast.OperatorName(op, _):
            return op
        case ast.Name(name, _) if is_operator(name):
            hidden = env.find(name) is not None or name in inference.defining
            return "" if hidden or sizes.named_size(inference, name) is not None else name
        case _:
            return ""


def _reshaped(inference: Inference, input_: Type, expr: ast.ListExpr, env: Environment) -> Type:
    """The shape that a reshape is given. One -1 stands for the size that makes it fit: the elements
    there are, divided by those that the other sizes account for (which must not be none).
    """
    state = inference.state
    wild = [i for i, item in enumerate(expr.items) if _is_minus_one(item)]
    if len(wild) != 1:
        if not wild:
            return inference.infer(expr, env)
        inference.error("AX210", "reshape: only one size can be -1", expr.items[wild[1]].span)
        return UNKNOWN
    at = wild[0]
    word = [0 if i == at else sizes.read_dim(inference, e, env) for i, e in enumerate(expr.items)]
    shape = (state.fresh_shape(),)
    tensor = Tensor(ElemVar("", state.level), shape)
    unify(state, tensor, input_, Origin("argument", expr.span, "reshape", 1, "", expr.span))
    others = dims.product([dim for i, dim in enumerate(word) if i != at])
    state.post(AtLeast(dims.sub(others, 1), silent=True), Origin("size", expr.span, "reshape"))
    word[at] = state.fresh_dim()
    exact = DimEq(word[at], dims.floordiv(shape_size(shape), others))
    state.post(exact, Origin("size", expr.span, "reshape"))
    return ShapeValue(tuple(word))


def _is_minus_one(item: ast.Expr) -> bool:
    match item:
        case ast.Negate(ast.Number(1, "int", _, _), _):
            return True
        case _:
            return False


def _apply_scheme(
    inference: Inference,
    scheme: Scheme,
    name: str,
    args: list[Type],
    exprs: tuple[ast.Expr, ...],
    span: Span,
) -> Type:
    state = inference.state
    params = scheme.type.params if isinstance(scheme.type, Fn) else ()
    if len(params) != len(args):
        _wrong_count(inference, name, len(params), len(args), span)
        return UNKNOWN
    type_ = instantiate(state, scheme, Origin("call", span, name), called=True)
    assert isinstance(type_, Fn)
    for i, (param, arg, expr) in enumerate(zip(type_.params, args, exprs, strict=True)):
        unify(state, param, arg, Origin("argument", expr.span, name, i + 1, "", span))
    inference.results.append((type_.result, span, state.depth))
    return type_.result


def _spatial(inference: Inference, args: list[Type]) -> int | None:
    """The number of spatial dimensions, if the rank of the input or of the filter is known."""
    for arg in args[:2]:
        type_ = inference.state.prune(arg)
        if isinstance(type_, Tensor):
            word = inference.state.store.shape(type_.shape)
            if not any(isinstance(item, ShapeVar) for item in word):
                return len(word) - 2 if 3 <= len(word) <= 5 else None
    return None


def _choose(inference: Inference, pending: Pending, spatial: int | None) -> Type:
    scheme = signature_of(
        pending.operator, len(pending.args), pending.attributes, spatial, pending.given
    )
    name = pending.operator.name
    if isinstance(scheme, Problem):
        inference.error("AX210", f"{name}: {scheme.text}", pending.span)
        return UNKNOWN
    depth, inference.state.depth = inference.state.depth, pending.depth
    result = _apply_scheme(inference, scheme, name, pending.args, pending.exprs, pending.span)
    unify(inference.state, pending.result, result, Origin("call", pending.span, name))
    inference.state.depth = depth
    return result


def settle(inference: Inference, mark: int, final: bool) -> None:
    """Choose signatures for the calls whose rank is known by now; at the end of a definition, for
    all of them.
    """
    progress = True
    while progress:
        progress = False
        for pending in inference.pending[mark:]:
            spatial = _spatial(inference, pending.args)
            if spatial is not None:
                inference.pending.remove(pending)
                _choose(inference, pending, spatial)
                progress = True
    if final:
        ours = [p for p in inference.pending[mark:] if _is_ours(inference, p)]
        for pending in ours:
            if pending in inference.pending:
                inference.pending.remove(pending)
                _choose(inference, pending, None)
                settle(inference, mark, final=False)
        for pending in inference.pending[mark:]:  # an outer definition decides
            lower(inference.state, pending.result, inference.state.level - 1)


def _is_ours(inference: Inference, pending: Pending) -> bool:
    """Whether the rank that a call waits for belongs to the definition that ends here."""
    state = inference.state
    for arg in pending.args[:2]:
        type_ = state.prune(arg)
        if isinstance(type_, TypeVar) and type_.level < state.level:
            return False
        if isinstance(type_, Tensor):
            word = state.store.shape(type_.shape)
            if any(isinstance(item, ShapeVar) and item.level < state.level for item in word):
                return False
    return True
