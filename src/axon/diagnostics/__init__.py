"""Errors as values, and how they are shown."""

from __future__ import annotations

from axon.diagnostics.json import to_json
from axon.diagnostics.text import render, render_all
from axon.diagnostics.value import Diagnostic, Fix, Label, Severity, error

__all__ = [
    "Diagnostic",
    "Fix",
    "Label",
    "Severity",
    "error",
    "render",
    "render_all",
    "to_json",
]
