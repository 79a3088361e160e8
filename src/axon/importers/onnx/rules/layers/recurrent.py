"""Recurrent networks."""

from __future__ import annotations

from typing import Any

from axon.contents import arithmetic as contents
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.onnx.rules.registry import rule

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
STATES = {"LSTM": (5, 6), "GRU": (5,), "RNN": (5,)}
"""Which inputs are states."""

ACTIVATIONS = {
    "tanh": "tanh", "sigmoid": "sigmoid", "relu": "relu", "hardsigmoid": "hard_sigmoid",
    "softsign": "softsign", "softplus": "softplus",
}  # fmt: skip
USUAL = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}
DIRECTIONS = {each: each for each in ("forward", "reverse", "bidirectional")}


@rule("LSTM", "GRU", "RNN")
def recurrent(node: Node) -> None:
    """A network as one operator; its sizes are those of its weights."""
    kind = node.operator
    direction, layout = node.choice("direction", "forward", DIRECTIONS), node.attribute("layout", 0)
    count = 2 if direction == "bidirectional" else 1
    hidden = node.attribute("hidden_size")
    sized = node.shape(2) is None and isinstance(hidden, int) and hidden > 0
    options: dict[str, Any] = {
        "direction": direction,
        "batch_first": bool(layout),
        "hidden": hidden if sized else None,
        "clip": node.attribute("clip"),
    }
    if kind == "LSTM":
        options["coupled"] = bool(node.attribute("input_forget", 0))
    if kind == "GRU":
        options["reset_last"] = bool(node.attribute("linear_before_reset", 0))
    activations = _activations(node, count)
    rest = _rest(node, count, bool(layout))
    parts = [node.input(i) for i in range(3)]
    if activations is None or rest is None:
        node.set_tuple_outputs(node.type_of(node.call(kind.lower(), *parts, **options)))
        return
    made = node.call(kind.lower(), *parts, *rest, **options, activations=activations)
    node.set_tuple_outputs(made)


def _activations(node: Node, count: int) -> str | None:
    """Their names in Axon; None where there is one that has none, or has numbers of its own."""
    usual = USUAL[node.operator]
    given = node.attribute("activations") or usual
    if node.attribute("activation_alpha") or node.attribute("activation_beta"):
        return None
    names = [ACTIVATIONS.get(name.lower()) for name in given]
    if None in names or len(names) not in (len(usual), len(usual) * count):
        return None
    if names[: len(usual)] == names[len(usual) :]:
        names = names[: len(usual)]
    return " ".join(name for name in names if name is not None)


def _rest(node: Node, count: int, batch_first: bool) -> list[Expression] | None:
    """The bias, the states, the peepholes and the lengths up to the last that is given, zeros for
    those that are not; None where the sizes of the zeros are not known.
    """
    kind = node.operator
    order = [3, *STATES[kind], *([7] if kind == "LSTM" else []), 4]
    while order and not node.has(order[-1]):
        order.pop()
    if 7 not in order and order[-1:] == [5]:
        order += [6] if kind == "LSTM" else []
    x, weights, elem = node.shape(0), node.shape(2), node.elem(0)
    if x is None or weights is None or not isinstance(elem, str):
        return None if order else []
    if len(x) < 2 or not weights:  # the operator refuses it
        return None if order else []
    h: Any = weights[-1]
    state = [x[0], count, h] if batch_first else [count, x[1], h]
    bias, peepholes = contents.mul(2 * GATES[kind], h), contents.mul(3, h)
    shapes = {3: [count, bias], 5: state, 6: state, 7: [count, peepholes]}
    return [
        node.input(i) if node.has(i) else node.call("zeros", node.shape_literal(shapes[i]), to=elem)
        for i in order
    ]
