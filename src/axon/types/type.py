"""Shapes, types, the relations between them, and schemes.

Shape = tuple of Dim and ShapeVar                       a flat word: [] is (), append is +
Type  = TypeVar | Tensor | Tuple | Record | Fn | ShapeValue | DimValue | Unknown
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.rows import RowCall
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, Var

Shape = tuple[Dim | ShapeVar, ...]
Elem = str | ElemVar


class Tensor:
    """Immutable. There are many, used as keys, so each keeps its hash."""

    __slots__ = ("_hash", "elem", "shape")
    __match_args__: Final = ("elem", "shape")

    def __init__(self, elem: Elem, shape: Shape) -> None:
        self.elem = elem
        self.shape = shape
        self._hash: int | None = None

    def __eq__(self, other: object) -> bool:
        return self is other or (
            isinstance(other, Tensor) and self.elem == other.elem and self.shape == other.shape
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.elem, self.shape))
        return self._hash

    def __repr__(self) -> str:
        return f"Tensor({self.elem!r}, {self.shape!r})"


@dataclass(frozen=True, slots=True)
class Tuple:
    items: tuple[Type, ...]

    def of(self, items: tuple[Type, ...]) -> Tuple:
        """The same structure with other parts."""
        return Tuple(items)


@dataclass(frozen=True, slots=True)
class Record(Tuple):
    """A tuple whose items have names, in alphabetical order. With a `rest` there may be more
    fields: those of the record that the variable stands for.
    """

    names: tuple[str, ...]
    rest: TypeVar | None = None

    def of(self, items: tuple[Type, ...]) -> Record:
        return Record(items, self.names, self.rest)

    @property
    def fields(self) -> dict[str, Type]:
        return dict(zip(self.names, self.items, strict=True))


def record(fields: Mapping[str, Type], rest: Type | None = None) -> Record:
    """A record with these fields, and with those of the rest if that is one."""
    found = dict(fields)
    if isinstance(rest, Record):
        found |= rest.fields
        rest = rest.rest
    names = tuple(sorted(found))
    assert rest is None or isinstance(rest, TypeVar)
    return Record(tuple([found[name] for name in names]), names, rest)


@dataclass(frozen=True, slots=True)
class Fn:
    params: tuple[Type, ...]
    result: Type


@dataclass(frozen=True, slots=True)
class ShapeValue:
    """The type of a value that is this shape, such as `[b, 3]` or `shape(x)`."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class DimValue:
    """The type of a value that is this dimension, such as `d` in `scores / sqrt(d)`.

    A quotient of sizes is two things: where a size is required it is `dim`, rounded down; where a
    number is required it is `number`, the dividend and the divisor.
    """

    dim: Dim
    number: tuple[Dim, Dim] | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """The type after an error: it unifies with everything, so that nothing is reported twice."""


Type = TypeVar | Tensor | Tuple | Record | Fn | ShapeValue | DimValue | Unknown

UNKNOWN = Unknown()

# --- relations
# -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShapeEq:
    left: Shape
    right: Shape


@dataclass(frozen=True, slots=True)
class DimEq:
    left: Dim
    right: Dim


@dataclass(frozen=True, slots=True)
class Broadcast:
    """`result` is the broadcast of the parts, as in NumPy."""

    result: Shape
    parts: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class DimBroadcast:
    """The same for one dimension: every part is 1 or the result, and not all are 1 unless the
    result is.
    """

    result: Dim
    parts: tuple[Dim, ...]


@dataclass(frozen=True, slots=True)
class AtLeast:
    """`dim >= 0`. A silent one only states that a computed size is a size, and is not shown. `why`
    is for messages: "divisor" where it is one less than a divisor, "window" where it is how far a
    window can slide.
    """

    dim: Dim
    silent: bool
    why: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Uniform:
    """No dimension of the shape varies inside the tensor."""

    shape: Shape


@dataclass(frozen=True, slots=True)
class RowOf:
    """`row` is the shape of an argument or result of a function for one row of a tensor, `rest` the
    shape behind the first dimension of all rows: the same, except that a size which may differ from
    row to row varies in the tensor.
    """

    row: Shape
    rest: Shape
    call: RowCall


@dataclass(frozen=True, slots=True)
class HasRank:
    """Connects a shape with the dimension that is its rank. Only the solver makes this one."""

    shape: ShapeVar


Relation = ShapeEq | DimEq | Broadcast | DimBroadcast | AtLeast | Uniform | RowOf | HasRank


@dataclass(frozen=True, slots=True)
class Stacked:
    """`whole` is the structure `row` with `size` in front of the shape of every tensor in it: a
    variable for each, of types or of rows of records. `call` is what passes the rows.
    """

    whole: TypeVar
    row: TypeVar
    size: Dim
    call: RowCall


@dataclass(frozen=True, slots=True)
class Either:
    """A run-time `size` is one of two others, whichever branch is taken."""

    size: DimVar
    left: Dim
    right: Dim


@dataclass(frozen=True, slots=True)
class Scheme:
    """For all `variables` that satisfy the `relations`: `type`. `depth` is that of the enclosing
    functions.

    `inner` are the variables of its function arguments which may differ from call to call, `rows`
    those of them that also occur outside: there they stand for all calls. `made` has the relations
    that make its run-time shapes: a use that knows more of the arguments knows more of these.
    `stacked` are conditions on structures that are not known yet, `choices` sizes that one of two
    branches decides.
    """

    variables: tuple[Var, ...]
    type: Type
    relations: tuple[Relation, ...] = ()
    depth: int = 0
    inner: frozenset[Var] = frozenset()
    rows: tuple[DimVar | ShapeVar, ...] = ()
    made: tuple[Relation, ...] = ()
    stacked: tuple[Stacked, ...] = ()
    choices: tuple[Either, ...] = ()

    def at(self, sizes: dict[DimVar, Dim]) -> Scheme:
        """The scheme with sizes for some of its variables."""
        if not sizes:
            return self
        known = Renaming(sizes, {}, {}, {})
        type_, relations = known.type(self.type), tuple(map(known.relation, self.relations))
        return replace(self, type=type_, relations=relations, made=())


def make_scheme(
    variables: tuple[Var, ...],
    type_: Type,
    relations: tuple[Relation, ...] = (),
    depth: int = 0,
    made: tuple[Relation, ...] = (),
    stacked: tuple[Stacked, ...] = (),
    choices: tuple[Either, ...] = (),
) -> Scheme:
    inner = _inner(type_)
    rows = _rows(variables, type_, inner)
    return Scheme(variables, type_, relations, depth, inner, rows, made, stacked, choices)


def _rows(
    variables: tuple[Var, ...], type_: Type, inner: frozenset[Var]
) -> tuple[DimVar | ShapeVar, ...]:
    if not inner or not isinstance(type_, Fn):
        return ()
    types = (*type_.params, type_.result)
    outside = {v for t in types if not isinstance(t, Fn) for v in type_variables(t)}
    both = [v for v in variables if v in inner and v in outside]
    return tuple(v for v in both if isinstance(v, DimVar | ShapeVar) and not v.runtime)


def _inner(type_: Type) -> frozenset[Var]:
    """The variables that occur only in functions that a function takes or returns, and those of
    rows: `s` where it takes a function of `t s` beside a `t [d]@s`. Variables outermost in its own
    parameters and result are the same for all calls.
    """
    if not isinstance(type_, Fn):
        return frozenset()
    parts = (*type_.params, type_.result)
    functions = [part for part in parts if isinstance(part, Fn)]
    if not functions:
        return frozenset()
    others = [part for part in parts if not isinstance(part, Fn)]
    outside = {var for other in others for var in type_variables(other)}
    inner = {v for f in functions for v in type_variables(f) if v not in outside}
    behind = {shape[1:] for other in others for shape in tensor_shapes(other)}
    for function in (p for p in type_.params if isinstance(p, Fn)):
        for shape in tensor_shapes(function):
            if shape and shape in behind:
                inner.update(shape_variables(shape))
    for other in others:
        inner.difference_update(_outermost(other))
    return frozenset(inner)


def leaves(type_: Type) -> list[Type]:
    """The parts of a type that are not tuples or functions."""
    match type_:
        case Tuple(items):
            return [leaf for item in items for leaf in leaves(item)]
        case Fn(params, result):
            return [leaf for part in (*params, result) for leaf in leaves(part)]
        case _:
            return [type_]


def tensor_shapes(type_: Type) -> Iterator[Shape]:
    """The shapes of the tensors in a type."""
    return (leaf.shape for leaf in leaves(type_) if isinstance(leaf, Tensor))


def _outermost(type_: Type) -> Iterator[Var]:
    match type_:
        case TypeVar():
            yield type_
        case Tensor(_, shape) | ShapeValue(shape):
            yield from shape_variables(shape[:1])
        case Tuple(items):
            for item in items:
                yield from _outermost(item)
            if isinstance(type_, Record) and type_.rest is not None:
                yield type_.rest
        case DimValue(dim):
            yield from dims.variables(dim)
        case Fn() | Unknown():
            yield from type_variables(type_)


# --- walking
# ---------------------------------------------------------------------------------------


def shape_variables(shape: Shape) -> list[DimVar | ShapeVar]:
    """Every variable, in order of appearance, possibly with repetitions."""
    found: list[DimVar | ShapeVar] = []
    for item in shape:
        kind = type(item)
        if kind is DimVar or kind is ShapeVar:
            found.append(item)  # type: ignore[arg-type]
        elif kind is Poly:
            found.extend(dims.variables(item))  # type: ignore[arg-type]
    return found


def type_variables(type_: Type) -> list[Var]:
    """The same for a type."""
    found: list[Var] = []
    _add_variables(type_, found)
    return found


def _add_variables(type_: Type, found: list[Var]) -> None:
    if isinstance(type_, Tensor):
        if isinstance(type_.elem, ElemVar):
            found.append(type_.elem)
        found.extend(shape_variables(type_.shape))
        return
    match type_:
        case TypeVar():
            found.append(type_)
        case Tuple(items):
            for item in items:
                _add_variables(item, found)
            if isinstance(type_, Record) and type_.rest is not None:
                found.append(type_.rest)
        case Fn(params, result):
            for param in params:
                _add_variables(param, found)
            _add_variables(result, found)
        case ShapeValue(shape):
            found.extend(shape_variables(shape))
        case DimValue(dim, number):
            found.extend(shape_variables((dim, *(number or ()))))
        case Unknown():
            return


def has_runtime_sizes(type_: Type) -> bool:
    return any(isinstance(v, DimVar | ShapeVar) and v.runtime for v in type_variables(type_))


def relation_variables(relation: Relation) -> list[DimVar | ShapeVar]:
    """The same for a relation."""
    match relation:
        case ShapeEq(left, right):
            return shape_variables(left + right)
        case DimEq(dim, other):
            return [*dims.variables(dim), *dims.variables(other)]
        case Broadcast(result, parts):
            found = shape_variables(result)
            for part in parts:
                found.extend(shape_variables(part))
            return found
        case DimBroadcast(dim, sizes):
            return shape_variables((dim, *sizes))
        case AtLeast(dim, _):
            return list(dims.variables(dim))
        case Uniform(shape):
            return shape_variables(shape)
        case RowOf(row, rest, _):
            return shape_variables(row + rest)
        case HasRank(var):
            return [var, var.rank]


def shape_size(shape: Shape) -> Dim:
    """The number of elements."""
    return dims.product(dims.of_size(i) if isinstance(i, ShapeVar) else i for i in shape)


def shape_rank(shape: Shape) -> Dim:
    """The number of dimensions."""
    total: Dim = sum(not isinstance(item, ShapeVar) for item in shape)
    for item in shape:
        if isinstance(item, ShapeVar):
            total = dims.add(total, item.rank)
    return total


@dataclass(slots=True)
class Renaming:
    """A substitution; variables without an entry stay as they are."""

    dims: dict[DimVar, Dim]
    shapes: dict[ShapeVar, Shape]
    elems: dict[ElemVar, Elem]
    types: dict[TypeVar, Type]

    def dim(self, dim: Dim) -> Dim:
        if isinstance(dim, int):
            return dim
        if isinstance(dim, Poly):
            return dims.substitute(dim, self._dim_var, self._size)
        return self._dim_var(dim)

    def _dim_var(self, var: DimVar) -> Dim:
        if var.rank_of is not None:
            image = self.shapes.get(var.rank_of)
            return var if image is None else shape_rank(image)
        return self.dims.get(var, var)

    def _size(self, var: ShapeVar) -> Dim:
        return shape_size(self.shapes.get(var, (var,)))

    def shape(self, shape: Shape) -> Shape:
        word: list[Dim | ShapeVar] = []
        for item in shape:
            if isinstance(item, ShapeVar):
                word.extend(self.shapes.get(item, (item,)))
            else:
                word.append(item if isinstance(item, int) else self.dim(item))
        return tuple(word)

    def type(self, type_: Type) -> Type:
        if isinstance(type_, Tensor):
            elem = type_.elem
            if isinstance(elem, ElemVar):
                elem = self.elems.get(elem, elem)
            return Tensor(elem, self.shape(type_.shape))
        match type_:
            case TypeVar():
                return self.types.get(type_, type_)
            case Record(items, names, rest):
                fields = dict(zip(names, map(self.type, items), strict=True))
                return record(fields, None if rest is None else self.types.get(rest, rest))
            case Tuple(items):
                return Tuple(tuple(self.type(item) for item in items))
            case Fn(params, result):
                return Fn(tuple(self.type(p) for p in params), self.type(result))
            case ShapeValue(shape):
                return ShapeValue(self.shape(shape))
            case DimValue(dim, number):
                if number is None:
                    return DimValue(self.dim(dim))
                return DimValue(self.dim(dim), (self.dim(number[0]), self.dim(number[1])))
            case Unknown():
                return type_

    def relation(self, relation: Relation) -> Relation:
        match relation:
            case ShapeEq(left, right):
                return ShapeEq(self.shape(left), self.shape(right))
            case DimEq(left, right):
                return DimEq(self.dim(left), self.dim(right))
            case Broadcast(result, parts):
                return Broadcast(self.shape(result), tuple(self.shape(p) for p in parts))
            case DimBroadcast(dim, dim_parts):
                return DimBroadcast(self.dim(dim), tuple(self.dim(p) for p in dim_parts))
            case AtLeast(dim, silent, why):
                return AtLeast(self.dim(dim), silent, why)
            case Uniform(shape):
                return Uniform(self.shape(shape))
            case RowOf(row, rest, call):
                return RowOf(self.shape(row), self.shape(rest), call)
            case HasRank():
                return relation
