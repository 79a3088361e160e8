"""The lexical facts of the language as one list of rules, of which all grammars are made.

At each place the first rule that matches gives the next token and its class. The patterns are those
of the lexer without possessive repetition and need nothing that Python, JavaScript, Oniguruma
(TextMate) and Pygments read in different ways. They look ahead at most to the end of the line.

Some names are words only in their place, as `where` after a type. A rule for such a word tells the
place by what follows on the line: an operand that no operator joins to the word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from axon.syntax.lexer import NAME, TOKEN
from axon.syntax.tokens import CLOSER, ELEMENT_TYPES, INFIX_LEVEL, OPENER, RESERVED


class Class(StrEnum):
    """What a token is for the eye."""

    COMMENT = "comment"
    STRING = "string"
    NUMBER = "number"
    CONSTANT = "constant"
    KEYWORD = "keyword"
    WORD_OPERATOR = "word_operator"
    TYPE = "type"
    FUNCTION = "function"
    CALL = "call"
    NAME = "name"
    RUNTIME = "runtime"
    FIELD = "field"
    OPERATOR = "operator"
    PUNCTUATION = "punctuation"
    BAD = "bad"


CONSTANTS = frozenset({"true", "false", "inf", "None"})
WORD_OPERATORS = frozenset(word for word in INFIX_LEVEL if word.isalpha()) | {"not"}
KEYWORDS = RESERVED - CONSTANTS - WORD_OPERATORS
PLACED_KEYWORDS = ("import", "op", "as", "where")
"""Words of definitions and signatures that are names everywhere else."""
PLACED_OPERATORS = ("mod",)
PLACED_TYPES = ("dim", "shape")
PUNCTUATION = frozenset({*CLOSER, *OPENER, ",", ";", ":"})

WORD_CLASS: dict[str, Class] = {
    **dict.fromkeys(sorted(KEYWORDS), Class.KEYWORD),
    **dict.fromkeys(sorted(CONSTANTS), Class.CONSTANT),
    **dict.fromkeys(sorted(WORD_OPERATORS), Class.WORD_OPERATOR),
    **dict.fromkeys(sorted(ELEMENT_TYPES), Class.TYPE),
}
"""The words that have their class everywhere."""

PLACED_CLASS: dict[str, Class] = {
    **dict.fromkeys(PLACED_KEYWORDS, Class.KEYWORD),
    **dict.fromkeys(PLACED_OPERATORS, Class.WORD_OPERATOR),
    **dict.fromkeys(PLACED_TYPES, Class.TYPE),
}
"""The words that have theirs in their place."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Text that matches is a token of this class. `words` are what the pattern matches, if that is
    a list of words."""

    name: str
    kind: Class
    pattern: str
    words: tuple[str, ...] = ()


def _groups() -> dict[str, str]:
    """The groups of the lexer's expression on one line each, possessive repetition made plain."""
    pattern = re.sub(r"(?<!\\)(\[(?:\\.|[^\]\\])*\])|(?<!\\)\s+", r"\1", TOKEN.pattern)
    pattern = re.sub(r"([*+])\+", r"\1", pattern)
    found = re.split(r"\|?\(\?P<(\w+)>", pattern)[1:]
    return {name: body[:-1] for name, body in zip(found[::2], found[1::2], strict=True)}


GROUPS = _groups()
PLAIN_NAME = NAME.replace("*+", "*")
END = r"(?![A-Za-z0-9_'])"
"""Where a name ends, for patterns that go on behind it."""
_OPERAND = rf"(?=[ \t]+(?!(?:where|and|or|mod|as){END})[A-Za-z_0-9?\[(])"


def _words(words: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(words)}){END}"


def _word_rule(kind: Class) -> Rule:
    words = tuple(sorted(word for word, its in WORD_CLASS.items() if its is kind))
    return Rule(f"{kind}_words", kind, _words(words), words)


def _signs(chosen: frozenset[str]) -> str:
    """The part of the lexer's signs that are single characters of this set."""
    return f"[{re.escape(''.join(sorted(chosen)))}]"


RULES: tuple[Rule, ...] = (
    Rule("comment", Class.COMMENT, GROUPS["comment"]),
    Rule("string", Class.STRING, GROUPS["string"]),
    Rule("open_string", Class.BAD, GROUPS["open"]),
    Rule("import", Class.KEYWORD, rf"import{END}(?=[ \t]*\")"),
    Rule("op", Class.KEYWORD, rf"(?:op|as){END}(?=[ \t]+[A-Za-z_])"),
    Rule("where", Class.KEYWORD, rf"where{END}(?:{_OPERAND}|(?=[ \t\r]*(?:#[^\n]*)?$))"),
    Rule("mod", Class.WORD_OPERATOR, rf"{_words(PLACED_OPERATORS)}{_OPERAND}"),
    Rule("type_of_value", Class.TYPE, rf"{_words(PLACED_TYPES)}{_OPERAND}"),
    *map(_word_rule, (Class.KEYWORD, Class.CONSTANT, Class.WORD_OPERATOR, Class.TYPE)),
    Rule("function", Class.FUNCTION, rf"{PLAIN_NAME}{END}(?=[ \t]*=[ \t]*fn{END})"),
    Rule("call", Class.CALL, rf"{PLAIN_NAME}{END}(?=\()"),
    Rule("name", Class.NAME, PLAIN_NAME),
    Rule("field", Class.FIELD, GROUPS["field"]),
    Rule("punctuation", Class.PUNCTUATION, _signs(PUNCTUATION)),
    Rule("sign", Class.OPERATOR, GROUPS["sign"]),
    Rule("number", Class.NUMBER, f"(?:{GROUPS['float']}|{GROUPS['int']})"),
    Rule("bad_number", Class.BAD, GROUPS["number"]),
    Rule("runtime", Class.RUNTIME, GROUPS["runtime"]),
    Rule("quoted", Class.STRING, GROUPS["quoted"]),
    Rule("bad", Class.BAD, GROUPS["bad"]),
)
