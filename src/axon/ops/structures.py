"""The signatures of operators that pass rows to functions, for rows that are structures: tuples and
records of tensors, stacked leaf by leaf.
"""

from __future__ import annotations

from axon.ops.operator import Operator
from axon.ops.traits import Calls


def takes_structures(operator: Operator) -> bool:
    return operator.traits.calls in (
        Calls.EACH_ROW,
        Calls.STATE,
        Calls.STATE_AND_OUTPUT,
        Calls.WHILE,
    )


def structured_signature(operator: Operator, arity: int) -> str:
    """The signature for `arity` operands, in which rows and outputs have any type."""
    if operator.traits.calls is Calls.WHILE:
        return (
            "(state, (state) -> bool [], (state) -> (state, out)) -> (state, outs) "
            "where outs = [?n]@out"
        )
    count = arity - (1 if operator.traits.calls is Calls.EACH_ROW else 2)
    rows = ", ".join(f"row{i}" for i in range(count))
    tensors = ", ".join(f"whole{i}" for i in range(count))
    where = [f"whole{i} = [n]@row{i}" for i in range(count)]
    match operator.traits.calls:
        case Calls.EACH_ROW:
            text = f"(({rows}) -> out, {tensors}) -> outs"
            where.append("outs = [n]@out")
        case Calls.STATE:
            text = f"(state, (state, {rows}) -> state, {tensors}) -> state"
        case _:
            text = f"(state, (state, {rows}) -> (state, out), {tensors}) -> (state, outs)"
            where.append("outs = [n]@out")
    return f"{text} where {', '.join(where)}"
