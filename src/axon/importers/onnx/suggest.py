"""Inputs that a model would accept, where its signature leaves their ranks open.

They are found by trying small ranks, and inferred with to be sure that they fit: a suggestion, and
never a fact.
"""

from __future__ import annotations

from typing import Any

from axon.importers.onnx.model import Imported, import_model
from axon.types.type import Tensor, Type
from axon.types.variables import DimVar, ShapeVar

LARGEST_RANK = 5


def suggest(model: Any, name: str, found: Imported, forget: bool) -> dict[str, Type]:
    """The simplest types of the inputs whose rank is open; nothing where none was found."""
    open_ = [n for n in found.inputs if not _ranked(found.type(n))]
    if not open_ or found.importer.state.store.conflicts:
        return {}
    best: tuple[int, Imported] | None = None
    for rank in range(1, LARGEST_RANK + 1):
        tried = _tried(model, name, found, forget, dict.fromkeys(open_, rank))
        if tried is None:
            continue
        left = _unknown(tried)
        if best is None or left < best[0]:
            best = left, tried
        if left == 0:
            break
    if best is None:
        ranks = _one_by_one(model, name, found, forget, open_)
        tried = _tried(model, name, found, forget, ranks) if ranks else None
        if tried is None:
            return {}
        best = 0, tried
    return {n: best[1].type(n) for n in open_ if _ranked(best[1].type(n))}


def _one_by_one(
    model: Any, name: str, found: Imported, forget: bool, open_: list[str]
) -> dict[str, int]:
    """A rank for each input, the first that fits beside those before it."""
    ranks: dict[str, int] = {}
    for each in open_:
        for rank in range(LARGEST_RANK + 1):
            if _tried(model, name, found, forget, {**ranks, each: rank}) is not None:
                ranks[each] = rank
                break
    return ranks


def _tried(
    model: Any, name: str, found: Imported, forget: bool, ranks: dict[str, int]
) -> Imported | None:
    """The model with inputs of these ranks, if it makes sense."""
    said: dict[str, Type] = {}
    for each, rank in ranks.items():
        type_ = found.type(each)
        elem = type_.elem if isinstance(type_, Tensor) else found.importer.unknown().elem
        said[each] = Tensor(elem, tuple(DimVar("", 1) for _ in range(rank)))
    tried = import_model(model, name, forget, said)
    importer, before = tried.importer, found.importer
    wrong = importer.state.store.conflicts or importer.state.diagnostics
    if (
        wrong
        or len(importer.odd) > len(before.odd)
        or importer.unsupported.keys() - before.unsupported
    ):
        return None
    return tried


def _ranked(type_: Type) -> bool:
    return isinstance(type_, Tensor) and not any(isinstance(i, ShapeVar) for i in type_.shape)


def _unknown(tried: Imported) -> int:
    return sum(not _ranked(tried.type(name)) for name in tried.importer.types)
