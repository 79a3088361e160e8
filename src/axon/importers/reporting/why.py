"""Why a size of a model's tensor is what it is: the operations that ask for it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from axon.importers.imported import Imported
from axon.importers.operations import Operation
from axon.importers.reporting.problems import operation_at
from axon.inference.generalise.schemes import resolved, visible
from axon.inference.report.clash import item_at
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import behind, sufficient
from axon.solver.store import Store
from axon.source import Span
from axon.types.show import Names, Show
from axon.types.type import DimEq, Relation, Shape, ShapeEq, Tensor, Type, relation_variables
from axon.types.variables import DimVar, ElemVar, ShapeVar, given_at

ANY = "any size"
MOST_LINES = 12


class Because(NamedTuple):
    """A line that asks for a size, and which operation there does."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Reasons:
    """What a size is, under which conditions, and why; `note` is what else there is to say."""

    subject: str
    value: str
    because: tuple[Because, ...]
    conditions: tuple[str, ...] = ()
    note: str = ""
    asks: bool = True
    """Whether these lines ask for the size, rather than make it."""


class NoSuchSize(Exception):
    """A question about something that the model does not have; the sentence says so."""


@dataclass(frozen=True, slots=True)
class Question:
    """`x[1]`, or `x`: all of its sizes."""

    name: str
    index: int | None
    called: str
    """The tensor as it was asked for: `result` may be its name."""

    def places(self, rank: int) -> list[int]:
        if self.index is None:
            return list(range(rank))
        if not -rank <= self.index < rank:
            many = "1 dimension" if rank == 1 else f"{rank} dimensions"
            raise NoSuchSize(f"`{self.name}` has {many}")
        return [self.index % rank]


def question_of(text: str, known: Iterable[str], outputs: tuple[str, ...]) -> Question:
    """What is asked for, if the model has it: `result` is its output, if it has one."""
    match = re.fullmatch(r"\s*(.+?)\s*(?:\[\s*(-?\d{1,6})\s*\])?\s*", text, re.DOTALL)
    name = match[1] if match is not None else ""
    index = int(match[2]) if match is not None and match[2] is not None else None
    names, called = set(known), name
    if name == "result" and name not in names and len(outputs) == 1:
        name = outputs[0]
    if name not in names:
        several = f"; its results are {', '.join(outputs)}" if name == "result" else ""
        raise NoSuchSize(f"the model has no tensor `{name[:80]}`{several}")
    return Question(name, index, called)


def opened(imported: Imported) -> dict[str, Type]:
    """The inputs with their sizes forgotten, where the ranks are known: `x[0]` is a variable of
    that name.
    """
    found: dict[str, Type] = {}
    for declared in imported.model.graph.inputs:
        given = imported.given.get(declared.name)
        if not isinstance(given, Tensor) or any(isinstance(n, ShapeVar) for n in given.shape):
            continue
        sizes = [
            DimVar(f"{declared.name}[{i}]", 1, user=True, scope=given_at(1))
            for i in range(len(given.shape))
        ]
        elem = given.elem if isinstance(given.elem, str) else ElemVar("", 1)
        found[declared.name] = Tensor(elem, tuple(sizes))
    return found


def reasons(imported: Imported, question: Question, said: dict[str, Type]) -> list[Reasons]:
    """The answers about a tensor of a model that was inferred with reasons; `said` are the inputs
    whose sizes were forgotten for that.
    """
    raw = imported.importer.state.prune(imported.importer.types[question.name])
    shape = imported.importer.shape(question.name)
    if not isinstance(raw, Tensor) or shape is None:
        raise NoSuchSize(f"the rank of `{question.name}` is not known")
    names = imported.names()
    for type_ in said.values():
        for var in type_.shape if isinstance(type_, Tensor) else ():
            if isinstance(var, DimVar):
                names.given[var] = var.name
    return [_reason(imported, question, raw.shape, i, names) for i in question.places(len(shape))]


def _reason(
    imported: Imported, question: Question, shape: Shape, index: int, names: Names
) -> Reasons:
    store, show, name = imported.importer.state.store, Show(names), question.name
    value = item_at(store.word(shape), index)
    assert value is not None

    def read(alone: Store) -> Shape:
        found = item_at(alone.word(shape), index)
        return () if found is None else (found,)

    own = item_at(shape, index)
    asked: Relation = ShapeEq(shape, shape) if own is None else DimEq(own, value)
    found = _behind(store, asked)
    core = sufficient(found, read, (value,)) or found
    subject = f"{question.called}[{index}]"
    if isinstance(value, DimVar) and value is own and name in imported.inputs:
        waiting = _conditions(imported, value)
        because = [c for relation in waiting for c in _behind(store, relation)]
        texts = tuple(show.relation(relation) for relation in waiting)
        return Reasons(subject, ANY, _lines(imported, because), texts)
    asks = name in imported.inputs
    lines = _lines(imported, core) or _made(imported, name)
    return Reasons(subject, show.dim(value), lines, asks=asks)


def _behind(store: Store, relation: Relation) -> list[Constraint]:
    asked = Constraint(relation, NOWHERE)
    return [c for c in behind(store, asked, store.clock + 1) if c is not asked]


def _conditions(imported: Imported, var: DimVar) -> list[Relation]:
    """What is left to be checked of a size."""
    state = imported.importer.state
    found = dict.fromkeys(resolved(state, each.relation) for each in state.store.waiting)
    return [each for each in visible(found) if var in relation_variables(each)]


# --- the lines ---


def _lines(imported: Imported, constraints: Iterable[Constraint]) -> tuple[Because, ...]:
    """The operations that constraints come from, each once, in the order of the model."""
    order = {id(each): at for at, each in enumerate(imported.model.graph.operations)}
    found: dict[int, Because] = {}
    for constraint in constraints:
        span = constraint.origin.span
        operation = operation_at(span)
        if operation is not None and span is not None:
            at = order.get(id(operation), len(order))
            found.setdefault(at, because(operation, span))
    return tuple(dict.fromkeys(found[at] for at in sorted(found)))


def _made(imported: Imported, name: str) -> tuple[Because, ...]:
    """The operation that makes a tensor."""
    for at, operation in enumerate(imported.model.graph.operations):
        if name in operation.outputs:
            return (because(operation, imported.importer.line(at)),)
    return ()


def because(operation: Operation, span: Span) -> Because:
    return Because(span.source.name, span.line, span.text, reason(operation))


def reason(operation: Operation) -> str:
    """`view` of `net.head`."""
    module = operation.place.module if operation.place is not None else ""
    return f"`{operation.operator}` of `{module}`" if module else f"`{operation.operator}`"


def lines_of(answer: Reasons) -> Iterator[str]:
    """An answer as text."""
    head, conditions = f"{answer.subject} is {answer.value}", ", ".join(answer.conditions)
    if answer.because and answer.asks:
        first = answer.because[0]
        operator = first.reason.partition(" of ")[0]
        head += f": {operator} at {_short(first)} asks for {conditions or 'that'}"
    elif conditions:
        head += f" where {conditions}"
    yield head
    lines = answer.because[:MOST_LINES]
    width = max((len(_shown(each)) for each in lines), default=0)
    for each in lines:
        yield f"  {_shown(each).ljust(width)}   {each.reason}"
    if len(answer.because) > MOST_LINES:
        yield f"  … {len(answer.because) - MOST_LINES} more: --json has all of them"
    if not answer.because and answer.value == ANY:
        yield "  nothing in the model says more about it"
    if answer.note:
        yield f"  {answer.note}"


def _short(each: Because) -> str:
    return f"{each.file.replace(chr(92), '/').rpartition('/')[2]}:{each.line}"


def _shown(each: Because) -> str:
    text = each.text if len(each.text) <= 60 else f"{each.text[:59]}…"
    return f"{_short(each)}: {text}"


def as_json(answer: Reasons) -> dict[str, object]:
    return {
        "name": "model",
        "subject": answer.subject,
        "value": answer.value,
        "because": [
            {"file": b.file, "line": b.line, "column": 1, "text": b.text, "reason": b.reason}
            for b in answer.because
        ],
        "conditions": [{"text": text, "because": []} for text in answer.conditions],
    }
