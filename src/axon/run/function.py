"""Callable definitions: compiled for the ranks of their arguments, sizes checked at each call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

from axon.backends.buckets import Buckets
from axon.backends.coder import Watcher
from axon.backends.home import converted
from axon.backends.meshes import mesh_of
from axon.driver import Checked, check
from axon.files import Finder
from axon.graph.graph import Graph
from axon.graph.module import Module
from axon.graph.sharding import CannotShard
from axon.graph.show import show_graph
from axon.inference.program import Definition
from axon.inference.report.signature import Signature
from axon.run import values
from axon.run.arguments import Arguments, counted
from axon.run.backend import Backend, backend
from axon.run.described import OwnSignature, OwnText
from axon.run.errors import ArgumentError
from axon.run.executables import Executables
from axon.run.failing import Failures
from axon.run.known import is_known_by, known_by
from axon.run.libraries import common_library
from axon.run.specialise import Specialised, specialise
from axon.run.structures import leaves, with_names, with_records
from axon.syntax.comments import comment_above
from axon.types.type import Fn, Type

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from axon.inference.report.plain import Reading
    from axon.pages.figure import Figure
    from axon.run.bucket_report import Report
    from axon.run.bucketed import Bucketed
    from axon.run.initial import Rule
    from axon.run.parameter_table import Parameters
    from axon.run.parameters import Subject
    from axon.run.sharding_costs import Costs

MOST_PLANS = 4096


class Home(Protocol):
    """The program that a function belongs to."""

    _checked: Checked
    _module: Module
    _backend: Backend
    _ops: dict[str, Callable[..., Any]]
    _finder: Finder

    def function(self, name: str) -> Function | None: ...


def _bucketed(definition: Definition, buckets: Buckets) -> Bucketed:
    from axon.run.bucketed import Bucketed

    return Bucketed(definition, buckets)


def _help(function: Function) -> str:
    """The comment above it, else its signature."""
    return comment_above(function.definition.span) or repr(function)


class Function:
    __doc__ = OwnText(
        """A definition that can be called. It is compiled once for each list of element types and
    ranks; sizes are bound and checked at each call.
    """,
        _help,
    )
    __signature__ = OwnSignature()

    def __init__(
        self,
        program: Home,
        definition: Definition,
        backend: Backend | None = None,
        left_out: frozenset[str] = frozenset(),
    ) -> None:
        self.definition = definition
        self.__name__ = definition.name
        self._program = program
        self._checked = program._checked
        self._module = program._module
        self._backend = program._backend if backend is None else backend
        self._ready: dict[object, Callable[..., Any]] = {}
        type_ = definition.scheme.type
        types: tuple[Type | None, ...] = type_.params if isinstance(type_, Fn) else ()
        names = definition.params or tuple(f"arg{i}" for i in range(len(types)))
        kept = [i for i, name in enumerate(names) if name not in left_out]
        self._wanted = tuple([types[i] for i in kept])
        self._params = tuple([names[i] for i in kept])
        self._arguments = Arguments(self.__name__, self._params, self._wanted, self._backend)
        self._failures = Failures(self.__name__, self._backend)
        self._guarded = self._failures.guarded
        self._executables = Executables(
            self._module, definition, self._params, left_out, self._backend, program._ops,
            self._failures,
        )  # fmt: skip
        self._left_out = left_out
        self._partial: dict[frozenset[str], Function] = {}
        buckets = self._backend.options.buckets
        self._bucketed = None if buckets is None else _bucketed(definition, buckets)

    def picture(self, depth: int = 0) -> Figure:
        """The graph of the definition, drawn; the boxes of the first levels open."""
        from axon.pages.figure import figure_of

        return figure_of(self._module.program.source, self.__name__, self._program._finder, depth)

    # --- what it is ---

    @property
    def params(self) -> tuple[str, ...]:
        return self._params

    @property
    def optional(self) -> frozenset[str]:
        """The parameters that have a default."""
        function = self.definition.function
        if function is None:
            return frozenset()
        return frozenset({*function.defaults, *function.literals}) - self._left_out

    @property
    def described(self) -> Signature:
        found = [s for s in self._checked.signatures if s.name == self.__name__]
        return found[-1]

    @property
    def signature(self) -> str:
        """Its type, with the conditions on it.

        >>> import axon
        >>> axon.compile("f = fn (x, w) { matmul(x, w) }").f.signature
        '(t a@[b,c], t a@[c,d]) -> t a@[b,d]'
        """
        return self.described.line().partition(" : ")[2]

    @property
    def plain(self) -> str | None:
        """What a person would write down for its type: a reading, which the type is more general
        than. None if the type has no open rank and no broadcast, or no reading was confirmed.

        >>> import axon
        >>> axon.compile("f = fn (x, w, b) { x @ w + b }").f.plain
        '(t [b,c], t [c,e], t [e]) -> t [b,e]'
        """
        return None if self._reading is None else self._reading.text

    @cached_property
    def _reading(self) -> Reading | None:
        from axon.plain import plain_reading

        return plain_reading(self._checked, self._module, self.definition)

    @property
    def compilations(self) -> int:
        """How often the backend has compiled something for this program."""
        return self._backend.compilations

    def __repr__(self) -> str:
        line, plain = self.described.line(names=True), self.plain
        return line if plain is None else f"{line}\nplain: {plain}"

    def _repr_html_(self) -> str:
        from axon.run.function_html import function_html

        return function_html(self)

    def explain(self, *, all: bool = False) -> str:
        """The derivation of its type, step by step; of a large one the first steps, or `all`."""
        from axon.explain import Most, derivation_text

        source, find = self._module.program.source, self._program._finder
        definition = check(source, find, reasons=True).find(self.__name__)
        assert definition is not None, "a definition that has a type has one with reasons too"
        most = None if all else Most("explain(all=True)")
        return derivation_text(definition, paper=False, short=False, start=None, most=most)

    def specialize(self, /, *given: Any, **types: Any) -> Specialised:
        """Its type when more is known about some arguments, given by place or by name: the text of
        a type, the sizes of a tensor as a tuple, an array (or anything with a shape and a dtype), a
        number, or a tuple of these where the parameter is one.

        >>> import axon
        >>> f = axon.compile("f = fn (x, w) { matmul(x, w) }").f
        >>> f.specialize(x="f32 [8,64]").signature
        '(f32 [8,64], f32 [64,a]) -> f32 [8,a]'
        >>> f.specialize(x=(8, 64)).signature
        '(t [8,64], t [64,a]) -> t [8,a]'
        """
        wanted = dict(zip(self._params, self._wanted, strict=True))
        by_place = dict(zip(self._params, given, strict=False))
        if len(given) > len(wanted):
            takes = counted(len(wanted))
            raise ArgumentError(f"{self.__name__} takes {takes}, {len(given)} are given")
        if twice := next((name for name in by_place if name in types), None):
            raise ArgumentError(f"{self.__name__}: the argument `{twice}` is given twice")
        return specialise(self._module, self.__name__, wanted, by_place | types)

    # --- its parameters ---

    def parameters(
        self,
        /,
        *,
        params: str | Sequence[str] | None = None,
        like: Mapping[str, Any] | None = None,
        sizes: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Parameters:
        """The tensors in the records that it takes, as a table: their names, types, and how many
        numbers and bytes they have. Arguments are as for `init`; what is not given stays open.

        >>> import axon
        >>> dense = axon.compile("dense = fn (p, x : f32 [n,d]) { matmul(x, p.w) }").dense
        >>> dense.parameters(d=784, a=10)
        parameter  type          count   bytes
        w          f32 [784,10]  7,840  31,360
        total                    7,840  31,360
        """
        from axon.run.parameter_table import table
        from axon.run.parameters import by_name, settled

        about = f"{self.__name__}.parameters"
        known = {**by_name(about, "sizes", sizes), **named}
        return table(settled(self.subject, params, known, by_name(about, "like", like)))

    def init(
        self,
        seed: int,
        /,
        *,
        params: str | Sequence[str] | None = None,
        rules: Mapping[str, Rule] | None = None,
        like: Mapping[str, Any] | None = None,
        sizes: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Any:
        """Initial values for the records that it takes, or for the arguments named in `params`.

        Sizes are given by their names in the signature, or in `sizes`, or by `like`: types of
        arguments, or arrays. `rules` has functions of a key, a shape and an element type, or
        numbers, by patterns of dotted names such as `"*.w"`.

        >>> import axon
        >>> dense = axon.compile("dense = fn (p, x : f32 [n,d]) { matmul(x, p.w) }").dense
        >>> dense.init(0, d=3, a=2)["w"].shape
        (3, 2)
        """
        from axon.run.initial import initial
        from axon.run.parameters import by_name

        about = f"{self.__name__}.init"
        given = {**by_name(about, "sizes", sizes), **named}
        own, alike = by_name(about, "rules", rules), by_name(about, "like", like)
        return self._here(initial(self.subject, seed, params, own, given, alike))

    def load_weights(
        self,
        path: str | Path,
        /,
        *,
        params: str | Sequence[str] | None = None,
        prefix: str = "",
        strict: bool = True,
    ) -> Any:
        """The values of the records that it takes, from a safetensors file, by dotted names; rows
        that have names of their own, `layers.0.w`, are stacked where it takes stacked ones.

        What is missing or has another type is an error that lists the names; so are names in the
        file that it does not use, unless `strict` is False. With a `prefix`, only names that begin
        with it count.
        """
        from axon.run.fitted import loaded

        return self._here(loaded(self.subject, path, params, prefix, strict))

    def _here(self, weights: Any) -> Any:
        """Weights as arrays that may stand beside the other arguments of a call."""
        place = self._backend.placing([weights])
        return weights if place is None else converted(weights, place)

    @property
    def subject(self) -> Subject:
        """What its parameters are found by."""
        from axon.run.parameters import Subject

        return Subject(self.definition, self._params, self._module, self._reading)

    def module(
        self,
        weights: Any,
        /,
        *,
        params: str | Sequence[str] | None = None,
        buffers: Sequence[str] = ("running_mean", "running_var", "*.running_mean", "*.running_var"),
    ) -> Any:
        """The definition with its weights as a `torch.nn.Module`, which takes the other arguments.

        Floats are parameters, in the state dict by their dotted names; integers, and what matches
        a pattern in `buffers`, are buffers. `params` says which arguments the weights are, if not
        the records; the weights of several are a tuple.
        """
        try:
            from axon.run.torch_module import AxonModule
        except ImportError:
            raise ImportError("a module needs torch: pip install 'axon-shapes[torch]'") from None
        return AxonModule(self, weights, params, buffers)

    def sharding(
        self,
        mesh: Mapping[str, int],
        /,
        *,
        like: Mapping[str, Any] | None = None,
        sizes: Mapping[str, Any] | None = None,
        **named: Any,
    ) -> Costs:
        """What it costs to cut its sizes along the axes of a mesh, on JAX: bytes of each argument
        on a device, and what devices send each other. Sizes are given as for `init`. Nothing is
        computed, but each choice is compiled.
        """
        from axon.run.initial import with_elements
        from axon.run.parameters import by_name, settled
        from axon.run.sharding_costs import Subject, costs, stand_ins

        axes, own = mesh_of(mesh), self._backend.sharding
        about = f"{self.__name__}.sharding"
        known = {**by_name(about, "sizes", sizes), **named}
        found = settled(self.subject, (), known, by_name(about, "like", like))
        given = stand_ins(about, with_elements(found), self.optional)
        other = Function(self._program, self.definition, backend("jax"), self._left_out)
        other = other._without((), given)
        arrays = other._arguments.arrays(other._arguments.arranged((), given))
        made, _ = other._executables.bound(arrays)
        typed = other._executables.lowered([values.type_at_rank(a) for a in arrays])
        if isinstance(typed, list):
            raise ArgumentError(f"{self.__name__}: its types are only known where all sizes are")
        subject = Subject(self.definition, made, typed, other._executables.externs, arrays)
        try:
            return costs(subject, axes, own.shard if own and own.axes == axes else None)
        except CannotShard as problem:
            raise ArgumentError(f"{self.__name__} cannot be sharded: {problem}") from None

    def placed(self, /, *args: Any, **named: Any) -> tuple[Any, ...]:
        """The arguments as arrays on the devices of the mesh, where the function wants them: a
        call, or a step of a training, then moves nothing.
        """
        other = self._without(args, named)
        sharding = other._backend.sharding
        if sharding is None:
            raise ArgumentError(f'{self.__name__} is on no mesh: net.on("jax", mesh=…, shard=…)')
        arrays = other._arguments.arrays(other._arguments.arranged(args, named))
        made, _ = other._executables.bound(arrays)
        placement = other._executables.placement(sharding, made, arrays)
        types = [param.type for param in made.params]
        trees = [placement.values.get(param) for param in made.params]
        place = sharding.placed if other._bucketed is None else sharding.put_all
        found = other._failures.guarded(lambda *given: place(types, trees, given), arrays)
        return tuple(map(with_names, found, types))

    def on(self, made: Backend) -> Function:
        """The same definition on another backend."""
        return Function(self._program, self.definition, made, self._left_out)

    # --- what it becomes ---

    def graph(self, /, *args: Any, **named: Any) -> str:
        """The graph for these arguments, as text."""
        other = self._without(args, named)
        arrays = other._arguments.arrays(other._arguments.arranged(args, named))
        return show_graph(other._executables.of(arrays)[0])

    def __reduce__(self) -> tuple[Any, ...]:
        return _function, (self._program, self.__name__)

    @property
    def row_loops(self) -> tuple[str, ...]:
        """The operators that calls so far have applied row by row to ragged tensors, with the
        reasons; all others were applied to all rows at once.

        >>> import axon
        >>> text = "op own : f32 [k] -> f32 [k]; f = fn (x : f32 [n,*]) { map(own, x) };"
        >>> net = axon.compile(text, ops={"own": lambda r: r + 1})
        >>> made = net.f([[1.0, 2.0], [3.0]])
        >>> print(*net.f.row_loops)
        line 1: map: `own` is a caller's operator
        """
        return self._executables.row_loops()

    @property
    def stacked_layers(self) -> tuple[str, ...]:
        """What `stack_layers=True` made of the functions that calls so far have called for each of
        many layers.

        >>> import axon
        >>> layer = "layer = fn (w : f32 [d,d], x : f32 [n,d]) { x @ w };"
        >>> text = layer + "f = fn (a, b, x) { layer(b, layer(a, x)) };"
        >>> net = axon.compile(text).on("jax", stack_layers=True)
        >>> made = net.f([[2.0]], [[3.0]], [[1.0]])
        >>> print(*net.f.stacked_layers)
        line 1: layer: 2 calls in one loop
        """
        return self._backend.stacked_layers(self.__name__)

    def watch(self, watcher: Watcher) -> None:
        """Call `watcher` with the progress of a call: how many nodes of the graph are done, of how
        many.

        A backend that compiles reports no progress.
        """
        self._executables.watch(watcher)
        self._partial.clear()
        self._ready.clear()

    # --- calling it ---

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        if named or len(args) != len(self._params):
            other = self._without(args, named)
            if other is not self:
                return other(*args, **named)
            args = self._arguments.arranged(args, named)
        try:  # what has been called with such arguments before is ready
            key, given = known_by(args)
            ready = self._ready[key]
        except (KeyError, AttributeError, TypeError, RecursionError):
            return self._first(args)
        return self._guarded(ready, given)

    @property
    def jax(self) -> Callable[..., Any]:
        """The definition as a function that JAX can trace: `jax.grad`, `jax.jit` and `jax.vmap`
        take it. Sizes are bound and checked when it is traced.
        """
        other = self
        if self._backend.name != "jax":
            other = Function(self._program, self.definition, backend("jax"), self._left_out)
        traceable = other._traceable
        traceable.__name__ = self.__name__
        return traceable

    @property
    def _traceable(self) -> Callable[..., Any]:
        def run(*args: Any, **named: Any) -> Any:
            other = self._without(args, named)
            if other is not self:
                return other._traceable(*args, **named)
            arrays = self._arguments.arrays(self._arguments.arranged(args, named))
            try:
                made, _ = self._executables.bound(arrays)
            except ArgumentError as problem:
                raise self._failures.traced(problem) from None
            key = ("traceable", made)
            function = self._ready.get(key)
            if function is None:
                function = self._ready[key] = self._traced(made, arrays)
            if self._bucketed is not None:
                compiling = self._compiling(made, arrays)
                function = self._bucketed.traceable(
                    made, function, arrays, compiling, self._executables.externs
                )
            return self._failures.guarded(with_records(made, function), arrays)

        return run

    def _traced(self, made: Graph, arrays: Sequence[Any]) -> Callable[..., Any]:
        sharding = self._backend.sharding
        if sharding is None:
            return self._backend.traceable(made, self._executables.externs)
        return sharding.traceable(
            made, self._executables.externs, self._executables.placement(sharding, made, arrays)
        )

    def _without(self, args: tuple[Any, ...], named: dict[str, Any]) -> Function:
        """The function without the optional parameters that a call leaves out."""
        absent = [name for name in self._params[len(args) :] if name not in named]
        left_out = self.optional.intersection(absent)
        if not left_out or not named.keys() <= set(self._params):
            return self
        found = self._partial.get(left_out)
        if found is None:
            found = self._partial[left_out] = Function(
                self._program, self.definition, self._backend, left_out | self._left_out
            )
            found._executables.watcher = self._executables.watcher
            found._bucketed = self._bucketed
        return found

    def _first(self, args: Sequence[Any]) -> Any:
        """A call with arguments of types and ranks that are new."""
        library = common_library(self.__name__, self._params, args)
        arrays = self._arguments.arrays(args)
        function = self._function(arrays)
        native = library is None or library in self._backend.native
        if native and all(map(is_known_by, args, arrays)):
            if len(self._ready) >= MOST_PLANS:
                self._ready.clear()
            self._ready[known_by(args)[0]] = getattr(function, "with_tuples", function)
        return self._backend.returned(self._failures.guarded(function, arrays), library, args)

    def _function(self, arrays: Sequence[Any]) -> Callable[..., Any]:
        """What runs for arrays of these sizes, which are checked."""
        made, function = self._executables.bound(arrays)
        if self._bucketed is None:
            return function
        exact = getattr(function, "on_tuples", function)
        try:
            compiling = self._compiling(made, arrays)
            run = self._bucketed.ready(made, exact, arrays, compiling, self._executables.externs)
        except CannotShard as problem:
            raise self._failures.as_run_error(problem) from None
        return with_records(made, run)

    def _compiling(self, made: Graph, arrays: Sequence[Any]) -> Any:
        """The backend, which has buckets; on a mesh one that places what is padded."""
        sharding = self._backend.sharding
        if sharding is None:
            return self._backend
        from axon.run.bucketed_mesh import OnDevices

        placement = self._executables.placement(sharding, made, arrays)
        return OnDevices(self._backend, sharding, self.definition, made, placement)

    def report(self) -> Report:
        """What buckets did so far: for each dimension whether it is bucketed, or why not; how many
        calls, compilations and hits there were, and how much padding.
        """
        if self._bucketed is None:
            raise ArgumentError(
                f'{self.__name__} has no buckets: `net.on("jax", buckets="auto")` has'
            )
        return replace(self._bucketed.report(), row_loops=self.row_loops)

    def _ready_for(self, args: Sequence[Any]) -> Callable[..., Any] | None:
        """What runs with such arguments, after a check of their sizes: it takes tuples for records.
        None where a result must be converted.
        """
        arrays = self._arguments.arrays(args)
        if common_library(self.__name__, self._params, args) not in self._backend.native:
            return None
        function = self._function(arrays)
        found: Callable[..., Any] = getattr(function, "with_tuples", function)
        return found

    def finished(self, result: Any) -> Any:
        """The result, once it is available: a backend may still be computing it, and may fail."""
        for part in leaves(result):
            if hasattr(part, "block_until_ready"):
                self._failures.guarded(part.block_until_ready, ())
        return result


def _function(program: Home, name: str) -> Function | None:
    """A function from its pickled parts."""
    return program.function(name)
