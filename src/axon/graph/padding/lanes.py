"""How an operator treats the padded axes of its operands: what must stand behind the true elements,
and which axes it keeps apart, so that nothing of the padding gets into what is true.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field

from axon.graph.graph import Apply, Function, Operand, OperatorFunction, ShapeOf, SizeOf
from axon.graph.padding.sizes import NotPadded, Sizes
from axon.graph.scope import operand_type
from axon.ops.rows import Word, core, rows_of
from axon.ops.traits import Fill, Padding, RowRule
from axon.types import dim as dims
from axon.types.dim import Poly
from axon.types.type import UNKNOWN, DimValue, Shape, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar

FLOATS = ("f", "bf")


@dataclass(slots=True)
class Lanes:
    """`fills` is what must stand in an operand along an axis. `kept` are, for each tensor of the
    result, the padded axes along which elements have their own lane in all operands.

    Where an operand lacks a padded axis of the result, all lanes share it, and what is derived with
    respect to it is a sum over them. `spread` are such operands of what is pointwise: by axis,
    counted from the end, an operand that has it. `zeros` are the axes of the other operands that
    must be zero in the padding, or else what is derived there would be in the sum. `counted`: the
    meaning for padded operands is needed.
    """

    fills: dict[int, dict[int, Fill]] = field(default_factory=dict)
    kept: list[set[int]] = field(default_factory=list)
    spread: dict[int, dict[int, int]] = field(default_factory=dict)
    zeros: dict[int, set[int]] = field(default_factory=dict)
    counted: bool = False
    in_order: bool = False


def type_of(operand: Operand) -> Type:
    """The type of an operand; that of a function says nothing of its operands."""
    return UNKNOWN if isinstance(operand, Function | OperatorFunction) else operand_type(operand)


def shape_of(operand: Operand) -> Shape | None:
    type_ = type_of(operand)
    return type_.shape if isinstance(type_, Tensor) else None


def tensors(type_: Type) -> Iterator[Tensor]:
    match type_:
        case Tensor():
            yield type_
        case Tuple(items):
            for item in items:
                yield from tensors(item)
        case _:
            return


def is_float(type_: Type) -> bool:
    return isinstance(type_, Tensor) and str(type_.elem).startswith(FLOATS)


def lanes_of(node: Apply, sizes: Sizes) -> Lanes:
    """The lanes of an operator; `NotPadded` if nothing is known of a padded axis."""
    around = core(node.operator, len(node.operands))
    stated = node.operator.traits.padding
    padding = stated if isinstance(stated, Padding) else stated(node.attributes)
    if isinstance(padding, str):
        raise NotPadded(_padded_in(node, sizes), padding)
    counted = False
    for name, value in node.attributes.items():
        counted |= _check_attribute(name, value, padding, sizes)
    if node.operator.traits.passes_through:
        return Lanes(kept=[set(sizes.axes(t.shape)) for t in tensors(node.result.type)])
    if padding.in_order:
        return Lanes(kept=[set()], in_order=True)
    if around is not None:
        found = _broadcast(node, around, padding, sizes)
    else:
        found = _labelled(node, padding, sizes)
    found.counted |= counted
    return found


def _padded_in(node: Apply, sizes: Sizes) -> frozenset[DimVar]:
    types = [type_of(operand) for operand in node.operands]
    return frozenset().union(*map(sizes.among, [*types, node.result.type]))


def _check_attribute(name: str, value: object, padding: Padding, sizes: Sizes) -> bool:
    """Whether an attribute is a padded size, as it may be."""
    parts = value if isinstance(value, tuple) else (value,)
    dims = [sizes.padded_in(part.dim) for part in parts if isinstance(part, SizeOf)]
    found = frozenset[DimVar]().union(*dims)
    return _check_size(name, found, padding)


def _check_size(name: str, found: frozenset[DimVar], padding: Padding) -> bool:
    if found and name not in padding.sizes:
        raise NotPadded(found, f"its `{name}` is that size")
    return bool(found)


# --- operands that broadcast -----------------------------------------------------------------


def _broadcast(node: Apply, around: int, padding: Padding, sizes: Sizes) -> Lanes:
    """Axes before the core are aligned from the end; each place of the result is a lane."""
    whole = node.result.type
    assert isinstance(whole, Tensor)
    found = _labelled(node, padding, sizes, around) if around else Lanes(kept=[set()])
    for axis in range(len(whole.shape) - around):
        back = len(whole.shape) - axis
        item = whole.shape[axis]
        mine = sizes.padded_in(item)
        lacking, having = [], []
        for place, operand in enumerate(node.operands):
            shape = shape_of(operand)
            if shape is None:
                if isinstance(type_of(operand), Tensor | DimValue):
                    lacking.append(place)
                continue  # a shape says how far the others are stretched
            own = shape[-back] if len(shape) >= back else 1
            if isinstance(own, ShapeVar) or isinstance(item, ShapeVar):
                raise NotPadded(sizes.padded, "the rank of a value is not known")
            if sizes.dim(own) == 1 and sizes.dim(item) != 1:
                lacking.append(place)
            elif (mine or sizes.padded_in(own)) and sizes.dim(own) != sizes.dim(item):
                tied = mine | sizes.padded_in(own)
                raise NotPadded(tied, "it broadcasts with a size that is padded otherwise")
            else:
                having.append(place)
        if not mine:
            continue
        lacking = [place for place in lacking if is_float(type_of(node.operands[place]))]
        if not lacking or (not around and having):
            found.kept[0].add(axis)
            for place in lacking:
                found.spread.setdefault(place, {})[-back] = having[0]
        for place in having if lacking and around else ():
            shape = shape_of(node.operands[place])
            assert shape is not None
            found.zeros.setdefault(place, set()).add(len(shape) - back)
    return found


# --- operands whose axes have names ----------------------------------------------------------


def _labelled(node: Apply, padding: Padding, sizes: Sizes, last: int | None = None) -> Lanes:
    """Axes by their names in the signature; only the `last` ones of each tensor, if given."""
    rows = rows_of(node.operator, node.type, node.written)
    results = list(tensors(node.result.type))
    found = Lanes(kept=[set() for _ in results])
    if not _padded_in(node, sizes):
        return found
    by_result = [
        {label.key: axis for axis, label in enumerate(word or ())} for word in rows.results
    ]
    known: set[Hashable] = set()
    lanes: dict[Hashable, dict[int, set[int]]] = {}
    for place, operand in enumerate(node.operands):
        shape, word = shape_of(operand), rows.operands[place]
        if place in rows.sizes and not _among(rows.sizes[place], padding.made):
            mine = sizes.among(type_of(operand))
            found.counted |= _check_size(rows.sizes[place], mine, padding)
        if shape is None:
            if isinstance(operand, ShapeOf) and word is not None:
                known |= {label.key for label in word if _among(_name(label.key), padding.free)}
                for item, label in zip(operand.shape, word, strict=True):
                    name, mine = _name(label.key), sizes.padded_in(item)
                    if mine and not any(label.key in axes for axes in by_result):
                        _check_size(name, mine, padding)
            continue
        if word is None:
            if sizes.among(type_of(operand)):
                raise NotPadded(sizes.padded, "the rank of a value is not known")
            continue
        batch = _batch(node, place, rows.batch(place), word)
        begin = 0 if last is None else max(len(shape) - last, 0)
        for axis, item in enumerate(shape):
            padded = sizes.padded_in(item)
            if not padded or axis < begin:
                continue
            key, name = word[axis].key, _name(word[axis].key)
            fill = _fill(name, padding)
            in_results = all(key in axes for axes in by_result)
            if fill is None and not in_results:
                fill = padding.reduced
            if fill is not None:
                found.fills.setdefault(place, {})[axis] = fill
                found.counted = True
                known.add(key)
            elif in_results and (axis < batch or _among(name, padding.free)):
                lanes.setdefault(key, {}).setdefault(place, set()).add(axis)
                known.add(key)
            else:
                raise NotPadded(padded, padding.reason)
    for at, (tensor, word) in enumerate(zip(results, rows.results, strict=True)):
        begin = 0 if last is None else max(len(tensor.shape) - last, 0)
        for axis, item in enumerate(tensor.shape):
            padded = sizes.padded_in(item)
            if not padded or axis < begin:
                continue
            if word is None:
                raise NotPadded(padded, "the rank of its result is not known")
            key = word[axis].key
            if key in lanes:
                found.kept[at].add(axis)
                _share(node, found, lanes[key], at, axis)
            elif key not in known and not _among(_name(key), padding.made):
                raise NotPadded(padded, padding.reason)
            elif key not in known:
                found.counted = True
    return found


def _share(node: Apply, found: Lanes, having: dict[int, set[int]], at: int, axis: int) -> None:
    """An operand that lacks a lane of the result is shared by all of them."""
    floats = {place for place, o in enumerate(node.operands) if is_float(type_of(o))}
    if floats - having.keys():
        found.kept[at].discard(axis)
        for place in floats & having.keys():
            found.zeros.setdefault(place, set()).update(having[place])


def _batch(node: Apply, place: int, batch: int, word: Word) -> int:
    """How many axes at the front of an operand are a batch, by the signature alone."""
    if node.operator.traits.rows is RowRule.DRAWN:
        return 0
    count = 0
    for label in word[:batch]:
        if not label.free:
            break
        count += 1
    return count


def _name(key: Hashable) -> str:
    """What a signature calls an axis."""
    match key:
        case DimVar():
            return str(key.name)
        case (ShapeVar() as var, int()):
            return str(var.name)
        case int():
            return str(key)
        case Poly():
            return "~" + ",".join(dict.fromkeys(var.name for var in dims.variables(key)))
        case _:
            return ""


def _fill(name: str, padding: Padding) -> Fill | None:
    found = padding.fills.get(name)
    if found is None:
        found = next((f for known, f in padding.fills.items() if _among(name, (known,))), None)
    return found


def _among(name: str, patterns: tuple[str, ...]) -> bool:
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
        for pattern in patterns
    )
