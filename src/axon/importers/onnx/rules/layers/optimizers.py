"""One step of training: weights, their gradients, and what is remembered from step to step.

The first two inputs are the rate and the number of the step. Then come the weights, their
gradients, and what is remembered, one group after another; the outputs are new weights and new
memories. The steps themselves are in the standard library.
"""

from __future__ import annotations

from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule
from axon.importers.operations import Unsupported
from axon.importers.runtime_values import scalar_of

STEPS: dict[str, tuple[int, dict[str, float]]] = {
    "Momentum": (1, {"alpha": 0.0, "beta": 1.0, "norm_coefficient": 0.0}),
    "Adagrad": (1, {"decay_factor": 0.0, "epsilon": 1e-6, "norm_coefficient": 0.0}),
    "Adam": (
        2,
        {
            "alpha": 0.9, "beta": 0.999, "epsilon": 1e-6, "norm_coefficient": 0.0,
            "norm_coefficient_post": 0.0,
        },
    ),
}  # fmt: skip
"""How many tensors are remembered for each weight, and the attributes that are numbers."""


@rule(*STEPS)
def train(node: Node) -> None:
    """Each weight goes through a step of its own."""
    memories, numbers = STEPS[node.operator]
    groups = 2 + memories
    count = (node.count - 2) // groups
    if count < 1 or node.count != 2 + groups * count or len(node.outputs) != (groups - 1) * count:
        raise Unsupported(f"{node.operator} whose inputs are not groups of one size")
    nesterov = node.operator == "Momentum" and node.attribute("mode") == "nesterov"
    step = "nesterov_momentum" if nesterov else node.operator.lower()
    given = [node.literal(float(node.attribute(*each))) for each in numbers.items()]
    for i in range(count):
        parts = [node.input(2 + i + group * count) for group in range(groups)]
        made = node.call(step, scalar_of(node, 0), scalar_of(node, 1), *parts, *given)
        node.set_tuple_outputs(made, node.outputs[i::count])
