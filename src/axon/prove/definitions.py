"""The conditions of a definition: those that follow from the others are removed; if they cannot be
satisfied there is an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from axon.diagnostics import Diagnostic, Label, Severity
from axon.inference.generalise.schemes import visible
from axon.inference.program import Definition
from axon.prove.decide import SECONDS, Proved, Prover
from axon.types import dim as dims
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    DimBroadcast,
    DimEq,
    Relation,
    relation_variables,
    type_variables,
)

# A definition with more conditions is left as it is.
MOST_CONDITIONS = 60


@dataclass(frozen=True, slots=True)
class Outcome:
    """The definition with fewer conditions, or unchanged with its error."""

    definition: Definition
    problem: Diagnostic | None = None


def prove_definitions(
    definitions: Sequence[Definition], seconds: float = SECONDS
) -> tuple[tuple[Definition, ...], tuple[Diagnostic, ...]]:
    """Every definition, each with a limit of `seconds`."""
    with Prover(seconds) as prover:
        found = [prove_definition(definition, prover) for definition in definitions]
    problems = tuple(each.problem for each in found if each.problem is not None)
    return tuple(each.definition for each in found), problems


def prove_definition(definition: Definition, prover: Prover) -> Outcome:
    """Drop the conditions that follow from the others; report it if no sizes satisfy them all."""
    prover.rewind()
    relations = definition.scheme.relations
    known = [r for r in relations if isinstance(r, DimEq | AtLeast | DimBroadcast)]
    if not any(isinstance(r, DimEq | AtLeast) for r in known) or len(known) > MOST_CONDITIONS:
        return Outcome(definition)
    if prover.satisfiable(known) is False:
        return Outcome(definition, _problem(definition, _needed(known, prover)))
    kept = list(relations)
    for relation in _least_informative_first(relations):
        if isinstance(relation, DimEq | AtLeast):
            others = [r for r in kept if r is not relation]
            if isinstance(prover.follows(relation, others), Proved):
                kept = others
    if len(kept) == len(relations):
        return Outcome(definition)
    dropped = {id(r) for r in relations} - {id(r) for r in kept}
    scheme = replace(definition.scheme, relations=tuple(kept))
    guards = tuple(
        guard
        for guard in definition.guards
        if not any(id(r) in dropped and r == guard.relation for r in relations)
    )
    return Outcome(replace(definition, scheme=scheme, guards=guards))


def _least_informative_first(relations: Sequence[Relation]) -> list[Relation]:
    """Of two that imply each other the more informative, or shorter, one stays: checks that are not
    shown are removed first, then inequalities, then the longer equations.
    """

    def order(relation: Relation) -> tuple[bool, bool, int]:
        match relation:
            case AtLeast(dim, silent):
                return not silent, False, -len(dims.terms_of(dim))
            case DimEq(left, right):
                return True, True, -len(dims.terms_of(left)) - len(dims.terms_of(right))
            case _:
                return True, True, 0

    return sorted(relations, key=order)


def _needed(relations: Sequence[Relation], prover: Prover) -> list[Relation]:
    """A subset that still cannot hold: without any one of them that is not known."""
    core = list(relations)
    for relation in relations:
        fewer = [r for r in core if r is not relation]
        if fewer and prover.satisfiable(fewer) is False:
            core = fewer
    return core


def _problem(definition: Definition, core: list[Relation]) -> Diagnostic:
    names = Names()
    names.reserve(type_variables(definition.scheme.type))
    for relation in definition.scheme.relations:
        names.reserve(relation_variables(relation))
    show = Show(names)
    show.type(definition.scheme.type)  # assigns the names, as the signature does
    for relation in visible(definition.scheme.relations):
        show.relation(relation)
    texts = [f"`{show.relation(relation)}`" for relation in core]
    last = f" and {texts[-1]}" if len(texts) > 1 else texts[-1]
    return Diagnostic(
        "AX112",
        Severity.ERROR,
        f"{definition.name}: no sizes satisfy {', '.join(texts[:-1])}{last}",
        (Label(definition.span, "can never be used", primary=True),),
    )
