"""What the queries of an editor answer with. Places are offsets in characters of a file's text."""

from __future__ import annotations

from dataclasses import dataclass

from axon.source import Span


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Characters `start` up to `end` of a file, by its name."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Edit:
    """A new text for a place."""

    place: Place
    text: str


@dataclass(frozen=True, slots=True)
class Hover:
    """What is under the cursor: a signature or a type as Axon writes it, then text in Markdown."""

    place: Place
    code: str
    text: str = ""

    @property
    def markdown(self) -> str:
        code = f"```axon\n{self.code}\n```" if self.code else ""
        return "\n\n".join(part for part in (code, self.text) if part)


@dataclass(frozen=True, slots=True)
class Hint:
    """A type that is not written in the text, at the offset where it could stand: after the name
    of a `binding` or a `parameter`, or after the parameters of a function, as its `result`. `full`
    is the type without abbreviation.
    """

    at: int
    text: str
    kind: str
    name: str
    full: str


@dataclass(frozen=True, slots=True)
class Completion:
    """A name that may stand at the cursor instead of the text of `place`. The kind is `variable`,
    `parameter`, `function`, `operator`, `attribute`, `field`, `size`, `type`, `module` or
    `keyword`. `insert` is the text to write.
    """

    label: str
    kind: str
    place: Place
    detail: str = ""
    insert: str = ""
    rank: int = 0
    """Names with a lower rank come first."""


@dataclass(frozen=True, slots=True)
class SignatureHelp:
    """The call around the cursor: its signature, its parameters as they stand in that (ranges of
    its text), and which of them is written now.
    """

    label: str
    parameters: tuple[tuple[int, int], ...]
    active: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition: `kind` is `function`, `value`, `operator`, `type`, `import` or `local`."""

    name: str
    kind: str
    detail: str
    place: Place
    whole: Place
    children: tuple[Symbol, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to a question, and the places it follows from, each with a word about it."""

    text: str
    places: tuple[tuple[Place, str], ...]


@dataclass(frozen=True, slots=True)
class Action:
    """Something that can be done here: edits, or a question to ask about the name at a place.
    `kind` is `quickfix`, `refactor` or `question`.
    """

    title: str
    kind: str
    edits: tuple[Edit, ...] = ()
    question: str = ""
    at: int = 0
    fixes: str = ""
    """The code of the diagnostic that it mends."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something is not done: a sentence."""

    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text that has a meaning: one of `TOKEN_KINDS`."""

    start: int
    end: int
    kind: str
    declaration: bool = False


TOKEN_KINDS = (
    "keyword", "number", "string", "comment", "operator", "function", "parameter", "variable",
    "property", "type", "typeParameter", "namespace",
)  # fmt: skip


def range_of(span: Span, start: int) -> tuple[int, int]:
    return span.start + start, span.end + start
