"""Recurrent networks of several layers, and their cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from axon.importers.expressions import Expression
from axon.importers.node import Made
from axon.importers.operations import Malformed, Unsupported
from axon.importers.torch import elements
from axon.importers.torch.node import TorchNode
from axon.importers.torch.rules.registry import rule


@dataclass(frozen=True, slots=True)
class Kind:
    """A network by its operator in Axon, and where PyTorch has its gates: Axon has an order of its
    own.
    """

    operator: str
    gates: tuple[int, ...]
    states: int = 1

    @property
    def options(self) -> dict[str, Any]:
        return {"reset_last": True} if self.operator == "gru" else {}


KINDS = {
    "lstm": Kind("lstm", (0, 3, 1, 2), states=2),  # input, forget, cell, output
    "gru": Kind("gru", (1, 0, 2)),  # reset, update, new
    "rnn_tanh": Kind("rnn", (0,)),
    "rnn_relu": Kind("rnn", (0,)),
}


@dataclass(frozen=True, slots=True)
class Network:
    """What a node says of its network. `params` are the weights of a layer in one direction, one
    group after another.
    """

    kind: Kind
    layers: int
    directions: int
    biased: bool
    params: list[list[int]]
    hidden: int
    states: list[int]

    @property
    def is_projected(self) -> bool:
        """Whether each state is made smaller before it goes on."""
        return len(self.params[0]) % 2 == 1


@rule(*KINDS)
def recurrent(node: TorchNode) -> None:
    network = _network(node)
    packed = "data" in node.attributes
    if network.is_projected or packed:
        node.set_outputs(*_by_sizes(node, network, packed))
        return
    made, states = _layers(node, network)
    if node.flag("batch_first"):
        made = node.call("transpose", made, perm=[1, 0, 2])
    if node.flag("train") and node.real("dropout", 0.0) > 0 and network.layers > 1:
        node.set_outputs(*map(node.type_of, (made, *states)))
        return
    node.set_outputs(made, *states)


def _network(node: TorchNode) -> Network:
    kind = KINDS[node.operator]
    layers, found = node.integer("num_layers") or 0, node.indices("params")
    directions = 2 if node.flag("bidirectional") else 1
    count = layers * directions
    if count < 1 or len(found) % count or not found:
        raise Malformed(f"it has {len(found)} weights for {layers} layers")
    each = len(found) // count
    params = [found[i : i + each] for i in range(0, len(found), each)]
    states = node.indices("hx")
    hidden = node.dim(params[0][0], 0)
    biased = node.flag("has_biases", True)
    if each not in ((4, 5) if biased else (2, 3)) or len(states) != kind.states:
        raise Malformed(f"it has {each} weights in each layer, and {len(states)} states")
    if not isinstance(hidden, int) or hidden % len(kind.gates):
        raise Unsupported(f"{node.operator} whose weights have no known size")
    size = hidden // len(kind.gates)
    return Network(kind, layers, directions, biased, params, size, states)


def _by_sizes(node: TorchNode, network: Network, packed: bool) -> list[Expression]:
    """What has no operator in Axon: states that are projected, and sequences that are packed."""
    size: Any = network.hidden
    if network.is_projected:
        size = node.dim(network.params[0][-1], 0)
        if not isinstance(size, int):
            raise Unsupported(f"{node.operator} whose weights have no known size")
    result = network.directions * size
    at = node.tensor_index("data" if packed else "input")
    signature = f"t [n,i] -> t [n,{result}]" if packed else f"t [a,b,i] -> t [a,b,{result}]"
    states = [node.type_of(node.input(i)) for i in network.states]
    return [node.declared(signature, at), *states]


def _layers(node: TorchNode, network: Network) -> tuple[Expression, list[Expression]]:
    """One layer after another; a layer takes the states of all directions of the one before."""
    x: Expression = node.ranked(node.tensor_index("input"), 3)
    if node.flag("batch_first"):
        x = node.call("transpose", x, perm=[1, 0, 2])
    kind, count = network.kind, network.directions
    options = dict(kind.options)
    if count == 2:
        options["direction"] = "bidirectional"
    if node.operator == "rnn_relu":
        options["activations"] = "relu"
    last: list[list[Expression]] = [[] for _ in network.states]
    for layer in range(network.layers):
        states = []
        for i in network.states:
            state = node.ranked(i, 3)
            if network.layers > 1:
                start = layer * count
                state = node.call("slice", state, start=start, stop=start + count, axis=0)
            states.append(state)
        weights = _weights(node, network, layer)
        made = node.call(kind.operator, x, *weights, *states, **options)
        names = [f"{node.outputs[0]}/layer{layer}/{i}" for i in range(1 + kind.states)]
        node.set_tuple_outputs(made, names)
        whole, *ends = (node.tensor(name) for name in names)
        for found, end in zip(last, ends, strict=True):
            found.append(end)
        x = _side_by_side(node, whole, count)
    joined = [f[0] if len(f) == 1 else node.call("concat", *f, axis=0) for f in last]
    return x, joined


def _side_by_side(node: TorchNode, x: Expression, count: int) -> Expression:
    """The states of both directions in one axis."""
    if count == 1:
        return node.call("squeeze", x, axis=[1])
    sides = [node.call("index", x, i=i, axis=1) for i in range(count)]
    return node.call("concat", *sides, axis=-1)


def _weights(node: TorchNode, network: Network, layer: int) -> list[Expression]:
    """The weights of one layer, as Axon has them: both directions in one, the gates in its order,
    and all biases in one vector.
    """
    first = layer * network.directions
    groups = network.params[first : first + network.directions]
    found = []
    for which in (0, 1):
        found.append(_stacked(node, [_gates(node, network, g[which]) for g in groups]))
    if network.biased:
        both = [
            node.call("concat", *(_gates(node, network, i) for i in g[2:4]), axis=0) for g in groups
        ]
        return [*found, _stacked(node, both)]
    sizes = [network.directions, 2 * len(network.kind.gates) * network.hidden]
    elem = node.elem_of("input") or elements.DEFAULT
    return [*found, node.call("zeros", node.shape_literal(sizes), to=elem)]


def _stacked(node: TorchNode, parts: list[Expression]) -> Expression:
    if len(parts) == 1:
        return node.call("expand_dims", parts[0], axis=[0])
    return node.call("stack", *parts, axis=0)


def _gates(node: TorchNode, network: Network, index: int) -> Expression:
    """A weight with its gates in Axon's order."""
    x, size, order = node.input(index), network.hidden, network.kind.gates
    if len(order) == 1:
        return x
    parts = [node.call("slice", x, start=g * size, stop=(g + 1) * size, axis=0) for g in order]
    return node.call("concat", *parts, axis=0)


# --- cells -----------------------------------------------------------------------------------


@rule("lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell")
def cell(node: TorchNode) -> Made:
    states = [node.input(i) for i in node.indices("hx")]
    wanted = 2 if node.operator == "lstm_cell" else 1
    if len(states) != wanted:
        raise Malformed(f"it has {len(states)} states, and must have {wanted}")
    weights = [node.x("w_ih"), node.x("w_hh"), _bias(node, "b_ih"), _bias(node, "b_hh")]
    made = node.call(node.operator, node.x("input"), *states, *weights)
    if node.operator != "lstm_cell":
        return made
    node.set_tuple_outputs(made)
    return None


def _bias(node: TorchNode, name: str) -> Expression:
    """A bias; zeros if there is none."""
    if node.index(name) is not None:
        return node.x(name)
    return node.call("zeros_like", node.call("sum", node.x("w_hh"), axis=[1]))


@rule("_thnn_fused_lstm_cell")
def fused_lstm_cell(node: TorchNode) -> None:
    state, gates = node.type_of(node.x("cx")), node.type_of(node.x("input_gates"))
    node.set_outputs(state, state, gates)


@rule("_thnn_fused_gru_cell")
def fused_gru_cell(node: TorchNode) -> None:
    space = node.declared("t [b,h] -> t [b,5*h]", node.tensor_index("hx"))
    node.set_outputs(node.type_of(node.x("hx")), space)


# --- packed sequences ------------------------------------------------------------------------


@rule("_pack_padded_sequence")
def pack_padded_sequence(node: TorchNode) -> None:
    """How many steps there are in all, only a run knows."""
    at = node.tensor_index("input")
    steps = "t [b,s]@p -> i64 [?k]" if node.flag("batch_first") else "t [s,b]@p -> i64 [?k]"
    node.set_outputs(node.declared("t [a,b]@p -> t [?n]@p", at), node.declared(steps, at))


@rule("_pad_packed_sequence")
def pad_packed_sequence(node: TorchNode) -> None:
    data, sizes = (node.tensor_index(name) for name in ("data", "batch_sizes"))
    node.set_outputs(
        node.declared("t [n]@p -> t [?a,?b]@p", data), node.declared("i [s] -> i64 [?b]", sizes)
    )
