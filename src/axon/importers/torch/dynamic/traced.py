"""Sizes that the exporter may have written down as numbers, taken for sizes again.

Where an input has a size of 16, a 16 among the sizes of a `view` may be a number of the author's,
or that size of the input. A `TracedNode` takes it for the size: inference then tells what is fixed
even so. What it takes it for is a guess, which no answer rests on alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from axon.contents.values import scalar
from axon.importers.importer import Importer
from axon.importers.node import Rules
from axon.importers.operations import Model, Operand, Operation
from axon.importers.torch.dynamic.input_sizes import InputSize, InputSizes
from axon.importers.torch.dynamic.spelled import Spelling, mentions, spelled
from axon.importers.torch.node import TorchNode
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.quotient import exact_quotient
from axon.types.type import Tensor
from axon.types.variables import DimVar

RESHAPES = frozenset(
    {"view", "reshape", "_unsafe_view", "view_copy", "_reshape_alias", "unflatten"}
)
UPSAMPLINGS = [
    f"upsample_{name}"
    for name in ("nearest1d", "nearest2d", "nearest3d", "linear1d", "bilinear2d", "bicubic2d",
                 "trilinear3d")
]  # fmt: skip
SIZES = {
    **dict.fromkeys(RESHAPES, "size"), "reshape": "shape", "unflatten": "sizes", "expand": "size",
    "expand_copy": "size", "broadcast_to": "size", "zeros": "size", "ones": "size", "full": "size",
    "empty": "size", "rand": "size", "randn": "size", "new_zeros": "size", "new_ones": "size",
    "new_full": "size", "new_empty": "size", "repeat": "repeats", "tile": "dims",
    "split_with_sizes": "split_sizes",
    **dict.fromkeys(UPSAMPLINGS, "output_size"),
}  # fmt: skip
"""The lists of sizes that operators take."""
SINGLE = {
    "arange": ("start", "end"), "slice": ("start", "end"), "slice_copy": ("start", "end"),
    "narrow": ("length",), "narrow_copy": ("length",), "linspace": ("steps",), "eye": ("n", "m"),
    "split": ("split_size",), "repeat_interleave": ("repeats",),
}  # fmt: skip
"""The single ones."""
MOST_SIZES = 64
"""Of a tensor; in longer lists numbers stay numbers."""
ENDLESS = 1 << 40
"""No size is so large: it stands for the end of a tensor."""


@dataclass(slots=True)
class Assumption:
    """Which sizes may stand as numbers in the program: with `all_`, also where the line of the
    source does not say so. `groups` are the sizes that those of a reshaped tensor follow from, for
    each operation by position.
    """

    given: InputSizes
    traced: tuple[InputSize, ...]
    all_: bool
    groups: dict[Operation, dict[int, frozenset[DimVar]]] = field(default_factory=dict)

    def of_number(self, number: int) -> list[DimVar]:
        return [each.var for each in self.traced if each.example == number]


def distinguished(model: Model) -> Model:
    """The model with operations that list sizes different from each other, since the same number
    may stand for a size in one line and for itself in the next.
    """
    operations = []
    for at, operation in enumerate(model.graph.operations):
        if operation.operator in SIZES or operation.operator in SINGLE:
            each = operation.changed()
            each.written = ("sizes", at)
            operations.append(each)
        else:
            operations.append(operation)
    graph = type(model.graph)(
        model.graph.inputs, model.graph.outputs, operations, model.graph.constants
    )
    return Model(graph, model.functions, model.said, model.version)


def spellings(operation: Operation) -> dict[int, Spelling]:
    """How the numbers among the sizes of an operation are written in the user's source, by their
    positions.
    """
    operator, attributes = operation.operator.removesuffix("_"), operation.attributes
    if operator in SINGLE:
        found = [(i, attributes.get(name)) for i, name in enumerate(SINGLE[operator])]
        return {i: _alone(operation, n) for i, n in found if isinstance(n, int) and is_size(n)}
    listed = attributes.get(SIZES.get(operator, ""), ())
    every = listed if isinstance(listed, tuple) else (listed,)
    sizes = tuple([n if is_number(n) else None for n in every])
    text = "" if operation.place is None else operation.place.text
    kinds = spelled(text, operator, sizes)
    return {i: kind for i, (kind, n) in enumerate(zip(kinds, every, strict=True)) if is_size(n)}


def is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_size(value: Any) -> bool:
    return is_number(value) and 0 <= value < ENDLESS


def _alone(operation: Operation, number: int) -> Spelling:
    """A bound of a slice or a range is a number of the author's if it stands in the line."""
    text = "" if operation.place is None else operation.place.text
    known = number == 0 or mentions(text, number)
    return Spelling.NUMBER if known else Spelling.UNKNOWN


class TracedNode(TorchNode):
    """A node whose numbers are sizes again, under an assumption: inputs that hold them stand in the
    place of the numbers.
    """

    __slots__ = ("assumption",)

    def __init__(
        self,
        assumption: Assumption,
        importer: Importer,
        operation: Operation,
        at: int,
        rules: Rules,
    ) -> None:
        super().__init__(importer, operation, at, rules)
        self.assumption = assumption
        operator = self.operator.removesuffix("_")
        if operator in SIZES:
            self._list(SIZES[operator])
        for i, name in enumerate(SINGLE.get(operator, ())):
            value = self.attributes.get(name)
            if isinstance(value, int) and self._open(i + 1)[i]:
                self._replace(name, self._input_for(value, self._guess(value, None)))

    def _list(self, name: str) -> None:
        """Take numbers in a list for the sizes that they may be."""
        given = self.attributes.get(name, ())
        every = list(given) if isinstance(given, tuple) else [given]
        if len(every) > MOST_SIZES:
            return
        open_ = self._open(len(every))
        known = [self.element(n.index) if isinstance(n, Operand) else n for n in every]
        if not every or not all(isinstance(n, int | DimVar | Poly) for n in known):
            return
        if self.operator in RESHAPES:
            found = self._reshaped(known, open_)
        elif any(open_):
            found = self._each(known, open_)
        else:
            return
        made = [n if n is known[i] else self._input_for(every[i], n) for i, n in enumerate(found)]
        self._replace(name, tuple([every[i] if m is known[i] else m for i, m in enumerate(made)]))

    def _replace(self, name: str, value: Any) -> None:
        self.attributes = {**self.attributes, name: value}

    def _input_for(self, number: Any, size: Any) -> Any:
        """An input of the node that holds a size; the number itself if it is that."""
        if is_number(size):
            return number
        name = f"{self.outputs[0] if self.outputs else self.operator} size {len(self.inputs)}"
        self.importer.define(name, Tensor("i64", ()), scalar(size, "i64"))
        self.inputs = [*self.inputs, name]
        self.alone = True
        return Operand(len(self.inputs) - 1)

    # --- which ---

    def _open(self, count: int) -> list[bool]:
        """Whether each of so many sizes may be one that was written down."""
        kinds = spellings(self.operation)
        return [i in kinds and self._is_open(kinds[i]) for i in range(count)]

    def _is_open(self, kind: Spelling) -> bool:
        return kind is Spelling.SIZE or (self.assumption.all_ and kind is Spelling.UNKNOWN)

    # --- what they may be ---

    def _guess(self, number: int, own: Dim | None) -> Any:
        """The size that a number may be: that of the tensor itself, or of the one input that has
        it; any size if there are several.
        """
        if own is not None and not isinstance(own, int) and self._example(own) == number:
            return own
        found = self.assumption.of_number(number)
        if len(found) == 1:
            return found[0]
        if not found and number <= 1:
            return number
        return self.fresh_dim()

    def _example(self, dim: Dim) -> int | None:
        return dims.evaluate(dim, self.assumption.given.examples)

    def _own(self) -> Sequence[Any] | None:
        at = self.index("self")
        return None if at is None else self.shape(at)

    def _reshaped(self, sizes: list[Any], open_: list[bool]) -> list[Any]:
        """The sizes of a tensor that has the elements of another: each group of sizes with as many
        elements as a group of the other is what that is.
        """
        word = self._own()
        if word is not None and self.operator == "unflatten":
            axis = self.integer("dim", 0) or 0
            word = word[axis : axis + 1] if -len(word) <= axis < len(word) else None
        before = None if word is None else [self._example(n) for n in word]
        after = [n if is_number(n) else self._example(n) for n in sizes]
        if word is None or before is None or None in before or None in after:
            return self._each(sizes, open_)
        if after.count(-1) == 1:
            others = _product([n for n in after if n != -1 and n is not None])
            total = _product([n for n in before if n is not None])
            after[after.index(-1)] = total // others if others else 0
        found = list(sizes)
        groups: dict[int, frozenset[DimVar]] = {}
        for left, right in _groups([n or 0 for n in before], [n or 0 for n in after]):
            group = [word[i] for i in left]
            variables = [v for n in group for v in dims.variables(n) if isinstance(v, DimVar)]
            groups.update(dict.fromkeys(right, frozenset(variables)))
            if variables:
                self._group(group, found, right, open_)
        self.assumption.groups[self.operation] = groups
        return found

    def _each(self, sizes: list[Any], open_: list[bool]) -> list[Any]:
        """Each size by itself; one that a tensor is broadcast to may be its own."""
        own = self._own() if self.operator.startswith(("expand", "broadcast")) else None
        first = 0 if own is None else len(own) - len(sizes)
        return [
            self._guess(n, own[first + i] if own is not None and first + i >= 0 else None)
            if is_open
            else n
            for i, (n, is_open) in enumerate(zip(sizes, open_, strict=True))
        ]

    def _group(self, word: list[Dim], found: list[Any], at: list[int], open_: list[bool]) -> None:
        """Sizes with as many elements as those of `word`: each that is open is one of those with
        its number, and the first one left has what the others leave.
        """
        rest, left = list(word), []
        for i in at:
            match = next((n for n in rest if open_[i] and self._example(n) == found[i]), None)
            if match is not None and not isinstance(match, int):
                rest.remove(match)
                found[i] = match
            elif open_[i]:
                left.append(i)
        if not left:
            return
        total = dims.product(word)
        if any(found[i] == -1 for i in at) or self._taken_for_inputs(total, found, at, left):
            return
        for i in left:
            whole = exact_quotient(total, dims.product([found[j] for j in at if j != i]))
            if whole is not None and not isinstance(whole, int):
                found[i] = whole
                return
        for i in left:
            found[i] = self._guess(found[i], None)

    def _taken_for_inputs(
        self, total: Dim, found: list[Any], at: list[int], left: list[int]
    ) -> bool:
        """Take numbers for the sizes of inputs that have them, all of them or one, if the product
        is then what it must be.
        """
        alone = {i: self.assumption.of_number(found[i]) for i in left}
        known = {i: dims_[0] for i, dims_ in alone.items() if len(dims_) == 1}
        for some in (known, *({i: var} for i, var in known.items())):
            sizes = {i: some.get(i, found[i]) for i in at}
            if some and dims.product(list(sizes.values())) == total:
                found[:] = [sizes.get(i, n) for i, n in enumerate(found)]
                return True
        return False


def _product(numbers: Sequence[int]) -> int:
    found = 1
    for n in numbers:
        found *= n
    return found


def _groups(before: list[int], after: list[int]) -> list[tuple[list[int], list[int]]]:
    """The shortest groups of neighbours that have as many elements as each other."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(before) and j < len(after):
        left, right = [i], [j]
        a, b = before[i], after[j]
        i, j = i + 1, j + 1
        while a != b:
            if a < b and i < len(before):
                a, left, i = a * before[i], [*left, i], i + 1
            elif b < a and j < len(after):
                b, right, j = b * after[j], [*right, j], j + 1
            else:
                return found
        found.append((left, right))
    if found and j < len(after) and all(n == 1 for n in after[j:]):
        found[-1][1].extend(range(j, len(after)))
    return found
