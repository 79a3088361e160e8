"""Sources of sizes: each variable is read off the shape of some value."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass

from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Check,
    Extern,
    Function,
    Item,
    Measure,
    Node,
    Operand,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.type import (
    Broadcast,
    DimBroadcast,
    DimValue,
    Relation,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    relation_variables,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, given_at, owner

SizeVar = DimVar | ShapeVar


@dataclass(frozen=True, slots=True)
class Reading:
    """`path` leads into tuples. The size at `start` is `scale` times the variable, plus `offset`;
    a shape variable is the sizes from `start` to `stop`, both counted from the back if negative.
    The sizes are those of an array, or are `given`: as a `shape`, or as one `dim`.
    """

    path: tuple[int, ...]
    start: int
    stop: int | None = None
    scale: int = 1
    offset: int = 0
    given: str = ""


def readable(value: Value) -> Iterator[tuple[SizeVar, Reading]]:
    """The variables that can be read off a value. Where a check equates its sizes with others,
    those that it was made with are read; the others are known from elsewhere.
    """
    made = list(readings(value.made)) if value.made is not None else None
    for var, reading in readings(value.type):
        if var in value.foreign:
            continue
        if made is None or (var, reading) in made or (isinstance(var, DimVar) and var.derived):
            yield var, reading
    for var, reading in made or ():
        if var not in value.foreign:
            yield var, reading


def readings(type_: Type, path: tuple[int, ...] = ()) -> Iterator[tuple[SizeVar, Reading]]:
    """The variables that can be read off a value of this type."""
    match type_:
        case Tuple(items):
            for i, part in enumerate(items):
                yield from readings(part, (*path, i))
        case DimValue(dim):
            yield from _word((dim,), path, "dim")
        case ShapeValue(shape):
            yield from _word(shape, path, "shape")
        case Tensor(_, shape):
            yield from _word(shape, path, "")
        case _:
            return


def _word(shape: Shape, path: tuple[int, ...], given: str) -> Iterator[tuple[SizeVar, Reading]]:
    unknown = [i for i, item in enumerate(shape) if isinstance(item, ShapeVar)]
    for i, item in enumerate(shape):
        before = any(u < i for u in unknown)
        after = any(u > i for u in unknown)
        at = i - len(shape) if before else i
        if isinstance(item, ShapeVar):
            if not before and not after:
                behind = len(shape) - i - 1
                stop = -behind if behind else None
                yield item, Reading(path, i, stop, given=given)
        elif not (before and after):
            found = _linear(item)
            if found is not None:
                var, scale, offset = found
                yield var, Reading(path, at, None, scale, offset, given)


def _linear(dim: Dim) -> tuple[DimVar, int, int] | None:
    """A dimension that is a multiple of one variable, plus a constant."""
    if isinstance(dim, DimVar):
        return None if dim.rank_of is not None else (dim, 1, 0)
    if not isinstance(dim, Poly):
        return None
    terms = dict(dim.terms)
    offset = terms.pop((), 0)
    if len(terms) != 1:
        return None
    ((mono, scale),) = terms.items()
    if len(mono) == 1 and isinstance(mono[0], DimVar) and mono[0].rank_of is None:
        return mono[0], scale, offset
    return None


def only_unknown(dim: Dim | ShapeVar, known: Container[SizeVar]) -> DimVar | None:
    """The only unknown variable of a dimension, if there is exactly one."""
    if isinstance(dim, int | ShapeVar):
        return None
    found = {var for var in dims.variables(dim) if owner(var) not in known}
    only = next(iter(found)) if len(found) == 1 else None
    return only if isinstance(only, DimVar) and only.rank_of is None else None


def decided(
    params: Sequence[Value], known: Container[SizeVar]
) -> Iterator[tuple[DimVar, Value, int]]:
    """The variables that cannot be read off a parameter, but that one of its sizes may decide, as
    their only unknown: `n` of `[n*n]`; with the parameter and the axis. A division decides nothing:
    `h/2` is the same for two sizes.
    """
    for value in params:
        shape = value.type.shape if isinstance(value.type, Tensor) else ()
        if not any(isinstance(item, ShapeVar) for item in shape):
            for axis, item in enumerate(shape):
                only = only_unknown(item, known)
                if only is not None and not only.runtime and _is_polynomial(item):
                    yield only, value, axis


def _is_polynomial(dim: Dim | ShapeVar) -> bool:
    return isinstance(dim, Poly) and all(
        isinstance(atom, DimVar) for mono in dim.terms for atom in mono
    )


def provided(node: Node) -> set[SizeVar]:
    """The variables that are known once the node has run."""
    match node:
        case Measure(_, shape, _):
            return {owner(v) for v in measured(shape)}
        case Check():
            return set()
        case _:
            return {var for var, _ in readable(node.result)}


def measured(shape: Shape) -> Iterator[SizeVar]:
    """The variables that are entire items of a shape: the numbers in an array decide them."""
    for item in shape:
        if isinstance(item, DimVar | ShapeVar):
            yield item


def needed(node: Node) -> set[SizeVar]:
    """The variables that a node needs to run, except those that it makes for itself."""
    found: set[SizeVar] = set()
    match node:
        case Check(relation, _, _):
            found.update(relation_variables(relation))  # those of them that are known
        case Measure(source, _, _):
            _operand_needs(source, found)
        case Item():
            pass
        case Alias(_, operand):
            _operand_needs(operand, found)
        case Apply(_, _, operands, attributes):
            for operand in operands:
                _operand_needs(operand, found)
            for value in attributes.values():
                _attribute_needs(value, found)
        case Call(_, _, operands, _):
            for operand in operands:
                _operand_needs(operand, found)
        case Extern(result, _, operands, _):
            for operand in operands:
                _operand_needs(operand, found)
            # the result is compared with what is known of it
            found.update(var for var, _ in readings(result.type))
    return {owner(v) for v in found}


def relation_needs(relation: Relation, made: Collection[SizeVar] = ()) -> set[SizeVar]:
    """All variables of a relation; a lone result of a broadcast is computed, unless some value has
    it.
    """
    found = set(relation_variables(relation))
    match relation:
        case Broadcast((ShapeVar() as var,), parts):
            if _is_computed(var, made) and not any(var in shape_variables(part) for part in parts):
                found.discard(var)
        case DimBroadcast(DimVar() as dim, sizes):
            if _is_computed(dim, made) and not any(dim in dims.variables(size) for size in sizes):
                found.discard(dim)
        case _:
            pass
    return {owner(v) for v in found}


def _is_computed(var: SizeVar, made: Collection[SizeVar]) -> bool:
    """Whether the result of a broadcast follows from its parts alone: no operator makes it."""
    return var not in made or (isinstance(var, DimVar) and var.derived)


def operand_needs(operand: Operand) -> set[SizeVar]:
    found: set[SizeVar] = set()
    _operand_needs(operand, found)
    return {owner(v) for v in found}


def _operand_needs(operand: Operand, found: set[SizeVar]) -> None:
    match operand:
        case SizeOf(dim, _):
            found.update(dims.variables(dim))
        case ShapeOf(shape, _):
            found.update(shape_variables(shape))
        case Bundle(items):
            for item in items:
                _operand_needs(item, found)
        case Function(params, nodes, result, _):
            made = {v for p in params for v, _ in readable(p)}
            for node in nodes:
                if isinstance(node, Extern):  # what it makes is compared where it is known
                    made |= {var for var in provided(node) if var.runtime}
                if not isinstance(node, Check):  # which uses the sizes that are known
                    found |= needed(node) - made
                made |= provided(node)
            found |= operand_needs(result) - made
        case _:
            pass


def needed_inside(operand: Operand) -> set[SizeVar]:
    """The sizes that a function and those nested in it need, even where they could read them off
    their own values. Such a size is better read outside: a check compares the one inside with it.
    Sizes that vary from call to call are not included.
    """
    found: set[SizeVar] = set()
    if isinstance(operand, Function):
        found |= operand_needs(operand.result)
        for node in operand.nodes:
            found |= needed(node).union(*map(needed_inside, operands_of(node)))
        found = {var for var in found if not var.runtime or var.scope < given_at(operand.depth)}
    return found


def _attribute_needs(value: object, found: set[SizeVar]) -> None:
    if isinstance(value, SizeOf):
        found.update(dims.variables(value.dim))
    elif isinstance(value, tuple):
        for item in value:
            _attribute_needs(item, found)


def operands_of(node: Node) -> tuple[Operand, ...]:
    match node:
        case Apply() | Call() | Extern():
            return node.operands
        case Item(_, whole, _):
            return (whole,)
        case Alias(_, operand):
            return (operand,)
        case Measure(source, _, _):
            return (source,)
        case Check():
            return ()


def values_in(operand: Operand) -> Iterator[Value]:
    """The values that an operand mentions, those of a function's body that are outside it too."""
    match operand:
        case Value():
            yield operand
        case Bundle(items):
            for item in items:
                yield from values_in(item)
        case Function(_, nodes, result, _):
            for node in nodes:
                for inner in operands_of(node):
                    yield from values_in(inner)
            yield from values_in(result)
        case _:
            return


def captured(function: Function) -> dict[Value, None]:
    """The values of what is around a function that it uses, in order."""
    own = set(_made_in(function))
    return dict.fromkeys([value for value in values_in(function) if value not in own])


def _made_in(function: Function) -> Iterator[Value]:
    """The values that a function makes, and those inside it."""
    yield from function.params
    for node in function.nodes:
        if not isinstance(node, Check | Measure):
            yield node.result
        for operand in operands_of(node):
            yield from _made_in_operand(operand)
    yield from _made_in_operand(function.result)


def _made_in_operand(operand: Operand) -> Iterator[Value]:
    if isinstance(operand, Function):
        yield from _made_in(operand)
    elif isinstance(operand, Bundle):
        for item in operand.items:
            yield from _made_in_operand(item)
