"""The lines of a function that are about sizes: read off the shapes of values and off arrays,
solved, and compared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from axon.backends import row_sizes, rowwise
from axon.backends.checks import check
from axon.backends.names import Names
from axon.backends.roots import solved
from axon.backends.sizes import Undetermined, write_dim
from axon.graph.graph import Apply, Check, Operand, ShapeOf, Value
from axon.graph.sizes import Reading, SizeVar, decided, needed, readable
from axon.ops.levels import Levels, LevelTree
from axon.solver.constraints import Origin
from axon.source import Span
from axon.types.dim import Dim
from axon.types.type import DimEq, Shape, Tensor
from axon.types.variables import DimVar, ShapeVar, owner


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the code, and the span of the program that it computes."""

    text: str
    span: Span | None = None


class SizeCode:
    """The lines of one function, and the names that values and sizes have in it."""

    measuring: ModuleType = rowwise
    """What makes sizes of arrays."""

    def __init__(
        self,
        names: Names,
        values: dict[Value, str],
        sizes: dict[SizeVar, str],
        indent: str,
        levels: Mapping[Value | ShapeOf, LevelTree],
    ) -> None:
        self.names = names
        self.values = dict(values)
        self.sizes = dict(sizes)
        self.indent = indent
        self.levels = levels
        self.lines: list[Line] = []
        self.span: Span | None = None

    @abstractmethod
    def operand(self, operand: Operand) -> str:
        """An operand as an expression."""

    def line(self, text: str) -> None:
        self.lines.append(Line(self.indent + text, self.span))

    def params(self, params: Sequence[Value]) -> list[str]:
        names = [self.names.fresh(p.name) for p in params]
        self.values.update(zip(params, names, strict=True))
        return names

    def read(self, values: Sequence[Value], needs: set[SizeVar]) -> None:
        """Read the sizes that are needed off the shapes of values."""
        for value in values:
            for var, reading in readable(value):
                if var in needs and var not in self.sizes:
                    self.sizes[var] = self._read(value, var, reading)

    def compare(self, node: Apply) -> None:
        """Check that the rows of a function's results vary as other rows do, where their types
        require it, whichever were first.
        """
        for var, reading in readable(node.result):
            if not isinstance(var, DimVar) or not var.over or var not in self.sizes:
                continue
            found = DimVar(var.name, runtime=True, over=var.over)
            origin = Origin("rows", node.span, node.operator.name)
            held = self.names.constant((DimEq(found, var), origin, [found, var]), "held")
            test = self.names.constant(check, "check", "check")
            size = self._read(node.result, found, reading)
            self.line(f"{test}({held}, ({size}, {self.sizes[var]}, ))")

    def solve(self, params: Sequence[Value], needs: set[SizeVar]) -> None:
        """Sizes that no parameter has as such, but that the size of one decides: `n` of `[n*n]`."""
        for var, value, axis in decided(params, self.sizes):
            if var not in needs:
                continue
            assert isinstance(value.type, Tensor)
            known = {v: n for v, n in self.sizes.items() if isinstance(v, DimVar)}
            held = self.names.constant((value.type.shape[axis], var, tuple(known)), "equation")
            find = self.names.constant(solved, "solved", "solved")
            name = self.names.fresh(var.name or "n")
            sizes = "".join(f"{size}, " for size in known.values())
            self.line(f"{name} = {find}({held}, {self.values[value]}.shape[{axis}], ({sizes}))")
            self.sizes[var] = name

    def _read(self, value: Value, var: SizeVar, reading: Reading) -> str:
        name = self.names.fresh(var.name or "n")
        place = self.values[value] + "".join(f"[{i}]" for i in reading.path)
        sizes = place if reading.given else f"{place}.shape"
        if isinstance(var, ShapeVar):
            stop = "" if reading.stop is None else str(reading.stop)
            self.line(f"{name} = tuple({sizes}[{reading.start}:{stop}])")
            return name
        if reading.given == "dim":
            text = place
        elif not reading.given and (levels := self._levels(value, reading.path)):
            measure = self.names.constant(row_sizes.size_at, "size_at", "size_at")
            text = f"{measure}({place}, {reading.start}, {levels[reading.start]})"
        else:
            text = f"{sizes}[{reading.start}]"
        if reading.offset:
            text = f"({text} - {reading.offset})"
        self.line(f"{name} = {text if reading.scale == 1 else f'{text} // {reading.scale}'}")
        return name

    def _levels(self, value: Value, path: tuple[int, ...]) -> Levels:
        """The levels of a tensor, if one of its sizes varies."""
        tree = self.levels.get(value, ())
        for index in path:
            tree = tree[index] if isinstance(tree, list) else ()
        return tree if isinstance(tree, tuple) and any(tree) else ()

    def measure(self, source: Operand, shape: Shape, counted: bool) -> None:
        """Sizes from an array: brought to the host, and checked to be sizes, as many as expected.
        Those known already must be equal.
        """
        take = self._measuring("measure")
        numbers = self.names.fresh("numbers")
        fixed = sum(not isinstance(item, ShapeVar) for item in shape)
        wanted = f"{fixed}, {fixed < len(shape)}"
        array = self.operand(source)
        if counted:
            count = self._measuring("count")
            array = f"{count}({array})"
        self.line(f"{numbers} = {take}({array}, {wanted})")
        at = 0  # counted from the back once a part of unknown rank is past
        for i, item in enumerate(shape, 1):
            if isinstance(item, ShapeVar):
                after = len(shape) - i
                self._measured(item, f"{numbers}[{at}:{-after or ''}]")
                at = -after
            else:
                self._measured(item, f"{numbers}[{at}]")
                at += 1

    def _measuring(self, name: str) -> str:
        made = getattr(self.measuring, name)
        return self.names.constant(made, name, (self.measuring.__name__, name))

    def _measured(self, item: Dim | ShapeVar, number: str) -> None:
        """An item of a shape read from an array: a new variable, or else a size to compare."""
        if isinstance(item, DimVar | ShapeVar) and owner(item) not in self.sizes:
            name = self.sizes[owner(item)] = self.names.fresh(item.name or "n")
            self.line(f"{name} = {number}")
            return
        try:
            known = self.sizes[item] if isinstance(item, ShapeVar) else write_dim(item, self.sizes)
        except Undetermined:
            return  # a check compares it when the rest of it is known
        agree = self._measuring("agree")
        self.line(f"{agree}({number}, {known})")

    def check(self, node: Check) -> None:
        known = [(var, name) for var, name in self.sizes.items() if var in needed(node)]
        held = self.names.constant((node.relation, node.origin, [v for v, _ in known]), "held")
        test = self.names.constant(check, "check", "check")
        self.line(f"{test}({held}, ({''.join(f'{name}, ' for _, name in known)}))")
