"""Two graphs, of which a condition says which one runs."""

from __future__ import annotations

from axon.contents.values import Contents
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.subgraphs.loop_state import as_parts, define
from axon.importers.subgraphs.speculate import speculate
from axon.importers.subgraphs.subgraph import Subgraph, either, function, ranked, subgraph


def choose(node: Node, known: Contents | None, test: Expression, then_: str, else_: str) -> None:
    """The outputs of one of two graphs, by the names of the attributes that have them."""
    holds = truth(known)
    if holds is not None:
        _branch(node, subgraph(node, then_ if holds else else_, []))
        return
    one, other = (speculate(node, which) for which in (then_, else_))
    if one is None or other is None:
        runs = one or other  # only that one can, if any
        define(node, [node.importer.state.resolve(t) for t in runs.types] if runs else [])
        node.step(tuple(node.outputs), None)
        return
    types = [either(node, a, b) for a, b in zip(one.types, other.types, strict=False)]
    define(node, types)
    if not node.importer.writes:
        return
    same = list(zip(one.outputs, other.outputs, strict=False))
    branches = [function(node, b, (), as_parts(b.outputs), same) for b in (one, other)]
    fallback = _differing(node, test, one, other)
    node.step(tuple(node.outputs[: len(types)]), node.call("cond", test, *branches), fallback)


def _differing(node: Node, test: Expression, then: Subgraph, else_: Subgraph) -> Expression | None:
    """Branches that give tensors in shapes of their own: then each output is chosen by itself."""
    pairs = zip(then.outputs, else_.outputs, strict=False)
    if any(node.importer.elem(one) != node.importer.elem(other) for one, other in pairs):
        return None
    count = min(len(then.outputs), len(else_.outputs))
    return node.tuple_of([_output(node, test, then, else_, i) for i in range(count)])


def _output(node: Node, test: Expression, then: Subgraph, else_: Subgraph, at: int) -> Expression:
    """One of the outputs."""
    one, other = ranked(node, then.types[at]), ranked(node, else_.types[at])
    branches = [function(node, b, (), b.outputs[at], name=f"{at}") for b in (then, else_)]
    if one is None or other is None or len(one.shape) != len(other.shape):
        return node.call("cond", test, *branches, ranks=True)
    axes = [i for i, size in enumerate(one.shape) if size != other.shape[i]]
    return node.call("cond", test, *branches, differ=axes or None)


def _branch(node: Node, found: Subgraph) -> None:
    """What is done if the condition is known stands in its place."""
    importer = node.importer
    importer.steps += found.steps
    for name, made, type_ in zip(node.outputs, found.outputs, found.types, strict=False):
        if name:
            importer.define(name, type_, importer.contents.get(made))
            if made in importer.sequences:
                importer.sequences[name] = importer.sequences[made]
            handed = node.tensor(made)
            node.step((name,), node.call("identity", handed))


def truth(contents: Contents | None) -> bool | None:
    """Whether a condition is known to hold, or not to hold."""
    if contents is None or contents.items not in ((True,), (False,)):
        return None
    return bool(contents.items[0])
