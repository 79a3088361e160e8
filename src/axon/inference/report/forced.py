"""Names in annotations that a definition decides: two that are equal, one that is a number, or an
expression in others; or several of which one must be 0, since their product is. A name says that a
size may be anything, so each of these is a warning.

What the program states itself, by a condition on its names, is no news; nor is the form of a shape
(`s` is `[a]@b`), or a size that must be even, which is a condition of the signature.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from axon.diagnostics import Diagnostic, Label, Severity
from axon.inference.generalise.schemes import resolved
from axon.inference.state import State
from axon.solver.constraints import NOWHERE, Constraint
from axon.solver.reasons import Replays, behind, fewest
from axon.solver.store import Store
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.show import Names, Show
from axon.types.type import DimEq, Relation, Shape, ShapeEq
from axon.types.variables import DimVar, ShapeVar, Var

MOST_PLACES = 3
BUDGET = 20_000
"""How many constraints are solved again to find the places of all names of a definition."""
MOST_REASONS = 60
STATED = frozenset(("annotation", "called", "condition"))
"""The kinds of constraints that a program writes down, before its body asks for anything."""


@dataclass(frozen=True, slots=True)
class Forced:
    """A name, its variable, and the value that it must have; the first of several equal names
    stands for all of them.
    """

    code: str
    name: str
    variable: DimVar | ShapeVar
    value: Shape
    equal: str = ""


def forced_names(state: State) -> list[Forced]:
    found: list[Forced] = []
    seen: dict[DimVar | ShapeVar, tuple[str, DimVar | ShapeVar]] = {}
    words = {name: state.store.word((var,)) for name, var in state.names.index.items()}
    own = {item for word in words.values() if len(word) == 1 for item in word}
    for name, var in state.names.index.items():
        word = words[name]
        value = word[0] if len(word) == 1 else None
        if isinstance(value, int) and isinstance(var, DimVar):
            found.append(Forced("AX302", name, var, word))
        elif isinstance(value, DimVar | ShapeVar) and type(value) is type(var):
            first, other = seen.setdefault(value, (name, var))
            if first != name:
                found.append(Forced("AX301", name, var, (other,), first))
        elif isinstance(value, Poly) and own.issuperset(dims.variables(value)):
            found.append(Forced("AX303", name, var, word))
    return found


def is_zero_product(state: State, relation: Relation) -> bool:
    """Whether a relation states that the product of some names is 0, as `reshape` of `[b,s,512]` to
    `[b,s,7,64]` does: the numbers do not fit.
    """
    return bool(_factors(relation, _named(state)))


def _factors(relation: Relation, named: dict[Var, str]) -> list[str]:
    """The names whose product is 0 by an equation."""
    if not isinstance(relation, DimEq):
        return []
    terms = dims.terms_of(dims.sub(relation.left, relation.right))
    mono = next(iter(terms)) if len(terms) == 1 else ()
    found = [named[atom] for atom in mono if isinstance(atom, DimVar) and atom in named]
    return found if len(found) == len(mono) else []


def _named(state: State) -> dict[Var, str]:
    """The names of what stands for itself, the first of several."""
    found: dict[Var, str] = {}
    for name, var in state.names.index.items():
        word = state.store.word((var,))
        if len(word) == 1 and isinstance(word[0], DimVar | ShapeVar):
            found.setdefault(word[0], name)
    return found


def _zero_products(state: State, posted: Sequence[Constraint]) -> Iterator[Diagnostic]:
    """The warnings about products that are 0, each at the first place that states it."""
    named = _named(state)
    seen: set[tuple[str, ...]] = set()
    for constraint in posted:
        span = constraint.origin.call or constraint.origin.span
        if not isinstance(constraint.relation, DimEq):
            continue
        factors = _factors(resolved(state, constraint.relation), named)
        if not factors or tuple(factors) in seen:
            continue
        seen.add(tuple(factors))
        if constraint.origin.kind in STATED or span is None:
            continue
        by = f", by `{constraint.origin.operator}`" if constraint.origin.operator else ""
        each = [Label(state.names.places[name], "") for name in dict.fromkeys(factors)]
        labels = (Label(span, f"forced here{by}", primary=True), *each)
        message = f"the product `{'*'.join(factors)}` is always 0"
        yield Diagnostic("AX302", Severity.WARNING, message, labels)


def warn_of(state: State, posted: Sequence[Constraint] = ()) -> list[Diagnostic]:
    """The warnings about the names of a definition that was inferred with reasons: each has the
    places that force it. `posted` are the constraints of the definition.
    """
    replays = Replays(BUDGET)
    warnings: list[Diagnostic] = []
    for forced in forced_names(state):
        because = _because(state.store, forced, replays)
        if because and all(c.origin.kind in STATED for c in because):
            continue
        place = state.names.places[forced.name]
        labels = (Label(place, "", primary=True), *_labels(because, place))
        message = f"`{forced.name}` is always {_value(state, forced)}"
        warnings.append(Diagnostic(forced.code, Severity.WARNING, message, labels))
    return [*warnings, *_zero_products(state, posted)]


def _value(state: State, forced: Forced) -> str:
    if forced.equal:
        return f"equal to `{forced.equal}`"
    names = Names()
    names.given.update(_named(state))
    (value,) = forced.value
    assert not isinstance(value, ShapeVar)
    return Show(names).dim(value)


def _because(store: Store, forced: Forced, replays: Replays) -> list[Constraint]:
    """The fewest posted constraints from which the name has its value; once the work of finding
    them is done for other names, the one that bound it.
    """
    if replays.left <= 0:
        return _binder(store, forced)
    subject = Constraint(ShapeEq((forced.variable,), forced.value), NOWHERE, rule="asked")
    cone = behind(store, subject, store.clock + 1)

    def holds(subset: list[Constraint]) -> bool:
        alone = replays.solve(subset)
        return alone.word((forced.variable,)) == alone.word(forced.value)

    because = fewest(cone, replays, holds) if cone and holds(cone) else cone
    return because if len(because) <= MOST_REASONS else _binder(store, forced)


def _binder(store: Store, forced: Forced) -> list[Constraint]:
    """The constraint by which the name, or the one that it is equal to, was bound."""
    for var in (forced.variable, *forced.value):
        found = store.bindings.get(var) if isinstance(var, DimVar | ShapeVar) else None
        if found is not None:
            return [found.by]  # what it was derived from has the same origin
    return []


def _labels(because: list[Constraint], place: Span) -> list[Label]:
    """The calls, and the declared results, that force it; what is inside of one of them is not
    shown again.
    """
    texts: dict[Span, str] = {}
    for constraint in because:
        origin = constraint.origin
        span = origin.call or origin.span
        if origin.kind in STATED or span is None or span == place:
            continue
        if origin.kind == "result":
            texts[span] = f"forced here, by the result {origin.note}"
        else:
            by = f", by `{origin.operator}`" if origin.operator else ""
            texts.setdefault(span, f"forced here{by}")
    outer = [s for s in texts if not any(s.is_within(o) for o in texts if o != s)]
    return [Label(span, texts[span]) for span in outer[:MOST_PLACES]]


__all__ = ["Forced", "forced_names", "is_zero_product", "warn_of"]
