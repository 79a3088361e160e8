"""Errors as values. `text.py` and `json.py` show them, and are imported where they are needed."""

from __future__ import annotations

from axon.diagnostics.value import Diagnostic, Fix, Label, Severity, error

__all__ = [
    "Diagnostic",
    "Fix",
    "Label",
    "Severity",
    "error",
]
