"""A scheme made ready for arguments that tell all there is to know.

Usually a scheme is copied with fresh variables, and constraints say what they are. Where the
arguments have ranks, and each variable of the scheme stands alone in one of them, what it is can be
put in at once, and there is nothing to solve. The answer is the same; only the reasons are not
kept. No size varies inside a tensor: this is for who has no ragged ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axon.inference.state import State
from axon.ops.scheme import General
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
    relation_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, Var


@dataclass(frozen=True, slots=True)
class Param:
    """What a parameter is matched with: `whole` stands for any type; `elem` is that of a tensor;
    `rest` is the variable for the dimensions between those `before` and those `after`.
    """

    kind: type[Tensor] | type[ShapeValue] | type[DimValue] | None
    whole: TypeVar | None = None
    elem: Elem | None = None
    before: tuple[Dim, ...] = ()
    rest: ShapeVar | None = None
    after: tuple[Dim, ...] = ()


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
            posted += [put for r in self.others if not _holds(put := match.relation(r))]
        if posted or match.sizes:
            self._post(state, posted, match.sizes, span)
        made = match.type(self.type)
        return next((arg for arg in args if arg == made), made)

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


class Match(Renaming):
    """What the variables of a scheme stand for; `later` are sizes that are expressions, `sizes`
    those of the arguments, `numbers` the element types that whole numbers have.
    """

    __slots__ = ("known", "later", "numbers", "sizes")

    def __init__(self, known: set[Dim]) -> None:
        self.known = known
        self.dims: dict[DimVar, Dim] = {}
        self.shapes: dict[ShapeVar, Shape] = {}
        self.elems: dict[ElemVar, Elem] = {}
        self.types: dict[TypeVar, Type] = {}
        self.numbers: list[Elem] = []
        self.later: list[tuple[Poly, Dim]] = []
        self.sizes: list[Poly] = []

    def argument(self, param: Param, arg: Type) -> bool:
        word: Sequence[Dim | ShapeVar]
        if param.whole is not None:
            if isinstance(arg, DimValue):
                return False  # it may be a number of any type
            return self.types.setdefault(param.whole, arg) == arg
        if isinstance(arg, Tensor):
            if param.elem is None or not self._elem(param.elem, arg.elem):
                return False
            word = arg.shape
        elif isinstance(arg, DimValue) and param.elem is not None:
            self.numbers.append(param.elem)
            word = ()
        elif type(arg) is not param.kind:
            return False
        elif isinstance(arg, ShapeValue):
            word = arg.shape
        else:
            assert isinstance(arg, DimValue)
            if isinstance(arg.dim, int) and arg.dim < 0:
                return False  # a number, and no size
            word = (arg.dim,)
        for item in word:
            if isinstance(item, Poly):
                word = [self._plain(each) if isinstance(each, Poly) else each for each in word]
                break
        return self._word(param, word)

    def enter_numbers(self, state: State) -> bool:
        """A whole number is of whatever number type is asked for."""
        for elem in self.numbers:
            found = self.elems.get(elem) if isinstance(elem, ElemVar) else elem
            if found is None:
                assert isinstance(elem, ElemVar)
                allowed = elem.allowed & NUM
                self.elems[elem] = ElemVar(elem.name, state.level, allowed=allowed)
            else:
                allowed = BIT[found] if isinstance(found, str) else found.allowed
                if allowed & NUM != allowed:
                    return False
        return True

    def _elem(self, wanted: Elem, found: Elem) -> bool:
        if not isinstance(wanted, ElemVar):
            return wanted == found
        allowed = BIT[found] if isinstance(found, str) else found.allowed
        if wanted.allowed & allowed != allowed:
            return False
        return self.elems.setdefault(wanted, found) == found

    def _word(self, param: Param, word: Sequence[Dim | ShapeVar]) -> bool:
        before, after, rest = param.before, param.after, param.rest
        end = len(word) - len(after)
        if rest is None:
            if end != len(before):
                return False
        else:
            if end < len(before):
                return False
            middle = tuple(word[len(before) : end])
            for item in middle:
                if isinstance(item, ShapeVar):
                    return False
            if self.shapes.setdefault(rest, middle) != middle:
                return False
        for wanted, found in zip(before, word, strict=False):
            if not self._dim(wanted, found):
                return False
        if after:
            for wanted, found in zip(after, word[end:], strict=True):
                if not self._dim(wanted, found):
                    return False
        return True

    def _dim(self, wanted: Dim, found: Dim | ShapeVar) -> bool:
        if isinstance(found, ShapeVar):
            return False
        if isinstance(wanted, DimVar):
            return self.dims.setdefault(wanted, found) == found
        if isinstance(wanted, int):
            return wanted == found
        self.later.append((wanted, found))
        return True

    def _plain(self, dim: Poly) -> Dim:
        """The size of an argument, without `max(n,0)` where `n` is known to be a size."""
        if self.known:
            constant = dim.terms.get((), 0)
            if len(dim.terms) <= 2:
                for mono in dim.terms:
                    if len(mono) == 1 and isinstance(mono[0], Max):
                        return self._unclipped(dim, mono[0], constant)
        self.sizes.append(dim)
        return dim

    def _unclipped(self, dim: Poly, atom: Max, constant: int) -> Dim:
        alone = dims.sub(dim, constant) == dims.of_atom(atom)
        if alone and len(atom.args) == 2 and -constant in atom.args:
            for part in atom.args:
                size = dims.add(part, constant)
                if size in self.known:
                    if isinstance(size, Poly):
                        self.sizes.append(size)
                    return size
        self.sizes.append(dim)
        return dim


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
    shift = state.depth - scheme.depth - 1
    for var in own:
        match var:
            case DimVar():
                scope = var.scope + shift if var.runtime else state.depth
                found.dims[var] = DimVar(var.name, state.level, False, scope, var.runtime)
            case ShapeVar():
                scope = var.scope + shift if var.runtime else state.depth
                found.shapes[var] = (ShapeVar(var.name, state.level, False, scope, var.runtime),)
            case ElemVar():
                found.elems[var] = ElemVar(
                    var.name, state.level, allowed=var.allowed, literal=var.literal
                )
            case TypeVar():
                found.types[var] = state.fresh_type()


def _holds(relation: Relation) -> bool:
    """Whether it is plain that a relation holds."""
    match relation:
        case AtLeast(dim, _):
            return dims.is_nonnegative(dim)
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
