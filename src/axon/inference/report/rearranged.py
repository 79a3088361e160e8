"""Arguments in another order than the function takes them: `map(x, f)`, `fold(f, start, x)`."""

from __future__ import annotations

from itertools import permutations

from axon.diagnostics import Fix
from axon.inference.habits.foreign_names import FORMS
from axon.ops import OPERATORS
from axon.solver.constraints import Origin
from axon.source import Source, Span
from axon.syntax import ast, parse_program

MOST_ARGUMENTS = 3
MOST_TEXT = 60
LONGEST = 2000
"""Of a call, in characters."""


def rearranged(origin: Origin, calls: bool = False) -> tuple[Fix, ...]:
    """The call with its arguments in each other order, to try; a `scan` of JAX is a `loop`. If it
    `calls`, one of them must be a function.
    """
    call = origin.call
    if origin.kind != "argument" or call is None or len(call.text) > LONGEST:
        return ()
    parsed = _call(call.text)
    if parsed is None or not 2 <= len(parsed.args) <= MOST_ARGUMENTS:
        return ()
    if calls and not any(isinstance(arg, ast.Fn | ast.OperatorName) for arg in parsed.args):
        return ()
    name = parsed.function.span.text
    orders = [order for order in permutations(range(len(parsed.args))) if [*order] != sorted(order)]
    fixes = [_fix(name, parsed, order, call) for order in orders]
    other = FORMS.get(name, "").partition("(")[0]  # what another library calls so
    if other in OPERATORS and len(parsed.args) == MOST_ARGUMENTS:
        fixes.append(_fix(other, parsed, (1, 0, 2), call))
    return tuple(fixes)


def _call(text: str) -> ast.Call | None:
    program, problems = parse_program(Source("", f"x = {text};"))
    item = program.items[0] if program.items and not problems else None
    found = item.value if isinstance(item, ast.Binding) else None
    return found if isinstance(found, ast.Call) else None


def _fix(name: str, call: ast.Call, order: tuple[int, ...], place: Span) -> Fix:
    args = [call.args[at] for at in order]
    attributes = [each.span.text for each in call.attributes]
    new = f"{name}({', '.join([*(arg.span.text for arg in args), *attributes])})"
    shown = f"{name}({', '.join([*map(_short, args), *attributes])})"
    return Fix(f"write `{new if _is_short(new) else shown}`", place, new)


def _short(expr: ast.Expr) -> str:
    """An argument as it is shown in a long call."""
    if isinstance(expr, ast.Fn):
        return f"fn ({', '.join(param.name for param in expr.params)}) {{ … }}"
    text = expr.span.text
    return text if len(text) <= 20 and "\n" not in text else "…"


def _is_short(text: str) -> bool:
    return len(text) <= MOST_TEXT and "\n" not in text
