"""What decides parentheses: how tightly an expression binds, and what is around it."""

from __future__ import annotations

from axon.syntax.ast import Call, Expr, Field, Fn, If, Infix, Negate, Not, Number, Record, Subscript
from axon.syntax.tokens import INFIX_LEVEL, NOT, PIPE, POWER

ATOM = POWER + 1
"""What is before a call, a subscript or a field binds tighter than any operator."""


def level_of(expr: Expr) -> int:
    """How tightly an expression binds as an operand. A function or an `if` ends in a block, behind
    which an operator would be hard to see: it does not bind at all.
    """
    match expr:
        case Infix(op):
            return INFIX_LEVEL[op]
        case Negate():
            return POWER
        case Not():
            return NOT
        case Call(piped=True):
            return PIPE
        case Fn() | If():
            return 0
        case _:
            return ATOM


def is_enclosed_callee(expr: Expr, bare: bool) -> bool:
    """Whether it has parentheses before a call, a field or a subscript; one that is `bare` stands
    alone behind `|>`.
    """
    match expr:
        case Call(piped=False):
            return bare
        case Fn() | If():
            return not bare
        case Number(kind=kind):
            return kind != "bool"
        case _:
            return level_of(expr) < ATOM


def has_bare_record(expr: Expr) -> bool:
    """Whether a record stands in an expression outside of brackets."""
    waiting = [expr]
    while waiting:
        match waiting.pop():
            case Record():
                return True
            case Infix(_, left, right):
                waiting += [left, right]
            case Negate(operand) | Not(operand):
                waiting.append(operand)
            case Field(value) | Subscript(value) | Call(value, piped=False):
                waiting.append(value)
            case Call(function, args):
                waiting += [function, *args[:1]]
            case _:
                pass
    return False
