"""The class of every token as the lexer and the parser have it, to compare the grammars with.

The words that depend on their place are taken from the tree. Where a program cannot be read they
are left out: there is no tree to tell.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from axon.highlight.lexicon import PLACED_CLASS, PUNCTUATION, WORD_CLASS, Class
from axon.source import Source, Span
from axon.syntax import ast
from axon.syntax.lexer import lex
from axon.syntax.parser import parse_program
from axon.syntax.tokens import Tokens

_KIND_CLASS = {
    "field": Class.FIELD,
    "int": Class.NUMBER,
    "float": Class.NUMBER,
    "string": Class.STRING,
    "runtime": Class.RUNTIME,
    "bad": Class.BAD,
}


@dataclass(frozen=True, slots=True)
class Expected:
    start: int
    end: int
    kind: Class


def is_readable(source: Source) -> bool:
    return not parse_program(source)[1]


def expected_classes(source: Source, by_tree: bool = False) -> list[Expected]:
    """With `by_tree`, a function that is called across blanks is known for one too."""
    tokens, _ = lex(source)
    readable = is_readable(source)
    program = parse_program(source)[0]
    placed = set(_placed(program, tokens)) if readable else set()
    called = {
        node.function.span.start
        for node in (nodes_of(program) if by_tree else ())
        if isinstance(node, ast.Call) and isinstance(node.function, ast.Name)
    }
    found = [Expected(span.start, span.end, Class.COMMENT) for span in tokens.comments]
    for at in range(len(tokens.kinds) - 1):
        kind = _class(tokens, at)
        if tokens.kinds[at] == "name" and tokens.text(at) in PLACED_CLASS:
            if not readable:
                continue
            if tokens.starts[at] in placed:
                kind = PLACED_CLASS[tokens.text(at)]
        if kind is Class.NAME and tokens.starts[at] in called and tokens.kinds[at + 1] == "(":
            kind = Class.CALL
        found.append(Expected(tokens.starts[at], tokens.ends[at], kind))
    return found


def _class(tokens: Tokens, at: int) -> Class:
    kinds, text = tokens.kinds, tokens.text(at)
    if text in WORD_CLASS:
        return WORD_CLASS[text]
    if kinds[at] == "name":
        following = kinds[at + 1 : at + 3]
        line = tokens.source.text[tokens.ends[at] :].partition("\n")[0]
        if following == ["=", "fn"] and line.replace(" ", "").startswith("=fn"):
            return Class.FUNCTION
        touches = tokens.ends[at] == tokens.starts[at + 1]
        return Class.CALL if following[0] == "(" and touches else Class.NAME
    if kinds[at] in PUNCTUATION:
        return Class.PUNCTUATION
    return _KIND_CLASS.get(kinds[at], Class.OPERATOR)


def nodes_of(root: object) -> Iterator[object]:
    """Every node of a tree."""
    todo: list[object] = [root]
    while todo:
        match todo.pop():
            case tuple() as items:
                todo.extend(items)
            case Span() | Source():
                pass
            case node if type(node).__module__ == ast.__name__:
                yield node
                names: tuple[str, ...] = getattr(node, "__match_args__", ())
                todo.extend(getattr(node, name) for name in names)
            case _:
                pass


def _placed(program: ast.Program, tokens: Tokens) -> Iterable[int]:
    """Where the words stand that are words in their place."""
    starts = tokens.starts

    def before(offset: int) -> int:
        return bisect_right(starts, offset) - 2

    for node in nodes_of(program):
        match node:
            case ast.Import(_, _, span):
                yield span.start
                yield starts[before(span.end - 1)]
            case ast.OpDecl(_, _, span):
                yield span.start
            case ast.DimValueType(_, span) | ast.ShapeValueType(_, span):
                yield span.start
            case ast.DimOp("mod", left, right, span):
                inside = range(before(span.start), before(span.end) + 1)
                operands = (left.span, right.span)
                for at in inside:
                    start = starts[at]
                    outside = all(not each.start <= start < each.end for each in operands)
                    if tokens.text(at) == "mod" and outside:
                        yield start
            case ast.Fn(where=(first, *_)) | ast.Signature(where=(first, *_)):
                yield starts[before(first.span.start)]
            case _:
                pass
