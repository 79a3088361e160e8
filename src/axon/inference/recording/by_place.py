"""What other libraries take by its place in a call, and Axon by its name: axes, windows,
permutations; and the sizes of a shape one by one.
"""

from __future__ import annotations

import re

from axon.diagnostics import Fix
from axon.inference.habits.foreign_names import is_axis, shown
from axon.ops.operator import Operator
from axon.source import Span
from axon.syntax import ast

_SHAPE_LAST = re.compile(r"\bshape [^,()]+\)? ->")

MOST_RANK = 5
"""Of a tensor whose two axes are exchanged: the message tries each rank."""


def advice(
    operator: Operator, exprs: tuple[ast.Expr, ...], wanted: int, span: Span
) -> tuple[str | None, tuple[Fix, ...]]:
    """A help and fixes for a call of an operator with too many arguments."""
    name, last = operator.name, exprs[-1]
    if "perm" in operator.attributes and len(exprs) > wanted:
        return _permuted(exprs, span)
    if len(exprs) == wanted + 1 and "axis" in operator.attributes and is_axis(last):
        text = last.span.text
        fix = Fix(f"write `axis={text}`", last.span, f"axis={text}")
        return "an axis is given by its name: `axis=…`", (fix,)
    sizes = exprs[wanted - 1 :]
    if len(sizes) > 1 and _takes_shape(operator, wanted):
        args = [*_texts(exprs[: wanted - 1]), f"[{', '.join(_texts(sizes))}]"]
        return "a shape is in square brackets, as in `[n, m]`", _call(name, args, span)
    return None, ()


def exchanged(name: str, receiver: ast.Expr | None, call: ast.Call | None) -> tuple[Fix, ...]:
    """`x.transpose(1, 2)` and `swapaxes(x, 1, 2)`, whose two axes change places."""
    if call is None or name not in ("transpose", "swapaxes"):
        return ()
    exprs = call.args if receiver is None else (receiver, *call.args)
    return _permuted(exprs, call.span)[1] if len(exprs) == 3 else ()


def required(
    operator: Operator, exprs: tuple[ast.Expr, ...], missing: str, span: Span
) -> tuple[Fix, ...]:
    """`squeeze(x, 1)` as `squeeze(x, axis=1)`: the last argument is what is required. Two numbers
    are a range: `randint(key, [n], 0, 10)`.
    """
    if len(exprs) < 2 or not is_axis(exprs[-1]):
        return ()
    texts = _texts(exprs)
    if missing == "high" and len(exprs) > 2 and isinstance(exprs[-2], ast.Number | ast.Negate):
        texts[-2:] = [f"low={texts[-2]}", texts[-1]]
    return _call(operator.name, [*texts[:-1], f"{missing}={texts[-1]}"], span)


def _takes_shape(operator: Operator, arity: int) -> bool:
    """Whether the last argument of an operator is a shape."""
    if operator.required:
        return False
    signature = operator.signature(arity, {})
    return isinstance(signature, str) and _SHAPE_LAST.search(signature) is not None


def _permuted(exprs: tuple[ast.Expr, ...], span: Span) -> tuple[str, tuple[Fix, ...]]:
    """`transpose(x, [0, 2, 1])`, `transpose(x, 0, 2, 1)`, and two axes that are exchanged."""
    help = "a permutation is given by its name: `perm=[0, 2, 1]`"
    x, *others = exprs
    items = others[0].items if isinstance(others[0], ast.ListExpr) else tuple(others)
    axes = [_axis(item) for item in items]
    if not all(map(is_axis, items)) or None in axes:
        return help, ()
    known = [axis for axis in axes if axis is not None]
    if len(known) == 2 and len(others) == 2:
        if {*known} == {-1, -2}:
            return help, _call("transpose", [x.span.text], span)
        permutations = [_exchanged(known, rank) for rank in range(2, MOST_RANK + 1)]
        perms = [perm for perm in permutations if perm is not None]
    else:
        perms = [known]
    fixes = [_call("transpose", [x.span.text, f"perm={perm}"], span) for perm in perms]
    return help, tuple(fix for each in fixes for fix in each)


def _exchanged(axes: list[int], rank: int) -> list[int] | None:
    one, other = (axis + rank if axis < 0 else axis for axis in axes)
    if not (0 <= one < rank and 0 <= other < rank):
        return None
    perm = list(range(rank))
    perm[one], perm[other] = other, one
    return perm


def _axis(expr: ast.Expr) -> int | None:
    sign = -1 if isinstance(expr, ast.Negate) else 1
    number = expr.operand if isinstance(expr, ast.Negate) else expr
    return sign * int(number.value) if isinstance(number, ast.Number) else None


def _texts(exprs: tuple[ast.Expr, ...]) -> list[str]:
    return [expr.span.text for expr in exprs]


def _call(name: str, args: list[str], span: Span) -> tuple[Fix, ...]:
    new = f"{name}({', '.join(args)})"
    return (Fix(f"write `{new}`", span, new),) if shown(new) else ()
