"""A whole model: its inputs, weights and nodes, and what is known of every tensor in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from axon.importers.by_cases import Cases
from axon.importers.functions import with_functions
from axon.importers.importer import Importer, known_shape
from axon.importers.naming import size_name
from axon.importers.node import Format
from axon.importers.nonnegative import Sizes
from axon.importers.operations import Arithmetic, Constant, Declared, Model, Size
from axon.importers.walk import infer_all
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Names
from axon.types.type import Tensor, Type, type_variables
from axon.types.variables import DimVar, ShapeVar, given_at
from axon.workspace import workspace

MOST_ROUNDS = 3
COMPUTED: dict[str, Callable[[Dim, Dim], Dim]] = {
    "+": dims.add,
    "*": dims.mul,
    "//": dims.floordiv,
    "mod": lambda a, b: dims.sub(a, dims.mul(b, dims.floordiv(a, b))),
    "min": dims.minimum,
    "max": dims.maximum,
}
"""Arithmetic on declared sizes."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a model: the types of its tensors by name, in its own importer."""

    model: Model
    format: Format
    importer: Importer
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    given: dict[str, Type]
    named: dict[str, DimVar]

    def type(self, name: str) -> Type:
        return self.importer.type(name)

    @property
    def is_wrong(self) -> bool:
        """Whether the model contradicts itself: a program from it does too, and hides nothing."""
        return bool(self.importer.state.store.conflicts or self.importer.state.diagnostics)

    def names(self) -> Names:
        """Names for variables: those that sizes of the inputs have are theirs."""
        names = Names()
        for name in self.inputs:
            names.reserve(type_variables(self.type(name)))
        return names

    def emptied(self) -> dict[str, tuple[str, DimVar]]:
        """The inputs that can only be empty, though a size of theirs was left open."""
        found: dict[str, tuple[str, DimVar]] = {}
        for name, given in self.given.items():
            for var in given.shape if isinstance(given, Tensor) else ():
                if isinstance(var, DimVar) and self.importer.state.store.dim(var) == 0:
                    found[name] = var.name, var
        return found


def import_operations(
    model: Model,
    format: Format,
    name: str,
    forget: bool = False,
    said: dict[str, Type] | None = None,
    reasons: bool = True,
    program: bool = True,
    explained: bool = False,
) -> Imported:
    """Infer a model. `said` has the caller's types of some inputs. If something is wrong, the model
    is inferred once more for the `reasons`; if it is to be `explained`, everything has one at once.
    Without `program` there are only the types.
    """
    with workspace():
        asked = _Asked(model, format, name, forget, program)
        found, said = _by_cases(asked, said or {})
        if explained:
            return _rounds(asked, said, reasons=True)
        state = found.importer.state
        if reasons and (state.store.conflicts or state.diagnostics or found.emptied()):
            found = _rounds(asked, said, reasons=True)
        return found


class _Asked(NamedTuple):
    """The model, and what is asked for."""

    model: Model
    format: Format
    name: str
    forget: bool
    program: bool


def _by_cases(asked: _Asked, said: dict[str, Type]) -> tuple[Imported, dict[str, Type]]:
    """Infer, and again with the ranks of inputs that are the only ones that make sense."""
    found = _rounds(asked, said, reasons=False)
    tried = asked._replace(program=False)
    cases = Cases(lambda types: _rounds(tried, {**said, **types}, reasons=False).importer)
    for _ in range(MOST_ROUNDS):
        state = found.importer.state
        open_ = any(found.importer.shape(name) is None for name in found.inputs)
        decided = (
            cases.decided(found.importer, found.inputs)
            if open_ and not state.store.conflicts
            else {}
        )
        if not decided:
            break
        said = {**said, **decided}
        found = _rounds(asked, said, reasons=False)
    return found, said


def _rounds(asked: _Asked, said: dict[str, Type], reasons: bool) -> Imported:
    """Infer, and again while more is known of the inputs, or of sizes, at the end than at the
    beginning.
    """
    found = _once(asked, said, reasons)
    for _ in range(MOST_ROUNDS):
        more, sizes = _says_more(found, said), found.importer.sizes.surer()
        if found.importer.state.store.conflicts or not (more or sizes):
            break
        begun = found.given
        if more:
            begun = {n: said.get(n) or _again(found.type(n)) for n in found.inputs}
        found = _once(asked, begun, reasons, found.named, sizes)
    return found


def _says_more(found: Imported, said: dict[str, Type]) -> bool:
    """Whether an input whose rank was not known, and not said to be open, has one now."""
    return any(
        known_shape(given) is None and name not in said and found.importer.shape(name) is not None
        for name, given in found.given.items()
    )


def _once(
    asked: _Asked,
    known: dict[str, Type],
    reasons: bool,
    before: dict[str, DimVar] | None = None,
    sizes: Sizes | None = None,
) -> Imported:
    model, graph = asked.model, asked.model.graph
    format, operations = asked.format, graph.operations
    importer = Importer(asked.name, format.node, operations, sizes or Sizes(), asked.program)
    importer.state.reasons = reasons
    importer.state.uniform = True
    importer.opset = model.version
    importer.own.update(model.titles)
    importer.hidden.update(model.added)
    weights = {constant.name for constant in graph.constants}
    _weights(importer, graph.constants)
    named: dict[str, DimVar] = dict(before or {})
    given: dict[str, Type] = {}
    for declared in graph.inputs:
        name = declared.name
        if name not in weights:
            if name in known:
                given[name] = known[name]
            else:
                given[name] = _declared(importer, declared, named, asked.forget)
            importer.define(name, given[name])
    importer.inputs = tuple(given)
    importer.taken.update(v.name for t in given.values() for v in type_variables(t) if v.user)
    for name in given if model.titles else ():
        importer.alias(name)  # before a weight is called that
    infer_all(importer, with_functions(model.functions, asked.format.rules))
    importer.state.store.review()
    importer.look_again()
    outputs = tuple([each.name for each in graph.outputs])
    return Imported(model, asked.format, importer, tuple(given), outputs, given, named)


def _weights(importer: Importer, constants: list[Constant]) -> None:
    """The weights; those whose elements do not matter and that are of one type share it."""
    first_of: dict[tuple[str, tuple[int, ...]], str] = {}
    for constant in constants:
        name, kind = constant.name, (constant.elem or "", constant.dims)
        like = first_of.get(kind)
        if like is not None:
            importer.define(name, importer.types[like])
            importer.memo.kinds[name] = importer.memo.kinds.get(like) or importer.kinds(like)
        elif constant.is_followed:
            importer.hold(name, constant)
        else:
            importer.define(name, constant.type)
            if constant.elem is not None:
                first_of[kind] = name


def _again(type_: Type) -> Type:
    """What was found about an input, to begin with; what else was found will be found again."""
    if not isinstance(type_, Tensor):
        return type_
    return Tensor(
        type_.elem,
        tuple(i if isinstance(i, int | DimVar | ShapeVar) else DimVar("", 1) for i in type_.shape),
    )


def _declared(
    importer: Importer, declared: Declared, named: dict[str, DimVar], forget: bool
) -> Type:
    # what an input is cannot hang on what a run computes
    elem, scope = declared.elem or importer.unknown().elem, given_at(1)
    if forget or declared.sizes is None:
        return Tensor(elem, (ShapeVar("", importer.state.level, scope=scope),))
    word: list[Dim] = []
    for size in declared.sizes:
        dim = None if size is None else _size(size, named)
        if dim is None or dims.is_vast(dim):
            dim = DimVar("", importer.state.level, scope=scope)
        word.append(dim)
    return Tensor(elem, tuple(word))


def _size(size: Size, named: dict[str, DimVar]) -> Dim:
    """A declared size; a name is the same in all inputs."""
    match size:
        case Arithmetic(operator, left, right):
            return COMPUTED[operator](_size(left, named), _size(right, named))
        case str():
            var = named.get(size)
            if var is None:
                var = named[size] = DimVar(size_name(size), 1, user=True)
            return var
        case _:
            return size
