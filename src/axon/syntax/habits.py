"""Words and signs of other languages, where a program that has them cannot be read otherwise.

None of these words is reserved: each is a name like any other. What tells is a place where no name
can stand, `def f`, `lambda x`, `x for`; so a message about a habit replaces one that would say what
was expected, and never refuses a program that has a meaning.
"""

from __future__ import annotations

from dataclasses import dataclass

from axon.source import Span
from axon.syntax.lexer import INFINITIES, unquote
from axon.syntax.tokens import CLOSER, INFIX_LEVEL, OPENER, Tokens, shorten

FUNCTION = "a function is written `f = fn (x, y) { … };`"
VALUE = "the value of a block is what it ends with: leave `return` out"
LOOP = (
    "`map(fn (row) { … }, x)` goes over rows, `fold(start, fn (state, row) { … }, x)` takes a state"
)
CHOICE = "write `if c { a } else { b }`"
WEIGHTS = "weights are a record, and a layer is a function of them: `fn (p, x) { x @ p.w + p.b }`"
IMPORT = 'operators need no import; a file of Axon is `import "layers.axon" as layers;`'
NO_NAME = "write `name = …;`"

STATEMENTS = {
    "def": FUNCTION,
    "function": FUNCTION,
    "func": FUNCTION,
    "fun": FUNCTION,
    "for": LOOP,
    "while": "`iterate(x, fn (x) { x > 0 }, fn (x) { … })` repeats while a condition holds",
    "class": WEIGHTS,
    "struct": "a record type is `type Layer(d) = { b : f32 [d], w : f32 [d,d] };`",
    "import": IMPORT,
    "from": IMPORT,
    "with": "leave it out",
    "assert": "say it in the type: `fn (x : f32 [n]) where n >= 1 { … }`",
    "del": "leave it out",
    "raise": "leave it out",
    "global": "leave it out",
    "return": VALUE,
    "let": NO_NAME,
    "var": NO_NAME,
    "val": NO_NAME,
    "const": NO_NAME,
    "mut": NO_NAME,
    "auto": NO_NAME,
    "local": NO_NAME,
}
"""The words that begin a statement, and the form of Axon."""

NEEDLESS = frozenset({"return", "let", "var", "val", "const", "mut", "auto", "local"})
"""Those that are just left out."""

WITH_HEAD = frozenset({"def", "function", "func", "fun", "for", "while"})
"""Those that may have round brackets before their block."""

_BEFORE = {"lambda": "a function is written `fn (x) { … }`", **STATEMENTS}
"""The words that only something before them can make sense of."""

_FUNCTIONS = frozenset({"def", "function", "func", "fun", "lambda"})

_BETWEEN = {
    "for": LOOP,
    "in": LOOP,
    "is": "write `==`",
    "elif": "write `else if c { … }`",
    "elsif": "write `else if c { … }`",
    "elseif": "write `else if c { … }`",
    "then": CHOICE,
    "AND": "write `and`",
    "OR": "write `or`",
    "NOT": "write `not`",
    "xor": "write `logical_xor(a, b)`",
    "div": "write `//`",
    "mod": "write `%`",
}
"""The words that stand where an operator would."""

_SIGNS = {
    "|": "write `or`",
    "||": "write `or`",
    "=>": "a function is written `fn (x) { … }`",
    ":=": NO_NAME,
    "++": "a name keeps its value: write `y = x + 1;`",
}

_NONE = {
    "=": "a value is never missing: give another one, or write a function for each case",
    "==": "a value is never missing: leave the comparison out",
    "!=": "a value is never missing: leave the comparison out",
    "is": "a value is never missing: leave the comparison out",
}
"""What stands before `None`."""


HAS_ANOTHER_USE = frozenset({"import", "None", "->", "|", "@", ":"})
"""Those that Axon has too, elsewhere."""


@dataclass(frozen=True, slots=True)
class Habit:
    """What is written here as elsewhere, and the form of Axon."""

    text: str
    span: Span
    help: str


def habit_at(tokens: Tokens, at: int, helped: bool = False) -> Habit | None:
    """The habit behind a token that cannot stand where it does; `helped` if there is a help for it
    that fits a `:` better.
    """
    kind, text = tokens.kinds[at], tokens.text(at)
    if at in tokens.virtual or kind in ("eof", "bad", "stray"):
        return None
    before = tokens.text(at - 1) if at and at not in tokens.fresh else ""
    after = tokens.kinds[at + 1]
    signs = _signs(tokens, at, before, after)
    if signs is not None:
        return signs
    if before in _BEFORE and tokens.kinds[at - 1] == "name":
        return Habit(before, tokens.span(at - 1), _BEFORE[before])
    if kind == "{" and before == ")":
        word = _callee(tokens, at - 2)
        if word is not None and tokens.text(word) in _FUNCTIONS:
            help = "a function is written `fn (x) { … }`"
            return Habit(tokens.text(word), tokens.span(word), help)
    match kind:
        case "name" if before and text in _BETWEEN:
            return Habit(text, tokens.span(at), _is_none(tokens, at) or _BETWEEN[text])
        case "if" if before:
            return Habit("a if c else b", tokens.span(at), CHOICE)
        case "None":
            known = _NONE.get(before)
            return None if known is None else Habit(text, tokens.span(at), known)
        case "runtime":
            return Habit("c ? a : b", tokens.span(at), CHOICE)
        case "->":
            return Habit("->", tokens.span(at), "a function is written `fn (x) : TYPE { … }`")
        case ":" if not helped and _is_typed(tokens, at):
            help = "a type is given to a parameter: `fn (x : f32 [n]) { … }`"
            return Habit(":", tokens.span(at), help)
        case "@" if at in tokens.fresh:
            return Habit("@", tokens.span(at), "there are no decorators: leave it out")
        case _:
            return None


def _is_typed(tokens: Tokens, at: int) -> bool:
    """`x : f32`, on one line."""
    names = tokens.kinds[at - 1] == "name" and tokens.kinds[at + 1] == "name"
    return names and at + 1 not in tokens.fresh


def _is_none(tokens: Tokens, at: int) -> str | None:
    if tokens.text(at) != "is":
        return None
    following = tokens.kinds[at + 1 : at + 3]
    return _NONE["is"] if following[:1] == ["None"] or following == ["not", "None"] else None


def _signs(tokens: Tokens, at: int, before: str, after: str) -> Habit | None:
    """Two signs that make one elsewhere; `at` is the first or the second."""
    kind = tokens.kinds[at]
    touches = tokens.starts[at + 1] == tokens.ends[at]
    two = kind + after if touches else kind
    if two in _SIGNS:
        end = at + (len(two) > len(kind))
        return Habit(two, tokens.span(at).to(tokens.span(end)), _SIGNS[two])
    if kind in _SIGNS:
        return Habit(kind, tokens.span(at), _SIGNS[kind])
    if not at or tokens.starts[at] != tokens.ends[at - 1]:
        return None
    whole = tokens.span(at - 1).to(tokens.span(at))
    if kind == "=" and before in INFIX_LEVEL:
        help = f"a name keeps its value: write `y = x {before} …;`"
        return Habit(before + kind, whole, help)
    if before + kind == "++":
        return Habit("++", whole, _SIGNS["++"])
    return None


_FAR = 200
"""How many tokens are looked at for the name of a function before its arguments."""


def _callee(tokens: Tokens, at: int) -> int | None:
    """The name before the bracket that is open where a token stands."""
    depth = 0
    for each in range(at, max(at - _FAR, 0), -1):
        kind = tokens.kinds[each]
        if kind in OPENER:
            depth += 1
        elif kind in CLOSER and depth:
            depth -= 1
        elif kind in CLOSER:
            named = kind == "(" and tokens.kinds[each - 1] in ("name", "field")
            return each - 1 if named else None
    return None


def string_help(tokens: Tokens, at: int) -> str:
    """What a string in a subscript or a call stands for in other languages."""
    text = tokens.text(at)
    if at > 1 and tokens.kinds[at - 1] == "[" and tokens.kinds[at + 1] == "]":
        return f"a field is written with a point: `p.{shorten(unquote(text))}`"
    name = _callee(tokens, at - 1)
    match tokens.text(name).removeprefix(".") if name is not None else "":
        case "einsum" if tokens.kinds[at - 1] == "(":
            return f"the tensors come first: `einsum(x, y, equation={shorten(text)})`"
        case "einsum":
            return f"write `equation={shorten(text)}`"
        case "float" if (value := unquote(text)) in INFINITIES:
            return f"infinity is a number: write `{INFINITIES[value]}`"
        case "rearrange":
            return "`reshape(x, [n * m])` and `transpose(x, perm=[1, 0])` move what a pattern moves"
        case "to" | "astype" | "type" | "cast":
            return "a tensor of another element type is `cast(x, to=f32)`"
        case _:
            return 'as in `f(x, mode="same")`'
