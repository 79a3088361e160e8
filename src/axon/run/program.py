"""The Python API: a program is loaded, and its definitions are called.

net = axon.load("net.axon")
net.attention(q, k, v)                      # arrays of NumPy, JAX or PyTorch
net.attention.signature                     # (t [m,d], t [a,d], t [a,b]) -> t [m,b]
net.attention.specialize(q="f32 [8,64]")    # what is left open when that is known
jax.grad(lambda w: loss(net.model.jax(w, x)))(w)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from axon.backends.buckets import Buckets
from axon.backends.meshes import mesh_of, shard_of
from axon.backends.options import Options, folder_of
from axon.diagnostics import Diagnostic, Severity
from axon.driver import Checked, check_and_link
from axon.files import Finder, Unreadable, read_source
from axon.graph.module import Module
from axon.importers.recognise import by_ending
from axon.run.backend import Backend, backend
from axon.run.bucket_report import Reports
from axon.run.buckets import buckets_of, check_dimensions
from axon.run.described import OwnText
from axon.run.errors import ArgumentError, ProgramError
from axon.run.function import Function
from axon.run.safetensors import read
from axon.run.sharding import check_names
from axon.run.weights import weights as weights_in
from axon.source import Source
from axon.syntax import ast
from axon.types.type import Fn


def load(
    path: str | Path,
    *,
    backend: str = "numpy",
    compiled: bool = False,
    ops: Mapping[str, Callable[..., Any]] | None = None,
    weights: str | Path | None = None,
) -> Program:
    """A program from a file. The backend is `numpy`, `jax` or `torch`; `compiled` is for the last,
    and JAX compiles anyway. `ops` implements the operators that it only declares; the values of
    those without arguments may be in a file, `weights`.
    """
    kind = by_ending(str(path))
    if kind is not None:
        raise ProgramError(f"{path} is a model, not a program: `axon.from_{kind}` takes it")
    try:
        source = read_source(str(path))
    except Unreadable as problem:
        raise ProgramError(str(problem)) from None
    return Program(source, backend, ops, weights, compiled=compiled)


def compile(
    source: str,
    *,
    backend: str = "numpy",
    compiled: bool = False,
    ops: Mapping[str, Callable[..., Any]] | None = None,
    weights: str | Path | None = None,
) -> Program:
    """A program from its text; `compiled`, `ops` and `weights` are as for `load`.

    >>> net = compile("double = fn (x) { x + x }")
    >>> net.double([1.0, 2.0])
    array([2., 4.], dtype=float32)
    """
    return Program(Source("program.axon", source), backend, ops, weights, compiled=compiled)


class Program:
    __doc__ = OwnText(
        "A checked program; its definitions are attributes. What is no function is a value.", repr
    )

    def __init__(
        self,
        source: Source,
        backend_name: str = "numpy",
        ops: Mapping[str, Callable[..., Any]] | None = None,
        weights: str | Path | None = None,
        finder: Finder | None = None,
        compiled: bool = False,
    ) -> None:
        finder = Finder() if finder is None else finder
        checked, module = check_and_link(source, finder)
        if not checked.ok:
            errors = [d for d in checked.diagnostics if d.severity == Severity.ERROR]
            count = "an error" if len(errors) == 1 else f"{len(errors)} errors"
            raise ProgramError(f"{source.name} has {count}", errors)
        self._checked = checked
        self._module = module
        self._finder = finder
        self._backend = backend(backend_name, Options(compiled=compiled))
        self._ops: dict[str, Callable[..., Any]] = {}
        self._functions: dict[str, Function] = {}
        for name, function in (ops or {}).items():
            self.implement(name, function)
        if weights is not None:
            self.load_weights(weights)
            self._ops.update(ops or {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = self._find(name)
        if found is None:
            known = ", ".join(self) or "none"
            raise AttributeError(f"the program has no definition `{name}`; it has {known}")
        return found if isinstance(found.definition.scheme.type, Fn) else found()

    def __getitem__(self, name: str) -> Any:
        """The same for names that Python cannot write: `net["s0'"]`."""
        found = self._find(name)
        if found is None:
            raise KeyError(name)
        return found if isinstance(found.definition.scheme.type, Fn) else found()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(s.name for s in self._checked.signatures))

    def __dir__(self) -> list[str]:
        own = (name for name in super().__dir__() if not re.match("_[^_]", name))
        return [*own, *self]

    def __repr__(self) -> str:
        return "\n".join(s.line(names=True) for s in self._checked.signatures)

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of the signatures, with their plain readings."""
        from axon.diagnostics.html import diagnostics_html
        from axon.plain import plain_readings
        from axon.run.html import framed, signatures_html

        table = signatures_html(self._checked.signatures, plain_readings(self._checked))
        return framed(table, diagnostics_html(self.warnings))

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What the check warns of: names that turn out equal or constant, names that are unused.

        >>> [w.code for w in compile("f = fn (x : f32 [a], y : f32 [b]) { max(x, y) };").warnings]
        ['AX301']
        """
        return self._checked.warnings

    def implement(self, name: str, function: Callable[..., Any]) -> None:
        """Say what an operator does that the program only declares (`op name : …`)."""
        declared = _declared(self._module)
        if name not in declared:
            listed = ", ".join(sorted(declared)) or "none"
            raise ArgumentError(f"the program declares no operator `{name}`; it declares {listed}")
        if not callable(function):
            raise ArgumentError(f"`{name}` must be a function, not a {type(function).__name__}")
        self._ops[name] = function
        self._functions.clear()

    def load_weights(self, path: str | Path) -> None:
        """Take the values of the operators without arguments from a safetensors file.

        All of them must be there and have the declared types, unless they have been implemented.
        The file is mapped into memory: it is read where and when values are used, and must not
        change meanwhile.
        """
        try:
            stored = read(str(path))
            found = weights_in(self._module, stored, self._ops)
        except (Unreadable, ImportError) as problem:
            raise ProgramError(str(problem)) from None
        self._ops.update(found)
        self._functions.clear()

    def on(
        self,
        backend_name: str,
        *,
        compiled: bool = False,
        cache: str | Path | None = None,
        mesh: Mapping[str, int] | None = None,
        shard: Mapping[str, str | Sequence[str]] | None = None,
        buckets: Any = None,
        stack_layers: bool = False,
    ) -> Self:
        """The same program on another backend; `compiled` is for PyTorch. `cache` is for JAX: a
        folder that keeps what it has compiled, for the next process. So are `mesh`, devices by
        axes, and `shard`, which of them cut a size, wherever it is in a type:
        `mesh={"data": 4, "model": 2}, shard={"b": "data", "f": "model"}`.

        `buckets` are for JAX too, which compiles for each list of sizes: the dimensions with these
        names are padded to some sizes, so that it compiles less often. They are "pow2" (powers of
        two), a number (its multiples), or a list of sizes; `"auto"` is "pow2" for all dimensions
        that can be padded. Results are those of the exact program. `net.f.report()` shows what
        became of it.

        With `stack_layers`, for JAX too, a function that is called for each of many layers, one
        after another, is compiled once: it becomes a loop over the layers, whose weights are
        stacked in each call. `net.f.stacked_layers` lists which are.
        """
        folder = None if cache is None else folder_of(cache)
        axes = () if mesh is None else mesh_of(mesh)
        cut = () if shard is None else shard_of(shard, axes)
        if bool(axes) != bool(cut):
            raise ValueError("mesh= and shard= belong together: which sizes does which axis cut?")
        check_names(cut, self._checked.inferred.definitions)
        options = Options(compiled, folder, axes, cut, self._buckets(buckets), stack_layers)
        return self._on(backend(backend_name, options))

    def _on(self, made: Backend) -> Self:
        return type(self).linked(self._checked, self._module, made, self._ops, self._finder)

    def _buckets(self, given: Any) -> Buckets | None:
        if given is None:
            return None
        found = buckets_of(given)
        known = [self._find(name) for name in self]
        names = [name for f in known if f is not None for name in f.described.variables]
        check_dimensions(found, tuple(dict.fromkeys(names)))
        return found

    @classmethod
    def linked(
        cls,
        checked: Checked,
        module: Module,
        made: Backend,
        ops: dict[str, Callable[..., Any]],
        finder: Finder,
    ) -> Self:
        """A program that was checked, without errors, and linked."""
        program = object.__new__(cls)
        program._checked, program._module = checked, module
        program._finder = finder
        program._backend, program._ops, program._functions = made, ops, {}
        return program

    def reports(self) -> Reports:
        """What buckets did so far, in the calls of each function."""
        if self._backend.options.buckets is None:
            raise ArgumentError('the program has no buckets: `net.on("jax", buckets="auto")` has')
        found = [function.report() for function in self._functions.values()]
        return Reports(tuple([report for report in found if report.calls]))

    def _files(self) -> dict[str, str]:
        """The files that the program is in, and what each of them is."""
        imported = dict.fromkeys(self._finder.read, "a program that is imported")
        return {**imported, self._module.program.source.name: "the program itself"}

    def __reduce__(self) -> tuple[Any, ...]:
        """It pickles as its text and those of its imports, with the operators that it was given:
        functions of Python pickle by their names, weights as their values.
        """
        source = self._module.program.source
        files = {at: (found.name, found.text) for at, found in self._finder.known.items()}
        made = self._backend
        return _again, (source.name, source.text, files, made.name, made.options, self._ops)

    def function(self, name: str) -> Function | None:
        """A definition as a function, whatever it is."""
        return self._find(name)

    def _find(self, name: str) -> Function | None:
        known = self._functions.get(name)
        if known is None:
            definition = self._checked.find(name)
            if definition is None:
                return None
            made = Function(self, definition)
            known = self._functions.setdefault(name, made)  # of two threads one is first
        return known


def _declared(module: Module) -> set[str]:
    """The operators that a program, or a file that it imports, only declares."""
    own = {item.name for item in module.items if isinstance(item, ast.OpDecl)}
    return own.union(*(_declared(other) for other in module.imports.values()))


def _again(
    name: str,
    text: str,
    files: dict[tuple[str, str], tuple[str, str]],
    backend_name: str,
    options: Options,
    ops: dict[str, Callable[..., Any]],
) -> Program:
    """A program from its pickled parts."""
    finder = Finder({at: Source(*found) for at, found in files.items()})
    program = Program(Source(name, text), finder=finder)
    program._backend = backend(backend_name, options)
    program._ops.update(ops)
    return program
