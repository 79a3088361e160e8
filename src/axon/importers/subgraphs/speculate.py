"""A graph that may not run: what it asks for holds only if it does.

One that asks for nothing can be inferred as if it ran. Any other is inferred with variables of its
own in the place of those of the tensors that it uses, so that nothing that it asks of them is asked
of the graph around; those of which it asked nothing are theirs after all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from axon.contents.reals import Real
from axon.contents.values import Contents
from axon.importers.expressions import Expression
from axon.importers.importer import Importer, is_closed
from axon.importers.memo import variables
from axon.importers.node import Node
from axon.importers.operations import Graph, used
from axon.importers.sequences.uniform_chunks import Chunks
from axon.importers.steps import Step
from axon.importers.subgraphs.subgraph import Subgraph, hidden, prefix_of, subgraph, undo
from axon.inference.state import Asked
from axon.solver.constraints import Origin
from axon.solver.store import Store
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.type import (
    DimEq,
    Renaming,
    ShapeEq,
    Tensor,
    relation_variables,
    shape_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, Var


def speculate(node: Node, which: str) -> Subgraph | None:
    """What came of a graph that may not run; None if it cannot, whatever it is given."""
    importer, graph = node.importer, node.attribute(which)
    found = _unasked(node, which)
    if found is not None:
        return found
    prefix = prefix_of(node, which)
    outside = {
        name: f"{prefix}⟨outside⟩{name}"
        for name in _taken(importer, graph)
        if name in importer.types and _is_open(importer, name)
    }
    own = _own_variables(node, list(outside))
    for name, mine in outside.items():
        contents = _with(own, importer.contents.get(name))
        hidden(node, mine, importer.own.get(name, name), own.type(importer.type(name)), contents)
        held = _other(importer.sequences.get(name), outside)
        if held is not None:
            importer.sequences[mine] = held
    with importer.state.attempt() as attempt:
        found = subgraph(node, which, [], outside=outside)
    asked = _join(node, own)
    if attempt.failed:
        return None
    taken = [
        Step((mine,), _taken_in(node, name, asked), node.operation)
        for name, mine in outside.items()
    ]
    return replace(found, steps=[*taken, *found.steps])


def _unasked(node: Node, which: str) -> Subgraph | None:
    """What came of the graph as if it ran, unless that asks for something."""
    importer, state = node.importer, node.importer.state
    if state.reasons or state.sealed:
        return subgraph(node, which, []) if state.sealed else None
    back = undo(importer)
    try:
        with state.sealing():
            return subgraph(node, which, [])
    except Asked:
        back()
        return None


def _taken(importer: Importer, graph: Graph) -> Iterator[str]:
    """The tensors outside that a graph uses: those that a sequence holds, or is cut from, too."""
    own = set(graph.own_names())
    found = dict.fromkeys(n for each in graph.operations for n in sorted(used(each) - own))
    found.update(dict.fromkeys(each.name for each in graph.outputs if each.name not in own))
    for name in found:
        yield name
        held = importer.sequences.get(name)
        if isinstance(held, Chunks):
            yield held.base
        elif isinstance(held, tuple):
            yield from held


def _is_open(importer: Importer, name: str) -> bool:
    """Whether a tensor has anything that could be asked for."""
    held = importer.contents.get(name)
    items = () if held is None else held.items
    return not is_closed(importer.type(name)) or any(
        isinstance(item, DimVar | Poly | Real) for item in items
    )


def _other(held: Any, outside: dict[str, str]) -> Any:
    """A sequence of other tensors, if it is one of tensors that have names."""
    if isinstance(held, Chunks):
        return replace(held, base=outside.get(held.base, held.base))
    if isinstance(held, tuple):
        return tuple(outside.get(name, name) for name in held)
    return None


def _taken_in(node: Node, name: str, asked: set[Var]) -> Expression:
    """A tensor outside as the graph takes it: the run measures the sizes that it asks something
    of.
    """
    x, type_ = node.tensor(name), node.importer.type(name)
    word = type_.shape if isinstance(type_, Tensor) else ()
    axes = [i for i, item in enumerate(word) if not asked.isdisjoint(shape_variables((item,)))]
    if not axes or name in node.importer.sequences:
        return node.call("identity", x)
    if any(isinstance(item, ShapeVar) for item in word):
        return node.call("measured", x)
    return node.call("measured", x, axis=axes)


def _own_variables(node: Node, outside: list[str]) -> Renaming:
    """Variables in the place of those of some tensors."""
    importer, state = node.importer, node.importer.state
    own = Renaming({}, {}, {}, {})
    for var in variables(map(importer.type, outside), map(importer.contents.get, outside)):
        match var:
            case DimVar() if var.rank_of is None:
                own.dims[var] = DimVar(
                    var.name, state.level, False, var.scope, var.runtime, over=var.over
                )
            case ShapeVar():
                made = ShapeVar(var.name, state.level, False, var.scope, var.runtime)
                own.shapes[var] = (made,)
            case ElemVar():
                own.elems[var] = ElemVar(var.name, state.level, allowed=var.allowed)
            case _:
                pass
    return own


def _with(own: Renaming, held: Contents | None) -> Contents | None:
    """Contents in those variables."""
    if held is None:
        return None
    # what a size in floating point takes for granted would be asked of the graph around
    items = [None if isinstance(item, Real) else item for item in held.items]
    own_items = [own.dim(item) if isinstance(item, DimVar | Poly) else item for item in items]
    return replace(held, items=tuple(own_items))


def _join(node: Node, own: Renaming) -> set[Var]:
    """A variable of which nothing was asked is the one that it stands for. Gives the others, of
    which something was.
    """
    store, others = node.importer.state.store, set[Var]()
    asked = _asked(store)
    origin = Origin("value", node.span, node.operator)
    for var, mine in own.dims.items():
        if isinstance(mine, DimVar) and mine not in store.bindings and mine not in asked:
            node.importer.state.post(DimEq(mine, var), origin)
        else:
            others.add(var)
    for shape, (word,) in own.shapes.items():
        if word not in store.bindings and word not in asked:
            node.importer.state.post(ShapeEq((word,), (shape,)), origin)
        else:
            others.add(shape)
    return others


def _asked(store: Store) -> set[Var]:
    """The variables of which something is asked, also by way of others that stand for expressions
    of them: what those are known to be in the end rests on what is asked.
    """
    todo: list[Var] = [v for each in store.waiting for v in relation_variables(each.relation)]
    found: set[Var] = set()
    while todo:
        var = todo.pop()
        if var in found:
            continue
        found.add(var)
        if isinstance(var, DimVar) and var.rank_of is not None:
            todo.append(var.rank_of)
        binding = store.bindings.get(var) if isinstance(var, DimVar | ShapeVar) else None
        if binding is not None:
            given = binding.given
            todo.extend(
                shape_variables(given) if isinstance(given, tuple) else dims.variables(given)
            )
    return found
