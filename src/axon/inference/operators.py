"""Calls of operators, whose signature may depend on attributes and on a rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axon.diagnostics import Fix, error
from axon.inference.apply import Site, apply_scheme, matched
from axon.inference.constructs import scans, size_values, structures
from axon.inference.constructs.attributes import AttributeReader, Values
from axon.inference.constructs.changing_state import apply_to_changing_state, passes_run_time_sizes
from axon.inference.environment import Environment
from axon.inference.generalise import choices
from axon.inference.generalise.schemes import instantiate
from axon.inference.recording.record import Use
from axon.inference.state import State
from axon.inference.unify import lower, unify
from axon.inference.walk import Pending, Walk
from axon.ops import OPERATORS, SIGNS, Operator, Problem, written_as
from axon.ops.levels import first_by_row
from axon.ops.named import placed
from axon.ops.scheme import (
    General,
    general_scheme,
    scheme_of,
    spelled_scheme,
    structured_scheme,
)
from axon.ops.structures import takes_structures
from axon.ops.traits import Calls
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.elements import BIT, NUM
from axon.types.type import (
    UNKNOWN,
    DimValue,
    Fn,
    Scheme,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Uniform,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, TypeVar, is_ragged


@dataclass(frozen=True, slots=True)
class Chosen:
    """An operator with its attributes, the signature that it has with them, and the sign that it is
    written with.
    """

    operator: Operator
    attributes: dict[str, object]
    given: dict[str, Dim]
    general: General
    sign: str = ""


_same = ShapeVar("s")
SAME = Fn((Tensor("f32", (_same,)), Tensor("f32", (_same,))), Tensor("f32", (_same,)))
"""The signature of `x + y` for equal types."""


def operator_value(inference: Walk, name: str, span: Span, arity: int | None = None) -> Type:
    """An operator used as a function value of `arity` arguments, if that is known."""
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
    scheme = scheme_of(operator, operator.arity_as_value if arity is None else arity, {})
    if isinstance(scheme, Problem):
        inference.error("AX210", scheme.text, span, subject=name)
        return UNKNOWN
    type_ = instantiate(inference.state, scheme, Origin("value", span, name), called=False)
    use = Use(operator, {}, {}, scheme.type, type_)
    if inference.record is not None:
        inference.record.uses[span] = use
    if isinstance(type_, Fn):
        inference.applied.append((use, span))
    return type_


def scheme_of_value(name: str) -> Scheme | None:
    """The scheme of an operator used as a value, if it has one."""
    operator = OPERATORS.get(name)
    if operator is None or operator.required:
        return None
    scheme = scheme_of(operator, operator.arity_as_value, {})
    return scheme if isinstance(scheme, Scheme) else None


def apply_infix(inference: Walk, node: ast.Infix, left: Type, right: Type) -> Type:
    """Sums, products and quotients of sizes are sizes; anything else is left to the operator."""
    size = size_values.combined(inference, node, left, right)
    if size is not None:
        return size
    operator = SIGNS[node.op]
    arithmetic = operator.traits.arithmetic
    if arithmetic and (same := _same_tensor(inference.state, left, right)) is not None:
        if inference.record is not None:
            inference.record.uses[node.span] = Use(operator, {}, {}, SAME, Fn((same, same), same))
        return same
    return _apply_sign(inference, node.op, [left, right], (node.left, node.right), node.span)


def apply_not(inference: Walk, node: ast.Not, operand: Type) -> Type:
    return _apply_sign(inference, "not", [operand], (node.operand,), node.span)


def _apply_sign(
    inference: Walk, sign: str, args: list[Type], exprs: tuple[ast.Expr, ...], span: Span
) -> Type:
    general = general_scheme(SIGNS[sign], len(args), {})
    assert isinstance(general, General)
    return _apply(inference, Chosen(SIGNS[sign], {}, {}, general, sign), args, exprs, span)


def apply_chosen(
    inference: Walk,
    operator: Operator,
    attributes: dict[str, object],
    given: dict[str, Dim],
    args: list[Type],
    exprs: tuple[ast.Expr, ...],
    span: Span,
    sign: str = "",
    signature: str | None = None,
) -> Type:
    """Apply an operator that the syntax stands for, with attributes that are known, or with a
    signature of its own for structures.
    """
    if signature is not None:
        general = spelled_scheme(operator, signature)
    else:
        general = general_scheme(operator, len(args), attributes, None, tuple(given))
    if isinstance(general, Problem):
        inference.error("AX210", general.text, span, subject=sign or operator.name)
        return UNKNOWN
    return _apply(inference, Chosen(operator, attributes, given, general, sign), args, exprs, span)


def apply_to_values(
    state: State, name: str, args: list[Type], attributes: dict[str, Any], span: Span
) -> Type | None:
    """The result of an operator for types and plain values; None if it needs an expression."""
    operator = OPERATORS[name]
    if operator.traits.arithmetic and len(args) == 2 and not attributes:
        same = _same_tensor(state, args[0], args[1])
        if same is not None:
            return same
    given: dict[str, Dim] = {}
    values: dict[str, object] | None = {}
    if attributes:
        reader = Values()
        values = reader.read(operator, attributes)
        given = {key: state.store.dim(dim) for key, dim in reader.given.items()}
    if values is None or operator.required.difference(values):
        return None
    spatial = _spatial(state, args) if operator.spatial else None
    if operator.spatial and spatial is None:
        return None
    general = general_scheme(operator, len(args), values, spatial, tuple(given))
    if isinstance(general, Problem):
        return None
    scheme = general.scheme
    if not isinstance(scheme.type, Fn) or len(scheme.type.params) != len(args):
        return None
    site = Site(name, span, (span,) * len(args))
    found = matched(state, scheme, args, site, general.sizes(given) if given else None)
    return None if found is None else found.result


def _same_tensor(state: State, left: Type, right: Type) -> Type | None:
    """`x + y` of one number type and one shape has that type: there is nothing to solve."""
    left, right = state.prune(left), state.prune(right)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.shape != right.shape:
        return None
    elem = state.elem(left.elem)
    if elem is not state.elem(right.elem):
        return None
    allowed = BIT[elem] if isinstance(elem, str) else elem.allowed
    return left if allowed & NUM == allowed else None


def apply_operator(
    inference: Walk,
    name: str,
    exprs: tuple[ast.Expr, ...],
    attributes: tuple[ast.Attribute, ...],
    span: Span,
    env: Environment,
) -> Type:
    operator = OPERATORS[name]
    exprs, attributes = placed(operator, exprs, attributes)
    state = inference.state
    reader = AttributeReader(lambda expr: size_values.read_dim(inference, expr, env))
    call = ast.Call(ast.Name(name, span), exprs, attributes, span)
    values = reader.read(operator, attributes, call)
    state.diagnostics.extend(reader.diagnostics)
    if values is None:
        for expr in exprs:
            inference.infer(expr, env)
        return UNKNOWN
    if operator.spatial:
        args = [inference.infer(expr, env) for expr in exprs]
        spatial = _spatial(inference.state, args)
        pending = Pending(
            operator, values, reader.given, args, exprs, state.fresh_type(), span, state.depth
        )
        if spatial is None and not any(
            isinstance(v, tuple) and len(v) > 1 for v in values.values()
        ):
            inference.pending.append(pending)
            return pending.result
        return _choose(inference, pending, spatial)
    general = general_scheme(operator, len(exprs), values, None, tuple(reader.given))
    if isinstance(general, Problem):
        inference.error("AX210", general.text, span, subject=name)
        for expr in exprs:
            inference.infer(expr, env)
        return UNKNOWN
    found = Chosen(operator, values, reader.given, general)
    if operator.traits.calls is not None and passes_run_time_sizes(general.scheme, len(exprs)):
        scheme = general.scheme.at(general.sizes(reader.given))
        use = Use(operator, values, reader.given, scheme.type, scheme.type)
        return apply_to_changing_state(inference, scheme, use, exprs, span, env)
    said = len(state.diagnostics), len(state.store.conflicts)
    args = _arguments(inference, operator, general.scheme, exprs, env, span)
    if operator.traits.intermediate and len(args) == 3 and not values:
        structured = any(isinstance(state.prune(arg), Tuple) for arg in args[1:])
        if structured and said != (len(state.diagnostics), len(state.store.conflicts)):
            return UNKNOWN
        if structured and structures.has_no_tensor(state, args[2:]):
            return _no_rows(inference, name, exprs[2])
        if structured:
            return scans.infer_scan(inference, exprs, span, env)
    if takes_structures(operator) and _is_structured(state, operator, values, args):
        found = Chosen(operator, values, {}, structured_scheme(operator, len(args)))
        if operator.traits.calls is not Calls.WHILE:
            first = first_by_row(operator, len(args))
            if structures.has_no_tensor(state, args[first:]):
                return _no_rows(inference, name, exprs[first])
        return inference.bounded(_apply(inference, found, args, exprs, span), span)
    return _apply(inference, found, args, exprs, span)


def _no_rows(inference: Walk, name: str, expr: ast.Expr) -> Type:
    text = "there is no tensor in this, so it has no rows"
    inference.error("AX207", text, expr.span, "no tensor", subject=name)
    return UNKNOWN


def _is_structured(
    state: State, operator: Operator, values: dict[str, object], args: list[Type]
) -> bool:
    """Whether the rows that an operator passes to a function, or what the function gives, are
    structures, or may be. Several outputs that are asked for are tensors.
    """
    calls = operator.traits.calls
    if not values.keys() <= {"outputs"} or values.get("outputs", 1) != 1:
        return False
    if calls is Calls.WHILE:
        whole = "outputs" in values and len(args) == 3
        return whole and structures.returns_structure(state, args[2], 1)
    first = first_by_row(operator, len(args))
    output = {Calls.EACH_ROW: -1, Calls.STATE_AND_OUTPUT: 1}.get(calls)  # type: ignore[arg-type]
    return structures.is_structured(state, args[first - 1], args[first:], output)


def _arguments(
    inference: Walk,
    operator: Operator,
    scheme: Scheme,
    exprs: tuple[ast.Expr, ...],
    env: Environment,
    call: Span,
) -> list[Type]:
    """The types of the arguments; where a size is required an expression is read as one."""
    params = scheme.type.params if isinstance(scheme.type, Fn) else ()
    infers_size = operator.traits.infers_size
    types: list[Type] = []
    for i, expr in enumerate(exprs):
        param = params[i] if i < len(params) else None
        if isinstance(param, DimValue):
            types.append(DimValue(size_values.read_dim(inference, expr, env)))
        elif infers_size and isinstance(param, ShapeValue) and i and isinstance(expr, ast.ListExpr):
            origin = Origin("argument", exprs[0].span, operator.name, 1, "", call)
            types.append(size_values.reshaped(inference, types[0], origin, expr, env))
        elif isinstance(param, ShapeValue) and isinstance(expr, ast.ListExpr):
            types.append(size_values.read_shape(inference, expr, env))
        elif isinstance(param, Fn) and (name := _bare_operator(inference, expr, env)):
            types.append(operator_value(inference, name, expr.span, len(param.params)))
        else:
            types.append(inference.infer(expr, env))
    return types


def _bare_operator(inference: Walk, expr: ast.Expr, env: Environment) -> str:
    """The name of an operator that is passed as a function, else the empty string."""
    match expr:
        case ast.OperatorName(op, _):
            return written_as(op).name
        case ast.Name(name, _) if name in OPERATORS:
            hidden = env.find(name) is not None or name in inference.defining
            return "" if hidden or size_values.named_size(inference, name) is not None else name
        case _:
            return ""


def _apply(
    inference: Walk,
    chosen: Chosen,
    args: list[Type],
    exprs: tuple[ast.Expr, ...],
    span: Span,
) -> Type:
    operator, scheme = chosen.operator, chosen.general.scheme
    name = chosen.sign or operator.name
    params = scheme.type.params if isinstance(scheme.type, Fn) else ()
    if len(params) != len(args):
        missing = operator.hints.get(1) if len(args) < len(params) else None
        fixes: tuple[Fix, ...] = ()
        if len(args) > len(params):
            from axon.inference.recording.by_place import advice

            missing, fixes = advice(operator, exprs, len(params), span)
        if missing is None:
            from axon.ops.reference import plain_signature  # only for a message

            missing = f"`{name}` is of type `{plain_signature(operator)}`"
        wrong_count(inference, name, len(params), len(args), span, missing, fixes)
        return UNKNOWN
    site = Site(name, span, tuple([expr.span for expr in exprs]))
    sizes = chosen.general.sizes(chosen.given) if chosen.given else None
    type_ = apply_scheme(inference.state, scheme, args, site, sizes)
    if isinstance(type_.result, DimValue):
        type_ = _counted(inference, chosen, type_, type_.result, span)
    use = Use(operator, chosen.attributes, chosen.given, scheme.type, type_)
    if inference.record is not None:
        inference.record.uses[span] = use
    inference.results.append((type_.result, span))
    inference.applied.append((use, span))
    return type_.result


def _counted(inference: Walk, use: Chosen, type_: Fn, result: DimValue, span: Span) -> Fn:
    """The number of elements of a tensor whose rows vary is a run-time size; a size that varies is
    not one number.
    """
    state = inference.state
    counts, known = use.operator.traits.counts_elements, state.store.dim(result.dim)
    if not any(map(is_ragged, dims.variables(known))):
        if counts and isinstance(known, DimVar) and not known.user:
            state.post(Uniform((known,)), Origin("call", span, use.operator.name))
        return type_
    if counts and use.attributes.get("axis") is None:
        return Fn(type_.params, DimValue(state.fresh_dim(runtime=True)))
    inference.error(
        "AX105",
        "this size varies from row to row, so it is not one number",
        span,
        "varies",
        help="ask for the size of each row: `map(fn (row) { size(row, axis=0) }, x)`",
        subject=use.operator.name,
    )
    return Fn(type_.params, UNKNOWN)


def _spatial(state: State, args: list[Type]) -> int | None:
    """The number of spatial dimensions, if the rank of the input or of the filter is known."""
    for arg in args[:2]:
        type_ = state.prune(arg)
        if isinstance(type_, Tensor):
            word = state.store.shape(type_.shape)
            if not any(isinstance(item, ShapeVar) for item in word):
                return len(word) - 2 if 3 <= len(word) <= 5 else None
    return None


def _choose(inference: Walk, pending: Pending, spatial: int | None) -> Type:
    operator, given = pending.operator, pending.given
    general = general_scheme(operator, len(pending.args), pending.attributes, spatial, tuple(given))
    if isinstance(general, Problem):
        inference.error("AX210", general.text, pending.span, subject=operator.name)
        return UNKNOWN
    depth, inference.state.depth = inference.state.depth, pending.depth
    chosen = Chosen(operator, pending.attributes, given, general)
    result = _apply(inference, chosen, pending.args, pending.exprs, pending.span)
    unify(inference.state, pending.result, result, Origin("call", pending.span, operator.name))
    inference.state.depth = depth
    return result


def settle(inference: Walk, mark: int, final: bool) -> None:
    """Choose signatures for the calls whose rank is known by now; if `final`, for all calls."""
    if inference.state.stacked:
        structures.solve(inference.state)
    if inference.state.choices:
        choices.solve(inference.state)
    progress = True
    while progress:
        progress = False
        for pending in inference.pending[mark:]:
            if pending.decide is not None:
                if pending.decide(False):
                    inference.pending.remove(pending)
                    progress = True
                continue
            spatial = _spatial(inference.state, pending.args)
            if spatial is not None:
                inference.pending.remove(pending)
                _choose(inference, pending, spatial)
                progress = True
    if final:
        ours = [p for p in inference.pending[mark:] if _is_ours(inference, p)]
        for pending in ours:
            if pending in inference.pending:
                inference.pending.remove(pending)
                if pending.decide is None:
                    _choose(inference, pending, None)
                else:
                    pending.decide(True)
                settle(inference, mark, final=False)
        for pending in inference.pending[mark:]:  # an outer definition decides
            lower(inference.state, pending.result, inference.state.level - 1)


def _is_ours(inference: Walk, pending: Pending) -> bool:
    """Whether the rank that a call waits for belongs to the definition that ends here."""
    state = inference.state
    for arg in pending.args[:2]:
        type_ = state.prune(arg)
        if isinstance(type_, TypeVar) and type_.level < state.level:
            return False
        if isinstance(type_, Tensor):
            word = state.store.shape(type_.shape)
            sizes_too = pending.decide is not None
            for var in shape_variables(word):
                if var.level < state.level and (sizes_too or isinstance(var, ShapeVar)):
                    return False
    return True


def wrong_count(
    inference: Walk,
    name: str,
    wanted: int,
    given: int,
    span: Span,
    help: str | None = None,
    fixes: tuple[Fix, ...] = (),
) -> None:
    plural = "argument" if wanted == 1 else "arguments"
    message = f"{name} takes {wanted} {plural}, {given} {'is' if given == 1 else 'are'} given"
    found = error("AX203", message, span, f"{given} given", help, fixes=fixes)
    inference.state.diagnostics.append(found)
