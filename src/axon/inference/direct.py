"""Operators applied to arguments that tell all there is to know.

Usually a signature is copied with fresh variables, and constraints say what they are. Where the
arguments have ranks, and each variable of the signature stands alone in one of them, what it is
can be put in at once, and there is nothing to solve. The answer is the same; only the reasons are
not kept. So this is for who has no use for them, or asks again when something is wrong.
"""

from __future__ import annotations

from axon.inference.state import State
from axon.solver.constraints import Origin
from axon.types import dim as dims
from axon.types.dim import Dim, Max, Poly
from axon.types.elements import BIT
from axon.types.type import (
    AtLeast,
    Broadcast,
    DimValue,
    Elem,
    Fn,
    HasRank,
    Relation,
    Renaming,
    Scheme,
    Shape,
    ShapeValue,
    Tensor,
    Type,
    relation_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar


def applied(state: State, scheme: Scheme, args: list[Type], origin: Origin) -> Type | None:
    """The result of a signature for these arguments; None if that takes more than putting in."""
    if not isinstance(scheme.type, Fn) or scheme.inner:
        return None
    match = _Match(state)
    for param, arg in zip(scheme.type.params, args, strict=True):
        if not match.type(param, state.prune(arg)):
            return None
    if not match.expressions():
        return None
    posted = match.relations(scheme.relations)
    if posted is None:
        return None
    match.fresh(scheme)
    for relation in posted:
        state.post(relation, origin)
    match.sizes(origin)
    return match.renaming.type(scheme.type.result)


class _Match:
    """What the variables of a signature stand for, found part by part."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.renaming = Renaming({}, {}, {}, {})
        self.later: list[tuple[Poly, Dim]] = []

    # --- arguments ---

    def type(self, param: Type, arg: Type) -> bool:
        match param, arg:
            case Tensor(), Tensor():
                word = clipped(self.state, self.state.store.word(arg.shape))
                return self._elem(param.elem, self.state.elem(arg.elem)) and self._shape(
                    param.shape, word
                )
            case DimValue(), DimValue():
                return self._dim(param.dim, self.state.store.dim(arg.dim))
            case ShapeValue(), ShapeValue():
                return self._shape(
                    param.shape, clipped(self.state, self.state.store.word(arg.shape))
                )
            case _:
                return False

    def _elem(self, param: Elem, arg: Elem) -> bool:
        if not isinstance(arg, str):
            return False
        if not isinstance(param, ElemVar):
            return param == arg
        return bool(BIT[arg] & param.allowed) and self.renaming.elems.setdefault(param, arg) == arg

    def _shape(self, param: Shape, arg: Shape) -> bool:
        for item in arg:
            if isinstance(item, ShapeVar):
                return False
        at = next((i for i, item in enumerate(param) if isinstance(item, ShapeVar)), None)
        if at is None:
            return len(param) == len(arg) and self._dims(param, arg)
        after = len(param) - at - 1
        if len(arg) < at + after:
            return False
        end = len(arg) - after
        middle, var = arg[at:end], param[at]
        return (
            isinstance(var, ShapeVar)
            and not var.runtime
            and self.renaming.shapes.setdefault(var, middle) == middle
            and self._dims(param[:at], arg[:at])
            and self._dims(param[at + 1 :], arg[end:])
        )

    def _dims(self, param: Shape, arg: Shape) -> bool:
        for wanted, found in zip(param, arg, strict=True):
            if isinstance(wanted, ShapeVar) or isinstance(found, ShapeVar):
                return False
            if not self._dim(wanted, found):
                return False
        return True

    def _dim(self, wanted: Dim, found: Dim) -> bool:
        if isinstance(wanted, int):
            return wanted == found
        if isinstance(wanted, Poly):
            self.later.append((wanted, found))
            return True
        if wanted.runtime or wanted.rank_of is not None:
            return False
        return self.renaming.dims.setdefault(wanted, found) == found

    def expressions(self) -> bool:
        """Whether the sizes that are expressions are those that the arguments have."""
        known = self.renaming.dims.keys() | self.renaming.shapes.keys()
        return all(
            set(dims.variables(wanted)) <= known and self.renaming.dim(wanted) == found
            for wanted, found in self.later
        )

    # --- what else is said ---

    def relations(self, relations: tuple[Relation, ...]) -> list[Relation] | None:
        """The relations with what is known put in, but for those that then hold."""
        posted: list[Relation] = []
        for relation in relations:
            if isinstance(relation, HasRank):
                continue
            if isinstance(relation, Broadcast) and self._broadcast(relation):
                continue
            if not all(self._is_known(var) for var in relation_variables(relation)):
                return None
            put_in = self.renaming.relation(relation)
            if not (isinstance(put_in, AtLeast) and dims.is_nonnegative(put_in.dim)):
                posted.append(put_in)
        return posted

    def _is_known(self, var: DimVar | ShapeVar) -> bool:
        if isinstance(var, DimVar):
            owner = var.rank_of
            return owner in self.renaming.shapes if owner is not None else var in self.renaming.dims
        return var in self.renaming.shapes

    def _broadcast(self, relation: Broadcast) -> bool:
        """Whether a variable stands for parts that broadcast as they are."""
        if len(relation.result) != 1:
            return False
        var = relation.result[0]
        if not isinstance(var, ShapeVar) or var in self.renaming.shapes:
            return False
        for part in relation.parts:
            if not all(isinstance(i, ShapeVar) and i in self.renaming.shapes for i in part):
                return False
        found = broadcast([self.renaming.shape(part) for part in relation.parts])
        if found is None:
            return False
        self.renaming.shapes[var] = found
        return True

    def fresh(self, scheme: Scheme) -> None:
        """Variables for what only a run tells, or nothing does."""
        state, renaming = self.state, self.renaming
        shift = state.depth - scheme.depth - 1
        for var in scheme.variables:
            match var:
                case DimVar() if var not in renaming.dims:
                    scope = var.scope + shift if var.runtime else state.depth
                    renaming.dims[var] = DimVar(var.name, state.level, False, scope, var.runtime)
                case ShapeVar() if var not in renaming.shapes:
                    scope = var.scope + shift if var.runtime else state.depth
                    made = ShapeVar(var.name, state.level, False, scope, var.runtime)
                    renaming.shapes[var] = (made,)
                case ElemVar() if var not in renaming.elems:
                    renaming.elems[var] = ElemVar(
                        var.name, state.level, allowed=var.allowed, literal=var.literal
                    )
                case TypeVar() if var not in renaming.types:
                    renaming.types[var] = state.fresh_type()
                case _:
                    pass

    def sizes(self, origin: Origin) -> None:
        """What a size of an argument is taken for: it is not negative."""
        for dim in self.renaming.dims.values():
            self._size(dim, origin)
        for shape in self.renaming.shapes.values():
            for item in shape:
                if not isinstance(item, ShapeVar):
                    self._size(item, origin)

    def _size(self, dim: Dim, origin: Origin) -> None:
        if isinstance(dim, Poly) and dim not in self.state.sizes:
            self.state.sizes.add(dim)
            if not dims.is_nonnegative(dim):
                self.state.post(AtLeast(dim, silent=True), origin)


def clipped(state: State, shape: Shape) -> Shape:
    """The shape with `max(n,0)` as `n` where `n` is known to be a size."""
    if not state.sizes:
        return shape
    return tuple(_clipped(state, item) if isinstance(item, Poly) else item for item in shape)


def _clipped(state: State, dim: Poly) -> Dim:
    constant = dim.terms.get((), 0)
    atom = dims.lone_atom(dims.sub(dim, constant))
    if isinstance(atom, Max) and len(atom.args) == 2 and -constant in atom.args:
        for part in atom.args:
            size = dims.add(part, constant)
            if size in state.sizes:
                return size
    return dim


def broadcast(parts: list[Shape]) -> Shape | None:
    """The shape that shapes broadcast to, if that needs nothing of their sizes."""
    rank = max((len(part) for part in parts), default=0)
    result: list[Dim | ShapeVar] = [1] * rank
    for part in parts:
        for i, item in enumerate(part, rank - len(part)):
            if item == 1 or item == result[i]:
                continue
            if result[i] != 1:
                return None
            result[i] = item
    return tuple(result)
