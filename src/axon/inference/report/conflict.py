"""From a conflict to a message: the operator, the two sizes, where each came from, and what might
help.

Every label belongs to a minimal set of constraints that cannot all hold. To find what a place
contributes, the others are solved without it and compared with it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from axon.diagnostics import Diagnostic, Fix, Severity
from axon.inference.report.clash import Clash, find_clash, in_order_of_evaluation, solved
from axon.inference.report.labels import labels_of, of_function
from axon.inference.report.rearranged import rearranged
from axon.inference.report.suggest import suggestions
from axon.inference.report.vectors import of_vector
from axon.ops import OPERATORS
from axon.solver.constraints import Conflict, Constraint
from axon.solver.reasons import conflict_of, independent, reasons
from axon.solver.store import Store
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim, Poly, Size
from axon.types.show import Names, Show
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimEq,
    Shape,
    ShapeEq,
    relation_variables,
)
from axon.types.variables import DimVar, ShapeVar, is_ragged

_CODES = {
    "size": "AX101",
    "multiset": "AX101",
    "rank": "AX102",
    "long": "AX102",
    "negative": "AX103",
    "division": "AX104",
    "ragged": "AX105",
    "uniform": "AX105",
    "infinite": "AX106",
    "broadcast": "AX110",
}


MOST_SHOWN = 12
MOST_AROUND = 400


@dataclass(frozen=True, slots=True)
class Explanation:
    """The message for a conflict, its constraints, and the sizes that it reports as different. Of
    one `call` whose operands are vectors where matrices are wanted there is one message.
    """

    diagnostic: Diagnostic
    core: list[Constraint]
    sizes: tuple[Dim, ...]
    call: Span | None = None


def describe_all(
    store: Store, conflicts: list[Conflict], around: tuple[Constraint, ...]
) -> tuple[list[Diagnostic], list[Constraint]]:
    """A message for each conflict that shares no constraint with those before it, and the
    constraints that the conflicts are about.
    """
    messages: list[Diagnostic] = []
    reported: dict[Constraint, None] = {}
    places: set[tuple[str, Span | None]] = set()
    calls: set[Span] = set()
    for i, conflict in enumerate(conflicts):
        if i == 1 and not independent(store, conflicts[1:], reported):
            break  # the others follow from the first one
        found = describe(store, conflict, around)
        place = found.diagnostic.code, found.diagnostic.span
        repeated = place in places or (found.call is not None and found.call in calls)
        if reported.keys().isdisjoint(found.core) and not repeated:
            messages.append(found.diagnostic)
        if found.call is not None:
            calls.add(found.call)
        reported.update(dict.fromkeys(found.core))
        places.add(place)
    return messages, list(reported)


def describe(store: Store, conflict: Conflict, around: tuple[Constraint, ...]) -> Explanation:
    """The message for a conflict. A suggestion must be consistent with all the constraints of the
    definition, `around`.
    """
    core = in_order_of_evaluation(reasons(store, conflict))
    found = conflict_of(core) or conflict
    # with all that is known about the definition sizes are shown in the names that the user gave
    basis = core
    if len(around) <= MOST_AROUND:
        own = set(around)
        elsewhere = [c for c in core if c not in own]
        basis = in_order_of_evaluation([*elsewhere, *around])
    clashes = [find_clash(basis, core, c) for c in _worth_showing(core)]
    # arguments are shown in the user's names and a, b, c …; conditions as signatures have them
    names, written = Names(), Names(hints=True)
    for constraint in basis:
        names.reserve(relation_variables(constraint.relation))
        written.reserve(relation_variables(constraint.relation))
    show = Show(names)
    main = _main(clashes)
    if (
        main is not None
        and found.kind in ("division", "negative")
        and isinstance(main.size, int)
        and isinstance(main.other, int)
    ):
        # two known sizes that differ are clearer than an equation without solution
        found = replace(found, kind="size", left=main.other, right=main.size)
    wording = _Wording(found, core, clashes, main, show, Show(written), solved(basis))
    code, message = wording.message()
    help_: list[str] = []
    if wording.main is not None and found.kind in ("size", "rank"):
        help_ = suggestions(core, wording.main.constraint, list(around)) or _hint(wording.main)
    labels = labels_of(clashes, core, wording.main, show, code == "AX102")
    hidden = len(core) - len(clashes)
    notes = (
        (f"it goes on through {hidden} more place{'s' if hidden > 1 else ''} between these",)
        if hidden
        else ()
    )
    subject = wording.operator()
    text = f"{subject}: {message}" if subject else message
    fixes: tuple[Fix, ...] = ()
    call: Span | None = None
    if code == "AX102" and wording.main is not None and not help_:
        vector = of_vector(wording.main.constraint, wording.main.here, list(around))
        if vector is not None:
            call, help_, fixes = vector.call, [vector.help], vector.fixes
        else:
            fixes = rearranged(wording.main.constraint.origin, calls=True)
    diagnostic = Diagnostic(code, Severity.ERROR, text, labels, notes, tuple(help_), subject, fixes)
    return Explanation(diagnostic, core, wording.sizes, call)


def _hint(clash: Clash) -> list[str]:
    """What the operator says of the operand, if its signature writes the whole shape."""
    origin, relation = clash.constraint.origin, clash.constraint.relation
    if origin.operator == "if" and origin.position == 1:
        return ["`where(c, a, b)` chooses for each element"]
    known = OPERATORS.get(origin.operator)
    if known is None or origin.kind != "argument" or not isinstance(relation, ShapeEq):
        return []
    written = all(isinstance(item, int) for item in relation.left)
    return [known.hints[origin.position]] if written and origin.position in known.hints else []


def _worth_showing(core: list[Constraint]) -> list[Constraint]:
    """All constraints of a small conflict; of a long chain its beginning and its end."""
    if len(core) <= MOST_SHOWN:
        return core
    return core[: MOST_SHOWN // 2] + core[-(MOST_SHOWN - MOST_SHOWN // 2) :]


def _main(clashes: list[Clash]) -> Clash | None:
    """The clash that the message is about: the last requirement that cannot be met. A shape that is
    written down, `ones([4,5])`, is as it is: the call around it cannot take it.
    """
    for kinds in (
        ("argument", "result", "pattern", "size", "divisor"),
        ("condition", "call", "value"),
        ("called",),
    ):
        found = [clash for clash in clashes if clash.constraint.origin.kind in kinds]
        if found:
            last = found[-1]
            written = last.constraint.origin.span
            if written is None or not written.text.startswith("["):
                return last
            return next((each for each in reversed(found) if _is_around(each, last)), last)
    return clashes[-1] if clashes else None


def _is_around(clash: Clash, other: Clash) -> bool:
    """Whether the call of a clash has that of another in an argument."""
    outer, inner = clash.constraint.origin.call, other.constraint.origin.call
    return outer is not None and inner is not None and outer != inner and inner.is_within(outer)


@dataclass(slots=True)
class _Wording:
    """The wording of the message for one conflict."""

    conflict: Conflict
    core: list[Constraint]
    clashes: list[Clash]
    main: Clash | None
    show: Show
    written: Show
    known: Store
    sizes: tuple[Dim, ...] = ()

    # --- the message ---

    def message(self) -> tuple[str, str]:
        code = _CODES[self.conflict.kind]
        condition = next((c for c in self.core if _is_condition(c)), None)
        if condition is not None and self.conflict.kind not in ("ragged", "uniform"):
            return "AX111", self._condition(condition)
        elements = next((c for c in self.core if _counts_elements(c)), None)
        about = self.main.constraint.origin.operator if self.main is not None else None
        if elements is not None and about in (None, elements.origin.operator):
            return code, self._elements(elements)
        divided = self._divided()
        if divided:
            return "AX107", divided
        if code == "AX101" and self._broadcasts():
            a, b = self._differ(self.conflict.right, self.conflict.left)
            return (
                "AX110",
                f"sizes {a} and {b} do not broadcast: they must be equal, or one of them 1",
            )
        return code, self._plain(code)

    def _broadcasts(self) -> bool:
        """Whether the broadcast of this call fails."""
        call = self.main.constraint.origin.call if self.main is not None else None
        return any(
            isinstance(c.relation, Broadcast | DimBroadcast) and call in (None, c.origin.span)
            for c in self.core
        )

    def operator(self) -> str:
        """The operator that the message is about; a declared result needs none."""
        return "" if self.main is None else self.main.constraint.origin.operator

    def _differ(self, *sides: Dim | Shape) -> list[str]:
        """The two sides that the message reports as different."""
        self.sizes = tuple(self.known.dim(s) for s in sides if not isinstance(s, tuple))
        return [self._side(side) for side in sides]

    def _plain(self, code: str) -> str:
        conflict = self.conflict
        match code:
            case "AX101":
                return self._sizes_differ()
            case "AX102" if conflict.kind == "long":
                return "the shape has more than a thousand dimensions"
            case "AX102":
                return self._ranks_differ()
            case "AX103":
                return self._negative()
            case "AX104":
                return self._not_a_multiple() or f"no whole number satisfies {self._equation()}"
            case "AX105" if conflict.kind == "uniform":
                return "works along an axis that a ragged dimension varies over"
            case "AX105":
                return f"a ragged dimension cannot be {self._uniform()}"
            case "AX106":
                return f"no shape satisfies {self._equation()}: it would contain itself"
            case _:
                return f"the shapes do not broadcast to {self._side(conflict.left)}"

    def _sizes_differ(self) -> str:
        main = self.main
        if main is not None and main.size is not None and main.other is not None:
            size, other = self.show.dim(main.size), self.show.dim(main.other)
            if main.constraint.origin.kind == "result":
                note = main.constraint.origin.note
                return f"the {main.place} size of the result is {size}, but it is declared {note}"
            pair, self.sizes = f"{size} and {other}", (main.size, main.other)
            if self._comes_second(main):
                pair, self.sizes = f"{other} and {size}", (main.other, main.size)
            known = OPERATORS.get(main.constraint.origin.operator)
            role = known.roles.get(main.variable, "sizes") if known is not None else "sizes"
            return f"the {role} differ, {pair}"
        if self.conflict.kind == "multiset":
            return f"no shape satisfies {self._equation()}"
        left, right = self._differ(self.conflict.left, self.conflict.right)
        return f"the sizes differ, {left} and {right}"

    def _comes_second(self, main: Clash) -> bool:
        """Whether an argument before this one disagrees too: sizes are named in argument order."""
        mine = main.constraint.origin
        return any(
            c.size is not None
            and c.constraint.origin.call == mine.call
            and c.constraint.origin.position < mine.position
            for c in self.clashes
        )

    def _ranks_differ(self) -> str:
        main = self.main
        if main is None or main.wanted == main.here:
            return f"the ranks differ: {self._equation()}"
        origin = main.constraint.origin
        here = self.show.shape(main.here)
        if origin.kind == "result":
            return f"the result has shape {here}, but it is declared {origin.note}"
        what = f"argument {origin.position} has" if origin.position else "this has"
        if origin.part:
            what = of_function(origin.part, "the function's") + " has"
        count = sum(not isinstance(item, ShapeVar) for item in main.wanted)
        least = "at least " if count < len(main.wanted) else ""
        verb = "is" if count == 1 else "are"
        noun = "no dimensions" if not count else f"{count} dimension{'' if count == 1 else 's'}"
        return f"{what} shape {here}, where {least}{noun} {verb} expected"

    def _root(self) -> Constraint:
        """The constraint of the program that the conflict was derived from."""
        root = self.conflict.constraint
        while root.parents:
            root = root.parents[0]
        return root

    def _divided(self) -> str:
        """A divisor that is zero: its guard requires it to be at least one."""
        root = self._root()
        if root.origin.kind != "divisor" or not isinstance(root.relation, AtLeast):
            return ""
        divisor = self.written.dim(dims.add(root.relation.dim, 1), spaced=True)
        return f"a size is divided by {divisor}, which is 0"

    def _negative(self) -> str:
        root = self._root()
        if isinstance(root.relation, AtLeast) and isinstance(self.conflict.left, int):
            value = self.conflict.left
            if root.relation.why == "window":
                return f"the window is larger than the padded input, by {-value}"
            if root.relation.why == "divisor":
                divisor = self.show.dim(dims.add(root.relation.dim, 1), spaced=True)
                known = "" if divisor == "0" else f", which is {value + 1}"
                return f"a size is divided by {divisor}{known}"
            size = self.written.dim(root.relation.dim, spaced=True)
            return (
                f"the size {size} would be {value}" if size != str(value) else f"a size of {value}"
            )
        return f"a size would be negative: {self._equation()}"

    def _uniform(self) -> str:
        for side in (self.conflict.left, self.conflict.right):
            if not isinstance(side, tuple) and not any(is_ragged(v) for v in dims.variables(side)):
                return f"equal to {self.show.dim(side)}, which does not vary"
        return "equal to one that does not vary"

    def _condition(self, condition: Constraint) -> str:
        """The condition, and what its names stand for here."""
        others = solved(c for c in self.core if c is not condition)
        facts: dict[str, None] = {}
        for var in relation_variables(condition.relation):
            asked: Dim = dims.of_size(var) if isinstance(var, ShapeVar) else var
            value = others.dim(asked)
            if isinstance(value, int):
                facts[f"{self.written.dim(asked)} is {value}"] = None
        because = f": {', '.join(facts)}" if facts else ""
        text = condition.origin.note or self.written.relation(condition.relation)
        return f"the condition {text} does not hold{because}"

    def _elements(self, constraint: Constraint) -> str:
        others = solved(c for c in self.core if c is not constraint)
        assert isinstance(constraint.relation, DimEq)
        a, b = others.dim(constraint.relation.left), others.dim(constraint.relation.right)
        if isinstance(a, int) != isinstance(b, int):  # the other may be known from elsewhere
            a, b = self.known.dim(a), self.known.dim(b)
        sizes = f"{self.show.dim(a, spaced=True)} and {self.show.dim(b, spaced=True)}"
        return f"the numbers of elements differ, {sizes}"

    def _not_a_multiple(self) -> str:
        """`2*a = 7` where nothing is known of `a` but that it is a size."""
        left, right = self.conflict.left, self.conflict.right
        if isinstance(left, tuple) or isinstance(right, tuple):
            return ""
        left, right = self.known.dim(left), self.known.dim(right)
        for side, other in ((left, right), (right, left)):
            if isinstance(side, Poly) and len(side.terms) == 1:
                ((mono, factor),) = side.terms.items()
                if len(mono) == 1 and isinstance(mono[0], DimVar) and not mono[0].user:
                    return f"{self.show.dim(other, spaced=True)} is not a multiple of {factor}"
        return ""

    def _equation(self) -> str:
        conflict = self.conflict
        if isinstance(conflict.constraint.relation, AtLeast):
            return f"{self._side(conflict.left)} >= 0"
        return f"{self._side(conflict.left)} = {self._side(conflict.right)}"

    def _side(self, side: Dim | Shape) -> str:
        if isinstance(side, tuple):
            return self.show.shape(self.known.word(side))
        return self.show.dim(self.known.dim(side), spaced=True)


def _is_condition(constraint: Constraint) -> bool:
    """Whether a constraint is a condition of the program, written or inferred for a function."""
    relation, origin = constraint.relation, constraint.origin
    if origin.kind == "condition" or (isinstance(relation, AtLeast) and not relation.silent):
        return True
    return (
        isinstance(relation, DimEq) and origin.kind == "call" and not _counts_elements(constraint)
    )


def _counts_elements(constraint: Constraint) -> bool:
    """Whether it equates numbers of elements, as a reshape does."""
    relation = constraint.relation
    return (
        isinstance(relation, DimEq)
        and constraint.origin.operator in OPERATORS
        and any(
            isinstance(atom, Size)
            for side in (relation.left, relation.right)
            if isinstance(side, Poly)
            for mono in side.terms
            for atom in mono
        )
    )
