"""Any text: the lexer, the parser and the printer neither fall over nor change what was written."""

from __future__ import annotations

import dataclasses
import sys

import atheris
from harness import run

with atheris.instrument_imports(include=["axon"]):
    from axon.diagnostics.text import render_all
    from axon.source import Source
    from axon.syntax import parse_program
    from axon.syntax.printer import print_program
    from axon.workspace import FRAMES


def bones(tree: object) -> object:
    """A tree without its places."""
    if isinstance(tree, tuple):
        return tuple(bones(each) for each in tree)
    if not dataclasses.is_dataclass(tree):
        return tree
    fields = (f.name for f in dataclasses.fields(tree))
    kept = (n for n in fields if "span" not in n and n not in ("source", "comments"))
    return type(tree).__name__, *(bones(getattr(tree, n)) for n in kept)


def one(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    tree, problems = parse_program(Source("fuzz.axon", text))
    render_all(problems)
    printed = print_program(tree)
    if problems:
        return
    again, more = parse_program(Source("again.axon", printed))
    assert not more, render_all(more)
    assert bones(again) == bones(tree), printed
    assert print_program(again) == printed
    assert len(again.comments) == len(tree.comments)


if __name__ == "__main__":
    sys.setrecursionlimit(FRAMES)  # as the driver does: the parser bounds how deep a tree is
    run("syntax", one)
