"""Operators that join tensors take them one by one; other libraries take a list."""

from __future__ import annotations

from axon.diagnostics import Fix, error
from axon.inference.constructs import lists
from axon.inference.environment import Environment
from axon.inference.habits.foreign_names import is_axis, shown
from axon.inference.walk import Walk
from axon.ops import OPERATORS
from axon.syntax import ast


def takes_list(inference: Walk, name: str, call: ast.Call, env: Environment) -> bool:
    """Whether an operator that joins tensors is given them in a list or a tuple, and perhaps an
    axis. That is reported.
    """
    if not OPERATORS[name].traits.joins or not call.args:
        return False
    first, *others = call.args
    if not all(map(is_axis, others)):
        return False
    if isinstance(first, ast.ListExpr):
        if not lists.has_tensor(inference, first, env):
            return False
    elif not isinstance(first, ast.TupleExpr):
        return False
    from axon.inference.habits.foreign_calls import rewritten  # only for a message

    new = rewritten(name, None, call)
    fixes = (Fix(f"write `{new}`", call.span, new),) if new is not None and shown(new) else ()
    message, help = f"{name} takes tensors one by one", f"as in `{name}(x, y)`"
    what = "a list" if isinstance(first, ast.ListExpr) else "a tuple"
    found = error("AX203", message, first.span, f"{what} is given", help, fixes=fixes)
    inference.state.diagnostics.append(found)
    return True
