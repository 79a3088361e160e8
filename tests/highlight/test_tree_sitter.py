"""tree-sitter makes of every program the tree that Axon's parser makes, and highlights it alike."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from axon.highlight.lexicon import Class
from axon.source import Source
from axon.syntax.parser import parse_program
from axon.syntax.tokens import ELEMENT_TYPES, INFIX_LEVEL, RESERVED
from axon.workspace import workspace
from tests.highlight.classes import is_readable
from tests.highlight.comparison import Piece, differences
from tests.highlight.programs import programs
from tests.highlight.tree_sitter_axon import FOLDER, language
from tests.highlight.trees import of_ast, of_tree

CAPTURES = {
    "comment": Class.COMMENT,
    "string": Class.STRING,
    "number": Class.NUMBER,
    "constant.builtin": Class.CONSTANT,
    "keyword": Class.KEYWORD,
    "keyword.operator": Class.WORD_OPERATOR,
    "type.builtin": Class.TYPE,
    "function": Class.FUNCTION,
    "function.call": Class.CALL,
    "variable": Class.NAME,
    "variable.builtin": Class.RUNTIME,
    "property": Class.FIELD,
    "operator": Class.OPERATOR,
    "punctuation.bracket": Class.PUNCTUATION,
    "punctuation.delimiter": Class.PUNCTUATION,
}

CORNERS = Source(
    "corners of the grammar",
    """op a : t [(+ a b), (- a b), (-a + b), (- a (* 2 c)), (* a b), (min a b), (min(a,b)+1)] -> t;
op b : t [(mod a 2), (-a), (* a -b c), (+ a (max 1 n)), -2, -a*b, *k, *, (a), 7 mod 2] -> t ?s;
op c : ((t s) -> u, (t, u)) -> (v -> w) -> dim 3;
f = fn (x : m.B, y : B(2, n), z : { r | type : f32 }, w : (), k : dim h, l : shape s) : () {
  { x | w = 1, type = 2, }
};
g = { y.a.b | c = -2 ** -3 ** x * -y[0] };
{ p, q }, (r, (s)) = f(if=2, or=and), reduce(-, 0), (not), (a, -), {}, [], ();
op = import; where = as + mod - dim * shape / min;
h = if a { {} } else if b { x = 1;; x; } else { { a = fn () { 2 }, b = 3 }.a() };
x |> f |> (g(1)) |> g(1, a=2) or not not y and a[::2, 1:, :b, None, ...] < b
""",
)


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = language(tmp_path_factory.mktemp("parser"))
    from tree_sitter import Parser

    return Parser(made)


def _readable() -> Iterator[Source]:
    assert is_readable(CORNERS)
    yield CORNERS
    yield from filter(is_readable, programs())


def test_its_tree_is_the_parsers_tree(parser: Any) -> None:
    different: list[str] = []
    for source in _readable():
        root = parser.parse(source.text.encode()).root_node
        with workspace():
            if root.has_error or of_tree(root) != of_ast(parse_program(source)[0]):
                different.append(source.name)
    assert not different


def test_most_mistakes_are_found(parser: Any) -> None:
    """What has no tree has an error, apart from laws that are no matter of grammar."""
    broken = [each for each in programs() if not is_readable(each)]
    found = [each for each in broken if parser.parse(each.text.encode()).root_node.has_error]
    assert len(found) > 0.75 * len(broken)


def test_every_program_is_highlighted(parser: Any) -> None:
    from tree_sitter import Query, QueryCursor

    query = Query(parser.language, (FOLDER / "queries" / "highlights.scm").read_text("utf-8"))
    found: list[str] = []
    for source in _readable():
        matches = QueryCursor(query).matches(parser.parse(source.text.encode()).root_node)
        found += differences(source, _pieces(source, matches), by_tree=True)
    assert not found


def _pieces(source: Source, matches: list[tuple[int, dict[str, list[Any]]]]) -> Iterator[Piece]:
    """Each byte has the capture of the last pattern that matches."""
    text = source.text.encode()
    best: dict[tuple[int, int], tuple[int, Class]] = {}
    for pattern, captures in matches:
        for name, nodes in captures.items():
            for node in nodes:
                place = node.start_byte, node.end_byte
                best[place] = max(best.get(place, (-1, Class.BAD)), (pattern, CAPTURES[name]))
    end = 0
    for (start, stop), (_, kind) in sorted(best.items()):
        yield "", text[end:start].decode()
        yield str(kind), text[start:stop].decode()
        end = stop
    yield "", text[end:].decode()


def test_its_words_are_those_of_the_language() -> None:
    grammar = json.loads((FOLDER / "src" / "grammar.json").read_text("utf-8"))
    rules = grammar["rules"]

    def words(rule: Any) -> set[str]:
        match rule:
            case {"type": "STRING", "value": value}:
                return {value}
            case {"type": "ALIAS", "named": False, "content": inner}:
                return words(inner)
            case dict():
                return set().union(*map(words, rule.values()))
            case list():
                return set().union(*map(words, rule))
            case _:
                return set()

    assert words(rules["element_type"]) == ELEMENT_TYPES
    assert words(rules["operator"]) == {*INFIX_LEVEL, "not"}
    assert words(rules["_attribute_name"]) == RESERVED
    highlights = (FOLDER / "queries" / "highlights.scm").read_text("utf-8")
    assert all(f'"{word}"' in highlights for word in ELEMENT_TYPES | RESERVED)


def test_the_parser_is_made_of_the_grammar() -> None:
    noted = (FOLDER / "src" / "grammar.sha256").read_text("utf-8").strip()
    made_of = hashlib.sha256((FOLDER / "grammar.js").read_bytes()).hexdigest()
    assert noted == made_of, "grammar.js has changed: run editors/tree-sitter-axon/generate"
