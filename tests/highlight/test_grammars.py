"""The grammars of `editors/` are up to date, and what editors do with them is what the lexer does.

TextMate's grammar runs in the library of VS Code, CodeMirror's in CodeMirror, Vim's in Vim.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from axon.highlight.lexicon import Class
from axon.source import Source
from scripts.grammars import SCOPES, TAGS, outdated
from tests.highlight.comparison import Piece, differences
from tests.highlight.needed import EDITORS, need_packages, needed, run
from tests.highlight.programs import programs

LONGEST_LINE = 2000
"""Longer lines stay plain in CodeMirror."""


def test_the_grammars_are_up_to_date() -> None:
    assert outdated() == [], "run python scripts/grammars.py"


@pytest.mark.parametrize(("editor", "names"), [("textmate", SCOPES), ("codemirror", TAGS)])
def test_every_program_in_node(editor: str, names: Mapping[Class, str]) -> None:
    need_packages()
    assert len(set(names.values())) == len(Class)
    classes = {name: str(kind) for kind, name in names.items()}
    sources = [each for each in programs() if _longest_line(each) < LONGEST_LINE]
    texts = json.dumps([source.text for source in sources])
    made = json.loads(run("node", "test/pieces.mjs", editor, *names.values(), given=texts))
    found: list[str] = []
    for source, pieces in zip(sources, made, strict=True):
        named = [(classes[name] if name else "", text) for name, text in pieces]
        found += differences(source, named)
    assert not found


def _longest_line(source: Source) -> int:
    return max(len(line) for line in source.text.split("\n"))


def test_every_program_in_vim(tmp_path: Path) -> None:
    needed("vim")
    sources = [each for each in programs() if not re.search(r"[\r\f\v\0\ufeff]", each.text)]
    for number, source in enumerate(sources):
        (tmp_path / f"{number}.axon").write_text(source.text, encoding="utf-8")
    syntax = EDITORS / "vim" / "syntax" / "axon.vim"
    script = Path(__file__).with_name("groups.vim")
    environment = {"FOLDER": str(tmp_path), "COUNT": str(len(sources)), "SYNTAX": str(syntax)}
    run("env", *(f"{key}={value}" for key, value in environment.items()),
        "vim", "-u", "NONE", "-es", "-S", str(script))  # fmt: skip
    found: list[str] = []
    for number, source in enumerate(sources):
        groups = (tmp_path / f"{number}.groups").read_text(encoding="utf-8")
        found += differences(source, _vim_pieces(source, groups.split("\n")))
    assert not found


def _vim_pieces(source: Source, groups: list[str]) -> Iterator[Piece]:
    """Vim's groups, one line each of `name` for every byte, by character."""
    for number, line in enumerate(source.text.split("\n")):
        if number:
            yield "", "\n"
        names = groups[number].split(",") if line else []
        at = 0
        for character in line:
            words = re.findall("[A-Z][a-z]*", names[at].removeprefix("axon"))
            yield "_".join(words).lower(), character
            at += len(os.fsencode(character))
