"""Random functions of rows: straight-line programs over what a row has.

A line applies an operator to values of the kinds that it takes: a number of a row, a vector as long
as the row, a matrix of three columns, a matrix of the row's size by itself, or a vector of three.
"""

from __future__ import annotations

from random import Random

OPERATORS: list[tuple[str, str, str]] = [
    # the kinds of the operands, the kind of the result, the text
    ("v", "v", "softmax({0})"), ("v", "v", "{0} - mean({0})"), ("v", "v", "cumsum({0})"),
    ("v", "v", "sort({0})"), ("v", "v", "reverse({0})"), ("v", "v", "tanh({0})"),
    ("v", "v", "layer_norm({0})"), ("v", "v", "roll({0}, by=1)"), ("v", "v", "scan(+, 0f, {0})"),
    ("v", "v", "gather({0}, argsort({0}))"), ("v", "v", "relu({0})"),
    ("v", "v", "cast(argsort({0}), to=f32)"), ("v", "v", "map(fn (e) {{ e * 0.5 }}, {0})"),
    ("vv", "v", "{0} + {1}"), ("vv", "v", "{0} * {1}"), ("vv", "v", "maximum({0}, {1})"),
    ("vv", "v", "where({0} > {1}, {0}, {1})"), ("vs", "v", "{0} * {1}"), ("vs", "v", "{0} - {1}"),
    ("vv", "v", "gather({0}, argsort({1}))"), ("vs", "v", "map(fn (e) {{ tanh(e + {1}) }}, {0})"),
    ("v", "s", "sum({0})"), ("v", "s", "max({0})"), ("v", "s", "mean({0})"),
    ("vv", "s", "dot({0}, {1})"),
    ("v", "s", "logsumexp({0})"), ("v", "s", "reduce(max, -inf, {0})"), ("v", "s", "norm({0})"),
    ("v", "s", "cast(size({0}, axis=0), to=f32)"), ("ss", "s", "{0} + {1}"),
    ("ss", "s", "{0} * {1}"),
    ("s", "s", "tanh({0})"), ("v", "s", "fold(0f, fn (s, e) {{ tanh(s + e) }}, {0})"),
    ("sv", "s", "cond({0} > 0f, fn () {{ sum({1}) }}, fn () {{ max({1}) }})"),
    ("m", "m", "softmax({0})"), ("m", "m", "softmax({0}, axis=0)"), ("m", "m", "{0} @ w"),
    ("m", "m", "layer_norm({0})"), ("m", "m", "{0} - mean({0}, axis=0)"), ("m", "m", "cumsum({0})"),
    ("m", "m", "reverse({0})"), ("m", "m", "sort({0}, axis=0)"), ("mm", "m", "{0} + {1}"),
    ("mt", "m", "{0} * {1}"), ("mv", "m", "{0} * expand_dims({1}, axis=1)"),
    ("qm", "m", "{0} @ {1}"),
    ("m", "m", "map(fn (e) {{ softmax(e) }}, {0})"), ("vt", "m", "outer({0}, {1})"),
    ("mt", "m", "map(fn (e) {{ e + {1} }}, {0})"), ("ms", "m", "{0} * {1}"),
    ("mv", "m", "gather({0}, argsort({1}))"),
    ("m", "v", "sum({0}, axis=1)"), ("m", "v", "max({0}, axis=1)"), ("m", "v", "{0}[:, 0]"),
    ("m", "v", "map(fn (e) {{ sum(e) }}, {0})"), ("q", "v", "sum({0}, axis=1)"),
    ("q", "v", "max({0}, axis=0)"),
    ("m", "t", "mean({0}, axis=0)"), ("m", "t", "max({0}, axis=0)"), ("m", "t", "sum({0}, axis=0)"),
    ("mt", "t", "fold({1}, fn (h, e) {{ tanh(h + e) }}, {0})"), ("tt", "t", "{0} + {1}"),
    ("ts", "t", "{0} * {1}"), ("t", "t", "softmax({0})"), ("t", "s", "sum({0})"),
    ("mm", "q", "{0} @ transpose({1})"), ("vv", "q", "outer({0}, {1})"), ("q", "q", "softmax({0})"),
    ("q", "q", "tanh({0})"), ("qq", "q", "{0} + {1}"), ("qs", "q", "{0} * {1}"),
    ("q", "q", "transpose({0})"), ("q", "q", "tril({0})"),
]  # fmt: skip


def draw_body(random: Random, most: int = 5) -> str:
    """The body of a function of a vector `r`, a matrix `k` and a number `c` of each row, with a
    shared `w`.
    """
    known = {"v": ["r"], "m": ["k"], "s": ["c"], "t": ["u"], "q": list[str]()}
    lines = []
    for i in range(random.randint(1, most)):
        able = [each for each in OPERATORS if all(known[kind] for kind in each[0])]
        takes, gives, text = random.choice(able)
        name = f"x{i}"
        given = [random.choice(known[kind][-3:]) for kind in takes]
        lines.append(f"{name} = {text.format(*given)};")
        known[gives].append(name)
    results = [line.split(" ")[0] for line in lines]
    shown = results[-1:] if random.random() < 0.6 else random.sample(results, min(2, len(results)))
    return f"{' '.join(lines)} {', '.join(shown)}"


def draw_program(random: Random, count: int) -> str:
    """Definitions `f0`, `f1`, … that map such functions."""
    head = "fn (x : f32 [n,*k], y : f32 [n,*k,3], a : f32 [n], b : f32 [n,3], w : f32 [3,3])"
    return "\n".join(
        f"f{i} = {head} {{ map(fn (r, k, c, u) {{ {draw_body(random)} }}, x, y, a, b) }};"
        for i in range(count)
    )


def draw_lengths(random: Random) -> tuple[int, ...]:
    """The sizes of some rows: few or many, even or skewed, some of them empty."""
    match random.randrange(5):
        case 0:
            return (random.randint(0, 6),) * random.randint(1, 4)
        case 1:
            return tuple(1 for _ in range(random.randint(1, 4)))
        case 2:
            return (random.randint(20, 60), *(random.randint(0, 3) for _ in range(5)))
        case 3:
            return ()
        case _:
            return tuple(random.randint(0, 9) for _ in range(random.randint(1, 7)))
