"""Run-time sizes are existentials: who gets a value of such a size gets the size with it.

A size is made in a call and has a name of its own there. Where the call ends, what it gives is seen
from outside.
"""

from __future__ import annotations

from axon.inference.state import State
from axon.types.type import Fn, Renaming, type_variables
from axon.types.variables import DimVar, ShapeVar, made_at


def opened_by_call(state: State, type_: Fn) -> Fn:
    """A function value where it is called: what it makes is made anew by each call (D9)."""
    result = state.resolve(type_.result)
    here = made_at(state.depth)
    outside = {v for p in type_.params for v in type_variables(state.resolve(p))}
    renaming = Renaming({}, {}, {}, {})
    for var in type_variables(result):
        if not isinstance(var, DimVar | ShapeVar) or not var.runtime:
            continue
        if var.scope <= here or var in outside:
            continue
        scope = max(here, var.scope - 2)
        if isinstance(var, DimVar):
            made = DimVar(var.name, state.level, scope=scope, runtime=True, over=var.over)
            renaming.dims.setdefault(var, made)
        elif var not in renaming.shapes:
            shape = ShapeVar(var.name, state.level, scope=scope, runtime=True)
            renaming.shapes[var] = (shape,)
    if not renaming.dims and not renaming.shapes:
        return type_
    return Fn(type_.params, renaming.type(result))
