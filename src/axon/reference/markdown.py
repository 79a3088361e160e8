"""A page about a program, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from axon.reference.program import Entry, Page


def as_markdown(page: Page) -> str:
    return "\n\n".join(_page(page)) + "\n"


def _page(page: Page) -> Iterator[str]:
    yield f"# {_plain(page.title)}"
    if page.text:
        yield page.text
    if page.imports:
        listed = "\n".join(f"- `{alias}` is {_code(path)}" for alias, path in page.imports)
        yield f"Imports:\n\n{listed}"
    for entry in page.entries:
        yield from _entry(entry)


def _entry(entry: Entry) -> Iterator[str]:
    yield f"## {_code(entry.name)}"
    lines = [entry.code]
    if entry.conditions:
        lines.append(f"  where {', '.join(entry.conditions)}")
    if entry.plain is not None:
        lines.append(f"plain: {entry.plain}")
    yield _fenced("\n".join(lines))
    if entry.text:
        yield entry.text
    if entry.checks:
        listed = "\n".join(f"- {_code(check)}" for check in entry.checks)
        yield f"Checked when it is called:\n\n{listed}"
    if entry.parameters:
        yield "Parameters:"
        yield _fenced(entry.parameters)


def _fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def _code(text: str) -> str:
    return f"`{text.replace('`', '')}`"


def _plain(text: str) -> str:
    """Text in which nothing is markup."""
    return re.sub(r"([\\`*_{}\[\]<>#|])", r"\\\1", text)
