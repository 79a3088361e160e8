"""Application of a scheme to arguments.

There are two ways, and both lead to the same type. `instantiate` copies the scheme with fresh
variables and posts a constraint for each argument, so that each fact has a reason. `Match`
substitutes the sizes of the arguments for the variables of the scheme directly, and posts only the
remaining relations. `Inference` tries `Match` first, and instantiates where something is wrong or
where reasons are needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axon.inference.constructs import structures
from axon.inference.generalise import choices
from axon.inference.generalise.schemes import Fresh, instantiate
from axon.inference.state import State
from axon.inference.unify import restrict, unify, unify_elem
from axon.solver.constraints import Origin
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim, Max, Poly
from axon.types.elements import BIT, NUM
from axon.types.quotient import exact_quotient
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimEq,
    DimValue,
    Elem,
    Fn,
    HasRank,
    Relation,
    Renaming,
    Scheme,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Type,
    Uniform,
    shape_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, is_ragged

LONGEST = 16
"""The most items of a word that is copied: one that is longer keeps its name in the solver, which
bounds how words grow."""

HEAVIEST = 16
"""The same for the quotients, minima and maxima of a size."""


@dataclass(frozen=True, slots=True)
class Site:
    """Where a function is applied: its name, the call, and the spans of the arguments."""

    name: str
    span: Span
    arguments: tuple[Span, ...]

    def origin(self, index: int) -> Origin:
        return Origin("argument", self.arguments[index], self.name, index + 1, "", self.span)


def apply_scheme(
    state: State,
    scheme: Scheme,
    args: Sequence[Type],
    site: Site,
    given: dict[DimVar, Dim] | None = None,
) -> Fn:
    """The type of a function at as many arguments as it takes; `given` has some of its sizes."""
    if not state.reasons:
        known = [state.resolve(arg) for arg in args]
        found = matched(state, scheme, known, site, given)
        if found is not None:
            return found
    if given:
        scheme = scheme.at(given)
    type_ = instantiate(state, scheme, Origin("call", site.span, site.name), called=True)
    assert isinstance(type_, Fn)
    for i, (param, arg) in enumerate(zip(type_.params, args, strict=True)):
        unify(state, param, arg, site.origin(i))
    if scheme.stacked:
        structures.solve(state)
    if scheme.choices:
        choices.solve(state)
    return type_


def matched(
    state: State,
    scheme: Scheme,
    args: list[Type],
    site: Site,
    given: dict[DimVar, Dim] | None = None,
) -> Fn | None:
    """The same without reasons, for types that are resolved. None where the solver is needed: sizes
    vary, an argument is a function, or variables belong to a function around the scheme.
    """
    if scheme.inner or scheme.made or scheme.depth or scheme.stacked or scheme.choices:
        return None
    if not all(map(_is_plain, args)):
        return None
    assert isinstance(scheme.type, Fn)
    match = Match(state, scheme, site)
    if given:
        match.dims.update(given)
    return match.applied(scheme.type, args)


def _is_plain(type_: Type) -> bool:
    """Whether no size varies inside a value, and its sizes are short enough to be copied."""
    match type_:
        case Tensor(_, shape) | ShapeValue(shape):
            for item in shape:
                if not isinstance(item, int) and not _is_plain_size(item):
                    return False
            return len(shape) <= LONGEST
        case DimValue(dim, number):
            return number is None and _is_plain_size(dim)
        case TypeVar():
            return True
        case _:
            return False


def _is_plain_size(item: Dim | ShapeVar) -> bool:
    if isinstance(item, DimVar):
        return not item.over
    if isinstance(item, Poly):
        return dims.weight(item) <= HEAVIEST and not any(map(is_ragged, dims.variables(item)))
    return True


class Match(Renaming):
    """The substitution for the variables of a scheme.

    `open` are the arguments left to unification, `numbers` those that are integers and may have any
    number type, `sizes` the sizes of arguments where the scheme has expressions. `asked` is set
    when the solver may have learnt something new.
    """

    __slots__ = ("asked", "numbers", "open", "scheme", "site", "sizes", "state")

    def __init__(self, state: State, scheme: Scheme, site: Site) -> None:
        self.dims: dict[DimVar, Dim] = {}
        self.shapes: dict[ShapeVar, Shape] = {}
        self.elems: dict[ElemVar, Elem] = {}
        self.types: dict[TypeVar, Type] = {}
        self.state = state
        self.scheme = scheme
        self.site = site
        self.asked = False
        self.open: list[int] = []
        self.sizes: list[tuple[Dim, Dim, int]] = []
        self.numbers: list[int] = []

    def applied(self, type_: Fn, args: list[Type]) -> Fn:
        state, params = self.state, type_.params
        for i, (param, arg) in enumerate(zip(params, args, strict=True)):
            if not self._argument(param, arg, i):
                self.open.append(i)
        self.sizes = [each for each in self.sizes if not self._is_multiple(*each)]
        if self.asked:
            self._look_again()
        relations = self._undecided()
        self._enter_fresh()
        for i in self.numbers:
            param = params[i]
            assert isinstance(param, Tensor)
            elem = param.elem if isinstance(param.elem, str) else self.elems[param.elem]
            restrict(state, elem, NUM, self.site.origin(i))
        if relations:
            self._post(relations)
        for i in self.open:
            unify(state, self.type(params[i]), args[i], self.site.origin(i))
        for wanted, size, i in self.sizes:
            known = self.dim(wanted)
            if known != size:
                state.post(DimEq(known, size), self.site.origin(i))
        result = self.type(type_.result)
        for i, param in enumerate(params):
            if args[i] == result:
                result = args[i]
            if not isinstance(args[i], Tensor) or not isinstance(param, Tensor):
                args[i] = self.type(param)
        return Fn(tuple(args), result)

    # --- arguments ---

    def _argument(self, param: Type, arg: Type, index: int) -> bool:
        """Match an argument with a parameter; False if unification has to do it."""
        if isinstance(param, Tensor):
            if isinstance(arg, Tensor):
                self._elem(param.elem, arg.elem, index)
                return self._word(param.shape, arg.shape, index)
            if isinstance(arg, DimValue) and self._word(param.shape, (), index):
                self.numbers.append(index)
                return True
            return False
        if isinstance(param, TypeVar):
            if not isinstance(arg, Tensor):
                return False
            return self.types.setdefault(param, arg) == arg
        if isinstance(param, ShapeValue):
            return isinstance(arg, ShapeValue) and self._word(param.shape, arg.shape, index)
        if not isinstance(param, DimValue) or not isinstance(arg, DimValue):
            return False
        if isinstance(arg.dim, int) and arg.dim < 0:
            return False  # a number, and no size
        return self._word((param.dim,), (arg.dim,), index)

    def _elem(self, wanted: Elem, found: Elem, index: int) -> None:
        known: Elem | None = wanted
        if isinstance(wanted, ElemVar):
            known = self.elems.get(wanted)
            if known is None:
                allowed = BIT[found] if isinstance(found, str) else found.allowed
                if allowed & wanted.allowed == allowed and not wanted.literal:
                    self.elems[wanted] = found
                    return
                level = self.state.level
                known = ElemVar(wanted.name, level, allowed=wanted.allowed, literal=wanted.literal)
                self.elems[wanted] = known
        if known != found:
            assert known is not None
            unify_elem(self.state, known, found, self.site.origin(index))

    def _word(self, wanted: Shape, found: Shape, index: int) -> bool:
        """Match the sizes of an argument, if it is known which of them correspond."""
        before, rest = len(wanted), None
        for at, item in enumerate(wanted):
            if isinstance(item, ShapeVar):
                if rest is not None:
                    return False
                before, rest = at, item
        if rest is None:
            if len(found) != before:
                return False
            end = before
        else:
            end = len(found) - (len(wanted) - before - 1)
            if end < before:
                return False
        ends = found if rest is None else found[:before] + found[end:]
        for item in ends:
            if isinstance(item, ShapeVar):
                return False
        if rest is not None:
            if rest.runtime:
                return False
            middle = found[before:end]
            if self.state.uniform:
                middle = tuple(
                    [self._checked(n, index) if isinstance(n, Poly) else n for n in middle]
                )
            if self.shapes.setdefault(rest, middle) != middle:
                self._ask(ShapeEq(self.shapes[rest], middle), index)
        sides = wanted if rest is None else wanted[:before] + wanted[before + 1 :]
        for item, size in zip(sides, ends, strict=True):
            self._dim(item, size, index)
        return True

    def _dim(self, wanted: Dim | ShapeVar, found: Dim | ShapeVar, index: int) -> None:
        assert not isinstance(wanted, ShapeVar) and not isinstance(found, ShapeVar)
        if isinstance(wanted, Poly) or (isinstance(wanted, DimVar) and wanted.rank_of is not None):
            self.sizes.append((wanted, found, index))
            return
        known: Dim = wanted
        if isinstance(wanted, DimVar):
            seen = self.dims.get(wanted)
            if seen is None:
                if isinstance(found, Poly):
                    self._take(wanted, found, index)
                else:
                    self.dims[wanted] = found
                return
            known = seen
        if known != found:
            self._ask(DimEq(known, found), index)

    def _ask(self, relation: Relation, index: int) -> None:
        self.state.post(relation, self.site.origin(index))
        self.asked = True

    def _take(self, var: DimVar, size: Dim, index: int) -> None:
        """Bind a variable of the scheme to a size of an argument."""
        known = self._checked(size, index)
        assert not isinstance(known, ShapeVar)
        self.dims[var] = known

    def _checked(self, size: Dim | ShapeVar, index: int) -> Dim | ShapeVar:
        """A size of an argument, checked not to be a negative number."""
        state = self.state
        if isinstance(size, Poly):
            size = _unclipped(size, state.sizes)
            if size not in state.sizes:
                state.sizes.add(size)
                if not dims.is_nonnegative(size):
                    state.post(AtLeast(size, silent=True), self.site.origin(index))
        return size

    def _is_multiple(self, wanted: Dim, size: Dim, index: int) -> bool:
        """Whether the scheme has a multiple of a variable that nothing else decides where an
        argument has a size. If so, the variable is bound to the quotient.
        """
        if not isinstance(wanted, Poly) or len(wanted.terms) != 1:
            return False
        ((mono, factor),) = wanted.terms.items()
        var = mono[0] if len(mono) == 1 else None
        if not isinstance(var, DimVar) or var.runtime or self._has(var):
            return False
        part = exact_quotient(size, factor)
        if part is not None:
            self._take(var, part, index)
        return part is not None

    def _look_again(self) -> None:
        """Substitute what the solver has learnt about the sizes of arguments."""
        store = self.state.store
        for var, word in self.shapes.items():
            self.shapes[var] = store.word(word)
        for dim, size in self.dims.items():
            self.dims[dim] = store.dim(size)

    def _has(self, var: DimVar | ShapeVar) -> bool:
        if isinstance(var, ShapeVar):
            return var in self.shapes
        return var in self.dims if var.rank_of is None else var.rank_of in self.shapes

    def _enter_fresh(self) -> None:
        """Fresh variables for those that no argument decides."""
        for var in self.scheme.variables:
            if (
                var not in self.dims
                and var not in self.shapes
                and var not in self.elems
                and var not in self.types
            ):
                Fresh(self.state, self.scheme, self.state.depth).enter(self)
                return

    # --- relations ---

    def _undecided(self) -> list[Relation]:
        """The relations of the scheme; broadcasts of known shapes are computed instead."""
        found: list[Relation] = []
        for relation in self.scheme.relations:
            if isinstance(relation, Broadcast):
                var = relation.result[0] if len(relation.result) == 1 else None
                if isinstance(var, ShapeVar) and var not in self.shapes:
                    whole = self._broadcast(relation)
                    if whole is not None:
                        self.shapes[var] = whole
                        continue
            if not isinstance(relation, HasRank):
                found.append(relation)
        return found

    def _broadcast(self, relation: Broadcast) -> Shape | None:
        """The broadcast of known shapes."""
        for part in relation.parts:
            if not all(map(self._has, shape_variables(part))):
                return None
        return broadcast([self.shape(part) for part in relation.parts])

    def _post(self, relations: list[Relation]) -> None:
        state, origin = self.state, Origin("call", self.site.span, self.site.name)
        for relation in relations:
            known = self.relation(relation)
            match known:
                case AtLeast(dim, silent):
                    if (silent and dim in state.sizes) or dims.is_nonnegative(dim):
                        continue
                case Uniform(shape):
                    if state.uniform or not shape_variables(shape):
                        continue
                case DimEq(left, right):
                    if left == right:
                        continue
                case _:
                    pass
            state.post(known, origin)


def broadcast(parts: Sequence[Shape]) -> Shape | None:
    """The broadcast of the shapes, if it requires nothing of their sizes."""
    distinct = list(dict.fromkeys(part for part in parts if part))
    if len(distinct) < 2:
        return distinct[0] if distinct else ()
    rank = max(map(len, distinct))
    result: list[Dim] = [1] * rank
    for part in distinct:
        at = rank - len(part)
        for item in part:
            if isinstance(item, ShapeVar):
                return None
            if item != 1 and item != result[at]:
                if result[at] != 1:
                    return None
                result[at] = item
            at += 1
    return tuple(result)


def _unclipped(dim: Poly, sizes: set[Dim]) -> Dim:
    """The size of an argument, without `max(n,0)` where `n` is known to be a size."""
    constant = dim.terms.get((), 0)
    if not sizes or len(dim.terms) > 2:
        return dim
    for mono in dim.terms:
        atom = mono[0] if len(mono) == 1 else None
        if not isinstance(atom, Max) or len(atom.args) != 2 or -constant not in atom.args:
            continue
        if dims.sub(dim, constant) == dims.of_atom(atom):
            for part in atom.args:
                size = dims.add(part, constant)
                if size in sizes:
                    return size
    return dim
