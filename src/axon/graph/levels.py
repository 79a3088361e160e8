"""Where the sizes of each value vary: over how many of its first dimensions.

Level 0 is a size that all rows share. The rows of `f32 [n,*,3]` make its levels (0, 1, 0). Where
`f32 [n,*,*]` holds rows that are ragged themselves, they are (0, 1, 2); if each row is a matrix,
(0, 1, 1). Types do not tell the two apart, arguments do: so this is found out once the arguments
are known. A function that is mapped over a tensor sees its rows, where each level is one less.

An operator along an axis that a size varies over is refused here, if its signature could not tell.
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
    Levels,
    LevelTree,
    Measure,
    Node,
    Number,
    Operand,
    OperatorFunction,
    Rows,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.ragged import core, rows_of
from axon.graph.scope import Stop
from axon.graph.sizes import SizeVar, owner, readable
from axon.source import Span
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.type import Renaming, ShapeValue, Tensor, Tuple, Type, type_variables
from axon.types.variables import DimVar, ShapeVar

MADE_IN_A_SHAPE = frozenset({"zeros", "ones", "full"})
"""What makes a tensor of a shape, in which each row may have its own."""


def levels_of_type(type_: Type, depth: int) -> LevelTree:
    """What the type of a value at this depth says: a size that was made further in varies."""
    match type_:
        case Tuple(items):
            return [levels_of_type(item, depth) for item in items]
        case Tensor(_, shape) | ShapeValue(shape):
            return tuple(_level_of(item, depth) for item in shape)
        case _:
            return ()


def _level_of(item: Dim | ShapeVar, depth: int) -> int:
    variables = [item] if isinstance(item, ShapeVar) else dims.variables(item)
    return max((v.scope - depth for v in variables if v.runtime and v.scope > depth), default=0)


def seen_as_rows(type_: Type, depth: int) -> Type:
    """The type as an annotation would have it, in which a size that varies is one of a row."""
    deep = {
        v: DimVar(v.name, v.level, scope=depth + 1, runtime=True)
        for v in type_variables(type_)
        if isinstance(v, DimVar) and v.runtime and v.scope > depth + 1
    }
    return Renaming(dict(deep), {}, {}, {}).type(type_) if deep else type_


def varies(tree: LevelTree) -> bool:
    return any(map(varies, tree)) if isinstance(tree, list) else any(tree)


def join(a: LevelTree, b: LevelTree) -> LevelTree:
    """What may be the one or the other."""
    if isinstance(a, list) and isinstance(b, list):
        return [join(x, y) for x, y in zip(a, b, strict=True)]
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        return tuple(map(max, a, b))
    return a if varies(a) else b


def row(tree: LevelTree) -> LevelTree:
    """The levels of a row."""
    if isinstance(tree, list):
        return [row(part) for part in tree]
    return tuple(max(level - 1, 0) for level in tree[1:])


def stacked(tree: LevelTree) -> LevelTree:
    """The levels of a tensor with such rows, as far as the rows tell."""
    if isinstance(tree, list):
        return [stacked(part) for part in tree]
    return 0, *(level + 1 if level else 0 for level in tree)


class Analysis:
    """The levels of the values of a graph; `sizes` are those of the sizes where they are read."""

    def __init__(self, params: Sequence[Value], given: Sequence[LevelTree], span: Span) -> None:
        self.span = span
        self.levels: dict[Value, LevelTree] = {}
        self.sizes: dict[SizeVar, int] = {}
        for param, tree in zip(params, given, strict=True):
            self._made(param, tree)

    def run(self, nodes: Sequence[Node], result: Operand) -> LevelTree:
        """The levels of the result."""
        span = self.span
        for node in nodes:
            self._node(node)
        self.span = span
        return self.operand(result)

    def _made(self, value: Value, tree: LevelTree) -> None:
        self.levels[value] = tree
        for var, reading in readable(value):
            if var in self.sizes:
                continue
            part = tree
            for index in reading.path:
                part = part[index] if isinstance(part, list) else ()
            known = isinstance(var, DimVar) and isinstance(part, tuple) and part
            self.sizes[var] = part[reading.start] if known and isinstance(part, tuple) else 0

    def _node(self, node: Node) -> None:
        match node:
            case Apply():
                self._made(node.result, self._apply(node))
            case Call(result, _, _, _) | Extern(result, _, _, _):
                self._made(result, _typed(result))
            case Item(result, whole, index):
                tree = self.levels[whole]
                self._made(result, tree[index] if isinstance(tree, list) else ())
            case Alias(result, operand):
                self._made(result, self.operand(operand))
            case Measure() | Check():
                pass

    # --- operands ---

    def operand(self, operand: Operand) -> LevelTree:
        match operand:
            case Value():
                return self.levels[operand]
            case ShapeOf(shape, elem):
                tree = tuple(self._size(item) for item in shape)
                if elem and any(tree):
                    raise _refused("a shape that varies from row to row is no vector", self.span)
                return (0,) if elem else tree
            case SizeOf(dim, _):
                if self._size(dim):
                    raise _refused("a size that varies from row to row is no number", self.span)
                return ()
            case Bundle(items):
                return [self.operand(item) for item in items]
            case Number() | Function() | OperatorFunction():
                return ()

    def _size(self, item: Dim | ShapeVar) -> int:
        variables = [item] if isinstance(item, ShapeVar) else dims.variables(item)
        return max((self.sizes.get(owner(v), 0) for v in variables), default=0)

    def _attribute(self, value: object) -> None:
        if isinstance(value, tuple):
            for item in value:
                self._attribute(item)
        elif isinstance(value, SizeOf):
            self.operand(value)

    # --- functions ---

    def _call(self, function: Operand, given: Sequence[LevelTree], result: LevelTree) -> LevelTree:
        """What a function gives for arguments of these levels; an operator on its own gives what
        its type says.
        """
        if not isinstance(function, Function):
            return result
        outer, self.sizes = self.sizes, dict(self.sizes)
        for param in function.params:  # a row has a size of its own
            for var, _ in readable(param):
                self.sizes.pop(var, None)
        for param, tree in zip(function.params, given, strict=True):
            self._made(param, tree)
        made = self.run(function.nodes, function.result)
        self.sizes = outer
        return made

    def _apply(self, node: Apply) -> LevelTree:
        self.span = node.span
        for value in node.attributes.values():
            self._attribute(value)
        trees = [self.operand(o) for o in node.operands]
        typed = _typed(node.result)
        if node.operator.family == "functional" and node.operator.name not in ("reduce", "scan"):
            typed = join(typed, _typed_by_rows(node, trees))
            return self._functional(node, trees, typed)
        for function in node.operands:
            if isinstance(function, Function):
                self._call(function, [() for _ in function.params], ())
        if not any(map(varies, trees)):
            return _zeros(node.result.type)
        at_end = core(node.operator, len(node.operands))
        if at_end is not None:
            return _broadcast(node, trees, at_end)
        moved = _moved(node, trees[0])
        if moved is not None:
            return moved
        if goes_flat(node, trees[0]):
            return _zeros(node.result.type)
        return _by_signature(node, trees)

    def _functional(self, node: Apply, trees: list[LevelTree], typed: LevelTree) -> LevelTree:
        operands = node.operands
        match node.operator.name:
            case "map":
                like = row(typed)
                made = self._call(operands[0], [row(t) for t in trees[1:]], like)
                return join(stacked(made), typed)
            case "cond":
                return join(self._call(operands[1], [], typed), self._call(operands[2], [], typed))
            case "fold" | "loop":
                return self._turns(operands[1], trees[0], [row(t) for t in trees[2:]], typed)
            case "iterate":
                made = self._turns(operands[2], trees[0], [], typed, node.attributes["outputs"])
                state = made[0] if node.attributes["outputs"] and isinstance(made, list) else made
                self._call(operands[1], [state], ())
                return made
            case _:
                return typed

    def _turns(
        self,
        function: Operand,
        state: LevelTree,
        rows: list[LevelTree],
        typed: LevelTree,
        outputs: object = True,
    ) -> LevelTree:
        """A state that goes from turn to turn is what any turn makes it."""
        with_output = outputs and isinstance(typed, list) and not _alike(state, typed)
        while True:
            typed_output = typed[1] if with_output and isinstance(typed, list) else ()
            like: LevelTree = [state, row(typed_output)] if with_output else state
            made = self._call(function, [state, *rows], like)
            after = made[0] if with_output and isinstance(made, list) else made
            later = join(state, after)
            if later == state:
                break
            state = later
        if with_output and isinstance(made, list) and isinstance(typed, list):
            return [state, join(stacked(made[1]), typed[1])]
        return state


def _typed(value: Value) -> LevelTree:
    """What the type of a value says, and that of what made it, before it was found to be equal to
    something.
    """
    tree = levels_of_type(value.type, value.depth)
    return tree if value.made is None else join(tree, levels_of_type(value.made, value.depth))


def _typed_by_rows(node: Apply, trees: list[LevelTree]) -> LevelTree:
    """What the type of a result says if it has sizes of rows that vary in an operand."""
    varying: set[SizeVar] = set()
    rows = trees[1:] if node.operator.name == "map" else trees[2:]
    for function in node.operands:
        if isinstance(function, Function):
            taken = function.params[-len(rows) :] if rows else ()
            for param, tree in zip(taken, rows, strict=False):
                for var, reading in readable(param):
                    if isinstance(tree, tuple) and not reading.path and len(tree) > 1:
                        place = reading.start + 1 if reading.start >= 0 else reading.start
                        if isinstance(var, DimVar) and tree[place]:
                            varying.add(var)
    tree = _varying_in(node.result.type, varying)
    made = node.result.made
    return tree if made is None else join(tree, _varying_in(made, varying))


def _varying_in(type_: Type, varying: set[SizeVar]) -> LevelTree:
    if isinstance(type_, Tuple):
        return [_varying_in(item, varying) for item in type_.items]
    if not isinstance(type_, Tensor):
        return ()
    return tuple(int(_mentions(item, varying)) if i else 0 for i, item in enumerate(type_.shape))


def _mentions(item: Dim | ShapeVar, varying: set[SizeVar]) -> bool:
    return not isinstance(item, ShapeVar) and any(v in varying for v in dims.variables(item))


def _alike(a: LevelTree, b: LevelTree) -> bool:
    """Whether two values have the same structure."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    return isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b)


def _zeros(type_: Type) -> LevelTree:
    if isinstance(type_, Tuple):
        return [_zeros(item) for item in type_.items]
    return (0,) * len(type_.shape) if isinstance(type_, Tensor | ShapeValue) else ()


def _refused(text: str, span: Span) -> Stop:
    return Stop([error("AX105", text, span)])


def _along(node: Apply) -> Stop:
    text = f"{node.operator.name}: works along an axis that a ragged dimension varies over"
    return _refused(text, node.span)


# --- operators --------------------------------------------------------------------------------


def _broadcast(node: Apply, trees: list[LevelTree], at_end: int) -> LevelTree:
    """Dimensions are aligned from the right, and what varies over some of them still does."""
    flat = [tree for tree in trees if isinstance(tree, tuple)]
    rank = max(map(len, flat))
    result = [0] * rank
    for i, tree in enumerate(flat):
        more = rank - len(tree)
        if any(level > len(tree) - at_end for level in tree):
            raise _along(node)
        for axis, level in enumerate(tree):
            if level and not (at_end and axis == len(tree) - (1 if i == 0 else 2)):
                result[axis + more] = max(result[axis + more], level + more)
    return tuple(result)


def _moved(node: Apply, tree: LevelTree) -> LevelTree | None:
    """What puts dimensions of its own between the others, or takes some away."""
    name, attributes = node.operator.name, node.attributes
    if not isinstance(tree, tuple) or name not in ("expand_dims", "squeeze", "stack"):
        return None
    axes = attributes["axis"] if isinstance(attributes["axis"], tuple) else (attributes["axis"],)
    whole = [*tree]
    if name == "squeeze":
        gone = {int(axis) % len(tree) for axis in axes}
        return tuple(
            sum(i not in gone for i in range(level))
            for axis, level in enumerate(whole)
            if axis not in gone
        )
    rank = len(tree) + len(axes)
    new = {int(axis) % rank for axis in axes}
    places = [axis for axis in range(rank) if axis not in new]
    result = [0] * rank
    for axis, level in enumerate(whole):
        result[places[axis]] = places[level - 1] + 1 if level else 0
    return tuple(result)


def goes_flat(node: Apply, tree: LevelTree) -> int | None:
    """A reduction of all that varies, and of what it varies over: how many dimensions at the front
    are one, for it.
    """
    if node.operator.family != "reductions" or len(node.operands) > 1:
        return None
    if node.operator.name in ("cumsum", "cumprod") or not isinstance(tree, tuple):
        return None
    axis, rank = node.attributes["axis"], len(tree)
    axes = range(rank) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    gone = {int(a) % rank for a in axes}
    last = max((i for i, level in enumerate(tree) if level), default=-1)
    front = next((i for i in range(rank) if i not in gone), rank)
    return front if front > last else None


def prefix(rows: Rows, index: int) -> int:
    """How many dimensions of an operand are a batch: the result begins with them too, and nothing
    is computed along them. The first one may be called anything.
    """
    word = rows.operands[index]
    if word is None or not rows.results:
        return 0
    count = len(word)
    for result in rows.results:
        same = 0
        for mine, other in zip(word, result or (), strict=False):
            if mine.key != other.key or not (same == 0 or mine.free):
                break
            same += 1
        count = min(count, same)
    return count


def _by_signature(node: Apply, trees: list[LevelTree]) -> LevelTree:
    """Row by row, if the signature says that what sizes vary over is a batch."""
    rows = rows_of(node)
    levels: dict[object, int] = {}
    one_matrix = node.operator.name in ("tril", "triu")
    for i, tree in enumerate(trees):
        if not varies(tree):
            continue
        word = rows.operands[i]
        shape = isinstance(node.operands[i], ShapeOf)
        if isinstance(tree, list) or word is None:
            raise _along(node)
        deepest = max(tree)
        if shape and node.operator.name not in MADE_IN_A_SHAPE:
            raise _along(node)
        if not one_matrix and deepest > (len(word) if shape else prefix(rows, i)):
            raise _along(node)
        for label, level in zip(word, tree, strict=True):
            if level and label.after and not one_matrix:
                raise _along(node)
            for name in label.names:
                levels[name] = max(levels.get(name, 0), level)
    made: list[Levels] = []
    for result in rows.results:
        found = result or ()
        made.append(tuple(max((levels.get(n, 0) for n in x.names), default=0) for x in found))
    return _as_tree(node.result.type, iter(made))


def _as_tree(type_: Type, made: object) -> LevelTree:
    if isinstance(type_, Tuple):
        return [_as_tree(item, made) for item in type_.items]
    return next(made)  # type: ignore[call-overload, no-any-return]
