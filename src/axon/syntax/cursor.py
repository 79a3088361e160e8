"""A position in the tokens, and error recovery.

Every mistake goes through `report`, which reports it once, and then `skip`, which moves to where
the innermost list, header or statement can go on. Until that construct takes over again (`stuck`),
nothing more is reported: one mistake, one message. No exception is involved, so whatever was read
before the mistake stays in the tree.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from axon.diagnostics.value import Diagnostic, Label, Severity, error
from axon.source import Source, Span
from axon.syntax.brackets import balance
from axon.syntax.lexer import lex
from axon.syntax.problems import Problems
from axon.syntax.tokens import CLOSER, OPENER, RESERVED, WORDS, Tokens

if TYPE_CHECKING:
    from axon.syntax.habits import Habit

RESERVED_WORD = "a reserved word"
"""The label of the mistake that a file has once for each such word."""
MAX_DEPTH = 100
MAX_DIGITS = 4000

LIST, HEADER, STATEMENT = "list", "header", "statement"


@dataclass(slots=True)
class Cursor:
    """The state of a parse. `inside` is the innermost construct, `depth` how deep it lies. After a
    habit of another language it is `quiet` to the end of the definition.
    """

    source: Source
    tokens: Tokens
    kinds: list[str]
    starts: array[int]
    ends: array[int]
    kind: str
    at: int = 0
    depth: int = 0
    inside: str = STATEMENT
    stuck: bool = False
    too_deep_reported: bool = False
    curried: bool = False
    strings_allowed: bool = False
    unclosed_reported: int = -1
    failures: int = 0
    skips: int = 0
    quiet: bool = False
    misnamed: set[str] = field(default_factory=set)
    unreadable: Problems = field(default_factory=Problems)
    problems: Problems = field(default_factory=Problems)

    # --- reading ---

    def advance(self) -> None:
        self.at = at = self.at + 1
        self.kind = self.kinds[at]

    def text(self) -> str:
        at = self.at
        return self.source.text[self.starts[at] : self.ends[at]]

    def is_word(self, word: str) -> bool:
        return self.kind == "name" and self.text() == word

    def next_kind(self) -> str:
        return self.kinds[self.at + 1] if self.kind != "eof" else "eof"

    def touches(self) -> bool:
        """Does the next token follow the last one without a space?"""
        return self.starts[self.at] == self.ends[self.at - 1]

    def here(self) -> Span:
        """The token that comes next."""
        return Span(self.source, self.starts[self.at], self.ends[self.at])

    def since(self, start: int) -> Span:
        """From the token with index `start` to the last one read."""
        begin = self.starts[start]
        end = self.ends[self.at - 1] if self.at > start else begin
        return Span(self.source, begin, end)

    def begins_definition(self) -> bool:
        """Does a line begin here with `NAME =`? Then no expression or type goes on across it."""
        return (
            self.kind == "name" and self.kinds[self.at + 1] == "=" and self.at in self.tokens.fresh
        )

    # --- expecting ---

    def expect(self, kind: str, where: str, help: str | None = None) -> bool:
        """Step over a sign, or report that it is missing."""
        if self.kind == kind and not self.stuck:
            self.advance()
            return True
        self.fail(f"expected `{kind}` {where}", help)
        return False

    def name(self, what: str) -> tuple[str, Span] | None:
        """Step over a plain name, or report that one is missing."""
        reserved = self.kind in WORDS
        if (reserved or self.kind == "name") and not self.stuck:
            found = self.text(), self.here()
            if reserved:
                self._report_reserved()
            self.advance()
            return found
        self.fail(f"expected {what}")
        return None

    def field_name(self) -> tuple[str, Span] | None:
        """Step over the name of a field, which may be a word of the language."""
        if self.text() in RESERVED and self.kinds[self.at + 1] in ("=", ":") and not self.stuck:
            found = self.text(), self.here()
            self.advance()
            return found
        return self.name("the name of a field")

    def close(self) -> None:
        """Step over the closer of the innermost bracket; one that was inserted is reported."""
        if self.at in self.tokens.virtual:
            self._report_unclosed()
        self.stuck = False
        self.advance()

    def next_item(self, closer: str) -> bool:
        """After an item of a list: is there another? Gets the list unstuck; stops at the closer."""
        self.drop_strays()
        if self.kind not in (",", closer):
            help = "items are separated by `,`" if self.kind == ";" else None
            self.fail(f"expected `,` or `{closer}`", help)
        self.stuck = False
        if self.kind == ",":
            self.advance()
        return self.kind != closer

    def drop_strays(self) -> None:
        """Report and pass closers that close nothing. After another mistake on its line a closer is
        likely part of that.
        """
        while self.kind == "stray":
            line = self.source.text.rfind("\n", 0, self.starts[self.at])
            if self.problems.latest <= line:
                self.report("")
            self.failures += 1
            self.advance()

    def closing(self) -> int:
        """The index of the bracket that closes the one at the cursor."""
        depth, at = 0, self.at
        while True:
            depth += (self.kinds[at] in CLOSER) - (self.kinds[at] in OPENER)
            if depth <= 0 or self.kinds[at] == "eof":
                return at
            at += 1

    # --- reporting ---

    def fail(self, message: str, help: str | None = None, code: str = "AX002") -> None:
        """Report what was expected here, and get out of it."""
        self.report(message, help, code)
        self.skip()

    def report(self, message: str, help: str | None = None, code: str = "AX002") -> None:
        """Report what was expected and what was found, unless this mistake was reported already."""
        if self.stuck or self.kind == "bad":
            return
        if self.at in self.tokens.virtual:
            self._report_unclosed()
        elif self.kind == "stray":
            sign = self.text()
            message = f"this `{sign}` closes nothing"
            self.add(error(code, message, self.here(), f"there is no `{OPENER[sign]}` for it"))
        elif code == "AX002" and (habit := self.habit(bool(help))) is not None:
            self.add_habit(habit)
        else:
            found = self.tokens.describe(self.at)
            self.add(error(code, f"{message}, found {found}", self.here(), message, help))

    def add(self, problem: Diagnostic) -> None:
        self.failures += 1
        if not self.stuck and not self.quiet:
            self.problems.add(problem)

    def habit(self, helped: bool = False) -> Habit | None:
        """What is written as in another language here, at a mistake; `helped` if it has a help."""
        from axon.syntax.habits import habit_at  # only for a message

        return habit_at(self.tokens, self.at, helped)

    def add_habit(self, habit: Habit) -> None:
        """Report what is written as in another language; what follows from it is not reported."""
        from axon.syntax.habits import HAS_ANOTHER_USE

        message = f"there is no `{habit.text}` in Axon"
        if habit.text in HAS_ANOTHER_USE:
            message = f"`{habit.text}` is not used like this in Axon"
        self.add(error("AX007", message, habit.span, "from another language", habit.help))
        self.quiet = True

    def _report_reserved(self) -> None:
        """A reserved word as a name: reported once, then taken for one."""
        if self.kind not in self.misnamed:
            self.misnamed.add(self.kind)
            message = f"`{self.kind}` is a word of the language, so nothing can be called that"
            help = f"another name will do: `{self.kind.lower()}_`"
            self.add(error("AX002", message, self.here(), RESERVED_WORD, help))

    def missing_semicolon(self, help: str | None = None) -> None:
        """Report it at the end of the line where it belongs, not at what comes next."""
        end = self.ends[self.at - 1]
        place = Span(self.source, end, end)
        found = self.tokens.describe(self.at)
        message = f"expected `;` at the end of a definition, found {found}"
        self.add(error("AX002", message, place, "`;` is missing here", help))

    def _report_unclosed(self) -> None:
        """A bracket without an end, reported once for all that end at the same place.

        A mistake inside round or square brackets is likely the reason why they seem to have none.
        """
        place = self.starts[self.at]
        if self.kind == ";" or place == self.unclosed_reported:
            return
        self.unclosed_reported = place
        start = self.tokens.virtual[self.at]
        if self.kind != "}" and self.problems.latest > start:
            return
        opener = Span(self.source, start, start + 1)
        labels = (
            Label(opener, "it opens here", primary=True),
            Label(Span(self.source, place, place), f"`{self.kind}` is missing, at the latest here"),
        )
        message = f"expected `{self.kind}`: this `{OPENER[self.kind]}` is not closed"
        self.add(Diagnostic("AX002", Severity.ERROR, message, labels))

    # --- getting unstuck ---

    def skip(self) -> None:
        """Pass over tokens, whole brackets at a time, to where the innermost construct goes on."""
        kinds, fresh, inside = self.kinds, self.tokens.fresh, self.inside
        at = self.at
        depth = 0
        while (kind := kinds[at]) != "eof":
            if kind in CLOSER:
                if kind == "{" and inside == HEADER and depth == 0:
                    break
                depth += 1
            elif kind in OPENER:
                if depth == 0:
                    break
                depth -= 1
            elif depth == 0:
                if kind == "," and inside != HEADER:
                    break
                if kind == ";" and inside != LIST:
                    break
                if inside == STATEMENT and at in fresh and self.tokens.is_anchor(at):
                    break
            at += 1
        self.at = at
        self.kind = kinds[at]
        self.stuck = True
        self.failures += 1
        self.skips += 1

    def too_deep(self) -> Span:
        """Report, once for each definition, that the nesting is too deep; pass what is nested."""
        start = self.at
        self.report_too_deep()
        if self.kind in CLOSER:
            depth = 0
            while True:
                if self.kind in CLOSER:
                    depth += 1
                elif self.kind in OPENER:
                    depth -= 1
                self.at += 1
                self.kind = self.kinds[self.at]
                if depth == 0:
                    break
        else:
            inside = self.inside
            if self.kind == "if":  # its blocks are nested too
                self.inside = STATEMENT
            self.skip()
            self.inside = inside
        return self.since(start)

    def report_too_deep(self) -> None:
        if not self.too_deep_reported:
            self.too_deep_reported = True
            problem = error(
                "AX003",
                f"this is nested deeper than {MAX_DEPTH} levels",
                self.here(),
                "too deep from here on",
                "give inner parts a name of their own",
            )
            self.add(problem)

    def too_large(self, span: Span, help: str | None = None) -> None:
        self.add(error("AX006", "this number is too large", span, "too large", help))


def open_source(source: Source) -> Cursor:
    """A cursor at the first token of a source."""
    tokens, problems = lex(source)
    tokens = balance(tokens)
    kinds = tokens.kinds
    return Cursor(source, tokens, kinds, tokens.starts, tokens.ends, kinds[0], unreadable=problems)
