"""Calls in buckets: arguments are padded, one compiled program runs for all sizes of a bucket, and
what is true of the result is cut out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from threading import Lock
from typing import Any, Protocol

import numpy

from axon.backends.buckets import Buckets, Policy
from axon.backends.checks import holds
from axon.backends.coder import Externs
from axon.backends.numpy_arrays import element
from axon.backends.sizes import Undetermined
from axon.backends.static import is_static
from axon.graph.graph import Graph
from axon.graph.padding import NotPadded, Padded, kind_of, padded_graph
from axon.graph.scope import operand_type
from axon.inference.program import Definition
from axon.inference.report.signature import describe_definition
from axon.ops.memory import Refused
from axon.run.bind import Binding, bind
from axon.run.bucket_plan import Counts, Padding, Plan, cut_out, elements, lengthened, shapes
from axon.run.bucket_report import DimensionReport, Report
from axon.run.names import names_at_call
from axon.types import dim as dims
from axon.types.show import Names, Show
from axon.types.type import Record, Relation, Tuple, Type, relation_variables, type_variables
from axon.types.variables import DimVar, ShapeVar, is_ragged

Run = Callable[..., Any]


class Compiling(Protocol):
    """A backend that compiles a graph for each list of sizes."""

    def prepare(self, graph: Graph, externs: Externs) -> Run: ...

    def traced_once(self, graph: Graph, externs: Externs) -> Run: ...

    def lengthened(self, array: Any, shape: tuple[int, ...], fill: float) -> Any: ...

    def cut(self, array: Any, shape: tuple[int, ...]) -> Any: ...

    def kept(self, array: Any) -> Any: ...

    def parts(self, var: DimVar) -> int: ...


@dataclass(slots=True)
class Version:
    """A padded program, what it was compiled for, and how it runs. `dimensions` are those of its
    arguments, and `named` those among them that are padded, with their names.
    """

    padded: Padded
    run: Run
    policies: dict[DimVar, Policy]
    dimensions: tuple[DimVar, ...]
    named: tuple[tuple[str, DimVar], ...]
    seen: set[tuple[int, ...]] = field(default_factory=set)


class Bucketed:
    """The calls of one function. Programs are kept by their graph and by the sizes that are 0 or 1,
    which are not padded.
    """

    def __init__(self, definition: Definition, buckets: Buckets) -> None:
        self.name = definition.name
        self.definition = definition
        self.buckets = buckets
        self.counts, self.counting = Counts(), Lock()
        self.versions: dict[object, Version | None] = {}
        self.exactly: set[object] = set()
        self.static: dict[Graph, bool] = {}
        self.dimensions: dict[str, DimensionReport] = {}
        self.reason = ""

    def report(self) -> Report:
        counts = self.counts
        dimensions = []
        for name, found in self.dimensions.items():
            true, whole = counts.along.get(name, (0, 0))
            waste = 1 - true / whole if whole else 0.0
            dimensions.append(_with_waste(found, waste))
        return Report(
            self.name,
            counts.calls,
            counts.compilations,
            counts.calls - counts.compilations,
            counts.exact,
            1 - counts.true / counts.whole if counts.whole else 0.0,
            tuple(dimensions),
            self.reason,
        )

    def ready(
        self, graph: Graph, exact: Run, arrays: Sequence[Any], backend: Compiling, externs: Externs
    ) -> Run:
        """What runs for arguments of these sizes."""
        found = self._planned(graph, arrays, backend, externs, derived=False)
        if found is None:
            return self._exact(graph, exact, arrays)
        version, plan = found
        run, pads, cuts = version.run, plan.pads, plan.cuts
        true = backend.kept(plan.true)
        lengthen, cut, fill = backend.lengthened, backend.cut, self.buckets.fill

        def bucketed(*args: Any) -> Any:
            self._count(version, plan)
            given = [
                arg if shape is None else lengthened(lengthen, arg, shape, fill)
                for arg, shape in zip(args, pads, strict=True)
            ]
            try:
                return cut_out(cut, run(*given, true), cuts)
            except Refused:  # there may be room for what is not padded
                self.counts.exact += 1
                return exact(*args)

        return bucketed

    def traceable(
        self, graph: Graph, exact: Run, arrays: Sequence[Any], backend: Compiling, externs: Externs
    ) -> Run:
        """What JAX traces for arguments of these sizes: the padded program is a compiled one inside
        what the caller makes of it.
        """
        found = self._planned(graph, arrays, backend, externs, derived=True)
        if found is None:
            return self._exact(graph, exact, arrays)
        version, plan = found
        lengthen, cut, fill = backend.lengthened, backend.cut, self.buckets.fill

        def traced(*args: Any) -> Any:
            self._count(version, plan)
            given = [
                arg if shape is None else lengthened(lengthen, arg, shape, fill)
                for arg, shape in zip(args, plan.pads, strict=True)
            ]
            return cut_out(cut, version.run(*given, plan.true), plan.cuts)

        return traced

    def _count(self, version: Version, plan: Plan) -> None:
        with self.counting:
            self.counts.calls += 1
            if plan.key not in version.seen:
                version.seen.add(plan.key)
                self.counts.compilations += 1
            plan.padding.count(self.counts)

    def _exact(self, graph: Graph, exact: Run, arrays: Sequence[Any]) -> Run:
        counts, exactly = self.counts, self.exactly
        key = (graph, tuple(map(_sizes_of, arrays)))

        def run(*args: Any) -> Any:
            with self.counting:
                counts.calls += 1
                counts.exact += 1
                if key not in exactly:
                    exactly.add(key)
                    counts.compilations += 1
            return exact(*args)

        return run

    def _planned(
        self,
        graph: Graph,
        arrays: Sequence[Any],
        backend: Compiling,
        externs: Externs,
        derived: bool,
    ) -> tuple[Version, Plan] | None:
        found = bind(graph, arrays, Names)
        if graph not in self.static:
            self.static[graph] = is_static(graph)
        if not self.static[graph] or not isinstance(found, Binding):
            ragged = any(is_ragged(v) for p in graph.params for v in type_variables(p.type))
            self.reason = "its rows vary in size" if ragged else "its sizes depend on values"
            return None
        sizes = {v: n for v, n in found.sizes.items() if isinstance(v, DimVar)}
        kind, exact = kind_of(graph, sizes), frozenset[DimVar]()
        while True:
            key = (graph, kind, derived, exact)
            if key not in self.versions:
                made = self._version(graph, sizes, backend, externs, derived, exact)
                self.versions.setdefault(key, made)
            version = self.versions[key]
            if version is None:
                return None
            if wrong := _beyond(version.padded, sizes):
                self.reason = wrong
                return None
            buckets = {v: version.policies[v].bucket(sizes[v]) for v in version.padded.variables}
            larger = version.padded.bound(sizes, buckets)
            failing = _failing(graph, larger)
            if not failing:
                return version, self._plan(graph, version, sizes, larger)
            stands = version.padded.stands
            mentioned = {v for relation in failing for v in relation_variables(relation)}
            images = {stands.get(v, v) for v in mentioned if isinstance(v, DimVar)}
            images &= buckets.keys()
            shown = Show(names_at_call(self.definition, graph), named=True).relation(failing[0])
            self.reason = f"`{shown}` does not hold for the buckets of some calls"
            if not images:
                return None
            exact |= {v for v in sizes if stands.get(v, v) in images}

    def _version(
        self,
        graph: Graph,
        sizes: Mapping[DimVar, int],
        backend: Compiling,
        externs: Externs,
        derived: bool,
        exact: frozenset[DimVar],
    ) -> Version | None:
        """The program that is padded along all dimensions that can be, but for those `exact`."""
        names = names_at_call(self.definition, graph)
        mine = dict.fromkeys(
            v for param in graph.params for v in type_variables(param.type) if v in sizes
        )
        named = {v: names(v) for v in mine if isinstance(v, DimVar)}
        fixed = self._of_records(graph)
        policies = {
            v: policy
            for v, name in named.items()
            if (policy := self.buckets.of(name)) is not None and v not in fixed | exact
        }
        padded = padded_graph(
            graph, list(policies), sizes, derived=derived, poison=self.buckets.poison
        )
        shared: dict[DimVar, Policy] = {}
        for v in named:
            image = padded.stands.get(v, v)
            if isinstance(image, DimVar) and image in padded.variables:
                known = shared.get(image) or policies.get(v)
                if known is not None:
                    parts = lcm(known.parts, backend.parts(v))
                    policies[v] = shared[image] = replace(known, parts=parts)
        for var, name in named.items():
            self._note(name, var, padded, policies.get(var), var in exact)
        self._note_others(named.values())
        if not padded.variables:
            return None
        try:
            make = backend.traced_once if derived else backend.prepare
            run = make(padded.graph, externs)
        except Undetermined as problem:
            self.reason = f"the padded program needs a size that is not known: {problem}"
            return None
        changed = [
            (name, v) for v, name in named.items() if padded.stands.get(v, v) in padded.variables
        ]
        return Version(padded, run, shared, tuple(named), tuple(changed))

    def _of_records(self, graph: Graph) -> frozenset[DimVar]:
        """The sizes of records, which are weights, and of one size in all calls: where nobody names
        them, they are not padded.
        """
        if self.buckets.named is not None:
            return frozenset()
        found = {
            v
            for param in graph.params
            for part in _records(param.type)
            for v in type_variables(part)
            if isinstance(v, DimVar)
        }
        return frozenset(found)

    def _note(
        self, name: str, var: DimVar, padded: Padded, policy: Policy | None, exact: bool
    ) -> None:
        """Keep for the report what became of a dimension; one that was padded once is, and an
        operator says more than a size of 1.
        """
        image = padded.stands.get(var, var)
        if image in padded.variables:
            how = str(policy) if policy is not None else "as what it broadcasts with"
            self.dimensions[name] = DimensionReport(name, True, how)
            return
        problem: NotPadded | None = padded.refused.get(var)
        known = self.dimensions.get(name)
        if known is not None and (known.bucketed or known.operator):
            return
        if problem is None:
            reason = "it is a size of weights" if self.buckets.named is None else ""
            reason = "a condition does not hold for its bucket" if exact else reason
            self.dimensions[name] = DimensionReport(name, False, reason=reason)
            return
        line = None
        if problem.span is not None and problem.span.source.name:
            line = problem.span.line
        self.dimensions[name] = DimensionReport(
            name, False, "", problem.reason, problem.operator, line
        )

    def _note_others(self, found: Iterable[str]) -> None:
        """Keep for the report the names that are asked for, and that no size has here."""
        names = {part for name in found for part in (name, name.partition("[")[0])}
        for name in self.buckets.named or ():
            if name not in names and name in describe_definition(self.definition).variables:
                reason = "no argument has exactly this size"
                self.dimensions.setdefault(name, DimensionReport(name, False, reason=reason))

    def _plan(
        self,
        graph: Graph,
        version: Version,
        sizes: dict[DimVar, int],
        larger: dict[DimVar, int],
    ) -> Plan:
        types = [param.type for param in graph.params]
        padding = Padding(
            sum(elements(type_, sizes) for type_ in types),
            sum(elements(type_, larger) for type_ in types),
            tuple([(name, sizes[v], larger[v]) for name, v in version.named]),
        )
        return Plan(
            [shapes(type_, larger, sizes) for type_ in types],
            numpy.asarray([sizes[v] for v in version.padded.variables], numpy.int64),
            shapes(operand_type(graph.result), sizes, larger),
            tuple([larger[v] for v in version.dimensions]),
            padding,
        )


def _beyond(padded: Padded, sizes: Mapping[DimVar, int]) -> str | None:
    """What is wrong with a true size that is no integer of the type that the program wants."""
    for dim, elem in padded.integers:
        size, limits = dims.evaluate(dim, dict(sizes)), numpy.iinfo(element(elem))
        if size is None or not limits.min <= size <= limits.max:
            return f"a size is no number of type {elem}"
    return None


def _failing(graph: Graph, sizes: Mapping[DimVar, int]) -> list[Relation]:
    """The conditions that do not hold for these sizes."""
    known: dict[DimVar | ShapeVar, Any] = dict(sizes.items())
    relations = [guard.relation for guard in graph.requires]
    return [relation for relation in relations if holds(relation, known) is False]


def _with_waste(found: DimensionReport, waste: float) -> DimensionReport:
    return DimensionReport(
        found.name, found.bucketed, found.policy, found.reason, found.operator, found.line, waste
    )


def _sizes_of(value: Any) -> object:
    if isinstance(value, tuple):
        return tuple(map(_sizes_of, value))
    return value if isinstance(value, int) else tuple(value.shape)


def _records(type_: Type) -> Iterator[Type]:
    if isinstance(type_, Record):
        yield type_
    elif isinstance(type_, Tuple):
        for item in type_.items:
            yield from _records(item)
