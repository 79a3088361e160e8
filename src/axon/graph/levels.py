"""The levels of all values of a graph: where their sizes vary (see `ops/levels.py`).

Types do not distinguish ragged rows from matrices of different sizes, but arguments do: so levels
are computed once the arguments are known. A function that is mapped over a tensor sees its rows,
where each level is one less. An operator along an axis that a size varies over is rejected here,
where its signature could not express it.
"""

from __future__ import annotations

from collections.abc import Sequence

from axon.diagnostics import error
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
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.scope import Stop
from axon.graph.sizes import SizeVar, readable, readings
from axon.ops.levels import (
    Alike,
    Levels,
    LevelTree,
    Over,
    WorksAlong,
    first_by_row,
    join,
    levels_of_type,
    made,
    row,
    stacked,
)
from axon.ops.traits import Calls
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Fn, Shape, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar, owner


class Analysis:
    """The levels of the values of a graph, and of the shapes that are operands. `sizes` are the
    dimensions that each size varies over where it is read, `words` the levels of the shapes that
    values have.
    """

    def __init__(self, params: Sequence[Value], given: Sequence[LevelTree], span: Span) -> None:
        self.levels: dict[Value | ShapeOf, LevelTree] = {}
        self.sizes: dict[SizeVar, Shape] = {}
        self.words: dict[Shape, Levels] = {}
        self.span = span
        for param, tree in zip(params, given, strict=True):
            self._made(param, tree)

    def run(self, nodes: Sequence[Node], result: Operand) -> LevelTree:
        """The levels of the result."""
        span = self.span
        for node in nodes:
            self._node(node)
        self.span = span
        return self._operand(result)

    def _made(self, value: Value, tree: LevelTree) -> None:
        self.levels[value] = tree
        for var, reading in readable(value):
            if var in self.sizes:
                continue
            part = tree
            for index in reading.path:
                part = part[index] if isinstance(part, list) else ()
            self.sizes[var] = ()
            shape = _shape_at(value.type, reading.path)
            if isinstance(part, tuple) and part and isinstance(var, DimVar):
                self.sizes[var] = tuple(shape[axis] for axis in part[reading.start])
        if isinstance(value.type, Tensor) and isinstance(tree, tuple) and any(tree):
            self.words.setdefault(value.type.shape, tree)

    def _node(self, node: Node) -> None:
        match node:
            case Apply():
                self.span = node.span
                self._made(node.result, self._apply(node))
            case Call(result, _, _, _) | Extern(result, _, _, _):
                self._made(result, _typed(result))
            case Item(result, whole, index):
                tree = self.levels[whole]
                self._made(result, tree[index] if isinstance(tree, list) else ())
            case Alias(result, operand):
                self._made(result, self._operand(operand))
            case Measure() | Check():
                pass

    def _refused(self, text: str) -> Stop:
        return Stop([error("AX105", text, self.span)])

    # --- operands ---

    def _operand(self, operand: Operand) -> LevelTree:
        match operand:
            case Value():
                return self.levels[operand]
            case ShapeOf(shape, elem):
                tree = self._shape(shape)
                if elem and any(tree):
                    raise self._refused("a shape that varies from row to row is no vector")
                if elem:
                    return ((),)
                if any(tree):
                    self.levels[operand] = tree
                return tree
            case SizeOf(dim, _):
                if any(map(self._varies, dims.variables(dim))):
                    raise self._refused("a size that varies from row to row is no number")
                return ()
            case Bundle(items):
                return [self._operand(item) for item in items]
            case Number() | Function() | OperatorFunction():
                return ()

    def _varies(self, var: SizeVar) -> Shape:
        """The dimensions that a size varies over."""
        return self.sizes.get(owner(var), ())

    def _shape(self, shape: Shape) -> Levels:
        """The levels of a shape: those of a value that has it; otherwise its sizes vary over the
        dimensions that they vary over elsewhere.
        """
        known = self.words.get(shape)
        if known is not None:
            return known
        levels: list[Over] = []
        for i, item in enumerate(shape):
            overs = [_places(self._varies(var), shape[:i]) for var in _variables(item)]
            levels.append(tuple(sorted({axis for over in overs for axis in over})))
        return tuple(levels)

    def _attribute(self, value: object) -> None:
        if isinstance(value, tuple):
            for item in value:
                self._attribute(item)
        elif isinstance(value, SizeOf):
            self._operand(value)

    # --- operators and functions ---

    def _apply(self, node: Apply) -> LevelTree:
        for value in node.attributes.values():
            self._attribute(value)
        trees = [self._operand(o) for o in node.operands]
        calls = node.operator.traits.calls
        if calls is not None:
            typed = join(_typed(node.result), _typed_by_rows(node, trees))
            return self._functional(node, calls, trees, typed)
        for function in node.operands:  # of scalars
            self._call(function, [() for _ in getattr(function, "params", ())], ())
        try:
            return made(node.operator, node.attributes, node.type, node.written, trees)
        except WorksAlong as found:
            raise self._refused(f"{node.operator.name}: {found.text}") from None

    def _call(self, function: Operand, given: Sequence[LevelTree], result: LevelTree) -> LevelTree:
        """The levels of a function's result for arguments of these levels; an operator used as a
        function has those of its type.
        """
        if not isinstance(function, Function):
            return result
        outer, words = self.sizes, self.words
        self.sizes, self.words = dict(outer), dict(words)
        for param in function.params:  # a row has a size of its own
            for var, _ in readable(param):
                self.sizes.pop(var, None)
        for param, tree in zip(function.params, given, strict=True):
            self._made(param, tree)
        found = self.run(function.nodes, function.result)
        self.sizes, self.words = outer, words
        return found

    def _known_outside(self, operand: Operand) -> Alike:
        """Which sizes of a function's result are known outside of it, so that they are the same in
        each call.
        """
        match operand:
            case Bundle(items):
                return [self._known_outside(item) for item in items]
            case Value():
                return self._known(operand.type)
            case _:
                return ()

    def _known(self, type_: Type) -> Alike:
        match type_:
            case Tuple(items):
                return [self._known(item) for item in items]
            case Tensor(_, shape):
                return tuple(
                    all(owner(v) in self.sizes for v in _variables(item)) for item in shape
                )
            case _:
                return ()

    def _functional(
        self, node: Apply, calls: Calls, trees: list[LevelTree], typed: LevelTree
    ) -> LevelTree:
        operands = node.operands
        match calls:
            case Calls.EACH_ROW:
                function = operands[0]
                found = self._call(function, [row(t) for t in trees[1:]], row(typed))
                if not isinstance(function, Function):
                    return join(stacked(found), typed)
                alike = self._known_outside(function.result)
                return join(stacked(found, alike), _without(typed, alike))
            case Calls.BRANCH:
                return join(self._call(operands[1], [], typed), self._call(operands[2], [], typed))
            case Calls.WHILE:
                outputs = bool(node.attributes["outputs"])
                found = self._loop_state(operands[2], trees[0], [], typed, outputs)
                state = found[0] if outputs and isinstance(found, list) else found
                self._call(operands[1], [state], ())
                return found
            case Calls.STATE | Calls.STATE_AND_OUTPUT:
                rows = [row(t) for t in trees[2:]]
                outputs = calls is Calls.STATE_AND_OUTPUT
                return self._loop_state(operands[1], trees[0], rows, typed, outputs)

    def _loop_state(
        self,
        function: Operand,
        state: LevelTree,
        rows: list[LevelTree],
        typed: LevelTree,
        outputs: bool,
    ) -> LevelTree:
        """The levels of a state that is carried through a loop: the join over all iterations."""
        output = typed[1] if outputs and isinstance(typed, list) else ()
        while True:
            like: LevelTree = [state, row(output)] if outputs else state
            found = self._call(function, [state, *rows], like)
            after = found[0] if outputs and isinstance(found, list) else found
            next_state = join(state, after)
            if next_state == state:
                break
            state = next_state
        if outputs and isinstance(found, list):
            return [state, join(stacked(found[1]), output)]
        return state


def _typed(value: Value) -> LevelTree:
    """The levels that the type of a value implies, and that of the type it was made with, before a
    check equated it with something.
    """
    tree = levels_of_type(value.type)
    return tree if value.made is None else join(tree, levels_of_type(value.made))


def _typed_by_rows(node: Apply, trees: list[LevelTree]) -> LevelTree:
    """The levels that the type of a result implies if it has sizes of rows that vary in an
    operand.
    """
    varying: set[SizeVar] = set()
    rows = trees[first_by_row(node.operator, len(trees)) :]
    for function, type_ in zip(node.operands, node.type.params, strict=True):
        if not isinstance(type_, Fn) or not rows:
            continue
        taken = [list(readings(param)) for param in type_.params[-len(rows) :]]
        if isinstance(function, Function):
            taken = [list(readable(param)) for param in function.params[-len(rows) :]]
        for read, tree in zip(taken, rows, strict=False):
            for var, reading in read:
                if isinstance(tree, tuple) and isinstance(var, DimVar) and not reading.path:
                    place = reading.start + (reading.start >= 0)
                    if tree[place]:
                        varying.add(var)
    tree = _mentioning(node.result.type, varying)
    made_as = node.result.made
    return tree if made_as is None else join(tree, _mentioning(made_as, varying))


def _mentioning(type_: Type, varying: set[SizeVar]) -> LevelTree:
    if isinstance(type_, Tuple):
        return [_mentioning(item, varying) for item in type_.items]
    if not isinstance(type_, Tensor):
        return ()
    return tuple(
        (0,) if i > 0 and _mentions(item, varying) else () for i, item in enumerate(type_.shape)
    )


def _mentions(item: Dim | ShapeVar, varying: set[SizeVar]) -> bool:
    return not isinstance(item, ShapeVar) and any(v in varying for v in dims.variables(item))


def _variables(item: Dim | ShapeVar) -> list[SizeVar]:
    return [item] if isinstance(item, ShapeVar) else list(dims.variables(item))


def _shape_at(type_: Type, path: tuple[int, ...]) -> Shape:
    """The shape of a tensor in tuples."""
    for index in path:
        type_ = type_.items[index] if isinstance(type_, Tuple) else type_
    return type_.shape if isinstance(type_, Tensor | ShapeValue) else ()


def _places(sizes: Shape, word: Shape) -> Over:
    """The positions of these sizes in a shape, the last ones if there are more; the first positions
    if they do not occur there.
    """
    found: list[int] = []
    end = len(word)
    for size in reversed(sizes):
        at = next((i for i in reversed(range(end)) if word[i] == size), None)
        if at is None:
            return tuple(range(min(len(sizes), len(word))))
        found.append(at)
        end = at
    return tuple(reversed(found))


def _without(typed: LevelTree, alike: Alike) -> LevelTree:
    """The levels that a type implies, without the sizes that are the same in all rows."""
    if isinstance(typed, list):
        parts = alike if isinstance(alike, list) else [() for _ in typed]
        return [_without(part, each) for part, each in zip(typed, parts, strict=True)]
    same = (False, *alike)
    return tuple(() if i < len(same) and same[i] else over for i, over in enumerate(typed))
