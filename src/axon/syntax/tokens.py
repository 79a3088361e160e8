"""What a source is cut into, and the words and signs that mean something.

A token has no object of its own: it is an index into a few parallel sequences, so that a file of
many megabytes stays small. The kind of a sign or a reserved word is its text; other kinds are
`name`, `field` (`.w`), `int`, `float`, `string`, `runtime` (`?k`), `bad` (reported by the lexer),
`stray` (a bracket that closes nothing) and `eof`.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from axon.source import Source, Span

WORDS = frozenset({"if", "else", "and", "or", "not", "None", "type"})
"""Words that programs once could have as names."""

RESERVED = frozenset({"fn", "true", "false", "inf", *WORDS})

ELEMENT_TYPES = frozenset(
    {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"}
)

PIPE, OR, AND, NOT, COMPARISON, SUM, PRODUCT, POWER = 1, 2, 3, 4, 5, 6, 7, 8

INFIX_LEVEL = {
    "or": OR,
    "and": AND,
    "==": COMPARISON,
    "!=": COMPARISON,
    "<": COMPARISON,
    "<=": COMPARISON,
    ">": COMPARISON,
    ">=": COMPARISON,
    "+": SUM,
    "-": SUM,
    "*": PRODUCT,
    "/": PRODUCT,
    "//": PRODUCT,
    "%": PRODUCT,
    "@": PRODUCT,
    "**": POWER,
}
"""How tightly an infix operator of expressions binds. `not` binds its operand at `NOT`, `-` between
`PRODUCT` and `POWER`; `x |> f(y)` is a call."""

CHAIN_LEVEL = {"|>": PIPE, **INFIX_LEVEL}
"""The same for all that may follow an operand."""

DIM_LEVEL = {"+": SUM, "-": SUM, "*": PRODUCT, "/": PRODUCT, "mod": PRODUCT}
"""The same for dimensions."""

DIM_SPELLINGS = {"//": "/", "%": "mod"}
"""How expressions write some of these; dimensions may be written so too."""

FOREIGN_WORDS = frozenset(
    {
        *("assert", "auto", "class", "const", "def", "del", "for", "from", "fun", "func"),
        *("function", "global", "import", "let", "local", "mut", "raise", "return", "struct"),
        *("val", "var", "while", "with"),
    }
)
"""Words that begin a statement in other languages (`habits.py`)."""

CLOSER = {"(": ")", "[": "]", "{": "}"}
OPENER = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a source, `eof` last.

    `fresh` gives the indentation of each token that begins a line. `virtual` holds the tokens of no
    width that were inserted to balance the brackets; a virtual closer knows the bracket it closes.
    """

    source: Source
    kinds: list[str]
    starts: array[int]
    ends: array[int]
    fresh: dict[int, int]
    comments: tuple[Span, ...]
    virtual: dict[int, int]

    def text(self, at: int) -> str:
        return self.source.text[self.starts[at] : self.ends[at]]

    def span(self, at: int) -> Span:
        return Span(self.source, self.starts[at], self.ends[at])

    def lacks_brace(self) -> bool:
        """Whether a block has no end."""
        return any(self.kinds[at] == "}" for at in self.virtual)

    def is_anchor(self, at: int) -> bool:
        """Does a definition begin here: `x =`, `a, b =`, `op x`, `type X`, `import "…"`?"""
        kinds = self.kinds
        if kinds[at] == "type":
            return kinds[at + 1] == "name"
        if kinds[at] != "name":
            return False
        match kinds[at + 1]:
            case "=":
                return True
            case "name":
                return self.text(at) == "op"
            case "string":
                return self.text(at) == "import"
            case ",":
                return self.pattern_end(at, 32) > 0
            case _:
                return False

    def pattern_end(self, start: int, limit: int = 1 << 60) -> int:
        """The index of the `=` after a pattern that begins here, or 0 when there is none."""
        kinds = self.kinds
        operand, braces = True, 0
        for at in range(start, min(start + limit, len(kinds))):
            match kinds[at]:
                case "name" if operand:
                    operand = False
                case "(" | "{" if operand:
                    braces += kinds[at] == "{"
                case ")":
                    operand = False
                case "}" if braces:
                    operand = False
                    braces -= 1
                case "," if not operand:
                    operand = kinds[at + 1] != "}"
                case "=" if not braces:
                    return at
                case _:
                    return 0
        return 0

    def describe(self, at: int) -> str:
        """What stands here, in words."""
        match self.kinds[at]:
            case "eof":
                return "the end of the file"
            case "name" | "runtime":
                return f"the name `{shorten(self.text(at))}`"
            case "int" | "float":
                return f"the number `{shorten(self.text(at))}`"
            case "field":
                return f"the field `{shorten(self.text(at))}`"
            case "string":
                return "a string"
            case kind if at in self.virtual:
                return f"the place where `{kind}` is missing"
            case _:
                return f"`{shorten(self.text(at))}`"


def shorten(text: str) -> str:
    """A text that is fit for a message."""
    return text if len(text) <= 40 else text[:39] + "…"
