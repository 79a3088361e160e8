"""The examples in an operator's docstring: calls whose arguments state their types, and the type of
the result.

    >>> concat(x : f32 [2,3], y : f32 [4,3], axis=0)
    f32 [6,3]

Such a call stands for the program `example = fn (x : f32 [2,3], y : f32 [4,3]) { concat(x, y,
axis=0) };`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from axon.ops.named import placed
from axon.ops.operator import SIGNS, Operator, Problem
from axon.source import Source
from axon.syntax import ast, parse_expression

_TYPED = re.compile(r"\s*([A-Za-z_]\w*'*)\s*:\s*")
_CLOSER = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Example:
    call: str
    expected: str

    def signature(self, operator: Operator) -> str | Problem:
        """The operator's signature for the arguments and the attributes of this example."""
        _, body = lift(self.call)
        tree, _ = parse_expression(Source("example", body))
        use = _find(tree, operator.name) if tree is not None else None
        if use is None:
            return Problem(f"`{self.call}` does not use {operator.name}")
        args, attributes = placed(operator, *use)
        values = {a.name: _value(a.value, operator.attributes[a.name]) for a in attributes}
        return operator.signature(len(args), values)

    @property
    def program(self) -> str:
        """The program that the call stands for."""
        params, body = lift(self.call)
        return f"example = fn ({', '.join(params)}) {{ {body} }};"


def examples(doc: str) -> tuple[Example, ...]:
    """The examples in a docstring; a line that begins with `...` continues the call before it."""
    found: list[Example] = []
    call: list[str] = []
    for line in [line.strip() for line in doc.splitlines()]:
        if line.startswith(">>>"):
            call = [line[3:].strip()]
        elif call and line.startswith("..."):
            call.append(line[3:].strip())
        elif call:
            found.append(Example(" ".join(call), line))
            call = []
    return tuple(found)


def text_of(doc: str) -> str:
    """A docstring without its examples and its indentation."""
    lines = [line.removeprefix("    ") for line in doc.splitlines()]
    first = next((i for i, line in enumerate(lines) if line.startswith(">>>")), len(lines))
    return "\n".join(lines[:first]).strip()


def lift(call: str) -> tuple[list[str], str]:
    """The `name : TYPE` arguments of a call, at any depth, and the call with the bare names.

    The parameters and the body of a `fn` in the call stay as they are.
    """
    params: list[str] = []
    body: list[str] = []
    at = 0
    while at < len(call):
        sign = call[at]
        if sign == "{" or (sign == "(" and re.search(r"\bfn\s*$", call[:at])):
            end = _end(call, at + 1, _CLOSER[sign]) + 1
            body.append(call[at:end])
            at = end
            continue
        body.append(sign)
        at += 1
        typed = _TYPED.match(call, at) if sign in "(," else None
        if typed:
            end = _end(call, typed.end(), "),")
            params.append(f"{typed[1]} : {call[typed.end() : end].strip()}")
            body.append(f" {typed[1]}" if sign == "," else typed[1])
            at = end
    return params, "".join(body)


def _end(text: str, at: int, closers: str) -> int:
    """The position of the first of the signs that is not inside nested brackets."""
    depth = 0
    for place in range(at, len(text)):
        sign = text[place]
        if depth == 0 and sign in closers:
            return place
        depth += (sign in "([{") - (sign in ")]}")
    return len(text)


# --- what an example gives to its operator ---------------------------------------------------


def _find(
    expr: ast.Expr, name: str
) -> tuple[tuple[ast.Expr, ...], tuple[ast.Attribute, ...]] | None:
    """The arguments and the attributes of the first use of an operator."""
    match expr:
        case ast.Call(function=ast.Name(name=called), args=args, attributes=attributes):
            if called == name:
                return args, attributes
            return next((use for arg in args if (use := _find(arg, name))), None)
        case ast.Infix(op=op, left=left, right=right) if SIGNS[op].name == name:
            return (left, right), ()
        case ast.Not(operand=operand) if SIGNS["not"].name == name:
            return (operand,), ()
        case _:
            return None


def _value(expr: ast.Expr, kind: str) -> object:
    """An attribute in the form that a rule takes."""
    match expr:
        case ast.ListExpr(items=items):
            parts = [
                _value(item, "Ints" if kind.startswith("Extents") else "int") for item in items
            ]
            return tuple(
                x for part in parts for x in (part if isinstance(part, tuple) else (part,))
            )
        case ast.Number(value=value):
            return (value,) if kind.startswith(("Ints", "Floats", "Extents")) else value
        case ast.Negate(operand=ast.Number(value=value)):
            return (-value,) if kind.startswith(("Ints", "Floats", "Extents")) else -value
        case ast.String(value=text):
            return text
        case ast.Name(name=name):
            return name
        case _:
            return None
