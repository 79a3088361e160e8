"""Bracketed lists: of sizes, which are a shape, or of anything else, which are a tensor.

What a list is must be known before its items are read, since a quotient in a shape is rounded down
and one in a tensor is not. So it is read off the items and the types of the names in them.
"""

from __future__ import annotations

from axon.inference import operators
from axon.inference.constructs import size_values
from axon.inference.environment import Environment
from axon.inference.unify import widened
from axon.inference.walk import Walk
from axon.ops import OPERATORS
from axon.ops.families.rearrange import stack
from axon.syntax import ast
from axon.types.type import UNKNOWN, Fn, Record, Scheme, Tensor, Type
from axon.types.variables import TypeVar
from axon.types.written import EXTREMA, SIZE_SIGNS

MOST_ITEMS = 1024
"""The most items of a list that is a tensor."""


def infer_list(inference: Walk, expr: ast.ListExpr, env: Environment) -> Type:
    """A shape literal, or a tensor literal if one of the items cannot be a size."""
    if any(is_no_size(item) or _is_tensor(inference, item, env) for item in expr.items):
        return _stacked(inference, expr, env)
    return size_values.read_shape(inference, expr, env)


def has_tensor(inference: Walk, expr: ast.ListExpr, env: Environment) -> bool:
    """Whether an item is a tensor, or something unknown, but no number."""
    return any(
        _is_tensor(inference, item, env)
        or (isinstance(item, ast.Name) and isinstance(_known(inference, item, env), TypeVar))
        for item in expr.items
    )


def _stacked(inference: Walk, expr: ast.ListExpr, env: Environment) -> Type:
    if not _is_regular(inference, expr):
        for item in expr.items:
            inference.infer(item, env)
        return UNKNOWN
    types: list[Type] = []
    for item in expr.items:
        types.append(_item(inference, item, env))
        if types[-1] is UNKNOWN:
            return UNKNOWN
    return operators.apply_chosen(inference, stack, {}, {}, types, expr.items, expr.span, "[…]")


def _item(inference: Walk, item: ast.Expr, env: Environment) -> Type:
    if isinstance(item, ast.ListExpr):
        type_ = _stacked(inference, item, env)
        if inference.record is not None:
            inference.record.types[id(item)] = type_
        return type_
    return widened(inference.state, inference.infer(item, env))


def _is_regular(inference: Walk, expr: ast.ListExpr) -> bool:
    """Report what no tensor has: rows that differ in length, or numbers beside rows."""
    count = len(expr.items)
    if not 0 < count <= MOST_ITEMS:
        text = f"a list that is a tensor has 1 to {MOST_ITEMS} items, not {count}"
        help = "`zeros` makes a tensor without elements" if not count else "give it as an argument"
        inference.error("AX222", text, expr.span, _items(count), help)
        return False
    rows = [item for item in expr.items if isinstance(item, ast.ListExpr)]
    other = next((row for row in rows if len(row.items) != len(rows[0].items)), None)
    if other is not None:
        text = f"the rows differ in length, {len(rows[0].items)} and {len(other.items)}"
        inference.error("AX222", text, other.span, _items(len(other.items)))
        return False
    number = next((item for item in expr.items if isinstance(item, ast.Number)), None)
    if rows and number is not None:
        text = "a number is mixed with a row of numbers"
        inference.error("AX222", text, number.span, "a number")
        return False
    return True


def _items(count: int) -> str:
    return "1 item" if count == 1 else f"{count} items"


# --- what an item is -------------------------------------------------------------------------


def is_no_size(item: ast.Expr, inside: bool = False) -> bool:
    """Whether an item by itself tells that it is no size: it has a fraction, a truth value or a
    list in it, or is a negative number. `inside` a sum or a product a negative number may stand.
    """
    while isinstance(item, ast.Infix):
        if item.op not in SIZE_SIGNS and item.op != "**":
            return True
        if is_no_size(item.right, inside=True):
            return True
        item, inside = item.left, True
    match item:
        case ast.Number(_, kind, _, _):
            return kind != "int"
        case ast.Negate(ast.Number(value, "int", _, _), _):
            return value != 0 and not inside
        case ast.Negate(operand, _):
            return is_no_size(operand, inside=True)
        case ast.ListExpr() | ast.Not():
            return True
        case _:
            return False


def _is_tensor(inference: Walk, item: ast.Expr, env: Environment) -> bool:
    """Whether the names in an item tell that it is a tensor."""
    while isinstance(item, ast.Infix):
        if _is_tensor(inference, item.right, env):
            return True
        item = item.left
    match item:
        case ast.Name() | ast.Field():
            return isinstance(_known(inference, item, env), Tensor)
        case ast.Negate(operand, _) | ast.Subscript(operand, _, _):
            return _is_tensor(inference, operand, env)
        case ast.Call(ast.Name(name, _), args, _, _):
            if name in EXTREMA and len(args) > 1:
                return any(_is_tensor(inference, arg, env) for arg in args)
            return _gives_tensor(inference, name, env)
        case _:
            return False


def _known(inference: Walk, expr: ast.Expr, env: Environment) -> Type:
    """The type of a name, or of a field of one, if it is no size."""
    match expr:
        case ast.Name(name, _):
            size = size_values.named_size(inference, name)
            entry = env.find(name) if size is None or not env.is_global(name) else None
            if entry is None or isinstance(entry.type, Scheme):
                return UNKNOWN
            return inference.state.prune(entry.type)
        case ast.Field(of, name, _):
            found = _known(inference, of, env)
            fields = found.fields if isinstance(found, Record) else {}
            return inference.state.prune(fields.get(name, UNKNOWN))
        case _:
            return UNKNOWN


def _gives_tensor(inference: Walk, name: str, env: Environment) -> bool:
    """Whether a function is known to give a tensor."""
    entry = env.find(name)
    if entry is None and name in OPERATORS:
        return OPERATORS[name].meaning is not None
    type_ = entry.type if entry is not None else UNKNOWN
    known = type_.type if isinstance(type_, Scheme) else inference.state.prune(type_)
    result = inference.state.prune(known.result) if isinstance(known, Fn) else UNKNOWN
    return isinstance(result, Tensor)
