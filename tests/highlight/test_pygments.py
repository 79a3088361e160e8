"""Pygments gives every token the class that the lexer and the parser give it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

from pygments.lexers import get_lexer_by_name

from axon.highlight.lexicon import PLACED_CLASS, Class
from axon.highlight.pygments_lexer import STYLE, AxonLexer
from axon.source import Source
from tests.highlight.classes import expected_classes
from tests.highlight.comparison import Piece, differences
from tests.highlight.programs import programs

CLASS = {style: kind for kind, style in STYLE.items()}


def _pieces(source: Source) -> Iterator[Piece]:
    for _, style, text in AxonLexer().get_tokens_unprocessed(source.text):
        yield str(CLASS.get(style, "")), text


def test_each_class_has_its_style() -> None:
    assert set(STYLE) == set(Class)
    assert len(CLASS) == len(STYLE)


def test_every_program() -> None:
    assert not [line for source in programs() for line in differences(source, _pieces(source))]


def test_the_programs_hold_every_class_and_word() -> None:
    kinds: Counter[Class] = Counter()
    placed: set[tuple[str, Class]] = set()
    for source in programs():
        for token in expected_classes(source):
            kinds[token.kind] += 1
            word = source.text[token.start : token.end]
            if word in PLACED_CLASS:
                placed.add((word, token.kind))
    assert set(kinds) == set(Class)
    assert placed >= set(PLACED_CLASS.items())


def test_it_is_found_by_its_name() -> None:
    assert isinstance(get_lexer_by_name("axon"), AxonLexer)


def test_pygments_is_not_imported_by_the_language() -> None:
    code = "import sys, axon, axon.cli, axon.highlight.lexicon; sys.exit('pygments' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
