"""A padded program for some of the sizes of a graph, as many of those wanted as there can be."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

from axon.graph.graph import Apply, Call, Extern, Graph, Value
from axon.graph.padding.build import Builder, Mode
from axon.graph.padding.functions import with_functions
from axon.graph.padding.sizes import (
    NotPadded,
    Sizes,
    computed_ones,
    sizes_in,
    standing_for,
    tied_by_equations,
)
from axon.graph.scope import operand_type
from axon.ops.padding import TRUE_SIZE
from axon.source import Source, Span
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import DimValue, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar

MOST_TRIED = 4
"""The most variables of a size outside that those of a parameter are looked for among."""

NOWHERE = Span(Source("", ""), 0, 0)


@dataclass(frozen=True, slots=True)
class Padded:
    """A padded graph. Its last parameter is a vector of the true sizes of `variables`. What another
    variable stands for, where that is one of these or a number, is in `stands`. `refused` are the
    variables that cannot be padded. `integers` are true sizes that become ones, with the types of
    these.
    """

    graph: Graph
    variables: tuple[DimVar, ...]
    stands: Mapping[DimVar, Dim]
    refused: Mapping[DimVar, NotPadded]
    integers: tuple[tuple[Dim, str], ...] = ()

    def bound(self, sizes: Mapping[DimVar, int], of: Mapping[DimVar, int]) -> dict[DimVar, int]:
        """The sizes of all variables where the padded ones have other sizes."""
        left = {**sizes, **of}
        found = dict(left)
        for var in sizes:
            size = dims.evaluate(self.stands.get(var, var), left)
            if size is not None:
                found[var] = size
        return found


def kind_of(graph: Graph, true: Mapping[DimVar, int]) -> object:
    """What a padded graph is made for: calls in which this is equal."""
    alike = frozenset((var, size) for var, size in true.items() if size in (0, 1))
    return alike, computed_ones(graph.requires, true)


def padded_graph(
    graph: Graph,
    wanted: Collection[DimVar],
    true: Mapping[DimVar, int],
    *,
    derived: bool = False,
    poison: float | None = None,
) -> Padded:
    """The padded graph for calls in which the same sizes are 0 or 1 as in this one (`kind_of`),
    where nothing is padded that has such a size: it may broadcast.
    """
    stands: dict[DimVar, Dim] = {var: size for var, size in true.items() if size in (0, 1)}
    tied = standing_for(graph.requires, stands, joining=True, true=true)
    for var, problem in tied_by_equations(graph.requires, true, wanted).items():
        tied.setdefault(var, problem)
    known = Sizes(stands, ())
    refused: dict[DimVar, NotPadded] = {}
    left: set[DimVar] = set()
    for var in wanted:
        image = known.dim(var)
        if not isinstance(image, DimVar):
            reason = f"it is {image} in these calls" if isinstance(image, int) else "it is computed"
            refused[var] = NotPadded((var,), reason)
        elif image in tied or var in tied:
            refused[var] = refused[image] = tied.get(image) or tied[var]
        else:
            left.add(image)
    left -= refused.keys()
    while True:
        variables = tuple(sorted(left, key=lambda var: var.id))
        try:
            graphs = _Graphs(Mode(derived, poison))
            made, integers = graphs.root(graph, Sizes(stands, left, 2), variables)
        except NotPadded as problem:
            out = (problem.variables & left) or left.copy()
            refused.update(dict.fromkeys(out, problem))
            left -= out
            if not left:
                made, variables, integers = graph, (), ()
                break
            continue
        break
    for var in wanted:
        image = known.dim(var)
        if isinstance(image, DimVar) and image in refused:
            refused.setdefault(var, refused[image])
    return Padded(made, variables, stands, refused, integers)


Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Made:
    """The padded graph of a function that is called, the variables whose true sizes it is given
    behind its operands, what its variables stand for, and the `integers` in it, as in `Padded`.
    """

    graph: Graph
    variables: tuple[DimVar, ...]
    stands: Mapping[DimVar, Dim]
    integers: tuple[tuple[Dim, str], ...]


@dataclass(slots=True)
class _Graphs:
    """The padded graphs made so far: those of functions that are called, by what is padded."""

    mode: Mode
    known: dict[tuple[Graph, Key], _Made] = field(default_factory=dict)

    def root(
        self, graph: Graph, sizes: Sizes, variables: Sequence[DimVar]
    ) -> tuple[Graph, tuple[tuple[Dim, str], ...]]:
        vector = Value("sizes", Tensor("i64", (len(variables),)))
        builder = self.builder(graph, sizes)
        for number, var in enumerate(variables):
            sizes.numbers[var] = builder.apply(
                TRUE_SIZE, [vector], Tensor("i64", ()), number=number
            )
        made = self.body(graph, builder, (vector,), last=True)
        return made, tuple(builder.integers)

    def builder(self, graph: Graph, sizes: Sizes) -> Builder:
        builder = Builder(sizes, self.mode, self.called, with_functions)
        spans = [n.span for n in graph.nodes if isinstance(n, Apply | Call | Extern)]
        builder.span = spans[0] if spans else NOWHERE
        return builder

    def body(
        self, graph: Graph, builder: Builder, more: Sequence[Value], last: bool = False
    ) -> Graph:
        for param in graph.params:
            builder.sizes.check(param.type)
            builder.values[param] = builder.poison(param)
        result = builder.body(graph.nodes, graph.result, last)
        return Graph(graph.name, (*graph.params, *more), tuple(builder.nodes), result)

    def called(self, call: Call, outer: Builder) -> Value:
        """A call of a padded graph, which receives the true sizes of what is padded in it."""
        bound: dict[DimVar, Dim] = {}
        for param, operand in zip(call.graph.params, call.operands, strict=True):
            _match(param.type, operand_type(operand), bound, outer.sizes)
        stands, padded, key = _as_called(bound, outer.sizes)
        try:
            found = self.known.get((call.graph, key))
            if found is None:
                found = self.known[call.graph, key] = self.made(call.graph, stands, padded)
            _compare(call, found.stands, bound, outer.sizes)
        except NotPadded as problem:
            there = [outer.sizes.padded_in(bound[v]) for v in problem.variables if v in bound]
            variables = frozenset[DimVar]().union(*there) or outer.sizes.padded
            raise NotPadded(
                variables, problem.reason, problem.operator, problem.span or call.span
            ) from None
        outer.integers += [
            (dims.substitute(dim, _lookup(bound), dims.of_size), elem)
            for dim, elem in found.integers
        ]
        numbers = [outer.number(bound[var]) for var in found.variables]
        operands = (*map(outer.operand, call.operands), *numbers)
        result = Value(call.result.name, call.result.type, outer.depth)
        outer.nodes.append(Call(result, found.graph, operands, call.span))
        return result

    def made(self, graph: Graph, stands: dict[DimVar, Dim], padded: set[DimVar]) -> _Made:
        tied = standing_for(graph.requires, stands, joining=False, true={})
        for var in padded & tied.keys():
            raise tied[var]
        sizes = Sizes(stands, padded)
        variables = tuple(sorted(padded, key=lambda var: var.id))
        numbers = [Value("true", Tensor("i64", ())) for _ in variables]
        sizes.numbers.update(zip(variables, numbers, strict=True))
        builder = self.builder(graph, sizes)
        body = self.body(graph, builder, numbers)
        return _Made(body, variables, stands, tuple(builder.integers))


def _match(param: Type, given: Type, bound: dict[DimVar, Dim], sizes: Sizes) -> None:
    """What the variables of a graph that is called stand for where it is called."""
    match param, given:
        case Tuple(items), Tuple(parts):
            for inner, part in zip(items, parts, strict=True):
                _match(inner, part, bound, sizes)
        case (Tensor(_, word), Tensor(_, shape)) | (ShapeValue(word), ShapeValue(shape)):
            for item, size in zip(word, shape, strict=True):
                _bind(item, size, bound, sizes)
        case DimValue(dim), DimValue(size):
            _bind(dim, size, bound, sizes)
        case _:
            if sizes.among(given):
                raise NotPadded(sizes.padded, "it is given to a function in another form")


def _bind(
    item: Dim | ShapeVar, size: Dim | ShapeVar, bound: dict[DimVar, Dim], sizes: Sizes
) -> None:
    if isinstance(item, ShapeVar) or isinstance(size, ShapeVar):
        raise NotPadded(sizes.padded, "the rank of a value is not known")
    if isinstance(item, DimVar):
        known = bound.setdefault(item, size)
        if known is not size and sizes.dim(known) != sizes.dim(size):
            found = sizes.padded_in(known) | sizes.padded_in(size)
            if found:
                raise NotPadded(found, "a function needs it equal to another size")
    elif not isinstance(item, int):
        _solve(item, size, bound, sizes)


def _solve(item: Dim, size: Dim, bound: dict[DimVar, Dim], sizes: Sizes) -> None:
    """A size of a parameter that is an expression: a multiple of one variable and a constant, or
    one that the size outside is of other variables.
    """
    unknown = [v for v in dict.fromkeys(dims.variables(item)) if isinstance(v, DimVar)]
    unknown = [v for v in unknown if v not in bound]
    if not unknown or not sizes.padded_in(size):
        return
    terms = dict(dims.terms_of(item))
    offset = terms.pop((), 0)
    factor = terms.get((unknown[0],), 0)
    if len(terms) == len(unknown) == 1 and factor > 0:
        bound[unknown[0]] = dims.floordiv(dims.sub(size, offset), factor)
        return
    outside = [v for v in dict.fromkeys(dims.variables(size)) if isinstance(v, DimVar)]
    if len(outside) > MOST_TRIED:
        return
    for chosen in permutations(outside, len(unknown)):
        known = {**bound, **dict(zip(unknown, chosen, strict=True))}
        if sizes.dim(dims.substitute(item, _lookup(known), dims.of_size)) == sizes.dim(size):
            bound.update(known)
            return


def _lookup(known: Mapping[DimVar, Dim]) -> Callable[[DimVar], Dim]:
    return lambda var: known.get(var, var)


def _as_called(
    bound: Mapping[DimVar, Dim], sizes: Sizes
) -> tuple[dict[DimVar, Dim], set[DimVar], Key]:
    """What the variables of a graph that is called are inside: a number if they are 0 or 1, one
    that is the same size, or themselves; which of them are padded; and a key for all that.
    """
    stands: dict[DimVar, Dim] = {}
    padded: set[DimVar] = set()
    first: dict[Dim, DimVar] = {}
    key: list[object] = []
    for var, dim in sorted(bound.items(), key=lambda pair: pair[0].id):
        size = sizes.dim(dim)
        if size in (0, 1):
            stands[var] = size
            key.append(size)
            continue
        same = first.setdefault(size, var)
        if same is not var:
            stands[var] = same
        if sizes.padded_in(size):
            padded.add(same)
        key.append((same.id, bool(sizes.padded_in(size))))
    return stands, padded, tuple(key)


def _compare(
    call: Call, stands: Mapping[DimVar, Dim], bound: Mapping[DimVar, Dim], sizes: Sizes
) -> None:
    """The sizes of the result are the same inside and outside."""
    inside = Sizes(stands, ())
    pairs = zip(sizes_in(operand_type(call.graph.result)), sizes_in(call.result.type), strict=True)
    for inner, outer in pairs:
        if isinstance(inner, ShapeVar) or isinstance(outer, ShapeVar):
            raise NotPadded(sizes.padded, "the rank of a value is not known")
        there = dims.substitute(inside.dim(inner), _lookup(bound), dims.of_size)
        found = sizes.padded_in(outer) | sizes.padded_in(there)
        if found and sizes.dim(there) != sizes.dim(outer):
            raise NotPadded(found, "the padded size of a function's result is not known")
