"""The operators that random programs use, by what they take."""

from __future__ import annotations

import numpy

from tests.properties import meanings as m
from tests.properties import meanings_of_functions as f
from tests.properties import meanings_of_shapes as s
from tests.properties.meanings import Operation
from tests.properties.values import Halved

AXES = (0, 1, -1)
SUBSCRIPTS = {0: "[{}]", 1: "[:, {}]", -1: "[..., {}]"}


def _ones() -> list[Operation]:
    """Of one tensor."""
    found = [
        Operation(1, "relu({})", m.each(lambda x: numpy.maximum(x, 0)), "relu"),
        Operation(1, "abs({})", m.each(numpy.abs), "abs"),
        Operation(1, "sort({})", m.along(-1, m.ordered, "fi"), "sort"),
        Operation(1, "reverse({})", m.along(0, m.flip), "reverse"),
        Operation(1, "cumsum({})", m.along(0, m.running, "fi"), "cumsum"),
        Operation(1, "sum({})", m.whole(lambda x: x.sum()), "sum"),
        Operation(1, "max({})", m.whole(m.largest)),
        Operation(1, "flatten({})", s.flatten, "flatten"),
        Operation(1, "transpose({})", s.transpose, "transpose"),
        Operation(1, "identity({})", s.identity, "identity"),
        Operation(1, "zeros_like({})", s.zeros_like, "zeros_like"),
        Operation(1, "sort({}, axis=0)", m.along(0, m.ordered, "fi")),
        Operation(1, "cast({}, to=f32)", m.each(lambda x: x.astype(numpy.float32), "fib")),
        Operation(1, "({} > 1f)", m.each(lambda x: x > 1, "f")),
        Operation(1, "({} * 2)", m.each(lambda x: x * 2)),
        Operation(1, "({} + 1)", m.each(lambda x: x + 1)),
        Operation(1, "({} ** 2)", m.each(lambda x: x * x)),
        Operation(1, "({} |> relu)", m.each(lambda x: numpy.maximum(x, 0))),
        Operation(1, "(not {})", m.each(numpy.logical_not, "b"), "not"),
    ]
    for k in AXES:
        found += [
            Operation(1, f"sum({{}}, axis={k})", m.along(k, m.total, "fi")),
            Operation(1, f"sum({{}}, axis={k}, keep=true)", m.along(k, m.total_kept, "fi")),
            Operation(1, f"mean({{}}, axis={k})", m.along(k, m.mean_of, "f")),
            Operation(1, f"max({{}}, axis={k})", m.along(k, m.greatest, "fi")),
            Operation(1, f"cumsum({{}}, axis={k})", m.along(k, m.running, "fi")),
            Operation(1, f"reverse({{}}, axis={k})", m.along(k, m.flip)),
            Operation(1, f"slice({{}}, start=1, axis={k})", m.along(k, m.cut(1, None, None))),
            Operation(1, f"slice({{}}, stop=2, axis={k})", m.along(k, m.cut(None, 2, None))),
            Operation(1, f"slice({{}}, stop=-1, axis={k})", m.along(k, m.cut(None, -1, None))),
            Operation(1, f"slice({{}}, step=2, axis={k})", m.along(k, m.cut(None, None, 2))),
            Operation(1, f"index({{}}, i=0, axis={k})", m.along(k, m.picked(0))),
            Operation(1, f"index({{}}, i=-1, axis={k})", m.along(k, m.picked(-1))),
            Operation(1, f"expand_dims({{}}, axis={k})", s.expand(k)),
            Operation(1, f"{{}}{SUBSCRIPTS[k].format('1:')}", m.along(k, m.cut(1, None, None))),
            Operation(1, f"{{}}{SUBSCRIPTS[k].format(':-1')}", m.along(k, m.cut(None, -1, None))),
            Operation(1, f"{{}}{SUBSCRIPTS[k].format('::2')}", m.along(k, m.cut(None, None, 2))),
            Operation(1, f"{{}}{SUBSCRIPTS[k].format('0')}", m.along(k, m.picked(0))),
            Operation(1, f"{{}}{SUBSCRIPTS[k].format('-1')}", m.along(k, m.picked(-1))),
            Operation(1, f"{{}}{SUBSCRIPTS[k].format('None')}", s.expand(k)),
        ]
    found += [
        Operation(1, "dropout({}, key=random_key(7), rate=0.25)", s.dropped((0, 7), 0.25)),
        Operation(1, "uniform(random_key(3), shape({}))", s.drawn((0, 3))),
        Operation(1, "dropout({})", m.each(lambda x: x, "fib"), "dropout"),
        Operation(1, "({} + [0.5, -1.5])", m.beside([0.5, -1.5], numpy.add)),
        Operation(1, "({} * [[1.5, 2], [3, 0.5]])", m.beside([[1.5, 2], [3, 0.5]], numpy.multiply)),
    ]
    return found


MAKERS = [
    Operation(1, "unique({})", s.unique, "unique"),
    Operation(1, "nonzero({})", s.nonzero, "nonzero"),
]
"""Of one vector, with a size that only the run knows."""

UNARY = _ones()
VECTOR = [o for o in UNARY if "axis" not in o.text or "axis=0" in o.text]
BARE = [o for o in UNARY if o.value] + MAKERS * 3
WORDS = frozenset(("and", "or", "not"))
NAMED = [o for o in BARE if o.value not in WORDS]
"""Those that can be given another name; signs and the words for logic are arguments only."""

PLUS = Operation(2, "({} + {})", m.pointwise(numpy.add), "+")
STRICT = Operation(2, "max({}, {})", m.strict(numpy.maximum))
BINARY = [
    PLUS,
    STRICT,
    STRICT,
    Operation(2, "({} * {})", m.pointwise(numpy.multiply), "*"),
    Operation(2, "({} - {})", m.pointwise(numpy.subtract), "-"),
    Operation(2, "maximum({}, {})", m.pointwise(numpy.maximum), "maximum"),
    Operation(2, "({} < {})", m.pointwise(numpy.less)),
    Operation(2, "concat({}, {})", s.joined(0, s.concat), "concat"),
    Operation(2, "concat({}, {}, axis=1)", s.joined(1, s.concat)),
    Operation(2, "concat({}, {}, axis=-1)", s.joined(-1, s.concat)),
    Operation(2, "stack({}, {})", s.joined(0, s.stack, 1), "stack"),
    Operation(2, "stack({}, {}, axis=-1)", s.joined(-1, s.stack, 1)),
    Operation(2, "matmul({}, {})", s.matmul, "matmul"),
    Operation(2, "({} @ {})", s.at_sign),
    Operation(2, "dot({}, {})", s.dot, "dot"),
    Operation(2, "outer({}, {})", s.outer, "outer"),
    Operation(2, "gather({}, {})", s.gather, "gather"),
    Operation(2, "{}[({} + 0)]", s.gather),
    Operation(2, "compress({}, {})", s.compress, "compress"),
    Operation(2, "({} // {})", m.pointwise(numpy.floor_divide), "//"),
    Operation(2, "({} % {})", m.pointwise(numpy.remainder), "%"),
    Operation(2, "({} and {})", m.pointwise(numpy.logical_and, "b"), "and"),
    Operation(2, "({} or {})", m.pointwise(numpy.logical_or, "b"), "or"),
    Operation(2, "{}[(not {})]", s.compress_others),
    Operation(2, "({} |> concat({}))", s.joined(0, s.concat)),
]
GATHER = next(b for b in BINARY if b.value == "gather")
STRICTS = [
    b
    for b in BINARY
    if b.text.startswith(
        ("max(", "stack", "dot", "({} +", "({} *", "concat({}, {}, axis", "compress")
    )
]
"""Those that ask two tensors for one size."""
WHERE = Operation(3, "where({}, {}, {})", m.choose)
SPLITS = [
    Operation(1, "split({}, parts=2)", s.split(0, 2)),
    Operation(1, "split({}, parts=2, axis=-1)", s.split(-1, 2)),
]

SIZE = Operation(1, "size({})", s.size, "size")
SIZES = [SIZE, SIZE] + [Operation(1, f"size({{}}, axis={k})", s.size_along(k)) for k in AXES]
SHAPE = Operation(1, "shape({})", s.shape_of)
RANGE = Operation(1, "range({})", s.counted, "range")
ZEROS = Operation(1, "zeros({})", s.zeros, "zeros")
ONES = Operation(1, "ones({})", s.ones)
RESHAPE = Operation(2, "reshape({}, {})", s.reshape)
BROADCAST_TO = Operation(2, "broadcast_to({}, {})", s.broadcast_to)
LITERALS = {k: Operation(k, f"[{', '.join(['{}'] * k)}]", s.shape_literal) for k in (1, 2, 3)}
SIZE_SUM = Operation(2, "({} + {})", s.arithmetic(lambda a, b: a + b))
SIZE_PRODUCT = Operation(2, "({} * {})", s.arithmetic(lambda a, b: a * b))
SIZE_FLOOR = Operation(2, "({} // {})", s.arithmetic(lambda a, b: a // b if b else -1))
SIZE_REST = Operation(2, "({} % {})", s.arithmetic(lambda a, b: a % b if b else -1))
SIZE_HALF = Operation(2, "({} / {})", s.arithmetic(lambda a, b: a // b if b else -1, Halved))

MAP = Operation(2, "map({}, {})", f.map_rows, functions=(0,))
MAP_TWO = Operation(3, "map({}, {}, {})", f.map_rows, functions=(0,))
FOLD = Operation(3, "fold({}, {}, {})", f.fold, functions=(1,))
LOOP = Operation(3, "loop({}, {}, {})", f.loop, functions=(1,))
ITERATE = Operation(3, "iterate({}, {}, {})", f.iterate, functions=(1, 2))
COND = Operation(3, "cond({}, {}, {})", f.cond, functions=(1, 2))
IF = Operation(3, "(if {} {{ ({})() }} else {{ ({})() }})", f.cond, functions=(1, 2))
REDUCE = Operation(3, "reduce({}, {}, {})", f.reduce, functions=(0,))
SCAN = Operation(3, "scan({}, {}, {})", f.scan, functions=(0,))
