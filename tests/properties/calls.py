"""Bytes decoded to a program and a call of it: a value comes back, or an error of the caller's.

    program text, a zero byte, choices

The choices say which definition is called, how, and with what: arrays with special values, lists
of unequal rows, records with fields too many or too few, sizes that are absurd, things that are no
tensors, texts as the command line takes them. `fuzz/run.py` chooses the bytes by coverage,
`test_calls.py` by chance.

Small limits on work stand in for those of a machine: arrays of some kilobytes, graphs of some
thousand nodes, loops of some hundred iterations.
"""

from __future__ import annotations

import itertools
import math
import random
from collections import namedtuple
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy

import axon
from axon.backends import rowwise
from axon.backends.numpy_arrays import element
from axon.cli.inputs import BadInput, read_input
from axon.ops.memory import MOST_DIMENSIONS, Refused
from axon.ops.operator import OPERATORS
from axon.run.function import Function
from axon.run.program import Program
from axon.source import Source
from axon.types.dim import Dim
from axon.types.type import DimValue, Fn, Record, Shape, ShapeValue, Tensor, Tuple, Type
from axon.types.variables import DimVar, ShapeVar, TypeVar, Var

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
LARGEST = 1 << 14
MOST_NODES = 2000
MOST_ITERATIONS = 200
MOST_ELEMENTS = 2048
LONGEST = 4096

SIZES = (0, 1, 2, 3, 4, 5, 7, 8)
ABSURD = (-1, 10**3, 2**31, 2**47, 2**63 - 1, 2**63, 10**20, 10**5000)
FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 1e30, -1e30, 1e-30, math.inf, -math.inf, math.nan)
OTHERS: tuple[Any, ...] = (
    None, "x", b"x", {}, [], (), [[1.0], [2.0, 3.0]], [[], [1]], [[[1], []], [[2, 3]]], [None],
    object(), 1e400, 2**70, [2**70, -1], True, [True, 2], 1 + 2j, numpy.array(["a"]),
    numpy.array([{}], object), numpy.zeros(2, "c16"), numpy.zeros((), "M8[s]"),
    numpy.ma.masked_array([1.0, 2.0], [True, False]), numpy.zeros(3, ">f4"),
    {"w": 1.0}, {"w": {"w": None}}, {1: 2.0}, {"a b": 1.0}, slice(0, 2), ...,
)  # fmt: skip
TEXTS = (
    "rand[2,3]", "zeros[0]", "ones[]", "2.5", "-1", "inf", "nan", "[[1,2],[3,4]]", "[[1],[2,3]]",
    "(rand[2],zeros[2])", "()", "zeros[0,99999999999999999999]", "rand[9999999]", "1e999", "true",
    "[" * 70 + "1" + "]" * 70, "(" * 70 + "1" + ")" * 70, "9" * 5000, "x.npy", "{}", "", "[1,2",
    "{w=rand[2,2],b=zeros[2]}", "{w={w=1}}", "{w=}", "{" * 70 + "}" * 70, "{w=1,w=2}", "{rand[2]}",
)  # fmt: skip


class Choices:
    """One byte a choice; zeros when they run out."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def pick(self, count: int) -> int:
        self.at += 1
        return self.data[self.at - 1] % count if self.at <= len(self.data) else 0

    def one_of(self, items: tuple[Any, ...]) -> Any:
        return items[self.pick(len(items))]


class Arguments:
    """Arguments of the types that a definition wants, mostly; a name has one size in all of them,
    mostly.
    """

    def __init__(self, choices: Choices) -> None:
        self.choices = choices
        self.sizes: dict[Var, Any] = {}
        self.left = MOST_ELEMENTS

    def value(self, type_: Type | None, depth: int = 0) -> Any:
        choices = self.choices
        match choices.pick(12):
            case 10:
                return choices.one_of(OTHERS)
            case 11:
                return self.text(type_)
            case _:
                return self.fitting(type_, depth)

    def fitting(self, type_: Type | None, depth: int) -> Any:
        choices = self.choices
        match type_:
            case Record() if depth < 4:
                return self.record(type_, depth)
            case Tuple(items) if depth < 4:
                return tuple(self.value(item, depth + 1) for item in items)
            case DimValue(dim):
                return self.size(dim)
            case ShapeValue(shape):
                return tuple(self.shape(shape))
            case Tensor(elem, shape):
                kind = elem if isinstance(elem, str) else choices.one_of(("f32", "i64", "bool"))
                return self.rows(kind, self.shape(shape))
            case TypeVar() if depth < 2 and choices.pick(2):
                parts = [self.value(None, depth + 1) for _ in range(choices.pick(4))]
                return dict(zip("abw", parts, strict=False)) if choices.pick(2) else tuple(parts)
            case _:
                return self.rows("f32", [self.size(None) for _ in range(choices.pick(4))])

    def record(self, type_: Record, depth: int) -> Any:
        """A dict, or a named tuple; mostly with the fields that are wanted."""
        choices = self.choices
        found = {name: self.value(part, depth + 1) for name, part in type_.fields.items()}
        match choices.pick(12):
            case 9 if found:
                del found[choices.one_of(type_.names)]
            case 10:
                found["more"] = self.value(None, depth + 1)
            case 11 if found:
                # A name of Axon may have a quote or be a keyword of Python.
                return namedtuple("Given", found, rename=True)(*found.values())
            case _:
                pass
        return found

    def text(self, type_: Type | None) -> Any:
        """As the command line reads it."""
        given = self.choices.one_of(TEXTS)
        return read_input("x", given, type_, numpy.random.default_rng(0), {})

    def shape(self, shape: Shape) -> list[Any]:
        found: list[Any] = []
        for item in shape:
            if isinstance(item, ShapeVar):
                if item not in self.sizes:
                    self.sizes[item] = [self.size(None) for _ in range(self.choices.pick(4))]
                found += self.sizes[item]
            elif isinstance(item, DimVar) and item.runtime:
                found.append(None)
            else:
                found.append(self.size(item))
        return found

    def size(self, dim: Dim | None) -> int:
        choices = self.choices
        if choices.pick(24) == 23:
            return int(choices.one_of(ABSURD))
        if isinstance(dim, int) and choices.pick(8):
            return dim
        if isinstance(dim, DimVar):
            if dim not in self.sizes:
                self.sizes[dim] = choices.one_of(SIZES)
            if choices.pick(8):
                return int(self.sizes[dim])
        return int(choices.one_of(SIZES))

    def rows(self, elem: str, sizes: list[Any]) -> Any:
        """An array, or lists where a size varies from row to row."""
        if None not in sizes:
            return self.array(elem, sizes)
        at = sizes.index(None)
        if at == 0:
            return self.array(elem, [1 if size is None else size for size in sizes])
        count = min(sizes[0], 5) if sizes[0] >= 0 else 0
        inner = [[self.choices.pick(4), *sizes[2:]] if at == 1 else sizes[1:] for _ in range(count)]
        return [self.rows(elem, row) for row in inner]

    def array(self, elem: str, sizes: list[int]) -> Any:
        """Small, whatever was asked for: an absurd size is for arguments that are sizes."""
        shape = [size if 0 <= size <= MOST_ELEMENTS else self.choices.pick(4) for size in sizes]
        shape = shape[:MOST_DIMENSIONS]
        while math.prod(shape) > self.left:
            shape[shape.index(max(shape))] = 1
        self.left = max(self.left - math.prod(shape), 1)
        dtype = element(elem if elem != "bf16" else "f16")
        base = self.choices.pick(7) - 3
        made = (numpy.arange(math.prod(shape)) + base).astype(dtype).reshape(shape)
        if made.size and dtype.kind == "f" and self.choices.pick(2):
            with numpy.errstate(over="ignore"):
                made.flat[self.choices.pick(made.size)] = self.choices.one_of(FLOATS)
        if made.size and dtype.kind in "iu" and self.choices.pick(3) == 2:
            bounds = numpy.iinfo(dtype)
            made.flat[self.choices.pick(made.size)] = self.choices.one_of((bounds.min, bounds.max))
        return made.tolist() if self.choices.pick(4) == 3 else made


# --- the law --------------------------------------------------------------------------------------


def try_call(data: bytes) -> bool | None:
    """A call comes to an end with a value (True) or an error of the caller's (False); None where
    there is no program to call. Anything else is a bug.
    """
    text, _, rest = data.partition(b"\0")
    choices = Choices(rest)
    with _small():
        try:
            program = Program(Source("fuzz.axon", text.decode("utf-8", "replace")))
        except axon.ProgramError:
            return None
        names = list(program)
        function = program.function(names[choices.pick(len(names))]) if names else None
        if function is None:
            return None
        try:
            return _called(function, choices)
        except (axon.AxonError, BadInput) as problem:
            str(problem)
            return False


def _called(function: Function, choices: Choices) -> bool:
    type_ = function.definition.scheme.type
    wanted: tuple[Type, ...] = type_.params if isinstance(type_, Fn) else ()
    arguments = Arguments(choices)
    given = [arguments.value(each) for each in wanted]
    named: dict[str, Any] = {}
    match choices.pick(20):
        case 13:
            given = [*given, 1.0]
        case 14:
            given = given[1:]
        case 15:
            function.specialize(**{name: choices.one_of(OTHERS) for name in function.params[:1]})
        case 16:
            at = choices.pick(len(given) + 1)
            named = dict(zip(function.params[at:], given[at:], strict=True))
            given = given[:at]
        case 17 | 18:
            given = [
                g for g, p in zip(given, function.params, strict=True) if p not in function.optional
            ]
        case 19:
            function.specialize(**dict(zip(function.params, given, strict=True)))
        case _:
            pass
    result = function(*given, **named)
    repr(result)
    function(*given, **named)  # sizes that were seen before take another way
    return True


@contextmanager
def _small() -> Iterator[None]:
    """The limits of a small machine."""
    with ExitStack() as stack:
        stack.enter_context(mock.patch("axon.ops.memory.LARGEST", LARGEST))
        stack.enter_context(mock.patch("axon.graph.state.MOST_NODES", MOST_NODES))
        stack.enter_context(mock.patch.object(rowwise, "apply", _in_iterations(rowwise.apply)))
        iterate = OPERATORS["iterate"]
        assert iterate.meaning is not None
        stack.enter_context(mock.patch.object(iterate, "meaning", _bounded(iterate.meaning)))
        yield


def _bounded(meaning: Callable[..., Any]) -> Callable[..., Any]:
    """`iterate`, which gives up."""

    def bounded(xp: Any, state: Any, condition: Callable[..., Any], *rest: Any, **how: Any) -> Any:
        return meaning(xp, state, _counted(condition), *rest, **how)

    return bounded


def _in_iterations(apply: Callable[..., Any]) -> Callable[..., Any]:
    """The same where rows vary."""

    def bounded(plan: Any, meaning: Any, xp: Any, *args: Any, **how: Any) -> Any:
        if plan.operator == "iterate":
            args = (args[0], _counted(args[1]), *args[2:])
        return apply(plan, meaning, xp, *args, **how)

    return bounded


def _counted(condition: Callable[..., Any]) -> Callable[..., Any]:
    iterations = itertools.count()

    def counted(*state: Any) -> Any:
        if next(iterations) > MOST_ITERATIONS:
            raise Refused("too many iterations")
        return condition(*state)

    return counted


# --- by chance ------------------------------------------------------------------------------------

NUMBERS = (b"0", b"1", b"2", b"-1", b"7", b"64", b"99999999999999999999", b"9223372036854775807")
PIECES = (
    b"max(", b"min(", b"sum(", b"argmax(", b"unique(", b"nonzero(", b"map(", b"sort(", b"[n]", b"*",
    b"[2,3]", b"x", b"y", b", axis=-1", b", axis=0", b" / 0", b" + 1", b"zeros([n,n])", b"size(x)",
    b"concat(x, ", b"reshape(x, [-1])", b"1e30", b"inf", b"f16", b"i8", b"bool", b"?k", b"n*n",
    b"[0]", b"[-1]", b"[::2]", b"[1:n]", b"[..., None]", b"[ids]", b"[[1.0, 2.0]]", b".w", b"p.w",
    b"{ w = x, b = y }", b"{ p | w = x }", b" |> ", b" % ", b" // ", b" ** ", b" and ", b"not ",
    b"if true { x } else { y }", b" = 1", b"fold(x, ", b"scan(", b"loop(", b"true", b"x > 0",
    b"uniform(key, [n])", b"dropout(x, key=key, rate=0.5)", b"split_key(key)", b"ragged(",
)  # fmt: skip


def seeds() -> list[bytes]:
    """The golden programs that are fine and stand alone, each with some choices."""
    found = [path for path in sorted(GOLDEN.rglob("*.axon")) if path.with_suffix(".types").exists()]
    texts = [path.read_bytes() for path in found]
    return [text + b"\0" for text in texts if len(text) < LONGEST - 64 and b"import " not in text]


def mutated(seed: bytes, chance: random.Random) -> bytes:
    """A program near a seed, called somehow."""
    text = seed.partition(b"\0")[0]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 4))):
        numbers = [i for i in range(len(text)) if text[i : i + 1].isdigit()]
        at = chance.choice(numbers) if numbers and chance.random() < 0.5 else None
        if at is not None:
            text = text[:at] + chance.choice(NUMBERS) + text[at + 1 :]
        else:
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice(PIECES) + text[at + chance.choice((0, 1, 3)) :]
    return text.replace(b"\0", b" ") + b"\0" + chance.randbytes(chance.choice((4, 16, 64)))
