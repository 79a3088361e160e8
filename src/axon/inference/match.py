"""Arguments matched with the parameters of a scheme, to find what its variables stand for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from axon.inference.state import State
from axon.types import dim as dims
from axon.types.dim import Dim, Max, Poly
from axon.types.elements import BIT, NUM
from axon.types.type import DimValue, Elem, Renaming, Shape, ShapeValue, Tensor, Type
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar


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


class Match(Renaming):
    """What the variables of a scheme stand for; `later` are sizes that are expressions, `sizes`
    those of the arguments, `numbers` the element types that whole numbers have, `made` what came
    of expressions.
    """

    __slots__ = ("known", "later", "made", "numbers", "sizes")

    def __init__(self, known: set[Dim]) -> None:
        self.known = known
        self.dims: dict[DimVar, Dim] = {}
        self.shapes: dict[ShapeVar, Shape] = {}
        self.elems: dict[ElemVar, Elem] = {}
        self.types: dict[TypeVar, Type] = {}
        self.numbers: list[Elem] = []
        self.later: list[tuple[Poly, Dim]] = []
        self.sizes: list[Poly] = []
        self.made: dict[Poly, Dim] = {}

    def dim(self, dim: Dim) -> Dim:
        if not isinstance(dim, Poly):
            return dim if isinstance(dim, int) else self._dim_var(dim)
        found = self.made.get(dim)
        if found is None:
            found = self.made[dim] = super().dim(dim)
        return found

    def argument(self, param: Param, arg: Type) -> bool:
        word: Sequence[Dim | ShapeVar]
        if param.whole is not None:
            if isinstance(arg, DimValue | ShapeValue):
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
