"""What inference found about a model, for people and for scripts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from axon.diagnostics import Diagnostic, Severity
from axon.importers.imported import Imported
from axon.importers.reporting.contradictions import contradictions
from axon.importers.reporting.problems import not_known, only_empty, problems
from axon.importers.reporting.suggest import suggest
from axon.importers.reporting.wiring import unmade
from axon.inference.generalise.schemes import is_silent, resolved, visible
from axon.types.show import Names, Show
from axon.types.type import (
    Fn,
    Relation,
    Renaming,
    Shape,
    Tensor,
    Tuple,
    Type,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, Var


class TensorReport(NamedTuple):
    """`shape` is the sizes of a tensor of known rank; `partial` is what is known of others."""

    dtype: str | None
    shape: tuple[int | str, ...] | None
    partial: str | None


NOTHING = TensorReport(None, None, None)


@dataclass(frozen=True, slots=True)
class Report:
    signature: str
    where: tuple[str, ...]
    guards: tuple[str, ...]
    tensors: dict[str, TensorReport]
    suggested: dict[str, str]
    unsupported: tuple[str, ...]
    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        return not any(d.severity == Severity.ERROR for d in self.diagnostics)


def report_on(
    imported: Imported, name: str, forget: bool = False, suggesting: bool = True
) -> Report:
    inputs = [imported.type(n) for n in imported.inputs]
    known = [n for n in imported.outputs if n in imported.importer.types]
    results = [imported.type(n) for n in known]
    show = Show(imported.names())
    whole = Fn(tuple(inputs), results[0] if len(results) == 1 else Tuple(tuple(results)))
    relations = _conditions(imported, whole)
    signature = show.type(_with_runtime_sizes(whole, relations, show.names))
    tensors = _tensors(show, Show(show.names, mods=False), imported)
    found = [
        *unmade(imported),
        *problems(imported, show),
        *only_empty(imported),
        *not_known(imported),
        *contradictions(imported, show),
    ]
    simplest = suggest(name, imported, forget) if suggesting else {}
    return Report(
        signature,
        tuple(show.relation(r) for r in visible(relations)),
        tuple(show.relation(r) for r in relations if is_silent(r)),
        tensors,
        _shown(simplest),
        tuple(sorted(imported.importer.unsupported)),
        tuple(found),
    )


def _with_runtime_sizes(whole: Fn, relations: list[Relation], names: Names) -> Type:
    """The type of the model, in which a size that no input has and no condition speaks of is what
    only a run tells: `?a`, under the name that it has anyway.
    """
    told: set[Var] = {v for param in whole.params for v in type_variables(param)}
    told.update(v for relation in relations for v in relation_variables(relation))
    opened = Renaming({}, {}, {}, {})
    for var in type_variables(whole):  # in the order in which they are named
        name = names(var)
        if var in told or not isinstance(var, DimVar | ShapeVar) or var.runtime:
            continue
        if isinstance(var, ShapeVar):
            made = ShapeVar(var.name, runtime=True)
            opened.shapes[var] = (made,)
            names.given[made] = name
        elif var.rank_of is None:
            size = opened.dims[var] = DimVar(var.name, runtime=True)
            names.given[size] = name
    return Fn(whole.params, opened.type(whole.result))


def _shown(types: dict[str, Type]) -> dict[str, str]:
    """Types that have names of their own for sizes."""
    if not types:
        return {}
    show = Show(Names())
    return {name: show.type(type_) for name, type_ in types.items()}


def _conditions(imported: Imported, whole: Type) -> list[Relation]:
    """What is left to be checked of the sizes that the signature speaks of."""
    state = imported.importer.state
    if not state.store.waiting:
        return []
    shown = set(type_variables(whole))
    found: dict[Relation, None] = {}
    for constraint in state.store.waiting:
        relation = resolved(state, constraint.relation)
        variables = set(relation_variables(relation))
        if variables and variables <= shown:
            found[relation] = None
    return list(found)


def _tensors(show: Show, plain: Show, imported: Imported) -> dict[str, TensorReport]:
    """Each tensor, also those of subgraphs. Equal nodes share one type object, which is shown
    once. Sizes are in `plain` arithmetic, for scripts.
    """
    importer = imported.importer
    seen: dict[int, TensorReport] = {}
    found: dict[str, TensorReport] = {}

    def report(name: str) -> TensorReport:
        type_ = importer.types[name]
        made = seen.get(id(type_))
        if made is None:
            made = seen[id(type_)] = _tensor(show, plain, importer.type(name))
        return made

    for own, names in importer.inner.items():  # one name in several graphs may be several tensors
        of_name = [report(name) for name in names if name in importer.types]
        first = of_name[0] if of_name else NOTHING
        found[own] = first if all(each == first for each in of_name[1:]) else NOTHING
    for name in importer.types:
        if name not in importer.hidden:
            found[name] = report(name)
    return found


def _tensor(show: Show, plain: Show, type_: Type) -> TensorReport:
    if not isinstance(type_, Tensor):
        return NOTHING
    elem = None if isinstance(type_.elem, ElemVar) else str(type_.elem)
    sizes: list[int | str] = []
    for item in type_.shape:
        if isinstance(item, ShapeVar):
            return TensorReport(elem, None, _spaced(show, type_.shape))
        if isinstance(item, int):
            sizes.append(item)
        else:
            text = show.dim(item, spaced=True)
            sizes.append(plain.dim(item, spaced=True) if " mod " in text else text)
    return TensorReport(elem, tuple(sizes), None)


def _spaced(show: Show, shape: Shape) -> str:
    return show.shape(shape).replace("@", " @ ").replace(",", ", ")
