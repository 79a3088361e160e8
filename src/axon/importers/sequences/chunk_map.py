"""SequenceMap over sequences of which only a run knows the length: a `map` over their elements."""

from __future__ import annotations

from axon.importers.node import Node
from axon.importers.operations import Unsupported
from axon.importers.sequences.uniform_chunks import Chunks, hold_opaque, rows, same_for_all
from axon.importers.steps import Step
from axon.importers.subgraphs.loop_state import Iterations, padded, stacked, write_loop
from axon.importers.subgraphs.subgraph import hidden, ranked, subgraph
from axon.types.type import Tensor, Type


def map_chunks(node: Node) -> None:
    """The body for each chunk; tensors are the same for all of them."""
    importer, before = node.importer, node.fresh_dim()
    types: list[Type] = []
    given: dict[int, str] = {}
    times = None
    for i in range(node.count):
        found = importer.sequences.get(node.name(i))
        if found is None:
            node.input(i)
            types.append(importer.types[node.name(i)])
            continue
        if not isinstance(found, Chunks):
            raise Unsupported("SequenceMap: a sequence of a length known, and one of another")
        given[i] = rows(node, found, i)
        whole = ranked(node, importer.types[given[i]])
        if whole is None:
            raise Unsupported("SequenceMap: chunks of a rank that is not known")
        times = whole.shape[0] if times is None else times
        types.append(Tensor(whole.elem, whole.shape[1:]))
    body = subgraph(node, "body", types)
    if len(body.params) != node.count or len(body.outputs) < len(node.outputs):
        raise Unsupported("SequenceMap whose body takes or returns another number of tensors")
    same = [
        Step((param,), node.call("identity", node.input(i)), node.operation)
        for i, param in enumerate(body.params)
        if i not in given
    ]
    iterations = Iterations(node, body, [], [], body.outputs, [], same)
    items = [body.params[i] for i in given]
    parts = [node.tensor(name) for name in given.values()]
    made = [stacked(node, type_, times) for type_ in body.types]
    names = [
        hidden(node, f"{name}⟨elements⟩", f"elements_{i}", type_) if name else ""
        for i, (name, type_) in enumerate(zip(padded(node.outputs, len(made)), made, strict=True))
    ]
    write_loop(node, iterations.over([], items, parts), [], names, made)
    for name, base, type_ in zip(node.outputs, names, made, strict=False):
        if name:
            known = ranked(node, type_)
            even = known is not None and same_for_all(known.shape[1:], before)
            hold_opaque(node, name, base, Chunks(base, 0, 1, bare=True) if even else None)
