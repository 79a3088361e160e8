"""Comments as other languages write them: `// …`, `/* … */`, `-- …` and docstrings.

`//` is also a quotient and `--` two signs. `//` begins a comment where no operand is before it, or
where two words follow that nothing connects: no expression has those.
"""

from __future__ import annotations

import re
from itertools import pairwise

from axon.diagnostics.value import Diagnostic, Label, Severity
from axon.source import Source, Span

_PIECE = re.compile(
    r"""
      (?P<doc>    \"\"\"(?:(?!\"\"\").)*+\"\"\" )
    | (?P<string> "[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"? )
    | (?P<hash>   \#[^\n]*+ )
    | (?P<block>  /\*(?:(?!\*/).)*+\*/ | /\*[^\n]*+ )
    | (?P<line>   (?://|--)[^\n]*+ )
    | (?P<other>  [^\s"\#/-]++ | [/-] )
    """,
    re.VERBOSE | re.DOTALL,
)

_NAME = re.compile(r"[A-Za-z_][\w']*")
_SEGMENT = re.compile(r"[^#:;,\[\](){}\"]*")
_CONNECTS = frozenset(
    {"and", "or", "not", "if", "else", "fn", "where", "mod", "op", "as", "type", "import"}
)
_BEFORE_OPERAND = frozenset(";{(,[=+-*/@<>|:%")


def without_foreign_comments(source: Source) -> tuple[str, Diagnostic | None]:
    """The text with blanks instead of such comments, and a message about the first."""
    text = source.text
    found: list[tuple[int, int]] = []
    before, at = "", 0
    while (match := _PIECE.search(text, at)) is not None:
        start, at = match.span()
        kind = match.lastgroup
        if kind in ("doc", "block") or (kind == "line" and _is_comment(match.group(), before)):
            found.append((start, at))
        elif kind == "line":
            at, before = start + 2, "/"
        elif kind != "hash":
            before = text[at - 1]
    if not found:
        return text, None
    parts: list[str] = []
    end = 0
    for start, stop in found:
        parts += (text[end:start], re.sub(r"[^\n]", " ", text[start:stop]))
        end = stop
    return "".join((*parts, text[end:])), _problem(source, found)


def _is_comment(line: str, before: str) -> bool:
    rest = line[2:]
    if line.startswith("//") and (not before or before in _BEFORE_OPERAND):
        return not rest.lstrip().startswith((",", ")"))
    segment = _SEGMENT.match(rest)
    words = segment.group().split() if segment else []
    plain = [bool(_NAME.fullmatch(word)) and word not in _CONNECTS for word in words]
    return any(a and b for a, b in pairwise(plain))


def _problem(source: Source, found: list[tuple[int, int]]) -> Diagnostic:
    start, stop = found[0]
    stop = min(stop, source.text.find("\n", start) % (len(source.text) + 1))
    sign = source.text[start : start + (3 if source.text[start] == '"' else 2)]
    more = len(found) - 1
    return Diagnostic(
        "AX001",
        Severity.ERROR,
        f"a comment begins with `#`, not with `{sign}`",
        (Label(Span(source, start, stop), "taken for a comment", primary=True),),
        (f"{more} more comment{'s' if more > 1 else ''} like this",) if more else (),
        ("write `# …`; a comment ends with its line",),
    )
