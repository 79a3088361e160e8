"""One step of training: weights, their gradients, and what is remembered from step to step.

The first two inputs are the rate and the number of the step. Then come the weights, their
gradients, and what is remembered, one group after another; the outputs are new weights and new
memories.
"""

from __future__ import annotations

from dataclasses import dataclass

from axon.importers.contents.values import Unsupported
from axon.importers.elem import Elem
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule


@dataclass(frozen=True, slots=True)
class Training:
    """A weight's part of a node: expressions of one element type."""

    node: Node
    elem: str
    rate: Expression
    step: Expression
    weight: Expression
    gradient: Expression
    memories: tuple[Expression, ...]

    def number(self, value: float) -> Expression:
        return self.node.scalar(value, self.elem)

    def call(self, operator: str, *parts: Expression | float) -> Expression:
        """An operator on expressions and numbers."""
        exprs = [self.number(p) if isinstance(p, int | float) else p for p in parts]
        return self.node.call(operator, *exprs)

    def mixed(self, a: float, x: Expression, b: float | Expression, y: Expression) -> Expression:
        """`a * x + b * y`."""
        right = y if b == 1 else self.call("*", b, y)
        return right if a == 0 else self.call("+", self.call("*", a, x), right)

    def first(self, fallback: Expression | float, then: Expression | float) -> Expression:
        """One in the first step, of number 0, and another later."""
        later = self.node.call(">", self.step, self.number(0))
        return self.call("where", later, then, fallback)


def _trainings(node: Node, memories: int) -> list[Training]:
    """The parts of a node, one for each weight."""
    groups = 2 + memories
    count = (node.count - 2) // groups
    if count < 1 or node.count != 2 + groups * count or len(node.outputs) != (groups - 1) * count:
        raise Unsupported(f"{node.operator} whose inputs are not groups of one size")
    found = []
    for i in range(count):
        elem = node.elem(2 + i)
        if not isinstance(elem, str):
            raise Unsupported(f"{node.operator} where an element type is not known")
        parts = [node.input(2 + i + group * count) for group in range(groups)]
        rate = node.input(0)
        if node.elem(0) != elem:
            rate = node.call("cast", rate, to=Elem(elem))
        step = node.call("cast", node.input(1), to=Elem(elem))
        found.append(Training(node, elem, rate, step, parts[0], parts[1], tuple(parts[2:])))
    return found


def _give(node: Node, place: int, expr: Expression) -> Expression:
    """An output, and the name of it."""
    if not node.outputs[place]:
        return expr
    node.set_outputs(*[None] * place, expr)
    return node.tensor(node.outputs[place])


@rule("Momentum")
def momentum(node: Node) -> None:
    alpha, beta = node.attribute("alpha", 0.0), node.attribute("beta", 1.0)
    parts = _trainings(node, 1)
    for i, t in enumerate(parts):
        gradient = t.mixed(node.attribute("norm_coefficient", 0.0), t.weight, 1, t.gradient)
        share = 1 if beta == 1 else t.first(1.0, beta)
        speed = _give(node, len(parts) + i, t.mixed(alpha, t.memories[0], share, gradient))
        if node.attribute("mode", "standard") == "nesterov":
            speed = t.mixed(alpha, speed, 1, gradient)
        _give(node, i, t.call("-", t.weight, t.call("*", t.rate, speed)))


@rule("Adagrad")
def adagrad(node: Node) -> None:
    decay, epsilon = node.attribute("decay_factor", 0.0), node.attribute("epsilon", 1e-6)
    parts = _trainings(node, 1)
    for i, t in enumerate(parts):
        gradient = t.mixed(node.attribute("norm_coefficient", 0.0), t.weight, 1, t.gradient)
        squares = t.call("+", t.memories[0], t.call("*", gradient, gradient))
        squares = _give(node, len(parts) + i, squares)
        rate = t.rate
        if decay:
            rate = t.call("/", rate, t.call("+", 1.0, t.call("*", decay, t.step)))
        root = t.call("+", t.call("sqrt", squares), epsilon)
        way = t.call("/", t.call("*", rate, gradient), root)
        _give(node, i, t.call("-", t.weight, way))


@rule("Adam")
def adam(node: Node) -> None:
    alpha, beta = node.attribute("alpha", 0.9), node.attribute("beta", 0.999)
    epsilon, after = node.attribute("epsilon", 1e-6), node.attribute("norm_coefficient_post", 0.0)
    parts = _trainings(node, 2)
    count = len(parts)
    for i, t in enumerate(parts):
        gradient = t.mixed(node.attribute("norm_coefficient", 0.0), t.weight, 1, t.gradient)
        mean = _give(node, count + i, t.mixed(alpha, t.memories[0], 1 - alpha, gradient))
        square = t.call("*", gradient, gradient)
        spread = _give(node, 2 * count + i, t.mixed(beta, t.memories[1], 1 - beta, square))
        # both begin at zero, which the first steps make up for
        up = t.call("sqrt", t.call("-", 1.0, t.call("pow", beta, t.step)))
        down = t.call("-", 1.0, t.call("pow", alpha, t.step))
        rate = t.first(t.rate, t.call("/", t.call("*", t.rate, up), down))
        way = t.call("/", mean, t.call("+", t.call("sqrt", spread), epsilon))
        made = t.call("-", t.weight, t.call("*", rate, way))
        _give(node, i, t.call("*", 1 - after, made) if after else made)
