"""Recurrent networks, all steps of a sequence at once: `lstm`, `gru` and `rnn`.

They share a layout. The sequence is `[s,b,i]`, the weights for what comes in are `[d,g*h,i]` and
for the state `[d,g*h,h]`, where d is the number of directions and g the number of gates. What may
follow are the biases of the two, one after the other, `[d,2*g*h]`, the states to begin with, and
the length of each sequence. The first result is `[s,d,b,h]`, then come the last states `[d,b,h]`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from axon.ops.arrays import Array, Arrays, Value, wide
from axon.ops.families.activations import sigmoid
from axon.ops.operator import Problem, Rule, operator
from axon.ops.padding import TrueSizes
from axon.ops.traits import Padding, Traits

DIRECTIONS = ("forward", "reverse", "bidirectional")

Gate = Callable[[Array], Array]


@dataclass(frozen=True, slots=True)
class Layout:
    """What the three networks have in common."""

    name: str
    gates: int
    functions: int
    states: int
    extra: str = ""

    def signature(
        self, arity: int, direction: str, activations: str, batch_first: bool, hidden: int | None
    ) -> Rule:
        if direction not in DIRECTIONS:
            return Problem(f'direction is "{direction}"; it can be {", ".join(DIRECTIONS)}')
        count = 2 if direction == "bidirectional" else 1
        words = activations.split()
        if len(words) not in (self.functions, self.functions * count):
            return Problem(f"{self.name} has {self.functions} activations, not {len(words)}")
        for word in words:
            if word not in ACTIVATIONS:
                return Problem(f"{word} is no activation: {', '.join(sorted(ACTIVATIONS))} are")
        if hidden is not None and hidden < 1:
            return Problem("hidden must be at least 1")
        h = "h" if hidden is None else str(hidden)
        b = "b" if batch_first else "after_b"  # each step has all of them
        state = f"t [b,{count},{h}]" if batch_first else f"t [{count},{b},{h}]"
        params = [
            "t [b,s,i]" if batch_first else f"t [s,{b},i]",
            f"t [{count},{_times(self.gates, h)},i]",
            f"t [{count},{_times(self.gates, h)},{h}]",
            f"t [{count},{_times(2 * self.gates, h)}]",
            *[state] * self.states,
            *([f"t [{count},{_times(3, h)}]"] if self.extra else []),
            f"n [{b}]",
        ]
        if arity not in self.arities():
            return Problem(
                f"{self.name} takes a sequence and two weights, and perhaps the bias, "
                f"{'the states' if self.states > 1 else 'the state'}{self.extra} and the lengths; "
                f"{arity} arguments are given"
            )
        whole = f"t [b,s,{count},{h}]" if batch_first else f"t [s,{count},{b},{h}]"
        results = ", ".join([whole, *[state] * self.states])
        lengths = ", n : int" if arity == len(params) else ""
        return f"({', '.join(params[:arity])}) -> ({results}) where t : float{lengths}"

    def arities(self) -> tuple[int, ...]:
        """A sequence and two weights, then the bias, the states, …: how many that may be."""
        found = [3, 4, 4 + self.states]
        if self.extra:
            found.append(found[-1] + 1)
        return (*found, found[-1] + 1)


def _times(count: int, size: str) -> str:
    if size.isdigit():
        return str(count * int(size))
    return size if count == 1 else f"{count}*{size}"


LSTM = Layout("lstm", gates=4, functions=3, states=2, extra=", the peepholes")
GRU = Layout("gru", gates=3, functions=2, states=1)
RNN = Layout("rnn", gates=1, functions=1, states=1)


PADDED = Padding(
    ("b", "after_b"),
    {"s": "zero"},
    reason="gates and features are packed in its weights",
)


@operator(
    Traits(padding=PADDED),
    roles={"h": "hidden sizes", "i": "input sizes"},
)
def lstm(
    arity: int,
    *,
    direction: str = "forward",
    activations: str = "sigmoid tanh tanh",
    batch_first: bool = False,
    hidden: int | None = None,
    clip: float | None = None,
    coupled: bool = False,
) -> Rule:
    """A long short-term memory over a sequence `[s,b,i]`, with weights `[d,4*h,i]` and `[d,4*h,h]`;
    perhaps the biases `[d,8*h]`, the hidden state and the cell to begin with `[d,b,h]`, the
    peepholes `[d,3*h]`, and the length of each sequence `[b]`. The gates are input, output, forget,
    cell. The results are all hidden states, the last of them, and the last cells.

    - `direction`: "forward", "reverse", or "bidirectional".
    - `activations`: of the gates, the cell and the hidden state; for both directions if there are
      three.
    - `batch_first`: the sequence is `[b,s,i]`, the states `[b,d,h]`, the result `[b,s,d,h]`.
    - `hidden`: the size of the state, if it should not follow from the weights.
    - `clip`: no gate is given a number beyond it.
    - `coupled`: what is forgotten is what makes room for the input.

    >>> lstm(x : f32 [s,b,3], W : f32 [1,20,3], R : f32 [1,20,5])
    (f32 [s,1,b,5], f32 [1,b,5], f32 [1,b,5])
    >>> lstm(x : f32 [s,b,3], W : f32 [2,8,3], R : f32 [2,8,2], B : f32 [2,16],
    ... direction="bidirectional")
    (f32 [s,2,b,2], f32 [2,b,2], f32 [2,b,2])
    """
    return LSTM.signature(arity, direction, activations, batch_first, hidden)


@lstm.means
def _(
    xp: Arrays,
    x: Array,
    w: Array,
    r: Array,
    *rest: Array,
    direction: str,
    activations: str,
    batch_first: bool,
    hidden: int | None,
    clip: float | None,
    coupled: bool,
) -> Value:
    def cell(which: int, functions: list[Gate], bias: Array, peepholes: Array) -> Step:
        into, back = wide(xp, w)[which].T, wide(xp, r)[which].T
        f, g, h = functions
        h_size = r.shape[2]
        peek_i, peek_o, peek_f = (peepholes[i * h_size : (i + 1) * h_size] for i in range(3))
        both = bias[: 4 * h_size] + bias[4 * h_size :]

        def step(state: Value, row: Array) -> Value:
            last, memory = state
            gates = xp.matmul(row, into) + xp.matmul(last, back) + both
            i, o, forget, c = (gates[:, k * h_size : (k + 1) * h_size] for k in range(4))
            i = f(i + peek_i * memory)
            forget = 1 - i if coupled else f(forget + peek_f * memory)
            memory = forget * memory + i * g(c)
            return f(o + peek_o * memory) * h(memory), memory

        return step

    return _run(xp, LSTM, cell, x, r, rest, direction, activations, batch_first, clip)


@lstm.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, w: Array, r: Array, *rest: Array, **attributes: Any
) -> Value:
    assert lstm.meaning is not None
    rest = _ended(xp, LSTM, true, x, r, rest, attributes["batch_first"])
    return lstm.meaning(xp, x, w, r, *rest, **attributes)


@operator(
    Traits(padding=PADDED),
    roles={"h": "hidden sizes", "i": "input sizes"},
)
def gru(
    arity: int,
    *,
    direction: str = "forward",
    activations: str = "sigmoid tanh",
    batch_first: bool = False,
    hidden: int | None = None,
    clip: float | None = None,
    reset_last: bool = False,
) -> Rule:
    """A network of gated recurrent units over a sequence `[s,b,i]`, with weights `[d,3*h,i]` and
    `[d,3*h,h]`; perhaps the biases `[d,6*h]`, the state to begin with `[d,b,h]`, and the length of
    each sequence `[b]`. The gates are update, reset, hidden. The results are all states, and the
    last of them.

    - `direction`: "forward", "reverse", or "bidirectional".
    - `activations`: of the gates and of the state; for both directions if there are two.
    - `batch_first`: the sequence is `[b,s,i]`, the state `[b,d,h]`, the result `[b,s,d,h]`.
    - `hidden`: the size of the state, if it should not follow from the weights.
    - `clip`: no gate is given a number beyond it.
    - `reset_last`: the state is multiplied by its weights before it is reset.

    >>> gru(x : f32 [s,b,3], W : f32 [1,15,3], R : f32 [1,15,5])
    (f32 [s,1,b,5], f32 [1,b,5])
    >>> gru(x : f32 [b,s,3], W : f32 [1,6,3], R : f32 [1,6,2], B : f32 [1,12], h : f32 [b,1,2],
    ... batch_first=true)
    (f32 [b,s,1,2], f32 [b,1,2])
    """
    return GRU.signature(arity, direction, activations, batch_first, hidden)


@gru.means
def _(
    xp: Arrays,
    x: Array,
    w: Array,
    r: Array,
    *rest: Array,
    direction: str,
    activations: str,
    batch_first: bool,
    hidden: int | None,
    clip: float | None,
    reset_last: bool,
) -> Value:
    def cell(which: int, functions: list[Gate], bias: Array, _: Array) -> Step:
        into, back = wide(xp, w)[which].T, wide(xp, r)[which].T
        f, g = functions
        two = 2 * r.shape[2]
        bias_w, bias_r = bias[: 3 * r.shape[2]], bias[3 * r.shape[2] :]

        def step(state: Value, row: Array) -> Value:
            (last,) = state
            given = xp.matmul(row, into) + bias_w
            gates = f(given[:, :two] + xp.matmul(last, back[:, :two]) + bias_r[:two])
            z, reset = gates[:, : r.shape[2]], gates[:, r.shape[2] :]
            if reset_last:
                kept = reset * (xp.matmul(last, back[:, two:]) + bias_r[two:])
            else:
                kept = xp.matmul(reset * last, back[:, two:]) + bias_r[two:]
            return ((1 - z) * g(given[:, two:] + kept) + z * last,)

        return step

    return _run(xp, GRU, cell, x, r, rest, direction, activations, batch_first, clip)


@gru.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, w: Array, r: Array, *rest: Array, **attributes: Any
) -> Value:
    assert gru.meaning is not None
    rest = _ended(xp, GRU, true, x, r, rest, attributes["batch_first"])
    return gru.meaning(xp, x, w, r, *rest, **attributes)


@operator(
    Traits(padding=PADDED),
    roles={"h": "hidden sizes", "i": "input sizes"},
)
def rnn(
    arity: int,
    *,
    direction: str = "forward",
    activations: str = "tanh",
    batch_first: bool = False,
    hidden: int | None = None,
    clip: float | None = None,
) -> Rule:
    """A plain recurrent network over a sequence `[s,b,i]`, with weights `[d,h,i]` and `[d,h,h]`;
    perhaps the biases `[d,2*h]`, the state to begin with `[d,b,h]`, and the length of each sequence
    `[b]`. The results are all states, and the last of them.

    - `direction`: "forward", "reverse", or "bidirectional".
    - `activations`: of the state; for both directions if there is one.
    - `batch_first`: the sequence is `[b,s,i]`, the state `[b,d,h]`, the result `[b,s,d,h]`.
    - `hidden`: the size of the state, if it should not follow from the weights.
    - `clip`: the activation is given no number beyond it.

    >>> rnn(x : f32 [s,b,3], W : f32 [1,5,3], R : f32 [1,5,5])
    (f32 [s,1,b,5], f32 [1,b,5])
    """
    return RNN.signature(arity, direction, activations, batch_first, hidden)


@rnn.means
def _(
    xp: Arrays,
    x: Array,
    w: Array,
    r: Array,
    *rest: Array,
    direction: str,
    activations: str,
    batch_first: bool,
    hidden: int | None,
    clip: float | None,
) -> Value:
    def cell(which: int, functions: list[Gate], bias: Array, _: Array) -> Step:
        into, back = wide(xp, w)[which].T, wide(xp, r)[which].T
        both = bias[: r.shape[2]] + bias[r.shape[2] :]

        def step(state: Value, row: Array) -> Value:
            return (functions[0](xp.matmul(row, into) + xp.matmul(state[0], back) + both),)

        return step

    return _run(xp, RNN, cell, x, r, rest, direction, activations, batch_first, clip)


@rnn.padded
def _(
    xp: Arrays, true: TrueSizes, x: Array, w: Array, r: Array, *rest: Array, **attributes: Any
) -> Value:
    assert rnn.meaning is not None
    rest = _ended(xp, RNN, true, x, r, rest, attributes["batch_first"])
    return rnn.meaning(xp, x, w, r, *rest, **attributes)


# --- one sequence after another --------------------------------------------------------------

Step = Callable[[Value, Array], Value]
"""From the states and a row of the sequence to the next states; the first of them is shown."""

Cell = Callable[[int, list[Gate], Array, Array], Step]
"""The step of a direction, by its number, activations, bias and peepholes."""


def _run(
    xp: Arrays,
    layout: Layout,
    cell: Cell,
    x: Array,
    r: Array,
    rest: tuple[Array, ...],
    direction: str,
    activations: str,
    batch_first: bool,
    clip: float | None,
) -> Value:
    """Each direction on its own, then side by side."""
    count, _, h = r.shape
    y = wide(xp, xp.swapaxes(x, 0, 1) if batch_first else x)
    zeros = xp.zeros((count, y.shape[1], h), dtype=y.dtype)
    bias = wide(xp, rest[0]) if rest else xp.zeros((count, 2 * layout.gates * h), dtype=y.dtype)
    states = [wide(xp, state) for state in rest[1 : 1 + layout.states]] or [zeros] * layout.states
    if batch_first and len(rest) > 1:
        states = [xp.swapaxes(state, 0, 1) for state in states]
    more = rest[1 + layout.states :]
    peepholes = xp.zeros((count, 3 * h), dtype=y.dtype)
    if layout.extra and more:
        peepholes, more = wide(xp, more[0]), more[1:]
    words = activations.split()
    found = []
    for which in range(count):
        mine = words[-layout.functions :] if which else words[: layout.functions]
        functions = [_activation(xp, word, clip) for word in mine]
        step = cell(which, functions, bias[which], peepholes[which])
        begin = tuple(state[which] for state in states)
        backwards = direction == "reverse" or which == 1
        found.append(_through(xp, step, y, begin, backwards, more))
    whole = xp.stack([all_ for all_, _ in found], axis=1)
    last = [xp.stack([ends[i] for _, ends in found]) for i in range(layout.states)]
    if batch_first:
        whole = xp.moveaxis(whole, 2, 0)
        last = [xp.swapaxes(state, 0, 1) for state in last]
    return tuple(xp.astype(part, x.dtype) for part in (whole, *last))


def _ended(
    xp: Arrays,
    layout: Layout,
    true: TrueSizes,
    x: Array,
    r: Array,
    rest: tuple[Array, ...],
    batch_first: bool,
) -> tuple[Array, ...]:
    """What may follow the weights, with the lengths of all sequences, which end where they truly
    do.
    """
    (count, _, h), axis = r.shape, int(batch_first)
    batch = x.shape[1 - axis]
    states = (batch, count, h) if batch_first else (count, batch, h)
    shapes = [(count, 2 * layout.gates * h), *[states] * layout.states]
    shapes += [(count, 3 * h)] if layout.extra else []
    if len(rest) > len(shapes):
        return rest
    missing = [xp.zeros(shape, dtype=x.dtype) for shape in shapes[len(rest) :]]
    end = xp.asarray(true.of(0)[axis], dtype=xp.element("i64"))
    return (*rest, *missing, xp.broadcast_to(end, (batch,)))


def _through(
    xp: Arrays, step: Step, x: Array, begin: Value, backwards: bool, lengths: tuple[Array, ...]
) -> tuple[Array, Value]:
    """All the states that are shown, in the order of the sequence, and the last ones."""
    steps = xp.arange(x.shape[0])
    inside = None
    if lengths:
        inside = steps[:, None] < xp.astype(lengths[0], steps.dtype)[None, :]
    x = _turned(xp, x, steps, lengths) if backwards else x

    def one(state: Value, row: Array, *here: Array) -> Value:
        after = step(state, row)
        if not here:
            return after, after[0]
        real = here[0][:, None]
        after = tuple(xp.where(real, new, old) for new, old in zip(after, state, strict=True))
        return after, xp.where(real, after[0], 0)

    rows = (x,) if inside is None else (x, inside)
    last, all_ = xp.loop(
        begin, one, *rows, like=lambda: xp.zeros((0, *begin[0].shape), dtype=begin[0].dtype)
    )
    return (_turned(xp, all_, steps, lengths) if backwards else all_), last


def _turned(xp: Arrays, x: Array, steps: Array, lengths: tuple[Array, ...]) -> Array:
    """Each sequence from its end to its beginning; what is behind its end stays."""
    if not lengths:
        return xp.flip(x, axis=0)
    ends = xp.astype(lengths[0], steps.dtype)[None, :]
    places = xp.where(steps[:, None] < ends, ends - 1 - steps[:, None], steps[:, None])
    return xp.take_along_axis(x, places[:, :, None], axis=0)


# --- activations -----------------------------------------------------------------------------


def _sigmoid(xp: Arrays, x: Array) -> Array:
    assert sigmoid.meaning is not None
    return sigmoid.meaning(xp, x)


ACTIVATIONS: dict[str, Callable[[Arrays, Array], Array]] = {
    "tanh": lambda xp, x: xp.tanh(x),
    "sigmoid": _sigmoid,
    "relu": lambda xp, x: xp.maximum(x, 0),
    "identity": lambda xp, x: x,
    "hard_sigmoid": lambda xp, x: xp.minimum(xp.maximum(0.2 * x + 0.5, 0), 1),
    "softsign": lambda xp, x: x / (1 + xp.abs(x)),
    "softplus": lambda xp, x: xp.maximum(x, 0) + xp.log1p(xp.exp(-xp.abs(x))),
}
"""What a gate or a state may go through."""


def _activation(xp: Arrays, word: str, clip: float | None) -> Gate:
    function = ACTIVATIONS[word]
    if clip is None:
        return lambda x: function(xp, x)
    return lambda x: function(xp, xp.minimum(xp.maximum(x, -clip), clip))
