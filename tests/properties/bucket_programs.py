"""Random programs of operators in which sizes matter, with arguments of several sizes.

A step is an operator of the table below, applied to values that are there; it stays in the program
if the program still checks and runs on NumPy. So nothing here says what an operator does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

import axon

SIZES = (0, 1, 1, 2, 2, 2, 3, 3, 4, 5, 5, 7, 8, 8, 9)
"""Buckets are 4 and 8 and 16: sizes on one, one past it, and those that are not padded."""

NAMES = ("b", "n", "d", "m")

POINTWISE = (
    "{x} + {y}", "{x} * {y}", "{x} - {y}", "maximum({x}, {y})", "-{x}", "relu({x})", "abs({x})",
    "where({c}, {x}, {y})", "{x} * 2", "clip({x}, min=-1, max=1)",
)  # fmt: skip
"""What rounds nothing: results are the same bit for bit."""

FLOAT = (
    *POINTWISE, *POINTWISE,
    "{x} / {y}", "exp({x})", "tanh({x})", "sqrt(abs({x}))", "1 / {x}", "log({x})", "gelu({x})",
    "sum({x})", "sum({x}, axis={a})", "sum({x}, axis={a}, keep=true)", "prod({x}, axis={a})",
    "mean({x}, axis={a})", "mean({x})", "variance({x}, axis={a})",
    "variance({x}, axis={a}, correction=1)", "max({x}, axis={a})", "min({x}, axis={a})",
    "norm({x}, axis={a})", "norm({x}, axis={a}, p=1)", "logsumexp({x}, axis={a})",
    "softmax({x}, axis={a})", "log_softmax({x}, axis={a})", "cumsum({x}, axis={a})",
    "cumsum({x}, axis={a}, reverse=true, exclusive=true)", "cumprod({x}, axis={a})",
    "sort({x}, axis={a})", "sort({x}, axis={a}, descending=true)",
    "reverse({x}, axis={a})", "roll({x}, by={k}, axis={a})", "transpose({x})",
    "concat({x}, {y}, axis={a})", "stack({x}, {y}, axis={a})", "{x}[1:]", "{x}[:-1]", "{x}[::2]",
    "{x}[::-1]", "{x}[0]", "{x}[-1]", "{x}[-2:]", "{x}[:{d}]", "{x}[..., 1:]",
    "tile({x}, reps=[2])", "repeat({x}, times=2, axis={a})", "flatten({x})",
    "flatten({x}, axis={a})", "reshape({x}, [-1])", "reshape({x}, shape({y}))",
    "pad({x}, before=1, after=2, axis={a})", 'pad({x}, before=1, after=1, axis={a}, mode="edge")',
    'pad({x}, before=1, after=1, axis={a}, mode="reflect")',
    'pad({x}, before=1, after=1, axis={a}, mode="wrap")',
    "{x} @ {y}", "{x} @ transpose({y})", "matmul({x}, {y})", "dot({x}, {y})", "outer({x}, {y})",
    "trace({x})", "tril({x})", "triu({x})", "gather({x}, {i}, axis={a})",
    "gather_elements({x}, {i}, axis={a})", "scatter({x}, {i}, {y}, axis={a})",
    'scatter({x}, {i}, {y}, axis={a}, mode="add")',
    'scatter_elements({x}, {i}, {y}, axis={a}, mode="add")', "scatter_elements({x}, {i}, {y})",
    "layer_norm({x})", "rms_norm({x})", "expand_dims({x}, axis={a})", "squeeze({x}, axis={a})",
    "{x} * cast({d}, to=f64)", "{x} / cast(size({x}, axis={a}), to=f64)",
    "zeros(shape({x}), to=f64) + {y}", "broadcast_to({x}, shape({y}))",
    "{x} + cast(range({d}), to=f64)",
    "one_hot({i}, depth={d})", "cast({i}, to=f64)", "eye({d})", "cast({c}, to=f64)",
    "map(fn (r) {{ softmax(r) }}, {x})", "map(fn (r) {{ sum(r) * r }}, {x})",
    "map(fn (r, s) {{ r * s }}, {x}, {y})", "map(fn (r) {{ r + {y} }}, {x})",
    "map(fn (r) {{ map(fn (s) {{ s * mean(r) + sum({z}) }}, {y}) }}, {x})",
    "fold({y}, fn (s, r) {{ tanh(s + mean(map(fn (q) {{ sum(q) + r * mean(s) }}, {x}))) }}, {z})",
    "{x} + cast(range({d}, {d} + size({x}, axis=-1)), to=f64)", "{x}[{d} - 1]", "{x}[-{d}]",
    "{x} * cast(cast({d}, to=f16), to=f64)",
    "fold({y}, fn (s, r) {{ tanh(s + r) }}, {x})", "fold(0.0, fn (s, r) {{ s / 2 + sum(r) }}, {x})",
    "scan(fn (a, b) {{ a * b + a }}, 1.0, {x}, axis={a})", "scan(+, 0.0, {x})",
    "reduce(+, 0.0, {x})", "reduce(fn (a, b) {{ a * b + a }}, 1.0, {x}, axis={a})",
    "cond(sum({x}) > 0, fn () {{ {x} * 2 }}, fn () {{ {x} }})",
    "iterate({x}, fn (x) {{ sum(x) > 3 and sum(x) < 1e9 }}, fn (x) {{ x / 2 }})",
    "upsample({x}, scale=2)", 'upsample({x}, scale=2, mode="linear")',
    "max_pool({x}, window=2)", "avg_pool({x}, window=2, stride=1, pad=1)",
    "max_pool({x}, window=3, stride=2, pad=1, ceil_mode=true)",
    'avg_pool({x}, window=3, pad="same")', "lp_pool({x}, window=2)", "global_avg_pool({x})",
    "global_max_pool({x})",
    "adaptive_avg_pool({x}, [2], dimensions=1)", "adaptive_max_pool({x}, [3], dimensions=1)",
    "adaptive_avg_pool({x}, [2,2])", "conv({x}, {w}, pad=1)",
    'conv({x}, {w}, pad="same", stride=2)', 'max_pool({x}, window=2, pad="same")',
    "conv({x}, {w}, stride=2, dilation=2, pad=2)", "conv_transpose({x}, {w}, stride=2)",
    "conv_transpose({x}, {w}, stride=2, pad=1)", 'conv_transpose({x}, {w}, stride=2, pad="same")',
    'resize({x}, scale=2, axis={a}, mode="linear")', "resize({x}, [{d}], axis={a})",
    'resize({x}, [3], axis={a}, mode="cubic", coordinates="align_corners")',
    "im2col({x}, window=2)", "stft({x}, ones([2], to=f64), step=1)",
    "dot_product_attention({x}, {x}, {x})", "dot_product_attention({x}, {y}, {y}, causal=true)",
    'einsum({x}, {y}, equation="ij,jk->ik")', 'einsum({x}, {y}, equation="bij,bik->bjk")',
    'einsum({x}, equation="ij->j")', "negative_log_likelihood({x}, {i})",
    'negative_log_likelihood({x}, {i}, reduction="sum")', "center_crop_pad({x}, [3], axis={a})",
    "reverse_sequence({x}, {i})", "quantise_range({x})", "top_k({x}, k=2)",
    "uniform(key, shape({x}), to=f64) + {x}", "dropout({x}, key=key, rate=0.3)",
    "gather({x}, permutation(key, size({x}, axis=0)))", "instance_norm({x}, {y})",
    "cast(argmax({x}, axis={a}), to=f64)", "cast(argmin({x}), to=f64)",
    "cast(argsort({x}, axis={a}), to=f64)", "cast(any({c}, axis={a}), to=f64)",
    "cast(all({c}), to=f64)", "cast(floor({x}), to=f64)",
)  # fmt: skip
"""Operators of floats, with places for values `x`, `y`, `z`, numbers `i` of rows, conditions `c`,
filters `w`, axes `a`, small integers `k` and sizes `d`."""

CHOSEN = ("split({x}, parts=2, axis={a})", "loop({y}, fn (s, r) {{ tanh(s + r), s * r }}, {x})")
"""Operators with several results."""


@dataclass(frozen=True, slots=True)
class Param:
    """A parameter with the names of its sizes; one whose type is not stated has none."""

    name: str
    elem: str
    sizes: tuple[str, ...]
    typed: bool = True

    @property
    def text(self) -> str:
        dims = f" [{','.join(self.sizes)}]" if self.sizes else ""
        return f"{self.name} : {self.elem}{dims}" if self.typed else self.name

    def value(self, sizes: dict[str, int], random: np.random.Generator, exact: bool) -> Any:
        shape = tuple(int(s) if s.isdigit() else sizes[s] for s in self.sizes)
        if self.elem == "bool":
            return random.random(shape) < 0.5
        if self.elem == "i64":
            return random.integers(-1, 2, shape)
        if self.elem == "u32":
            return random.integers(0, 1 << 31, shape).astype(np.uint32)
        if exact:  # sums of these round nothing
            return random.integers(-8, 9, shape) / 4
        return random.standard_normal(shape)


@dataclass(slots=True)
class Program:
    """A program under way, and sizes with which it runs. `exact`: of all that is in it, results are
    the same bit for bit.
    """

    params: list[Param]
    witness: dict[str, int]
    exact: bool
    steps: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    count: int = 0

    def text(self, steps: Sequence[str], names: Sequence[str]) -> str:
        params = ", ".join(param.text for param in self.params)
        result = ", ".join(names) or "0.0"
        return f"f = fn ({params}) {{ {' '.join(steps)} {result} }};"

    def source(self) -> str:
        return self.text(self.steps, self.names)

    def arguments(self, sizes: dict[str, int], seed: int) -> list[Any]:
        random = np.random.default_rng(seed)
        return [param.value(sizes, random, self.exact) for param in self.params]


def program(seed: int, most: int = 10) -> Program:
    """A program that runs at the sizes of its witness."""
    random = Random(seed)
    exact = random.random() < 0.15
    witness = {name: random.choice(SIZES[3:]) for name in NAMES}
    params = []
    for i in range(random.choice((2, 3, 3, 4))):
        rank = random.choice((1, 2, 2, 3, 3, 4))
        sizes = [random.choice((*NAMES, *NAMES, *NAMES, "2", "3")) for _ in range(rank)]
        typed = not all(s.isdigit() for s in sizes) and random.random() < 0.85
        params.append(Param(f"x{i}", "f64", tuple(sizes), typed))
    rank = random.choice((1, 2))
    whole = params[0].sizes
    filters = (random.choice(("2", "3", "n")), *whole[1:2], *("3",) * (len(whole) - 2))
    params += [
        Param("i", "i64", tuple(random.choice(NAMES) for _ in range(rank))),
        Param("c", "bool", whole),
        Param("w", "f64", filters),
        Param("key", "u32", ("2",)),
    ]
    made = Program(params, witness, exact)
    values = [p.name for p in params if p.name.startswith("x")]
    wanted = random.randint(3, most)
    for _ in range(wanted * 12):
        if len(made.names) >= wanted:
            break
        _grow(made, values, random)
    return made


def _grow(made: Program, values: list[str], random: Random) -> None:
    """Try one more operator."""
    several = random.random() < 0.04
    text = random.choice(CHOSEN if several else POINTWISE if made.exact else FLOAT)
    recent = values[-4:] if random.random() < 0.7 else values
    call = text.format(
        x=random.choice(recent),
        y=random.choice(values),
        z=random.choice(values),
        i="i",
        c="c",
        w="w",
        a=random.choice((0, 0, 1, -1, -1, -2, 2)),
        k=random.choice((1, -1, 2, -3)),
        d=random.choice(NAMES),
    )
    name = f"v{made.count}"
    names = [name, f"{name}'"] if several else [name]
    steps = [*made.steps, f"{', '.join(names)} = {call};"]
    source = made.text(steps, [*made.names, *names])
    try:
        net = axon.compile(source)
        result = net.f(*made.arguments(made.witness, 0))
    except axon.AxonError:
        return
    new = result[len(made.names) :] if len(made.names) + len(names) > 1 else (result,)
    if not all(_is_small(value) for value in new):
        return
    made.count += 1
    made.steps = steps
    made.names += names
    values += names


def _is_small(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype == np.float64 and value.size < 5000


def streams(made: Program, count: int, seed: int) -> Iterator[dict[str, int]]:
    """Sizes for calls: those of the witness, others by chance, some of them equal."""
    random = Random(seed)
    yield made.witness
    for _ in range(count - 1):
        few = [random.choice(SIZES) for _ in range(random.choice((1, 2, 4)))]
        yield {name: random.choice(few) for name in NAMES}
