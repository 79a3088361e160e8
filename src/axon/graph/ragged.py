"""Types with run-time sizes."""

from __future__ import annotations

from axon.types.type import Type, type_variables
from axon.types.variables import DimVar, ShapeVar, is_ragged


def varies(type_: Type) -> bool:
    """Whether some size varies inside a tensor."""
    return any(is_ragged(v) for v in type_variables(type_))


def runtime(type_: Type) -> bool:
    """Whether the type has run-time sizes."""
    return any(isinstance(v, DimVar | ShapeVar) and v.runtime for v in type_variables(type_))
