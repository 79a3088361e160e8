"""A whole model: its inputs, weights and nodes, and what is known of every tensor in the end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from axon.driver import room
from axon.importers.onnx import (  # noqa: F401 (a family enters its rules)
    attention,
    bits,
    control,
    convolution,
    cutting,
    flex,
    images,
    indexing,
    linear,
    losses,
    making,
    norms,
    optimizers,
    placing,
    pointwise,
    pools,
    quantise,
    recurrent,
    reductions,
    resize,
    sequences,
    shapes,
    signal,
    slicing,
)
from axon.importers.onnx.build import Importer
from axon.importers.onnx.functions import Function
from axon.importers.onnx.naming import size_name
from axon.importers.onnx.rules import RULES
from axon.importers.onnx.sizes import Sizes
from axon.importers.onnx.tensors import Kind, kind_of
from axon.importers.onnx.values import ELEMENTS
from axon.types.show import Names
from axon.types.type import Tensor, Type, type_variables
from axon.types.variables import DimVar, ShapeVar

MOST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Imported:
    """What came of a model: the types of its tensors by name, in its own importer."""

    importer: Importer
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    given: dict[str, Type]
    named: dict[str, DimVar]

    def type(self, name: str) -> Type:
        return self.importer.type(name)

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


def import_model(
    model: Any,
    name: str,
    forget: bool = False,
    said: dict[str, Type] | None = None,
    reasons: bool = True,
    program: bool = True,
) -> Imported:
    """Infer a model. `said` is what the caller says of some of the inputs. If something is wrong,
    it is inferred once more, for the `reasons`. Who wants no program has only the types.
    """
    with room():
        asked = _Asked(model, name, forget, program)
        found = _rounds(asked, said or {}, direct=True)
        state = found.importer.state
        if reasons and (state.store.conflicts or state.diagnostics or found.emptied()):
            found = _rounds(asked, said or {}, direct=False)
        return found


class _Asked(NamedTuple):
    """The model, and what is asked for."""

    model: Any
    name: str
    forget: bool
    program: bool


def _rounds(asked: _Asked, said: dict[str, Type], direct: bool) -> Imported:
    """Infer, and again while what was found at the end says more about the inputs, or about sizes,
    than was known at the beginning.
    """
    found = _once(asked, said, direct)
    for _ in range(MOST_ROUNDS):
        more, sizes = _says_more(found, said), found.importer.sizes.surer()
        if found.importer.state.store.conflicts or not (more or sizes):
            break
        begun = found.given
        if more:
            begun = {n: said.get(n) or _again(found.type(n)) for n in found.inputs}
        found = _once(asked, begun, direct, found.named, sizes)
    return found


def _says_more(found: Imported, said: dict[str, Type]) -> bool:
    """Whether an input whose rank was not known, and not said to be open, has one now."""
    for name, given in found.given.items():
        if not _is_ranked(given) and name not in said and _is_ranked(found.type(name)):
            return True
    return False


def _is_ranked(type_: Type) -> bool:
    return isinstance(type_, Tensor) and not any(isinstance(i, ShapeVar) for i in type_.shape)


def _once(
    asked: _Asked,
    known: dict[str, Type],
    direct: bool,
    before: dict[str, DimVar] | None = None,
    sizes: Sizes | None = None,
) -> Imported:
    model, graph = asked.model, asked.model.graph
    importer = Importer(asked.name, graph.node[:], sizes, asked.program)
    importer.state.direct = direct
    opsets = model.opset_import[:]
    importer.opset = next((o.version for o in opsets if o.domain in ("", "ai.onnx")), 0)
    importer.functions = {(f.domain, f.name): Function(f) for f in model.functions[:]}
    tensors = graph.initializer[:]
    weights = {tensor.name for tensor in tensors}
    _weights(importer, tensors)
    named: dict[str, DimVar] = dict(before or {})
    given: dict[str, Type] = {}
    for info in graph.input[:]:
        if info.name not in weights:
            if info.name in known:
                given[info.name] = known[info.name]
            else:
                given[info.name] = _declared(importer, info, named, asked.forget)
            importer.define(info.name, given[info.name])
    importer.inputs = tuple(given)
    importer.taken.update(v.name for t in given.values() for v in type_variables(t) if v.user)
    importer.run(RULES)
    importer.state.store.review()
    importer.look_again()
    outputs = tuple([o.name for o in graph.output[:]])
    return Imported(importer, tuple(given), outputs, given, named)


def _weights(importer: Importer, tensors: Any) -> None:
    """The weights; those without contents that are alike have one type."""
    alike: dict[Kind, str] = {}
    for tensor in tensors:
        name, kind = tensor.name, kind_of(tensor)
        like = alike.get(kind)
        if like is not None:
            importer.define(name, importer.types[like])
            importer.memo.kinds[name] = importer.memo.kinds.get(like) or importer.kinds(like)
        elif kind.is_looked_at:
            importer.hold(name, tensor, kind)
        else:
            importer.define(name, kind.type)
            alike[kind] = name


def _again(type_: Type) -> Type:
    """What was found about an input, to begin with; what else was found will be found again."""
    if not isinstance(type_, Tensor):
        return type_
    return Tensor(
        type_.elem,
        tuple(i if isinstance(i, int | DimVar | ShapeVar) else DimVar("", 1) for i in type_.shape),
    )


def _declared(importer: Importer, info: Any, named: dict[str, DimVar], forget: bool) -> Type:
    tensor = info.type.tensor_type
    elem = ELEMENTS.get(tensor.elem_type)
    if not info.type.HasField("tensor_type") or forget or not tensor.HasField("shape"):
        return importer.unknown(elem)
    word: list[Any] = []
    for dim in tensor.shape.dim[:]:
        if dim.HasField("dim_value") and 0 <= dim.dim_value < 1 << 62:
            word.append(int(dim.dim_value))
        elif dim.dim_param:
            var = named.get(dim.dim_param)
            if var is None:
                name = size_name(dim.dim_param)
                var = named[dim.dim_param] = DimVar(name, 1, user=True)
            word.append(var)
        else:
            word.append(importer.state.fresh_dim())
    return Tensor(elem or importer.unknown().elem, tuple(word))
