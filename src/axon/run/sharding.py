"""Sharding by the names of sizes: which sizes of a graph are meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from axon.graph.graph import Graph
from axon.graph.sharding import Placement, Rule, placement
from axon.inference.program import Definition
from axon.inference.report.signature import describe_definition
from axon.run.names import names_at_call
from axon.run.options import Shard
from axon.source import Source
from axon.syntax import parse_signature
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.type import Tensor
from axon.types.variables import DimVar, ShapeVar


def read_size(text: str) -> tuple[Dim, Mapping[str, DimVar]]:
    """A size as it is written, `f` or `4*d`, and the names in it; raises `ValueError`."""
    parsed, problems = parse_signature(Source("a size", f"f32 [{text}]"))
    if parsed is not None and not problems:
        scope = Scope()
        reader = Reader(scope, 0, 1)
        reader.in_parameter = True
        type_ = reader.read_type(parsed.type)
        names = {n: v for n, v in scope.index.items() if isinstance(v, DimVar) and not v.runtime}
        if (
            not reader.diagnostics
            and isinstance(type_, Tensor)
            and len(type_.shape) == 1
            and not isinstance(type_.shape[0], ShapeVar)
            and names
            and len(names) == len(scope.index)
        ):
            return type_.shape[0], names
    raise ValueError(f"shard: `{text}` is no size: write the name of one, or an expression of them")


def check_names(shard: Shard, definitions: Iterable[Definition]) -> None:
    """Each name must be one in the signature of some definition; raises `ValueError`."""
    known: set[str] = set()
    for definition in definitions:
        variables = describe_definition(definition).variables
        known.update(name for name, var in variables.items() if isinstance(var, DimVar))
    for text, _ in shard:
        for name in read_size(text)[1]:
            if name not in known:
                listed = ", ".join(sorted(known)) or "none"
                raise ValueError(f"shard: no signature has a size `{name}`: there are {listed}")


def rules(definition: Definition, graph: Graph, shard: Shard) -> list[Rule]:
    """What the sizes of `shard` are in a graph of a definition; those that it has."""
    named = {name: var for var, name in names_at_call(definition, graph).given.items()}
    found: list[Rule] = []
    for text, axes in shard:
        size, names = read_size(text)
        here = {var: named.get(name) for name, var in names.items()}
        own = {var: it for var, it in here.items() if isinstance(it, DimVar)}
        if len(own) == len(names):
            found.append(Rule(text, dims.substitute(size, own.__getitem__, dims.of_size), axes))
    return found


def placed(definition: Definition, graph: Graph, typed: Graph, shard: Shard) -> Placement:
    """Where the values of a graph lie; `typed` is that of the same call with open sizes."""
    return placement(graph, rules(definition, typed, shard), typed)
