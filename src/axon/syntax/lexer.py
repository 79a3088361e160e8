"""Text to tokens, by one regular expression.

Blanks match nothing, so the search steps over them; every other character belongs to some group,
so nothing is lost. A mistake becomes a `bad` token, which the parser passes over in silence.
"""

from __future__ import annotations

import re
import unicodedata
from array import array

from axon.diagnostics.value import Diagnostic, error
from axon.source import Source, Span
from axon.syntax.problems import NO_END, Problems
from axon.syntax.tokens import RESERVED, Tokens, shorten

NAME = r"[A-Za-z_][A-Za-z0-9_]*+'*+"

TOKEN = re.compile(
    rf"""
      (?P<newline> \n [ \t\r\f\v\n]*+ )
    | (?P<name>    {NAME} )
    | (?P<field>   \.{NAME} )
    | (?P<sign>    \.\.\. | -> | \|> | // | \*\* | [=!<>]= | [-+*/%@<>=(),;:|\[\]{{}}] )
    | (?P<int>     [0-9]++ (?! [A-Za-z0-9_.] ) )
    | (?P<float>   [0-9]++ (?: \.[0-9]++ )? (?: [eE][+-]?[0-9]++ )? f? (?! [A-Za-z0-9_.] ) )
    | (?P<number>  \.?[0-9][A-Za-z0-9_.]*+ )
    | (?P<comment> \#[^\n]*+ )
    | (?P<string>  "[^"\\\n]*+ (?: \\[^\n] [^"\\\n]*+ )*+ " )
    | (?P<open>    "[^\n]*+ )
    | (?P<runtime> \?{NAME} )
    | (?P<quoted>  (?<! [A-Za-z0-9_'] ) ['‘’“”„] [^'‘’“”„"\n]*+ ['‘’“”"] )
    | (?P<bad>     [^ \t\r\f\v\nA-Za-z0-9_\#"\-+*/%@<>=(),;:|\[\]{{}}]++ )
    """,
    re.VERBOSE,
)
"""One group for each kind. The grammars for editors are made of the same groups, so a group matches
the same text where a possessive `*+` is read as `*`: it ends where it can end only once.
"""

_INSTEAD = {
    "→": "->",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
    "−": "-",
    "–": "-",
    "×": "*",
    "·": "*",
    "÷": "/",
    "“": '"',
    "”": '"',
    "’": "'",
    "∞": "inf",
    "!": "not",
    "~": "not",
    "&": "and",
    "^": "**",
    "√": "sqrt(x)",
    "∧": "and",
    "∨": "or",
    "¬": "not",
    "\u00a0": " ",
    "\u200b": "",
}


INFINITIES = {"inf": "inf", "-inf": "-inf", "+inf": "inf", "infinity": "inf", "-infinity": "-inf"}
"""What is given to `float` in Python."""

_FOREIGN_COMMENT = re.compile(r'//|/\*|--|"""')
"""What comments of other languages begin with."""


def lex(source: Source) -> tuple[Tokens, Problems]:
    """All tokens of a source, and what could not be read as one."""
    problems = Problems()
    text, comment = source.text, None
    if _FOREIGN_COMMENT.search(text):
        from axon.syntax.foreign_comments import without_foreign_comments  # they are rare

        text, comment = without_foreign_comments(source)
    if comment is not None:
        problems.add(comment)
    kinds: list[str] = []
    starts = array("q")
    ends = array("q")
    fresh: dict[int, int] = {0: _first_indent(text)}
    comments: list[Span] = []
    for match in TOKEN.finditer(text, 1 if text.startswith("\ufeff") else 0):
        kind = match.lastgroup
        start, end = match.span()
        if kind == "sign":
            kind = text[start:end]
        elif kind == "name":
            word = text[start:end]
            if word in RESERVED:
                kind = word
        elif kind == "newline":
            fresh[len(kinds)] = end - text.rfind("\n", start, end) - 1
            continue
        elif kind == "comment":
            comments.append(Span(source, start, start + len(match.group().rstrip())))
            continue
        elif kind in ("number", "open", "bad", "quoted"):
            problems.add(_problem(kind, match.group(), Span(source, start, end)))
            kind = "string" if kind == "quoted" else "bad"
        assert kind is not None
        kinds.append(kind)
        starts.append(start)
        ends.append(end)
    kinds.append("eof")
    starts.append(len(text))
    ends.append(len(text))
    return Tokens(source, kinds, starts, ends, fresh, tuple(comments), {}), problems


def unquote(literal: str) -> str:
    """The value of a string literal with its quotes: `\\n`, `\\t`, else the character itself."""
    return re.sub(
        r"\\(.)",
        lambda found: {"n": "\n", "t": "\t"}.get(found.group(1), found.group(1)),
        literal[1:-1],
        flags=re.DOTALL,
    )


def quote(value: str) -> str:
    """A string literal with this value: `unquote(quote(s)) == s`."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\n").replace("\t", "\\t") + '"'


def _first_indent(text: str) -> int:
    return len(text) - len(text.lstrip(" \t")) if text[:1] in (" ", "\t") else 0


def _with_its_digit(text: str) -> str | None:
    """`.5` and `1.` with the digit that they lack."""
    if text.startswith("."):
        return f"write `0{shorten(text)}`"
    return f"write `{shorten(text)}0`" if text[:-1].isdigit() and text.endswith(".") else None


def _problem(kind: str, text: str, span: Span) -> Diagnostic:
    match kind:
        case "open":
            return error("AX001", NO_END, span, 'a string ends with `"` on its line')
        case "number":
            point = _with_its_digit(text)
            before = span.source.text[span.start - 1 : span.start]
            if point is not None and (before.isalnum() or before in ("_", ")")):
                point = "a tuple is unpacked by a pattern: `a, b = p;`"
            return error(
                "AX001",
                f"`{shorten(text)}` is not a number",
                span,
                "a number is written like 1, 1.5, 1e-5 or 0f",
                point,
            )
        case "quoted":
            if text[1:-1] in INFINITIES:
                written = f"write `{INFINITIES[text[1:-1]]}`"
                return error("AX001", "infinity is a number", span, "a string", written)
            if span.source.text[span.start - 1 : span.start] == "[" and text[1:-1].isidentifier():
                message = "a field is not a string"
                return error("AX001", message, span, "a string", f"write `p.{shorten(text[1:-1])}`")
            message, plain = "a string is written with straight double quotes", quote(text[1:-1])
            return error("AX001", message, span, "other quotes", f"write `{shorten(plain)}`")
        case _ if text.startswith("?"):
            line = span.source.text[span.end : span.end + 200].partition("\n")[0]
            help = "`c ? a : b` is written `if c { a } else { b }`" if ":" in line else None
            message, label = "`?` has no name after it", "a runtime size, like `?k`"
            return error("AX001", message, span, label, help)
        case _:
            character = text[0]
            instead = _INSTEAD.get(character)
            help = f"write `{instead}`" if instead else None
            if character == "\\" or character == "λ":
                help = "a function is written `fn (x) { … }`"
            if instead is not None and not instead.strip():
                help = "write a plain space" if instead else "leave it out"
            message = f"unexpected character {_show(character)}"
            return error("AX001", message, span, "this is not part of the language", help)


def _show(character: str) -> str:
    if character.isprintable():
        return f"`{character}`"
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X}" + (f" ({name.lower()})" if name else "")
