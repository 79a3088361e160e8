"""Every operator: its doc, its examples, its signatures; and its sizes, against counting."""

from __future__ import annotations

import re
from itertools import product

import pytest

from axon.driver import check_text
from axon.ops import FAMILIES, OPERATORS, Operator, Problem
from axon.ops.axes import bad_axes, place
from axon.ops.examples import Example, examples, lift
from axon.ops.reference import plain_signature, reference
from axon.source import Source
from axon.syntax import parse_signature

EXAMPLES = [
    pytest.param(operator, example, id=example.call)
    for operator in OPERATORS.values()
    for example in examples(operator.doc)
]


def signature(name: str, arity: int = 1, **attributes: object) -> str:
    rule = OPERATORS[name].signature(arity, attributes)
    assert isinstance(rule, str), rule
    assert_readable(rule)
    return rule


def assert_readable(text: str) -> None:
    parsed, diagnostics = parse_signature(Source("op", text))
    assert parsed is not None, text
    assert not diagnostics, (text, diagnostics)


# --- the table -------------------------------------------------------------------------------


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=list(OPERATORS))
def test_an_operator_is_documented(operator: Operator) -> None:
    assert operator.doc.strip()
    assert examples(operator.doc)
    for attribute in operator.attributes:
        assert f"`{attribute}`" in operator.doc, f"{operator.name}: what is {attribute}?"


@pytest.mark.parametrize(("operator", "example"), EXAMPLES)
def test_the_signature_of_an_example_can_be_read(operator: Operator, example: Example) -> None:
    rule = example.signature(operator)
    assert isinstance(rule, str), rule
    assert_readable(rule)


@pytest.mark.parametrize(("operator", "example"), EXAMPLES)
def test_an_example_has_the_type_it_says(operator: Operator, example: Example) -> None:

    checked = check_text(example.program)
    assert checked.ok, checked.diagnostics
    [definition] = checked.definitions
    where = f" where {', '.join(definition.where)}" if definition.where else ""
    params, _ = lift(example.call)
    assert result_of(definition.signature, len(params)) + where == example.expected


def result_of(text: str, arity: int) -> str:
    """What stands behind the arrow that follows the parameters."""
    if arity == 1:
        return text.partition(" -> ")[2]
    depth = 0
    for place_, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if depth == 0:
            return text[place_ + 1 :].removeprefix(" -> ")
    raise AssertionError(text)


def test_the_paper_and_the_decisions() -> None:
    assert plain_signature(OPERATORS["conv"]).startswith(
        "(t [n,c,h,w], t [k,c,r,s]) -> t [n,k,h-r+1,w-s+1]"
    )
    assert signature("max", 2).startswith("(t s, t s) -> t s")
    assert signature("reduce", 3) == "((t [], t []) -> t [], t [], t [d]@after) -> t after"
    assert signature("concat", 2) == "(t [a]@after, t [b]@after) -> t [a+b]@after"
    assert signature("map", 2) == "((t s) -> u r, t [d]@s) -> u [d]@r"
    assert signature("transpose") == "t s@[m,n] -> t s@[n,m]"
    assert signature("reverse") == "t [n]@after -> t [n]@after"
    assert signature("nonzero") == "t [n] -> i64 [?k]"


def test_roles_are_of_variables_that_occur() -> None:
    for operator in OPERATORS.values():
        rules = [example.signature(operator) for example in examples(operator.doc)]
        words = set(re.findall(r"\w+", " ".join(rule for rule in rules if isinstance(rule, str))))
        for variable in operator.roles:
            assert variable in words or variable in ("s", "d0"), (operator.name, variable)


def test_the_reference_has_every_operator_once() -> None:
    headings = re.findall(r"^### `(.+)`$", reference(), re.MULTILINE)
    assert sorted(headings) == sorted(OPERATORS)
    assert len(re.findall(r"^## ", reference(), re.MULTILINE)) == len(FAMILIES)


def test_typed_arguments_become_parameters() -> None:
    call = "f(x : f32 [2,3], g((y : (f32, i64) -> f32 [2])), fn (a : f32) { h(b : c) }, axis=0)"
    assert lift(call) == (
        ["x : f32 [2,3]", "y : (f32, i64) -> f32 [2]"],
        "f(x, g((y)), fn (a : f32) { h(b : c) }, axis=0)",
    )


# --- attributes that give no signature -------------------------------------------------------

PROBLEMS: list[tuple[str, int, dict[str, object], str]] = [
    ("sum", 1, {"axis": (10**6,)}, "too far out"),
    ("sum", 1, {"axis": (-(10**6),)}, "too far out"),
    ("sum", 1, {"axis": (1, 1)}, "twice"),
    ("sum", 1, {"axis": (1, -2)}, "both ends"),
    ("sum", 1, {"axis": ()}, "empty"),
    ("sum", 1, {"keep": True}, "axis"),
    ("max", 2, {"axis": (0,)}, "no axis"),
    ("max", 3, {}, "3 are given"),
    ("concat", 2, {"axis": 10**6}, "too far out"),
    ("concat", 0, {}, "at least one"),
    ("stack", 0, {}, "at least one"),
    ("stack", 2, {"axis": 64}, "too far out"),
    ("split", 1, {}, "either"),
    ("split", 1, {"parts": 2, "sizes": (1, 1)}, "either"),
    ("split", 1, {"parts": 0}, "not 0"),
    ("split", 1, {"parts": 10**9}, "not 1000000000"),
    ("split", 1, {"sizes": (3, -1)}, "at least 0"),
    ("transpose", 1, {"perm": (0, 0)}, "permutation"),
    ("transpose", 1, {"perm": (0, 2)}, "permutation"),
    ("transpose", 1, {"perm": tuple(range(100))}, "at most"),
    ("conv", 2, {"stride": (0,)}, "stride must be at least 1"),
    ("conv", 2, {"stride": (1, 2, 3), "dilation": (1, 1)}, "dilation has 2 entries"),
    ("conv", 2, {"pad": (-1,)}, "pad must be at least 0"),
    ("conv", 2, {"pad": "full"}, "same"),
    ("conv", 2, {"stride": (1,) * 20}, "spatial dimensions, not 20"),
    ("conv", 2, {"pad": (1, 2, 3), "stride": (1, 1)}, "pad has 3 entries"),
    ("conv", 2, {"groups": 0}, "groups must be at least 1"),
    ("conv", 1, {}, "1 are given"),
    ("conv_transpose", 2, {"output_pad": (1,)}, "output_pad"),
    ("max_pool", 1, {"window": (2,), "pad": (2,)}, "less than the window"),
    ("max_pool", 1, {"window": (0,)}, "window must be at least 1"),
    ("upsample", 1, {"scale": (0,)}, "scale must be at least 1"),
    ("upsample", 1, {"scale": (2,), "mode": "cubic"}, "nearest"),
    ("slice", 1, {"step": 0}, "step is 0"),
    ("slice", 1, {"axis": 99}, "too far out"),
    ("index", 1, {"i": 0, "axis": 99}, "too far out"),
    ("gather", 2, {"axis": -99}, "too far out"),
    ("scatter", 3, {"mode": "sub"}, "mode"),
    ("one_hot", 1, {"depth": -1}, "depth"),
    ("top_k", 1, {"k": -1}, "at least 0"),
    ("tile", 1, {"reps": (2, -1)}, "at least 0"),
    ("tile", 1, {"reps": (1,) * 65}, "at most"),
    ("repeat", 1, {"times": -1}, "at least 0"),
    ("pad", 1, {"pad": (1, 1, 1)}, "pairs"),
    ("pad", 1, {"pad": (1, 1), "before": 1}, "either"),
    ("squeeze", 1, {"axis": (0, 0)}, "twice"),
    ("clip", 1, {}, "min"),
    ("clip", 1, {"min": 2.0, "max": 1.0}, "above"),
    ("gelu", 1, {"approximate": "erf"}, "tanh"),
    ("dropout", 1, {"rate": 1.5}, "from 0 to 1"),
    ("dropout", 2, {"rate": -0.1}, "from 0 to 1"),
    ("dropout", 2, {"rate": 1.0}, "less than 1"),
    ("dropout", 2, {"rate": float("nan")}, "from 0 to 1"),
    ("dropout", 3, {}, "3 arguments"),
    ("uniform", 2, {"to": "i32"}, "f16, bf16, f32 or f64, not i32"),
    ("normal", 2, {"to": "bool"}, "not bool"),
    ("randint", 2, {"high": 5, "to": "f32"}, "integers, not f32"),
    ("randint", 2, {"high": 0}, "above low"),
    ("randint", 2, {"high": -5, "low": -5}, "above low"),
    ("randint", 2, {"high": 257, "to": "u8"}, "fit"),
    ("randint", 2, {"high": 5, "low": -1, "to": "u8"}, "fit"),
    ("randint", 2, {"high": 1 << 32}, "at most 4294967295"),
    ("categorical", 2, {"axis": 64}, "too far out"),
    ("split_key", 1, {"parts": 1}, "2 to 1024"),
    ("split_key", 1, {"parts": 10**9}, "2 to 1024"),
    ("split_key", 2, {"parts": 2}, "either"),
    ("split_key", 3, {}, "either"),
    ("layer_norm", 4, {}, "4 arguments"),
    ("group_norm", 1, {"groups": 0}, "groups"),
    ("range", 3, {}, "3 arguments"),
    ("range", 1, {"step": 0}, "step"),
    ("map", 1, {}, "at least one tensor"),
    ("loop", 2, {}, "at least one tensor"),
    ("reduce", 3, {"axis": 10**6}, "too far out"),
    ("softmax", 1, {"axis": 10**6}, "too far out"),
    ("flatten", 1, {"axis": 10**6}, "too far out"),
    ("size", 1, {"axis": 10**6}, "too far out"),
    ("einsum", 2, {"equation": "ij,jk"}, "->"),
    ("einsum", 1, {"equation": "ij,jk->ik"}, "2 tensors"),
    ("einsum", 1, {"equation": "i->j"}, "no argument"),
    ("einsum", 1, {"equation": "i1->i"}, "letters"),
    ("einsum", 1, {"equation": "ij->ii"}, "twice"),
    ("einsum", 1, {"equation": "...i->i"}, "in the result"),
    ("einsum", 1, {"equation": "i->...i"}, "in no argument"),
]


@pytest.mark.parametrize(("name", "arity", "attributes", "words"), PROBLEMS)
def test_attributes_that_make_no_sense_are_a_problem(
    name: str, arity: int, attributes: dict[str, object], words: str
) -> None:
    rule = OPERATORS[name].signature(arity, attributes)
    assert isinstance(rule, Problem), rule
    assert words in rule.text


SAMPLES: dict[str, list[object]] = {
    "int": [-(10**30), -65, -1, 0, 1, 63, 10**30],
    "bool": [False, True],
    "float": [float("-inf"), -1.0, 0, 0.5, float("nan"), 10.0**300],
    "str": ["", "same", "->", ",->,", "....->", "a" * 200, "a,b->ab", "é->é"],
    "Ints": [(), (0,), (-1,), (2,), (1, 2), (1, 2, 3), (10**30,), (1,) * 100, (0, -1), (3,) * 16],
    "Floats": [(), (0.0,), (-1.0,), (0.5,), (2, 0.3), (float("nan"),), (10.0**300,), (1.0,) * 100],
    "Extent": [-1, 0, 1, 10**30, "given"],
    "Extents": [(), (0,), (-1,), (2, "given"), ("given",) * 100, (1, 2, 3)],
    "Element": ["f32", "bool", "t"],
}


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=list(OPERATORS))
def test_a_rule_never_fails(operator: Operator) -> None:
    """Whatever its attributes are, it gives a signature that can be read, or a problem."""
    names = list(operator.attributes)
    choices = [
        [
            value
            for kind in operator.attributes[name].split(" | ")
            for value in SAMPLES.get(kind, [])
        ]
        for name in names
    ]
    plain = [values[len(values) // 2] for values in choices]
    trials = [dict(zip(names, plain, strict=True))]
    for i, name in enumerate(names):
        required = {n: v for n, v in zip(names, plain, strict=True) if n in operator.required}
        trials += [{**required, name: value} for value in choices[i]]
        trials += [{**trials[0], name: value} for value in choices[i]]
    arities = (0, 1, 2, 3, 30) if operator.variadic else (1,)
    ranks = (None, 1, 3, 9) if operator.spatial else (None,)
    for attributes, arity, spatial in product(trials, arities, ranks):
        rule = operator.signature(arity, attributes, spatial)
        if isinstance(rule, str):
            assert len(rule) < 40_000, (attributes, len(rule))
            assert_readable(rule)
        else:
            assert rule.text


def test_every_axis_within_the_limit_gives_a_signature() -> None:
    others: dict[str, dict[str, object]] = {
        "split": {"parts": 2},
        "index": {"i": 0},
        "one_hot": {"depth": 3},
        "top_k": {"k": 1},
        "repeat": {"times": 2},
        "roll": {"by": 1},
        "pad": {"before": 1},
    }
    for operator in OPERATORS.values():
        kind = operator.attributes.get("axis")
        if kind is None:
            continue
        two = ("gather", "compress", "pad_by", "resize", "rescale", "update_cache")
        arity = 2 if operator.name in two else {"scatter": 3, "reduce": 3}.get(operator.name, 1)
        for axis in (-64, -3, -2, -1, 0, 1, 2, 63):
            if axis == 0 and operator.name == "update_cache":
                continue  # the batch
            value = (axis,) if kind.startswith("Ints") else axis
            signature(operator.name, arity, axis=value, **others.get(operator.name, {}))


# --- sizes, against counting -----------------------------------------------------------------


def size_of(text: str, **values: int) -> int:
    """A dimension's value: Axon's `/` is floored."""
    return int(eval(text.replace("/", "//"), {"min": min, "max": max, **values}))


def test_slices_are_pythons() -> None:
    bounds = [None, *range(-5, 6)]
    for start, stop, step in product(bounds, bounds, [-3, -2, -1, 1, 2, 3]):
        text = signature("slice", start=start, stop=stop, step=step)
        length = text.removeprefix("t [n]@after -> t [").removesuffix("]@after")
        for n in range(9):
            expected = len(range(n)[slice(start, stop, step)])
            assert size_of(length, n=n) == expected, (start, stop, step, n, length)


def test_slices_by_symbolic_bounds_are_pythons() -> None:
    bounds: list[int | str | None] = [None, -2, -1, 0, 1, 3, "a", "b"]
    for start, stop, step in product(bounds, bounds, [-2, -1, 1, 2]):
        text = signature("slice", start=start, stop=stop, step=step)
        text, _, where = text.partition(" where ")
        for bound in {each for each in (start, stop) if isinstance(each, str)}:
            assert f"{bound} >= 0" in where
        length = text.removeprefix("t [n]@after -> t [").removesuffix("]@after")
        for n, a, b in product(range(6), range(5), range(5)):
            values = {"a": a, "b": b}
            low, high = (values[x] if isinstance(x, str) else x for x in (start, stop))
            expected = len(range(n)[slice(low, high, step)])
            assert size_of(length, n=n, a=a, b=b) == expected, (start, stop, step, n, length)


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_pools_have_as_many_windows_as_fit(ceil_mode: bool) -> None:
    for window, stride, dilation in product(range(1, 5), range(1, 5), range(1, 3)):
        reach = dilation * (window - 1) + 1
        for before, after in product(range(min(reach, 3)), repeat=2):
            text = signature(
                "max_pool",
                window=(window,),
                stride=(stride,),
                dilation=(dilation,),
                pad=(before, before, after, after),
                ceil_mode=ceil_mode,
            )
            size = dims_of(text.partition(" -> ")[2])[2]
            for h in range(reach, 12):
                end = h + before + after
                starts = range(0, end, stride)
                if ceil_mode:  # a window may hang over the end, but none may begin beyond the input
                    last = next(s for s in starts if s + reach + stride > end)
                    count = starts.index(last) + 1
                    over = last + stride
                    count += last + reach < end and over < h + before
                else:
                    count = sum(start + reach <= end for start in starts)
                assert size_of(size, h=h) == count, (window, stride, dilation, before, after, h)


def test_convolutions_and_their_transposes_agree() -> None:
    for stride, before, after, dilation, r in product(range(1, 4), (0, 1), (0, 2), (1, 2), (1, 3)):
        pad = (before, before, after, after)
        there = signature("conv", 2, stride=(stride,), pad=pad, dilation=(dilation,))
        back = signature("conv_transpose", 2, stride=(stride,), pad=pad, dilation=(dilation,))
        smaller = dims_of(there.partition(" -> ")[2])[2]
        larger = dims_of(back.partition(" -> ")[2])[2]
        for h in range(6, 14):
            end = h + before + after
            reach = dilation * (r - 1) + 1
            places = len([s for s in range(0, end, stride) if s + reach <= end])
            assert size_of(smaller, h=h, r=r) == places
            assert size_of(larger, h=places, r=r) == h - (end - reach) % stride


def dims_of(text: str) -> list[str]:
    """The dimensions of a tensor type of known rank."""
    inside = text.partition("[")[2].rpartition("]")[0]
    depth, found = 0, [""]
    for sign in inside:
        depth += (sign == "(") - (sign == ")")
        if sign == "," and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return found


def test_same_padding_rounds_up() -> None:
    text = signature("conv", 2, stride=(3,), pad="same")
    size = dims_of(text.partition(" -> ")[2])[2]
    assert [size_of(size, h=h) for h in range(1, 8)] == [-(-h // 3) for h in range(1, 8)]


def test_the_rank_decides_what_a_list_of_pads_means() -> None:
    conv = OPERATORS["conv"]
    assert conv.signature(2, {"pad": (1, 2)}, 1) == (
        "(t [n,c,w], t [k,c,s]) -> t [n,k,w-s+4] where t : num"
    )
    assert conv.signature(2, {"pad": (1, 2)}, 2) == (
        "(t [n,c,h,w], t [k,c,r,s]) -> t [n,k,h-r+3,w-s+5] where t : num"
    )
    assert conv.signature(2, {"pad": (1, 2, 3, 4)}) == (
        "(t [n,c,h,w], t [k,c,r,s]) -> t [n,k,h-r+5,w-s+7] where t : num"
    )


def test_axes_stand_where_they_are_counted_to() -> None:
    """`place` fits a shape of some rank just when all axes are inside and none is named twice."""
    pool = list(range(-3, 3))
    for axes in (
        [(a,) for a in pool] + list(product(pool, repeat=2)) + list(product(pool, repeat=3))
    ):
        if bad_axes(axes):
            continue
        pattern = place(axes, [f"x{i}" for i in range(len(axes))])
        front, _, back = pattern.partition("s") if "s" in pattern else (pattern, "", "")
        leading, trailing = (re.findall(r"\w+", part) for part in (front, back))
        for rank in range(7):
            real = [axis % rank if rank and -rank <= axis < rank else None for axis in axes]
            fits = None not in real and len(set(real)) == len(axes)
            assert fits == (len(leading) + len(trailing) <= rank), (axes, rank, pattern)
            middle = rank - len(leading) - len(trailing)
            names = [*leading, *("_" for _ in range(middle)), *trailing]
            if fits:
                assert [names[axis] for axis in axes] == [f"x{i}" for i in range(len(axes))]


# --- the library -----------------------------------------------------------------------------


def test_the_library_has_types() -> None:
    from axon import stdlib

    found: dict[str, str] = {}
    where: dict[str, tuple[str, ...]] = {}
    for path, text in stdlib.sources().items():
        checked = check_text(text, path)
        assert not checked.diagnostics, (path, checked.diagnostics)
        if path == "std/onnx.axon":
            where |= {d.name: d.where for d in checked.definitions if d.where}
        found |= {definition.name: definition.signature for definition in checked.definitions}
    broadcasting = ("prelu", "centred")
    assert where == {
        **dict.fromkeys(broadcasting, ("a = broadcast(p, q)",)),
        "requantise": ("e = broadcast(p, a, b, c, d)",),
        **dict.fromkeys(("plus_within", "times_within"), ("s = broadcast(s, p)",)),
    }
    assert found["requantise"] == "(i p, t a, t b, t c, u d) -> u e"
    assert found["padding_behind"] == "(i64 [n], i64 [n]) -> i64 [2*n]"
    assert found["paddings_of_axes"] == "(i [k], i64 [2*k], dim a) -> i64 [2*a]"
    assert found["lstmStep"] == found["lstm_step"]
    assert found["lstm_step"].endswith("-> (t s@[h], t s@[h])")
    assert found["attention"] == "(t s@[m,d], t s@[n,d], t s@[n,e]) -> t s@[m,e]"


@pytest.mark.parametrize("name", [name for name in OPERATORS if name[0].isalpha()])
def test_arguments_of_any_number_and_kind_end_with_a_message(name: str) -> None:
    attributes = "".join(f", {each}=1" for each in sorted(OPERATORS[name].required))
    for count in range(7):
        for given in ("y", "2", "[2, 3]", "y, 2"):
            args = ", ".join(["y", *[given] * count])
            check_text(f"f = fn (y) {{ {name}({args}{attributes}) }};")
