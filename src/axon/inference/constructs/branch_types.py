"""The types of two branches, side by side: the axes along which their tensors differ.

Where tensors differ along axes, the operator that an `if` stands for has a signature that says so.
For structures it is spelled out, each size with a name of its own; what is shared has one name:

    if c { { a = x, b = y } } else { { a = x[1:], b = y } }

    (bool [], () -> { a : t0 [n0_0], b : a1 }, () -> { a : t0 [m0_0], b : a1 })
      -> { a : t0 [?k0_0], b : a1 }
"""

from __future__ import annotations

from collections.abc import Iterator

from axon.inference.state import State
from axon.ops.axes import LIMIT, append, dims
from axon.types.type import Fn, Record, Shape, Tensor, Tuple, Type
from axon.types.variables import ShapeVar

Texts = tuple[str, str, str]
"""The types of the two branches and of the result."""


def differing(state: State, one: Type, other: Type) -> tuple[int, ...]:
    """The axes along which two tensors differ, if nothing but these can: what is open is shared."""
    one, other = state.prune(one), state.prune(other)
    if not isinstance(one, Tensor) or not isinstance(other, Tensor):
        return ()
    left, right = state.store.word(one.shape), state.store.word(other.shape)
    front = _front(left)
    if len(left) > LIMIT or left[front:] != right[front:] or front != _front(right):
        return ()
    return tuple([i for i in range(front) if left[i] != right[i]])


def _front(word: Shape) -> int:
    """How many dimensions a shape begins with."""
    return next((i for i, item in enumerate(word) if isinstance(item, ShapeVar)), len(word))


def tensors(state: State, *types: Type) -> Iterator[tuple[Type, ...]]:
    """The tensors of types of one structure, those that stand in the same place together."""
    parts = _parts(state, *types)
    if parts is None:
        yield types
    else:
        for each in parts:
            yield from tensors(state, *each)


def signature(state: State, one: Type, other: Type) -> str | None:
    """The signature for structures in which tensors differ along axes; None if there are none."""
    if _parts(state, one, other) is None:
        return None
    if not any(differing(state, *pair) for pair in tensors(state, one, other)):
        return None
    left, right, result = _Spelled(state).texts(one, other)
    return f"(bool [], () -> {left}, () -> {right}) -> {result}"


def has_function(state: State, type_: Type) -> bool:
    """Whether a type is that of a function, or of a structure with one in it."""
    match state.prune(type_):
        case Fn():
            return True
        case Tuple(items):
            return any(has_function(state, item) for item in items)
        case _:
            return False


def _parts(state: State, *types: Type) -> list[tuple[Type, ...]] | None:
    """The parts of structures, side by side, where each has the same ones."""
    found = [state.prune(type_) for type_ in types]
    items: list[tuple[Type, ...]] = []
    for each in found:
        if not isinstance(each, Tuple) or len(each.items) != len(items[0] if items else each.items):
            return None
        items.append(each.items)
    fields = {(each.names, _rest(state, each)) for each in found if isinstance(each, Record)}
    if fields and (len(fields) > 1 or not all(isinstance(each, Record) for each in found)):
        return None
    return list(zip(*items, strict=True))


def _rest(state: State, record: Record) -> Type | None:
    """What stands for the other fields. Two records of one structure have the same ones."""
    return None if record.rest is None else state.prune(record.rest)


class _Spelled:
    """Types as text. Each part that is no structure has a number, and so has each open row."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.count = 0
        self.rows = 0

    def texts(self, one: Type, other: Type) -> Texts:
        parts = _parts(self.state, one, other)
        if not parts:
            return self._leaf(one, other)
        known = self.state.prune(one)
        row = ""
        if isinstance(known, Record) and known.rest is not None:
            row, self.rows = f"row{self.rows} | ", self.rows + 1
        found = [self.texts(*pair) for pair in parts]
        left, right, result = (_joined(known, row, each) for each in zip(*found, strict=True))
        return left, right, result

    def _leaf(self, one: Type, other: Type) -> Texts:
        number, self.count = self.count, self.count + 1
        axes = differing(self.state, one, other)
        if not axes:
            return (f"a{number}",) * 3
        known = self.state.prune(one)
        assert isinstance(known, Tensor)
        word = self.state.store.word(known.shape)
        front = _front(word)
        rest = f"rest{number}" if front < len(word) else "[]"
        left, right, result = (
            append(dims(f"{n if i in axes else 'd'}{number}_{i}" for i in range(front)), rest)
            for n in ("n", "m", "?k")
        )
        return f"t{number} {left}", f"t{number} {right}", f"t{number} {result}"


def _joined(structure: Type, row: str, parts: tuple[str, ...]) -> str:
    if isinstance(structure, Record):
        each = zip(structure.names, parts, strict=True)
        return f"{{ {row}{', '.join(f'{name} : {part}' for name, part in each)} }}"
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
