"""A diagnostic as plain data, for `--json` and for editors. Lines and columns count from one."""

from __future__ import annotations

from axon.diagnostics.value import Diagnostic, Label


def to_json(diagnostic: Diagnostic) -> dict[str, object]:
    """The diagnostic with nothing but strings, numbers, lists and dictionaries in it."""
    span = diagnostic.span
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "file": span.source.name if span else None,
        "line": span.line if span else None,
        "column": span.column if span else None,
        "labels": [_label(label) for label in diagnostic.labels],
        "notes": list(diagnostic.notes),
        "help": list(diagnostic.help),
    }


def _label(label: Label) -> dict[str, object]:
    source = label.span.source
    line, column = source.position(label.span.start)
    end_line, end_column = source.position(label.span.end)
    found = {
        "file": source.name,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "text": label.text,
        "primary": label.primary,
    }
    if source.module is None:
        return found
    return {**found, "code": label.span.text, "module": source.module}
