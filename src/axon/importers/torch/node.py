"""One node of a PyTorch program, as the rules see it: its arguments have names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from axon.contents.values import scalar
from axon.importers.expressions import Expression
from axon.importers.node import Node
from axon.importers.operations import Malformed, Operand, Unsupported
from axon.importers.runtime_values import scalar_of
from axon.importers.torch import elements
from axon.solver.constraints import Origin
from axon.types.dim import Dim, Poly
from axon.types.type import DimEq
from axon.types.variables import DimVar

ASSERTIONS = frozenset({"_assert_scalar", "sym_constrain_range_for_size", "_check_is_size"})


MOST_NUMBERS = 1024
"""For the axes of a tensor, or the places where it is cut."""


class TorchNode(Node):
    """An argument that is not given has the value that the caller says: the exporter leaves out
    those that are what PyTorch's schema says anyway.
    """

    __slots__ = ()

    @property
    def asserts(self) -> bool:
        return self.operator in ASSERTIONS

    # --- what an argument is ---

    def argument(self, name: str) -> Any:
        """The value of an argument; None if it is not given."""
        return self.attributes.get(name)

    def index(self, name: str) -> int | None:
        """Which input an argument is, if it is a tensor."""
        found = self.attributes.get(name)
        return found.index if isinstance(found, Operand) else None

    def tensor_index(self, name: str) -> int:
        """Which input an argument is that must be a tensor."""
        found = self.index(name)
        if found is None:
            raise Malformed(f"its argument `{name}` is no tensor")
        return found

    def indices(self, name: str, least: int = 0) -> list[int]:
        """Which inputs an argument is that is a list of tensors, `least` of them or more."""
        found = self.attributes.get(name, ())
        every = found if isinstance(found, tuple) else (found,)
        if not all(isinstance(each, Operand) for each in every):
            raise Malformed(f"its argument `{name}` is no list of tensors")
        if len(every) < least:
            count = f"{len(every)} tensor{'' if len(every) == 1 else 's'}"
            raise Malformed(f"its argument `{name}` lists {count}, and must list {least} or more")
        return [each.index for each in every]

    def part_of(self, inputs: Sequence[str], outputs: Sequence[str]) -> TorchNode:
        """A node like this one, of other tensors: a part of what it does."""
        changed = self.operation.changed(inputs=list(inputs), outputs=list(outputs))
        return type(self)(self.importer, changed, self.at, self.rules)

    # --- tensors ---

    def x(self, name: str = "self") -> Expression:
        """A tensor argument, as an expression."""
        return self.input(self.tensor_index(name))

    def rank_of(self, name: str = "self") -> int | None:
        return self.rank(self.tensor_index(name))

    def elem_of(self, name: str = "self") -> str | None:
        """The element type of a tensor argument, if it is known."""
        found = self.elem(self.tensor_index(name))
        return found if isinstance(found, str) else None

    def sizes_of(self, index: int) -> list[Any] | None:
        """The sizes of an input, if its rank is known."""
        found = self.shape(index)
        return None if found is None else list(found)

    def size_of(self, name: str, axis: int) -> Any:
        """A size of a tensor argument; None if it is not known."""
        return self.dim(self.tensor_index(name), axis)

    def axis(self, name: str = "dim", default: int | None = None) -> int:
        """An axis, as it is given: a tensor without dimensions takes 0 and -1."""
        found = self.integer(name, default)
        if found is None:
            raise Malformed(f"it has no argument `{name}`")
        return found

    # --- numbers ---

    def integer(self, name: str, default: int | None = None) -> int | None:
        """A whole number that must be known."""
        found = self.attributes.get(name, default)
        if isinstance(found, Operand):
            found = self.element(found.index)
            if not isinstance(found, int):
                raise Unsupported(f"{self.operator} whose argument `{name}` is not known")
        if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
            raise Malformed(f"its argument `{name}` is no whole number")
        return found

    def integers(self, name: str, default: Sequence[int] = ()) -> list[int]:
        """Whole numbers that must be known; one is a list of one."""
        found = self.attributes.get(name)
        if found is None:
            return list(default)
        every = found if isinstance(found, tuple) else (found,)
        known = [self.element(x.index) if isinstance(x, Operand) else x for x in every]
        if any(x is None or isinstance(x, DimVar | Poly) for x in known):
            raise Unsupported(f"{self.operator} whose argument `{name}` is not known")
        if not all(isinstance(x, int) and not isinstance(x, bool) for x in known):
            raise Malformed(f"its argument `{name}` is no list of whole numbers")
        if len(known) > MOST_NUMBERS:
            raise Malformed(f"its argument `{name}` has more than {MOST_NUMBERS} numbers")
        return known

    def real(self, name: str, default: float) -> float:
        """A number that must be known."""
        found = self.attributes.get(name, default)
        if not isinstance(found, int | float):
            if isinstance(found, Operand):
                raise Unsupported(f"{self.operator} whose argument `{name}` is not known")
            raise Malformed(f"its argument `{name}` is no number")
        return found

    def number(self, name: str, default: float | None = None) -> float | Operand:
        """A number, or one that the program computes."""
        found = self.attributes.get(name, default)
        if not isinstance(found, int | float | Operand):
            raise Malformed(f"its argument `{name}` is no number")
        return found

    def flag(self, name: str, default: bool = False) -> bool:
        found = self.attributes.get(name, default)
        if not isinstance(found, bool | int):
            raise Malformed(f"its argument `{name}` is neither true nor false")
        return bool(found)

    def text(self, name: str, default: str = "") -> str:
        found = self.attributes.get(name, default)
        if not isinstance(found, str):
            raise Malformed(f"its argument `{name}` is no text")
        return found

    def dtype(self, name: str = "dtype") -> str | None:
        """An element type that is asked for; None if none is."""
        found = self.attributes.get(name)
        if found is None or found in elements.ORDER or found in ("u16", "u32", "u64"):
            return found
        raise Unsupported(f"{self.operator}: elements that Axon does not have")

    # --- sizes ---

    def size_item(self, value: Any) -> Any:
        """A size among the arguments: a number, or a dimension. One that only a run computes is a
        variable from here on: what is used as a size is one.
        """
        if not isinstance(value, Operand):
            if not isinstance(value, int) or isinstance(value, bool):
                raise Malformed("a size is no whole number")
            return value
        known = self.element(value.index)
        if isinstance(known, int | DimVar | Poly) and not isinstance(known, bool):
            return known
        name = self.inputs[value.index]
        if self.importer.elem(name) not in ("i64", "i32"):
            raise Malformed("a size is no whole number")
        made = self.fresh_dim()
        self.alone = True
        self.importer.memo.kinds.pop(name, None)
        self.importer.contents[name] = scalar(made, "i64")
        return made

    def size_argument(self, name: str) -> Any:
        """A size that an argument is."""
        if name not in self.attributes:
            raise Malformed(f"it has no argument `{name}`")
        return self.size_item(self.attributes[name])

    def sizes(self, name: str) -> list[Any]:
        """The sizes that an argument lists; -1 stays what it is."""
        found = self.attributes.get(name, ())
        every = found if isinstance(found, tuple) else (found,)
        return [self.size_item(each) for each in every]

    def known_size(self, value: Any) -> Any:
        """A number among the arguments, or a dimension; None if it is not known."""
        found = self.element(value.index) if isinstance(value, Operand) else value
        if isinstance(found, bool) or not isinstance(found, int | DimVar | Poly):
            return None
        return found

    def known_sizes(self, name: str) -> list[Any]:
        """The sizes that an argument lists, as far as they are known."""
        found = self.attributes.get(name, ())
        return [self.known_size(each) for each in (found if isinstance(found, tuple) else (found,))]

    def as_found(self, value: Any) -> Expression:
        """A number among the arguments as a run has it."""
        if isinstance(value, Operand):
            return self.input(value.index)
        if not isinstance(value, int | float):
            raise Malformed("an argument is missing, or is no number")
        return self.literal(value)

    def as_scalar(self, value: Any) -> Expression:
        """A number or a truth value among the arguments: a tensor with one element is one."""
        if not isinstance(value, Operand):
            return self.literal(value)
        return scalar_of(self, value.index)

    def shape_of_argument(self, name: str, sizes: Sequence[Dim]) -> Expression:
        """Sizes that an argument lists, with the variables in place of those that are -1."""
        found = self.attributes.get(name, ())
        every = found if isinstance(found, tuple) else (found,)
        held = None
        if any(isinstance(each, Operand) for each in every):
            held = self.list_of([self.as_found(each) for each in every])
        return self.shape_literal(sizes, held)

    def equal(self, a: Dim, b: Dim) -> None:
        """What the program takes for granted, and a run checks: that two sizes are the same."""
        self.importer.state.post(DimEq(a, b), Origin("size", self.span, self.operator))

    # --- element types ---

    def weight(self, value: Any) -> tuple[str, int] | None:
        """The element type of an operand and how much it counts; None if it is not known."""
        if isinstance(value, Operand):
            elem = self.elem(value.index)
            if not isinstance(elem, str):
                return None
            if value.number:
                return elements.DEFAULT if elements.is_float(elem) else elem, 0
            return elem, 1 if self.rank(value.index) == 0 else 2
        if isinstance(value, bool):
            return "bool", 0
        return ("i64", 0) if isinstance(value, int) else (elements.DEFAULT, 0)

    def joint(self, *names: str) -> str | None:
        """The element type in which these arguments are computed with; None if it is not known."""
        found = [self.weight(self.attributes[n]) for n in names if n in self.attributes]
        known = [each for each in found if each is not None]
        return elements.promoted(known) if known and len(known) == len(found) else None

    def operand(self, name: str, elem: str | None) -> Expression:
        """A tensor or a number, in this element type."""
        value = self.attributes.get(name)
        if value is None:
            raise Malformed(f"it has no argument `{name}`")
        return self.converted(value, elem)

    def converted(self, value: Any, elem: str | None) -> Expression:
        if isinstance(value, Operand):
            x = self.input(value.index)
            own = self.elem(value.index)
            return x if elem is None or own == elem else self.cast(x, elem)
        if isinstance(value, complex):
            raise Unsupported(f"{self.operator} with a complex number")
        if not isinstance(value, int | float):
            raise Malformed("an operand is neither a tensor nor a number")
        if elem in elements.FLOATS:
            return self.literal(float(value))
        if elem is None or elem == "bool" or not isinstance(value, float):
            return self.literal(bool(value) if elem == "bool" else value)
        return self.scalar(value, elem)

    def converted_to(self, value: Any, elem: str) -> Expression:
        """A tensor or a number, of just this element type."""
        if isinstance(value, Operand):
            return self.converted(value, elem)
        if not isinstance(value, int | float):
            raise Malformed("an operand is neither a tensor nor a number")
        return self.scalar(value, elem)

    def cast_to(self, index: int, elem: str) -> Expression:
        """An input, in this element type."""
        x = self.input(index)
        return x if self.elem(index) == elem else self.cast(x, elem)

    def positional(self, count: int) -> list[Any]:
        """The arguments in their order, where they have no names worth knowing."""
        if len(self.attributes) != count:
            raise Malformed(f"it has {len(self.attributes)} arguments, and must have {count}")
        return list(self.attributes.values())
