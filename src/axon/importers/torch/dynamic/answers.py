"""From what inference finds to answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from axon.importers.operations import Model, Place
from axon.importers.torch.archive import Archive
from axon.importers.torch.document import WrongDocument
from axon.importers.torch.dynamic.arguments import Argument, argument
from axon.importers.torch.dynamic.causes import Cause, causes_of, causes_of_condition, places_of
from axon.importers.torch.dynamic.compared import compared
from axon.importers.torch.dynamic.conditions import Condition, conditions
from axon.importers.torch.dynamic.exportable import Exportable
from axon.importers.torch.dynamic.input_sizes import InputSize, InputSizes, input_sizes_of
from axon.importers.torch.dynamic.search import Found, Settled, searched, settled
from axon.importers.torch.dynamic.table import Answer, Dynamic
from axon.importers.torch.dynamic.unrolled import unrolled_over
from axon.importers.torch.model import TORCH
from axon.inference.generalise.schemes import is_silent, visible
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Names, Show
from axon.types.type import AtLeast, DimBroadcast, DimEq, Relation
from axon.types.variables import DimVar
from axon.workspace import workspace

UNSURE = (
    "PyTorch wrote {value} down where the program was traced: it may be a number of yours or {name}"
    " itself"
)
UNSEEN = (
    "no operation of the program asks for it: Python code that ran while PyTorch traced read it, "
    "as int(), range() or a comparison does"
)
UNROLLED = "PyTorch wrote out a loop with a step for each of them: it may run over {name}"
TOO_LONG = "it would take too long to see what sizes the conditions leave"
NOT_KNOWN = "Axon does not know what the program asks of sizes in {operators}"
UNTOLD = (
    "an archive does not have what Python code did with sizes, as int(), range() and if do: "
    "axon.from_torch(module, inputs).dynamic looks at that too"
)
SPECIALISED = "PyTorch found it fixed while it traced"


def dynamic_of(model: Model, archive: Archive) -> Dynamic:
    """What could be dynamic in a program; raises `NoModel` where its conditions cannot be read."""
    with workspace():
        given = input_sizes_of(model, archive)
        try:
            said = conditions(archive.program, given)
        except WrongDocument as wrong:
            raise archive.refused(wrong) from None
        traced = [each for each in given.every() if each.is_fixed]
        sure, maybe = searched(model, TORCH, archive.name, given, traced)
        return _Answers(archive, given, said, sure, maybe).dynamic()


@dataclass(slots=True)
class _Answers:
    archive: Archive
    given: InputSizes
    said: list[Condition]
    sure: Found
    maybe: Found
    show: Show = field(init=False)
    settled: Settled = field(init=False)
    """What is found, with the sizes that are fixed as numbers."""
    lacking: list[str] = field(init=False)
    """The operators of which nothing is known."""
    left_out: list[str] = field(default_factory=list)
    """Free sizes that the argument leaves as they are."""

    def __post_init__(self) -> None:
        self.show = Show(_names(self.given))
        self.lacking = sorted(self.sure.imported.importer.unsupported)

    def dynamic(self) -> Dynamic:
        if self.sure.is_wrong:
            return Dynamic(
                {}, notes=["the program contradicts itself: `axon infer` reports where and why"]
            )
        if self.maybe.is_wrong:
            self.maybe = self.sure
        fixed = {each.var: self._fixed(each) for each in self.given.every()}
        numbers = {v: a.value for v, a in fixed.items() if a and not a.free and a.value is not None}
        self.settled = settled(self.sure, numbers)
        inputs = {
            name: [fixed[each.var] or self._open(each) for each in sizes]
            for name, sizes in self.given.sizes.items()
        }
        free = {a.name for answers in inputs.values() for a in answers if a.free}
        made = self._argument(free, numbers)
        more, less = compared(self.given, self.said, self.sure, free)
        return Dynamic(inputs, made, more, less, list(self._notes(inputs)))

    # --- one size ---

    def _fixed(self, size: InputSize) -> Answer | None:
        """The answer for a size that can be one number only, or may be so."""
        found = self.sure.only(size)
        if not found:
            return self._unseen(size)
        number, even_so = found[-1], bool(self.maybe.only(size))
        certain = not size.is_fixed or even_so
        causes = self._causes(size)
        where = self._narrowed(self.maybe if even_so else self.sure, size)
        answer = Answer(size.name, False, number, where, places_of(causes))
        if not certain:
            if self._asked(size):
                answer.why = SPECIALISED
            else:
                answer.free = None
                answer.why = UNSURE.format(value=number, name=size.name)
        return answer

    def _unseen(self, size: InputSize) -> Answer | None:
        """The answer for a size that PyTorch fixed, and that the program leaves open."""
        if not self._asked(size):
            lines = unrolled_over(self.sure, size) if size.is_fixed else []
            why = UNROLLED.format(name=size.name)
            return Answer(size.name, None, size.example, [], lines, why) if lines else None
        value, about = self.sure.value(size.var), self.sure.about(size.var)
        where, places = self._where(size, value, about), self._asking(size)
        why = SPECIALISED if places else UNSEEN
        return Answer(size.name, False, size.example, where, places, why)

    def _asking(self, size: InputSize) -> list[Place]:
        """The lines that the conditions on a size come from."""
        causes = [
            cause
            for relation in visible(self.sure.about(size.var))
            for cause in causes_of_condition(self.sure, relation, size)
        ]
        return places_of(sorted(causes, key=lambda cause: cause.order))

    def _open(self, size: InputSize) -> Answer:
        where = self._where(size, self.settled.values[size.var], self.settled.about(size.var))
        places = self._asking(size) if where else []
        if self.lacking:
            why = NOT_KNOWN.format(operators=", ".join(self.lacking))
            return Answer(size.name, None, None, where, places, why)
        if where and self.sure.replays.left <= 0:
            return Answer(size.name, None, None, where, places, TOO_LONG)
        return Answer(size.name, True, None, where, places)

    def _asked(self, size: InputSize) -> bool:
        """Whether PyTorch was asked to leave it open: its conditions speak of it, although the
        program has a number.
        """
        return size.is_fixed and any(size.name in each.about for each in self.said)

    def _causes(self, size: InputSize) -> list[Cause]:
        """The operations that fix it even if numbers are sizes, then those that do as it stands."""
        causes: list[Cause] = []
        for found in (self.maybe, self.sure):
            if found.only(size):
                causes += causes_of(found, size)
        return sorted(causes, key=lambda cause: cause.order)

    # --- conditions ---

    def _narrowed(self, found: Found, size: InputSize) -> list[str]:
        """What a size that is as good as fixed may be, or what fixes it beside others."""
        if isinstance(found.value(size.var), int):
            return []
        sizes = found.only(size)
        if len(sizes) > 1:
            return [f"{size.name} is {' or '.join(map(str, sizes))}"]
        return [self._text(r) for r in found.about(size.var) if isinstance(r, DimEq)]

    def _where(self, size: InputSize, value: Dim, about: list[Relation]) -> list[str]:
        """The conditions under which it is free, or what it is in terms of other sizes."""
        texts: dict[str, None] = {}
        if value != size.var:
            texts[f"{size.name} = {self.show.dim(value, spaced=True)}"] = None
        for relation in _tightest(about):
            if is_silent(relation) and not isinstance(relation, AtLeast):
                continue
            texts[self._text(relation)] = None
        return list(texts)

    def _text(self, relation: Relation) -> str:
        if not isinstance(relation, DimBroadcast):
            return self.show.relation(relation)
        *parts, last = dict.fromkeys(self.show.dim(part) for part in relation.parts)
        return f"{', '.join(parts)} and {last} are equal where they are not 1"

    # --- the argument ---

    def _argument(self, free: set[str], fixed: dict[DimVar, int]) -> Argument:
        """The argument for sizes that PyTorch can state the conditions on."""
        made = Exportable(self.sure, self.given, self.said)
        made.state(free, self.settled.relations, fixed)
        self.left_out = made.left_out
        return argument(made.specs, made.ranges, self.archive)

    # --- notes ---

    def _notes(self, inputs: dict[str, list[Answer]]) -> Iterator[str]:
        every = [each for answers in inputs.values() for each in answers]
        if any(each.free is None and each.value is not None for each in every):
            yield "an archive exported with Dim.AUTO tells numbers of yours from sizes"
        if self.left_out:
            yield (
                f"{', '.join(self.left_out)} stay{'s' if len(self.left_out) == 1 else ''} fixed in "
                "dynamic_shapes, which cannot state the condition"
            )
        if all(each.is_fixed for each in self.given.every()) and any(each.free for each in every):
            yield UNTOLD
        small = [each.name for each in self.given.every() if each.example < 2]
        small = [name for name in small if any(e.free and e.name == name for e in every)]
        if small:
            yield (
                f"PyTorch takes a size of 0 or 1 for fixed: export with an example in which "
                f"{', '.join(small)} {'is' if len(small) == 1 else 'are'} 2 or more"
            )


def _names(given: InputSizes) -> Names:
    names = Names()
    for each in given.every():
        names.given[each.var] = each.name
    return names


def _tightest(relations: list[Relation]) -> list[Relation]:
    """The conditions without bounds that others imply: of `n >= 1` and `n >= 6` the second."""
    kept: list[Relation] = []
    bounds: dict[Dim, tuple[int, Relation]] = {}
    for relation in relations:
        if not isinstance(relation, AtLeast):
            kept.append(relation)
            continue
        if dims.is_nonnegative(relation.dim):
            continue
        terms = dims.terms_of(relation.dim)
        rest, offset = dims.from_terms({m: c for m, c in terms.items() if m}), terms.get((), 0)
        if rest not in bounds or offset < bounds[rest][0]:
            bounds[rest] = offset, relation
    return [*kept, *(relation for _, relation in bounds.values())]
