"""A lexer for Pygments, which finds it by its entry point: Sphinx, Jupyter and others highlight
code blocks tagged `axon` with it. Only this module needs Pygments.
"""

from __future__ import annotations

from typing import ClassVar

from pygments import token
from pygments.lexer import RegexLexer

from axon.highlight.lexicon import RULES, Class

STYLE = {
    Class.COMMENT: token.Comment.Single,
    Class.STRING: token.String.Double,
    Class.NUMBER: token.Number,
    Class.CONSTANT: token.Keyword.Constant,
    Class.KEYWORD: token.Keyword,
    Class.WORD_OPERATOR: token.Operator.Word,
    Class.TYPE: token.Keyword.Type,
    Class.FUNCTION: token.Name.Function,
    Class.CALL: token.Name.Function.Magic,
    Class.NAME: token.Name,
    Class.RUNTIME: token.Name.Variable.Magic,
    Class.FIELD: token.Name.Attribute,
    Class.OPERATOR: token.Operator,
    Class.PUNCTUATION: token.Punctuation,
    Class.BAD: token.Error,
}
"""Each class has a token type of its own."""


class AxonLexer(RegexLexer):  # type: ignore[misc]
    """Axon, a functional language whose tensor shapes are inferred."""

    name = "Axon"
    aliases: ClassVar = ["axon"]
    filenames: ClassVar = ["*.axon"]
    mimetypes: ClassVar = ["text/x-axon"]
    tokens: ClassVar = {
        "root": [
            (r"[ \t\r\f\v\n]+", token.Whitespace),
            *((rule.pattern, STYLE[rule.kind]) for rule in RULES),
        ]
    }
