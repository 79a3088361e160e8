"""Products of tensors whose ranks decide the operator, in all formats."""

from __future__ import annotations

from axon.importers.expressions import Expression
from axon.importers.node import Node

PRODUCT = "(t p, t q) -> t ?r"


def product(
    node: Node, x: Expression, y: Expression, left: int | None, right: int | None
) -> Expression | None:
    """The product of expressions of these ranks, if they decide the operator. A vector is a row on
    the left, and a column on the right.
    """
    if right == 2:
        return node.call("project", x, y)
    if left is None or right is None:
        return None
    if left == right == 1:
        return node.call("dot", x, y)
    if right == 1:
        column = node.call("expand_dims", y, axis=[1])
        return node.call("squeeze", node.call("project", x, column), axis=[-1])
    if left == 1:
        row = node.call("expand_dims", x, axis=[0])
        return node.call("squeeze", node.call("@", row, y), axis=[-2])
    return node.call("@", x, y)


def free_letters(equation: str) -> str:
    """What an equation without a result means: the dots, and each letter that stands there once,
    in the order of the alphabet.
    """
    letters = equation.replace(".", "").replace(",", "")
    once = sorted(letter for letter in set(letters) if letters.count(letter) == 1)
    return ("..." if "..." in equation else "") + "".join(once)
