"""Comments as documentation."""

from __future__ import annotations

from axon.source import Source, Span


def comment_above(span: Span) -> str:
    """The comment right above a definition, which is its documentation."""
    lines = span.source.text[: span.start].split("\n")[:-1]
    comment: list[str] = []
    while lines and lines[-1].lstrip().startswith("#"):
        comment.append(_uncommented(lines.pop()))
    return "\n".join(reversed(comment))


def comment_at_top(source: Source) -> str:
    """The comment that a file begins with, which is its documentation; one right above a definition
    is that of the definition.
    """
    comment: list[str] = []
    for line in source.text.split("\n"):
        if not line.lstrip().startswith("#"):
            return "\n".join(comment) if not line.strip() or line.startswith("import ") else ""
        comment.append(_uncommented(line))
    return "\n".join(comment)


def _uncommented(line: str) -> str:
    return line.strip().lstrip("#").removeprefix(" ")
