"""What messages about subscripts say."""

from __future__ import annotations

from axon.diagnostics import Fix
from axon.inference.walk import Walk
from axon.syntax import ast
from axon.types.show import Names, Show
from axon.types.type import Record, Tuple, Type, type_variables

MOST_TEXT = 80
"""Of a suggestion."""


def report_structure(inference: Walk, expr: ast.Subscript, type_: Tuple) -> None:
    if isinstance(type_, Record):
        what, help = "a record", "a field is taken by its name: `p.w`"
    else:
        names = "abcdefgh"[: len(type_.items)] if len(type_.items) <= 8 else "ab"
        left = ", ".join(names) + (", …" if len(type_.items) > 8 else "")
        what, help = "a tuple", f"unpack it: `{left} = {expr.value.span.text};`"
    text = f"{what} has no rows to index"
    inference.error("AX207", text, expr.value.span, what, help if type_.items else None)


def at_places(expr: ast.Subscript, tensors: int) -> tuple[Fix, ...]:
    """`x[i, j]`, which NumPy takes for places along two axes."""
    if tensors < len(expr.items):
        return ()
    indices = ", ".join(item.span.text for item in expr.items)
    new = f"gather_nd({expr.value.span.text}, stack({indices}, axis=-1), axes={tensors})"
    text = f"`{new}` takes places, `x[i][:, j]` rows and columns"
    return (Fix(text, expr.span, new),) if len(new) <= MOST_TEXT else ()


def type_of(inference: Walk, type_: Type) -> str:
    known = inference.state.resolve(type_)
    names = Names()
    names.reserve(type_variables(known))
    return Show(names).type(known)


def sizes_of(count: int) -> str:
    return "1 size" if count == 1 else f"{count} sizes"


def are(count: int) -> str:
    return "is" if count == 1 else "are"


def range_of(size: int) -> str:
    if size == 0:
        return "it has no elements at all"
    return f"0 to {size - 1} count from the front, -1 to {-size} from the end"
