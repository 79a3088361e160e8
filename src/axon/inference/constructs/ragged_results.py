"""Checks on ragged tensors at the end of a definition: operators are applied row by row."""

from __future__ import annotations

from axon.inference.walk import Walk
from axon.ops.levels import WorksAlong, levels_of_type, made, rows_level, varies
from axon.types.type import Fn, Tensor, shape_variables, type_variables
from axon.types.variables import ShapeVar, is_ragged


def check_ragged(inference: Walk) -> None:
    """A ragged dimension varies over those before it, so no tensor may begin with one."""
    state = inference.state
    ragged = state.names.ragged
    for type_, span in inference.results:
        known = state.prune(type_)
        word = state.store.word(known.shape) if isinstance(known, Tensor) else ()
        if not any(map(is_ragged, shape_variables(word))):
            continue
        ragged = True
        if any(map(is_ragged, shape_variables(word[:1]))):
            inference.error(
                "AX105",
                "the result would begin with a ragged dimension",
                span,
                "varies over nothing",
            )
            return
    if ragged:
        _check_axes(inference)


def _check_axes(inference: Walk) -> None:
    """An operator is applied to a ragged tensor row by row, so it may not work along the first
    axis, nor move another axis there.
    """
    for use, span in inference.applied:
        type_ = inference.state.resolve(use.type)
        assert isinstance(type_, Fn)
        trees = [rows_level(levels_of_type(param)) for param in type_.params]
        if use.operator.meaning is None or use.operator.traits.calls is not None:
            continue
        if not any(map(varies, trees)):
            continue
        if any(isinstance(v, ShapeVar) for v in type_variables(type_)):
            continue  # known where it is called
        attributes = {**use.operator.defaults, **use.attributes}
        try:
            made(use.operator, attributes, type_, use.signature, trees)
        except WorksAlong as found:
            name = use.operator.name
            inference.error("AX105", found.text, span, found.label, help=found.help, subject=name)
            return
