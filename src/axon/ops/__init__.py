"""Operators: what one is, its signature and traits; `families` has them all."""

from __future__ import annotations

from axon.ops.families import FAMILIES
from axon.ops.operator import OPERATORS, SIGNS, Operator, Problem, written_as

__all__ = ["FAMILIES", "OPERATORS", "SIGNS", "Operator", "Problem", "written_as"]
