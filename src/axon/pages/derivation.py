"""The derivations of a page, as JSON: what there is to step through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from axon.diagnostics import Diagnostic
from axon.driver import Checked
from axon.explain import origin_text
from axon.inference.program import Definition, Failed
from axon.inference.report.signature import describe_definition
from axon.pages.embedding import Json, cleaned, embedded
from axon.solver.constraints import Constraint, Origin
from axon.solver.trace import LAWS, Derivation, Fact, Step, derive
from axon.source import Source, Span
from axon.syntax.lexer import lex
from axon.syntax.tokens import ELEMENT_TYPES, RESERVED, Tokens
from axon.types.variables import Var

# A page is smaller than 5 MB whatever the program: what does not fit is left out, with a note.
MOST_BYTES = 4_500_000
MOST_SOURCE = 200_000
MOST_STEPS = 2_000
MOST_LINES = 60_000
MOST_TEXT = 400
MOST_TOKENS = 60_000


# --- the whole page ---------------------------------------------------------------------------


def page_model(
    checked: Checked, name: str | None = None, paper: bool = False, room: int | None = None
) -> Json:
    """What the page shows, as JSON; `name` picks one definition (the last of that name)."""
    source = checked.program.source
    places = Places(source)
    chosen: list[Definition | Failed] = sorted(
        (*checked.inferred.definitions, *checked.inferred.failed), key=lambda d: d.span.start
    )
    if name is not None:
        chosen = [d for d in chosen if d.name == name][-1:]
    shown, cut = _source_model(source)
    notes: list[str] = []
    if cut:
        notes.append(f"Only the first {len(shown['lines'])} lines of the program are shown.")
    problems = [_problem(d, places) for d in checked.diagnostics]
    bytes_left = (MOST_BYTES if room is None else room) - len(
        embedded({"": [shown, problems, places.table]})
    )
    lines = MOST_LINES
    definitions: list[Json] = []
    for definition in chosen:
        derivation = derive(definition.constraints, paper, lines > 0, lines)
        lines -= sum(len(step.facts) for step in derivation.steps)
        model, size = _fitting(definition, derivation, paper, places, bytes_left)
        if model is None:
            left = len(chosen) - len(definitions)
            one = "definition is" if left == 1 else "definitions are"
            notes.append(f"{left} more {one} left out for size; ask for one by its name.")
            break
        own = [i for i, d in enumerate(checked.diagnostics) if _is_inside(d, definition)]
        definitions.append({**model, "problems": own})
        bytes_left -= size
    return {
        "file": cleaned(source.name),
        "source": shown,
        "laws": LAWS,
        "places": places.table,
        "origins": places.origins,
        "problems": problems,
        "definitions": definitions,
        "notes": notes,
    }


def _fitting(
    definition: Definition | Failed,
    derivation: Derivation,
    paper: bool,
    places: Places,
    bytes_left: int,
) -> tuple[Json | None, int]:
    """The definition with as much as fits: all, no sets, no steps, or no constraints either."""
    asked, total = len(derivation.constraints), len(derivation.steps)
    for sets, steps, listed in (
        (True, MOST_STEPS, True),
        (False, MOST_STEPS, True),
        (False, 0, True),
        (False, 0, False),
    ):
        mark = places.mark()
        part = derivation if listed else _bare(definition, derivation)
        model = _definition_model(definition, part, paper, places, sets, steps)
        model |= {"asked": asked, "total": total}
        size = len(embedded(model)) + places.size_since(mark)
        if size <= bytes_left:
            return model, size
        places.back_to(mark)
    return None, 0


def _bare(definition: Definition | Failed, derivation: Derivation) -> Derivation:
    """Only what a signature calls its variables."""
    named: set[Var] = set()
    if isinstance(definition, Definition):
        named = set(describe_definition(definition).variables.values())
    names = {var: name for var, name in derivation.names.items() if var in named}
    return Derivation((), (), None, (), (), "", (), (), names, 0)


def _is_inside(diagnostic: Diagnostic, definition: Definition | Failed) -> bool:
    span = diagnostic.span
    if span is None or not isinstance(definition, Failed):
        return False
    whole = definition.whole
    return span.source is whole.source and span.start <= whole.end and whole.start <= span.end


# --- places -----------------------------------------------------------------------------------


class Places:
    """Places and origins, each written once: what refers to one holds its index."""

    def __init__(self, source: Source, table: list[list[int]] | None = None) -> None:
        self.table: list[list[int]] = [] if table is None else table
        self.origins: list[Json] = []
        self._source = source
        self._places: dict[tuple[int, int], int] = {}
        self._origins: dict[int, tuple[int, Origin]] = {}

    def place(self, span: Span | None) -> int | None:
        """From line and column to line and column, if it is in the program that is shown."""
        if span is None or span.source is not self._source:
            return None
        key = (span.start, span.end)
        if key not in self._places:
            self._places[key] = len(self.table)
            (first, from_), (last, to) = (self._source.position(at) for at in key)
            self.table.append([first, from_ - 1, last, to - 1])
        return self._places[key]

    def origin(self, constraint: Constraint) -> int | None:
        origin = constraint.origin
        if origin.span is None:
            return None
        if id(origin) not in self._origins:
            self._origins[id(origin)] = len(self.origins), origin  # which keeps its id taken
            text = _clip(origin_text(origin))
            self.origins.append({"text": text, "place": self.place(origin.span)})
        return self._origins[id(origin)][0]

    def all(self, constraints: Iterable[Constraint]) -> list[int]:
        found = dict.fromkeys(self.origin(c) for c in constraints)
        return [origin for origin in found if origin is not None]

    # what did not fit is taken back

    def mark(self) -> tuple[int, int]:
        return len(self.table), len(self.origins)

    def size_since(self, mark: tuple[int, int]) -> int:
        return len(embedded({"": [*self.table[mark[0] :], *self.origins[mark[1] :]]}))

    def back_to(self, mark: tuple[int, int]) -> None:
        del self.table[mark[0] :], self.origins[mark[1] :]
        self._places = {k: i for k, i in self._places.items() if i < mark[0]}
        self._origins = {k: (i, o) for k, (i, o) in self._origins.items() if i < mark[1]}


def _problem(diagnostic: Diagnostic, places: Places) -> Json:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": _clip(diagnostic.message),
        "labels": [
            {"text": _clip(label.text), "place": places.place(label.span)}
            for label in diagnostic.labels
        ],
        "more": [*map(_clip, diagnostic.notes), *(f"help: {_clip(h)}" for h in diagnostic.help)],
    }


def _clip(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 1]}…"


# --- one definition ---------------------------------------------------------------------------


def _definition_model(
    definition: Definition | Failed,
    derivation: Derivation,
    paper: bool,
    places: Places,
    sets: bool,
    most_steps: int,
) -> Json:
    texts = _Texts()
    keys = {constraint: fact.key for (_, constraint), fact in _pairs(derivation)}
    steps = derivation.steps[:most_steps]
    with_sets = min(len(steps), derivation.sets) if sets else 0
    conflict: Json | None = None
    if derivation.conflict is not None:
        conflict = {
            "clash": texts(derivation.clash),
            "core": places.all(derivation.core),
            "keys": [keys[c] for c in derivation.core if c in keys],
        }
    before: dict[int, tuple[bool, str]] = {f.key: (False, f.text) for f in derivation.start}
    shown: list[Json] = []
    for number, step in enumerate(steps):
        model = _step_model(step, texts, places, keys)
        if number < with_sets:
            after = _as_set(step.facts)
            model["gone"] = [key for key in before if key not in after]
            model["set"] = [
                [key, int(known), texts(text)]
                for key, (known, text) in after.items()
                if before.get(key) != (known, text)
            ]
            before = after
        shown.append(model)
    signature, free = _signature(definition, derivation, paper)
    return {
        "name": _clip(definition.name),
        "at": definition.span.start,
        "place": places.place(definition.span),
        "ok": isinstance(definition, Definition),
        **signature,
        "free": free,
        "names": sorted(derivation.names.values()),
        "written": _written(definition, derivation, places),
        "given": [[texts(text), places.origin(c)] for text, c in derivation.given],
        "constraints": [
            [fact.key, texts(text), places.origin(c)] for (text, c), fact in _pairs(derivation)
        ],
        "steps": shown,
        "conflict": conflict,
        "solved": {
            found.name: {
                "value": texts(found.value),
                "final": texts(found.final),
                "step": found.step,
                "shown": found.shown,
                "rule": found.rule,
                "from": places.all((_root(found.by),)),
            }
            for found in derivation.solved
            if found.step <= len(steps)
        },
        "sets": with_sets,
        "texts": texts.table,
    }


def _pairs(derivation: Derivation) -> list[tuple[tuple[str, Constraint], Fact]]:
    return list(zip(derivation.constraints, derivation.start, strict=True))


def _step_model(step: Step, texts: _Texts, places: Places, keys: dict[Constraint, int]) -> Json:
    return {
        "rule": step.rule,
        "about": texts(step.about),
        "from": places.all(step.roots),
        "keys": [keys[root] for root in step.roots if root in keys],
        "subject": step.subject,
    }


def _as_set(facts: Sequence[Fact]) -> dict[int, tuple[bool, str]]:
    """The lines by key: what is known, then what is open, the oldest first; none twice."""
    known = [f for f in facts if f.known]
    still = sorted((f for f in facts if not f.known), key=lambda f: f.key)
    lines: dict[str, Fact] = {}
    for fact in (*known, *still):
        lines.setdefault(fact.text, fact)
    return {fact.key: (fact.known, fact.text) for fact in lines.values()}


class _Texts:
    """Lines, each written once."""

    def __init__(self) -> None:
        self.table: list[str] = []
        self._index: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        text = _clip(text)
        at = self._index.setdefault(text, len(self.table))
        if at == len(self.table):
            self.table.append(text)
        return at


def _signature(
    definition: Definition | Failed, derivation: Derivation, paper: bool
) -> tuple[Json, Json]:
    """The signature, and what its variables are called in the derivation, which has more of them
    to name.
    """
    if isinstance(definition, Failed):
        return {"signature": "", "where": [], "guards": []}, {}
    found = describe_definition(definition, paper)
    free = {name: derivation.names.get(var) for name, var in found.variables.items()}
    return {
        "signature": found.signature if len(found.signature) <= 4_000 else _clip(found.signature),
        "where": [_clip(text) for text in found.where],
        "guards": [_clip(text) for text in found.guards],
    }, free


def _written(
    definition: Definition | Failed, derivation: Derivation, places: Places
) -> list[tuple[int, str]]:
    """Where the program itself first writes a name that the derivation uses."""
    found: list[tuple[int, str]] = []
    for name, var in definition.names.index.items():
        place = places.place(definition.names.places.get(name))
        shown = derivation.names.get(var)
        if place is not None and shown is not None:
            found.append((place, shown))
    return found


def _root(constraint: Constraint) -> Constraint:
    while constraint.parents:
        constraint = constraint.parents[0]
    return constraint


# --- the source -------------------------------------------------------------------------------


def _source_model(source: Source) -> tuple[Json, bool]:
    """The lines, and on each the tokens to colour: column, length, class."""
    text = source.text[:MOST_SOURCE]
    part = Source(source.name, text)
    tokens, _ = lex(part)
    count = text.count("\n") + (not text.endswith("\n"))
    lines = [part.line(number) for number in range(1, count + 1)]
    marks: dict[int, list[list[int | str]]] = {}
    coloured = [(c.start, c.end, "comment") for c in tokens.comments]
    coloured += [
        (tokens.starts[at], tokens.ends[at], kind)
        for at in range(len(tokens.kinds) - 1)
        if (kind := _class(tokens, at))
    ]
    for start, end, kind in sorted(coloured)[:MOST_TOKENS]:
        line, column = part.position(start)
        marks.setdefault(line, []).append([column - 1, end - start, kind])
    return {"lines": lines, "tokens": marks}, len(text) < len(source.text)


def _class(tokens: Tokens, at: int) -> str:
    kind = tokens.kinds[at]
    if kind in RESERVED:
        return "word"
    if kind in ("int", "float"):
        return "number"
    if kind in ("string", "runtime"):
        return kind
    if kind not in ("name", "dotted"):
        return ""
    text = tokens.text(at)
    if text in ELEMENT_TYPES:
        return "type"
    if tokens.is_anchor(at):
        return "word" if tokens.kinds[at + 1] in ("name", "string") else "defined"
    return "call" if tokens.kinds[at + 1] == "(" else ""
