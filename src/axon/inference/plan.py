"""A scheme made ready for arguments that tell all there is to know.

Usually a scheme is copied with fresh variables, and constraints say what they are. Where the
arguments have ranks, and each variable of the scheme stands alone in one of them, what it is can be
put in at once, and there is nothing to solve. The answer is the same; only the reasons are not
kept. No size varies inside a tensor: this is for who has no ragged ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axon.inference.match import Match, Param
from axon.inference.state import State
from axon.ops.scheme import General
from axon.solver.constraints import Origin
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
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
    relation_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, Var, made_at


@dataclass(frozen=True, slots=True)
class Plan:
    """`joined` are shapes that others broadcast to, `others` the relations that must hold, `own`
    the variables that no argument tells, `parts` those that only a multiple tells.
    """

    name: str
    general: General
    params: tuple[Param, ...]
    joined: tuple[tuple[ShapeVar, tuple[Shape, ...]], ...]
    others: tuple[Relation, ...]
    own: tuple[Var, ...]
    parts: dict[Poly, DimVar]
    type: Type

    def result(
        self, state: State, args: Sequence[Type], given: dict[str, Dim], span: Span
    ) -> Type | None:
        """The type of the result for these arguments, all that is known put in; None if that takes
        more than putting in.
        """
        match = Match(state.sizes)
        for param, arg in zip(self.params, args, strict=True):
            if not match.argument(param, arg):
                return None
        if match.numbers and not match.enter_numbers(state):
            return None
        if given:
            match.dims.update(self.general.sizes(given))
        for wanted, size in match.later:
            if not self._fits(wanted, size, match):
                return None
        posted: list[Relation] = []
        for var, parts in self.joined:
            shapes = tuple([match.shape(part) for part in parts])
            whole = broadcast(shapes)
            if whole is None:
                whole = (state.fresh_shape(),)
                posted.append(Broadcast(whole, shapes))
            match.shapes[var] = whole
        if self.own:
            _enter(state, self.general.scheme, self.own, match)
        if self.others:
            posted += [put for r in self.others if not _holds(put := match.relation(r), state)]
        if posted or match.sizes:
            self._post(state, posted, match.sizes, span)
        made = match.type(self.type)
        for arg in args:
            if arg == made:
                return arg
        return made

    def _fits(self, wanted: Poly, size: Dim, found: Renaming) -> bool:
        """Whether a size is the expression that the scheme has there. A multiple of a variable that
        no other argument tells says what that is.
        """
        var = self.parts.get(wanted)
        if var is not None and var not in found.dims:
            part = exact_quotient(size, wanted.terms[(var,)])
            if part is None:
                return False
            found.dims[var] = part
            return True
        return found.dim(wanted) == size

    def _post(self, state: State, posted: list[Relation], sizes: list[Poly], span: Span) -> None:
        """What must hold, and that a size of an argument is one."""
        fresh = [dim for dim in sizes if dim not in state.sizes]
        posted += [AtLeast(dim, silent=True) for dim in fresh if not dims.is_nonnegative(dim)]
        if posted:
            origin = Origin("call", span, self.name)
            for relation in posted:
                state.post(relation, origin)
        state.sizes.update(fresh)


# --- made ready ------------------------------------------------------------------------------


def planned(general: General, name: str) -> Plan | None:
    """The plan for a scheme, unless its arguments can never tell all."""
    scheme = general.scheme
    if not isinstance(scheme.type, Fn) or scheme.inner:
        return None
    params: list[Param] = []
    for each in scheme.type.params:
        param = _param(each)
        if param is None:
            return None
        params.append(param)
    told: set[Var] = {var for pair in general.given.values() for var in pair}
    for param in params:
        told.update(item for item in (*param.before, *param.after) if isinstance(item, DimVar))
        told.update(var for var in (param.rest, param.whole) if var is not None)
    parts: dict[Poly, DimVar] = {}
    for item in (item for param in params for item in (*param.before, *param.after)):
        if isinstance(item, Poly) and not all(_is_told(v, told) for v in dims.variables(item)):
            var = _multiple(item)
            if var is None:
                return None
            parts[item] = var
            told.add(var)
    joined: list[tuple[ShapeVar, tuple[Shape, ...]]] = []
    others: list[Relation] = []
    for relation in scheme.relations:
        if isinstance(relation, HasRank | Uniform):
            continue
        whole = _joined(relation, told)
        if whole is not None:
            assert isinstance(relation, Broadcast)
            joined.append((whole, relation.parts))
            told.add(whole)
        elif all(_is_told(v, told) for v in relation_variables(relation)):
            others.append(relation)
        else:
            return None
    elems = {param.elem for param in params}
    own = tuple(v for v in scheme.variables if v not in told and v not in elems)
    result = scheme.type.result
    return Plan(name, general, tuple(params), tuple(joined), tuple(others), own, parts, result)


def _param(type_: Type) -> Param | None:
    match type_:
        case Tensor(elem, shape):
            return _parted(Tensor, elem, shape)
        case ShapeValue(shape):
            return _parted(ShapeValue, None, shape)
        case DimValue(dim):
            return _parted(DimValue, None, (dim,))
        case TypeVar():
            return Param(None, type_)
        case _:
            return None


def _parted(
    kind: type[Tensor] | type[ShapeValue] | type[DimValue], elem: Elem | None, shape: Shape
) -> Param | None:
    before: list[Dim] = []
    after: list[Dim] = []
    rest: ShapeVar | None = None
    for item in shape:
        if isinstance(item, ShapeVar):
            if rest is not None or item.runtime:
                return None
            rest = item
            continue
        if isinstance(item, DimVar) and (item.runtime or item.rank_of is not None):
            return None
        (before if rest is None else after).append(item)
    return Param(kind, None, elem, tuple(before), rest, tuple(after))


def _multiple(item: Poly) -> DimVar | None:
    """The variable that an expression is a multiple of."""
    if len(item.terms) != 1:
        return None
    (mono,) = item.terms
    var = mono[0] if len(mono) == 1 else None
    return var if isinstance(var, DimVar) and not var.runtime and var.rank_of is None else None


def _is_told(var: DimVar | ShapeVar, told: set[Var]) -> bool:
    """Whether the arguments tell what a variable is; the rank of a shape comes with the shape."""
    owner = var.rank_of if isinstance(var, DimVar) else None
    return (owner or var) in told


def _joined(relation: Relation, told: set[Var]) -> ShapeVar | None:
    """The variable that only says what known shapes broadcast to."""
    if not isinstance(relation, Broadcast) or len(relation.result) != 1:
        return None
    var = relation.result[0]
    if not isinstance(var, ShapeVar) or var in told:
        return None
    known = all(isinstance(i, ShapeVar) and i in told for part in relation.parts for i in part)
    return var if known else None


# --- put in ----------------------------------------------------------------------------------


def _enter(state: State, scheme: Scheme, own: tuple[Var, ...], found: Renaming) -> None:
    """Variables for what only a run tells, or nothing does."""
    shift = made_at(state.depth) - made_at(scheme.depth + 1)
    here = made_at(state.depth)
    for var in own:
        match var:
            case DimVar():
                scope = var.scope + shift if var.runtime else here
                found.dims[var] = DimVar(
                    var.name, state.level, False, scope, var.runtime, over=var.over
                )
            case ShapeVar():
                scope = var.scope + shift if var.runtime else here
                found.shapes[var] = (ShapeVar(var.name, state.level, False, scope, var.runtime),)
            case ElemVar():
                found.elems[var] = ElemVar(
                    var.name, state.level, allowed=var.allowed, literal=var.literal
                )
            case TypeVar():
                found.types[var] = TypeVar(var.name, state.level, scope=here, wide=var.wide)


def _holds(relation: Relation, state: State) -> bool:
    """Whether it is plain that a relation holds, or was asked for before."""
    match relation:
        case AtLeast(dim, silent):
            return (silent and dim in state.sizes) or dims.is_nonnegative(dim)
        case DimEq(left, right):
            return left == right
        case ShapeEq(left, right):
            return left == right
        case _:
            return False


def broadcast(parts: Sequence[Shape]) -> Shape | None:
    """The shape that shapes broadcast to, if that needs nothing of their sizes."""
    rank = max(map(len, parts), default=0)
    result: list[Dim | ShapeVar] = [1] * rank
    for part in parts:
        at = rank - len(part)
        for item in part:
            if item != 1 and item != result[at]:
                if result[at] != 1:
                    return None
                result[at] = item
            at += 1
    return tuple(result)
