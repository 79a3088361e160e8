"""A definition made ready to run: its graph as a function of the backend, for each list of element
types and ranks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.backends.coder import Externs, Watcher
from axon.backends.nature import DoesNotFit
from axon.backends.sizes import Undetermined
from axon.diagnostics import Diagnostic, Label, Severity
from axon.driver import graph
from axon.graph.graph import Graph
from axon.graph.module import Module
from axon.graph.sharding import CannotShard, Placement
from axon.inference.program import Definition
from axon.run import values
from axon.run.backend import Backend, OnMesh
from axon.run.bind import Binding, bind
from axon.run.errors import ArgumentError
from axon.run.failing import Failures
from axon.run.names import names_at_call
from axon.run.settled import Settled, settled_sizes, settled_types
from axon.run.structures import with_records
from axon.types.show import Names, Show
from axon.types.type import Tuple, Type, type_variables

MOST_GRAPHS = 256

Made = tuple[Graph, Callable[..., Any]]


@dataclass(slots=True)
class Executables:
    """The graphs of one definition, and the functions that a backend made of them."""

    module: Module
    definition: Definition
    params: tuple[str, ...]
    left_out: frozenset[str]
    backend: Backend
    ops: Mapping[str, Callable[..., Any]]
    failures: Failures
    watcher: Watcher | None = None
    graphs: dict[object, Made] = field(default_factory=dict)
    _placements: dict[Graph, Placement] = field(default_factory=dict)
    _settled: dict[object, Settled] = field(default_factory=dict)
    _undetermined_at: set[object] = field(default_factory=set)

    @property
    def name(self) -> str:
        return self.definition.name

    def watch(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.graphs.clear()

    def row_loops(self) -> tuple[str, ...]:
        """The operators that are applied row by row to ragged tensors, with the reasons."""
        found: dict[str, None] = {}
        for _, function in self.graphs.values():
            for step in getattr(function, "looping", tuple)():
                line = f"line {step.span.line}: " if step.span is not None else ""
                found[f"{line}{step.operator}: {step.loops}"] = None
        return tuple(found)

    def of(self, arrays: Sequence[Any]) -> Made:
        key = tuple(values.key(a) for a in arrays)
        found = self.graphs.get(key)
        if found is None:
            if key in self._undetermined_at:
                return self._exact(arrays)
            found = self._made([values.type_at_rank(a) for a in arrays], arrays, key)
        return found

    def _made(self, types: list[Type], arrays: Sequence[Any], key: object) -> Made:
        made = self.lowered(types)
        if isinstance(made, list):  # the sizes say more than the ranks
            exact = self.lowered([values.exact_type(a) for a in arrays])
            raise ArgumentError(self._cannot(arrays), exact if isinstance(exact, list) else made)
        try:
            function = self._prepared(made, arrays)
            self.graphs[key] = made, function
        except Undetermined:  # a size that follows from the others only where they are numbers
            self._undetermined_at.add(key)
            return self._exact(arrays)
        except DoesNotFit as problem:
            raise self.failures.does_not_fit(problem) from None
        return made, function

    def lowered(self, types: Sequence[Type]) -> Graph | list[Diagnostic]:
        return graph(self.module, self.name, types, self.left_out)

    def _prepared(self, made: Graph, arrays: Sequence[Any]) -> Callable[..., Any]:
        sharding = self.backend.sharding
        if sharding is None:
            return with_records(made, self.backend.prepare(made, self.externs, self.watcher))
        try:
            placement = self.placement(sharding, made, arrays)
            return with_records(made, sharding.prepare(made, self.externs, placement))
        except CannotShard as problem:
            raise self.failures.as_run_error(problem) from None

    def placement(self, sharding: OnMesh, made: Graph, arrays: Sequence[Any]) -> Placement:
        """Where the values of a graph lie on the mesh: by their types where sizes are open."""
        known = self._placements.get(made)
        if known is None:
            from axon.run.sharding import placed

            typed = self.lowered([values.type_at_rank(a) for a in arrays])
            if isinstance(typed, list):
                raise CannotShard("its types are only known where all sizes are")
            if len(self._placements) >= MOST_GRAPHS:
                self._placements.clear()
            known = placed(self.definition, made, typed, sharding.shard)
            self._placements[made] = known
        return known

    def _exact(self, arrays: Sequence[Any]) -> Made:
        """The graph at exactly the sizes of the records and of the numbers among the arguments, if
        these decide the others, without those that change; else at exactly the sizes of all.
        """
        settled = self._settled.setdefault(tuple(map(values.key, arrays)), Settled())

        def at(places: frozenset[int]) -> Made | None:
            types = settled_types(arrays, places)
            return self._fits(types, arrays) if any(map(type_variables, types)) else None

        places = settled.open_places(settled_sizes(arrays), lambda places: at(places) is not None)
        return at(places) or self._exactly(arrays)

    def _fits(self, types: Sequence[Type], arrays: Sequence[Any]) -> Made | None:
        """The graph for arguments of these types, if they decide all sizes, and the arrays fit."""
        key = ("settled", Show().type(Tuple(tuple(types))))
        found = self.graphs.get(key)
        if found is None:
            made = self.lowered(types)
            if isinstance(made, list):
                return None
            try:
                found = made, self._prepared(made, arrays)
            except (Undetermined, DoesNotFit):
                return None
            self._keep(key, found)
        return found if isinstance(bind(found[0], arrays, Names), Binding) else None

    def _keep(self, key: object, made: Made) -> None:
        if len(self.graphs) >= MOST_GRAPHS:
            self.graphs.clear()
        self.graphs[key] = made

    def _exactly(self, arrays: Sequence[Any]) -> Made:
        """The graph at exactly the sizes of the arguments."""
        types = [values.exact_type(a) for a in arrays]
        key = ("exact", Show().type(Tuple(tuple(types))))
        found = self.graphs.get(key)
        if found is not None:
            return found
        made = self.lowered(types)
        if isinstance(made, list):
            raise ArgumentError(self._cannot(arrays), made) from None
        try:
            function = self._prepared(made, arrays)
        except Undetermined as problem:
            raise self.failures.undetermined(problem) from None
        except DoesNotFit as problem:
            raise self.failures.does_not_fit(problem) from None
        self._keep(key, (made, function))
        return made, function

    @property
    def externs(self) -> Externs:
        return _Externs(self.ops, self.name)

    def bound(self, arrays: Sequence[Any]) -> Made:
        """What runs for these arrays, whose sizes are checked: before anything is computed. Where
        they do not decide a condition, the graph at exactly these sizes does, or checks it.
        """
        made, function = self.of(arrays)
        found = bind(made, arrays, lambda: names_at_call(self.definition, made))
        if isinstance(found, Binding):
            return made, function
        if found is None:
            return self._exact(arrays)
        exact = self.lowered([values.exact_type(a) for a in arrays])
        if isinstance(exact, list):
            raise ArgumentError(f"{self._cannot(arrays)}: {found.text}", exact)
        labels: tuple[Label, ...] = ()
        if found.guard is not None and found.guard.origin.span is not None:
            span = found.guard.origin.span
            what = found.guard.origin.operator
            text = f"{what} needs it" if what else "needed here"
            labels = (Label(span, text, primary=True),)
        problem = Diagnostic("AX401", Severity.ERROR, found.text, labels)
        raise ArgumentError(self._cannot(arrays), [problem])

    def _cannot(self, arrays: Sequence[Any]) -> str:
        shown = ", ".join(
            f"{name} : {Show().type(values.exact_type(a))}"
            for name, a in zip(self.params, arrays, strict=True)
        )
        return f"{self.name} cannot be called with {shown or 'nothing'}"


class _Externs(dict[str, Callable[..., Any]]):
    """The operators that the caller implements; a missing one is the caller's mistake."""

    def __init__(self, known: Mapping[str, Callable[..., Any]], asking: str) -> None:
        super().__init__(known)
        self.asking = asking

    def __missing__(self, name: str) -> Callable[..., Any]:
        raise ArgumentError(
            f"{self.asking} uses `{name}`, which the program only declares; say what it does: "
            f'net.implement("{name}", function)'
        )
