"""Errors as values, and how they are shown."""

from __future__ import annotations

from axon.diagnostics.value import Diagnostic, Label, Severity, error

__all__ = ["Diagnostic", "Label", "Severity", "error"]
