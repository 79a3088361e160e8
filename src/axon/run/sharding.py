"""Sharding by the names of sizes: which sizes of a graph are meant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from axon.backends.meshes import Shard
from axon.graph.graph import Graph
from axon.graph.sharding import CannotShard, Placement, Rule, placement
from axon.inference.program import Definition
from axon.inference.report.signature import describe_definition
from axon.run.names import names_at_call
from axon.run.parameters import signature_names
from axon.source import Source
from axon.syntax import parse_signature
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.reader import Reader
from axon.types.scope import Scope
from axon.types.type import DimValue, Fn, Record, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar, Var


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
    """What the sizes of `shard` are in a graph of a definition; those whose names are in its
    signature. A size is found by where it stands there, or by what its names stand for.
    """
    known = describe_definition(definition).variables
    at: dict[Dim | None, Dim] = dict(_sizes(definition, graph))
    named = {name: var for var, name in names_at_call(definition, graph).given.items()}
    found: list[Rule] = []
    for text, axes in shard:
        size, names = read_size(text)
        if not all(isinstance(known.get(name), DimVar) for name in names):
            continue
        here = at.get(_renamed(size, names, known)) or _renamed(size, names, named)
        if here is None:
            raise CannotShard(f"the arguments do not say what `{text}` is")
        if not isinstance(here, int):
            found.append(Rule(text, here, axes))
    return found


def cuttable(definition: Definition, graph: Graph) -> list[str]:
    """The sizes of the parameters that a mesh may cut, as they are written in the signature."""
    show = signature_names(definition)
    return list(
        dict.fromkeys(
            show.dim(written)
            for written, here in _sizes(definition, graph)
            if not isinstance(written, int) and not isinstance(here, int)
        )
    )


def _renamed(size: Dim, names: Mapping[str, DimVar], to: Mapping[str, Var]) -> Dim | None:
    """A size with other variables for its names; None if one has none."""
    own = {var: it for name, var in names.items() if isinstance(it := to.get(name), DimVar)}
    return dims.substitute(size, own.__getitem__, dims.of_size) if len(own) == len(names) else None


def _sizes(definition: Definition, graph: Graph) -> Iterator[tuple[Dim, Dim]]:
    """The sizes in the types of the parameters, with what they are in a graph."""
    written = definition.scheme.type
    if isinstance(written, Fn):
        by_name = dict(zip(definition.params, written.params, strict=False))
        for i, param in enumerate(graph.params):
            yield from _aligned(by_name.get(param.name, written.params[i]), param.type)


def _aligned(written: Type, found: Type) -> Iterator[tuple[Dim, Dim]]:
    match written, found:
        case Tensor(_, word), Tensor(_, sizes):
            opens = [i for i, item in enumerate(word) if isinstance(item, ShapeVar)]
            first = opens[0] if opens else len(word)
            last = len(word) - opens[-1] - 1 if opens else 0
            pairs = [*zip(word[:first], sizes, strict=False)]
            if last and len(sizes) >= first + last:
                pairs += zip(word[-last:], sizes[-last:], strict=True)
            for item, size in pairs:
                if not isinstance(item, ShapeVar) and not isinstance(size, ShapeVar):
                    yield item, size
        case DimValue(dim), DimValue(size):
            yield dim, size
        case Record(), Record():
            for name, field in found.fields.items():
                if name in written.names:
                    yield from _aligned(written.fields[name], field)
        case Tuple(items), Tuple(others):
            for part, other in zip(items, others, strict=False):
                yield from _aligned(part, other)
        case _:
            return


def placed(definition: Definition, graph: Graph, typed: Graph, shard: Shard) -> Placement:
    """Where the values of a graph lie; `typed` is that of the same call with open sizes."""
    return placement(graph, rules(definition, typed, shard), typed)
