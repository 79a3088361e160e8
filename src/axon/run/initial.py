"""Initial values of parameters, by what a tensor is used as; else by its rank and its name.

The numbers of a tensor depend on the seed, on its name and on its shape, and on nothing else: a
parameter more or less does not change the others. They are drawn by NumPy for every backend.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256
from math import prod, sqrt
from typing import Any

import numpy

from axon.backends.numpy_arrays import ARRAYS
from axon.backends.numpy_arrays import element as dtype_of
from axon.driver import graph
from axon.graph.uses import Kind, Path, Use, uses
from axon.ops.families import random
from axon.ops.memory import Refused, check_fits
from axon.ops.threefry import encipher
from axon.run.errors import ArgumentError
from axon.run.parameters import Settled, Subject, leaves, no_parameters, settled
from axon.run.random import random_key
from axon.run.weight_files import MOST_SHOWN, listed
from axon.types.elements import BIT, ELEMENTS, FLOAT
from axon.types.type import (
    DimValue,
    Fn,
    Record,
    Renaming,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar

SPREAD = 0.02
"""The standard deviation of tables and of what is used in no product."""

ONES = ("scale", "gamma", "weight", "g")
ZEROS = ("b", "bias", "beta")
TABLES = ("emb*", "*embed*", "wte", "wpe", "pos*", "tok*", "table")
"""What names tell where uses do not."""

Rule = Callable[[Any, tuple[int, ...], Any], Any] | float
"""From a key, a shape and an element type of NumPy to an array: an initializer of
`jax.nn.initializers` is one. Or the number that all elements are."""


def initial(
    subject: Subject,
    seed: int,
    params: str | Sequence[str] | None,
    rules: Mapping[str, Rule],
    sizes: Mapping[str, Any],
    like: Mapping[str, Any],
) -> Any:
    """The values of the parameters: of one, or of several as a tuple."""
    found = with_elements(settled(subject, params, sizes, like))
    if not found.chosen:
        raise no_parameters(subject)
    _check_closed(subject, found, like)
    _check_rules(subject, rules, found)
    making = _Making(subject, _key(seed), rules, _uses(subject, found))
    made = [
        making.value(before, (name,), found.types[name])
        for name, (before, _) in zip(found.chosen, found.parts(), strict=True)
    ]
    return made[0] if len(made) == 1 else tuple(made)


def _key(seed: Any) -> Any:
    try:
        return random_key(seed)
    except (TypeError, ValueError):
        raise ArgumentError("a seed is an integer from -2**63 up to 2**64 - 1") from None


def with_elements(found: Settled) -> Settled:
    """Element types that are open are f32 where they can be."""
    elems = [v for t in found.types.values() for v in type_variables(t) if isinstance(v, ElemVar)]
    order = ("f32", *reversed(ELEMENTS))
    known = {v: next(e for e in order if BIT[e] & v.allowed) for v in elems}
    renaming = Renaming({}, {}, dict(known), {})
    types = {name: renaming.type(type_) for name, type_ in found.types.items()}
    return Settled(types, found.chosen, found.variables, found.show)


# --- what is open ----------------------------------------------------------------------------


def _named(found: Settled) -> Iterator[tuple[str, Type]]:
    """The parameters by their dotted names."""
    for before, type_ in found.parts():
        for path, leaf in leaves(type_):
            yield ".".join((before, *path) if before else path), leaf


def _check_closed(subject: Subject, found: Settled, given: Collection[str]) -> None:
    """Every size is known; else those that are not are listed."""
    show, about = found.show, f"{subject.name}.init"
    opens: dict[str, str] = {}
    where: list[str] = []
    for name, leaf in _named(found):
        text = f"{name} : {show.type(leaf)}"
        if isinstance(leaf, TypeVar | Fn | Unknown):
            raise ArgumentError(f"{about}: `{text}` is no tensor; values cannot be made for it")
        variables = [v for v in type_variables(leaf) if isinstance(v, DimVar | ShapeVar)]
        if any(var.runtime for var in variables):
            raise ArgumentError(f"{about}: the sizes of `{text}` are known only to the run")
        for var in variables:
            opens[show.names(var)] = "…" if isinstance(var, DimVar) else "(…)"
        if variables:
            where.append(f"`{text}`")
    if where:
        more = f" and {len(where) - MOST_SHOWN} more" if len(where) > MOST_SHOWN else ""
        known = {*found.chosen, *given}
        others = [name for name in subject.arguments if name not in known]
        like = f', or the type of an argument: like={{"{others[0]}": "f32 […]"}}' if others else ""
        one = len(opens) == 1
        raise ArgumentError(
            f"{about}: the size{'' if one else 's'} {', '.join(opens)} {'is' if one else 'are'} "
            f"open in {', '.join(where[:MOST_SHOWN])}{more}; give {'it' if one else 'them'} by "
            f"name: init(seed, {as_arguments(opens)}){like}"
        )


def as_arguments(opens: Mapping[str, str]) -> str:
    """Sizes as Python passes them; one whose name is none of Python's, in a dict."""
    named = [f"{name}={value}" for name, value in opens.items() if name.isidentifier()]
    other = [f'"{name}": {value}' for name, value in opens.items() if not name.isidentifier()]
    return ", ".join([*named, f"sizes={{{', '.join(other)}}}"] if other else named)


def _check_rules(subject: Subject, rules: Mapping[str, Rule], found: Settled) -> None:
    """A rule that is for nothing is a mistake in its name."""
    names = [name for name, _ in _named(found)]
    for pattern, rule in rules.items():
        if not any(fnmatchcase(name, str(pattern)) for name in names):
            raise ArgumentError(
                f"{subject.name}.init: the rule `{pattern}` is for no parameter: there are "
                f"{listed(names)}"
            )
        if not callable(rule) and not isinstance(rule, int | float):
            raise ArgumentError(
                f"{subject.name}.init: the rule `{pattern}` is a {type(rule).__name__}, and not a "
                "number or a function of a key, a shape and an element type"
            )


def _uses(subject: Subject, found: Settled) -> dict[Path, list[Use]] | None:
    """The uses of the tensors; None if there is no graph at these types."""
    types = list(found.types.values())
    for var in (v for type_ in types for v in type_variables(type_)):
        if isinstance(var, ShapeVar | TypeVar) or (isinstance(var, DimVar) and var.runtime):
            return None
    if any(isinstance(type_, Fn) for type_ in types):
        return None
    made = graph(subject.module, subject.name, types)
    return None if isinstance(made, list) else uses(made)


# --- values ----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Making:
    subject: Subject
    key: Any
    rules: Mapping[str, Rule]
    uses: dict[Path, list[Use]] | None

    def value(self, name: str, path: Path, type_: Type) -> Any:
        match type_:
            case Record():
                return {
                    field: self.value(_dotted(name, field), (*path, field), part)
                    for field, part in type_.fields.items()
                }
            case Tuple(items):
                return tuple(
                    self.value(_dotted(name, str(i)), (*path, str(i)), part)
                    for i, part in enumerate(items)
                )
            case DimValue(dim):
                return dim
            case ShapeValue(shape):
                return shape
            case Tensor(elem, shape):
                assert isinstance(elem, str)
                return self.tensor(name, path, elem, shape)  # type: ignore[arg-type]
            case _:
                raise AssertionError(type_)

    def tensor(self, name: str, path: Path, elem: str, shape: tuple[int, ...]) -> Any:
        key = _own_key(self.key, name)
        try:
            check_fits(shape, 8)
            for pattern, rule in self.rules.items():
                if fnmatchcase(name, pattern):
                    return self._ruled(name, rule, key, elem, shape)
            known = None if self.uses is None else self.uses.get(path)
            return _default(name, known, key, elem, shape)
        except Refused as refused:
            raise ArgumentError(f"{self.subject.name}.init: `{name}`: {refused}") from None
        except MemoryError:
            text = f"{elem} [{','.join(map(str, shape))}]"
            raise ArgumentError(
                f"{self.subject.name}.init: there is not enough memory for `{name} : {text}`"
            ) from None

    def _ruled(self, name: str, rule: Rule, key: Any, elem: str, shape: tuple[int, ...]) -> Any:
        dtype = dtype_of(elem)
        if not callable(rule):
            try:
                return numpy.full(shape, rule, dtype)
            except (OverflowError, ValueError):
                raise ArgumentError(
                    f"{self.subject.name}.init: {rule} does not fit into `{name}`, which is {elem}"
                ) from None
        made = numpy.asarray(rule(key, shape, dtype))
        if made.shape != shape or made.dtype != dtype:
            wanted = f"{dtype} {list(shape)}"
            raise ArgumentError(
                f"{self.subject.name}.init: the rule for `{name}` makes {made.dtype} "
                f"{list(made.shape)}, and {wanted} is expected"
            )
        return made


def _dotted(name: str, part: str) -> str:
    return f"{name}.{part}" if name else part


def _own_key(key: Any, name: str) -> Any:
    """The key of a parameter: its name, enciphered."""
    words = numpy.frombuffer(sha256(name.encode("utf-8")).digest()[:8], ">u4").astype(numpy.uint32)
    made = encipher(ARRAYS, (key[:1], key[1:]), (words[:1], words[1:]))
    return numpy.concatenate(made)


def _default(
    name: str, known: list[Use] | None, key: Any, elem: str, shape: tuple[int, ...]
) -> Any:
    dtype = dtype_of(elem)
    if not BIT[elem] & FLOAT:
        return numpy.zeros(shape, dtype)
    use = min(known, key=lambda use: use.kind.value) if known else None
    last = name.rpartition(".")[2].lower()
    wide = sum(size != 1 for size in _row(use, shape))
    if use is not None and use.kind == Kind.TABLE:
        return _normal(key, SPREAD, elem, shape)
    if use is not None and use.kind == Kind.FACTOR:
        return _normal(key, 1 / sqrt(max(_fan_in(use, shape), 1)), elem, shape)
    if (use is not None and use.kind == Kind.SCALE) or (wide <= 1 and last in ONES):
        return numpy.ones(shape, dtype)
    if wide <= 1 or last in ZEROS:
        return numpy.zeros(shape, dtype)
    if use is not None or any(fnmatchcase(last, pattern) for pattern in TABLES):
        return _normal(key, SPREAD, elem, shape)
    return _normal(key, 1 / sqrt(max(_inner(shape), 1)), elem, shape)


def _row(use: Use | None, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of a tensor where it is used: those of a layer, if layers are stacked."""
    if use is None:
        return shape
    return shape[len(shape) - len(use.axes) :] if len(use.axes) < len(shape) else shape


def _fan_in(use: Use, shape: tuple[int, ...]) -> int:
    """How many products are summed up."""
    if any(axis is None for axis in use.summed):
        return _inner(_row(use, shape))
    return prod(shape[axis] for axis in use.summed if axis is not None)


def _inner(shape: tuple[int, ...]) -> int:
    """The same by the shape alone: a matrix has its inputs in front, filters have them behind."""
    return prod(shape[:1]) if len(shape) <= 2 else prod(shape[1:])


def _normal(key: Any, deviation: float, elem: str, shape: tuple[int, ...]) -> Any:
    assert random.normal.meaning is not None
    drawn = "f64" if elem == "f64" else "f32"
    with ARRAYS.context():
        made = random.normal.meaning(ARRAYS, key, shape, to=drawn)
    return (made * numpy.asarray(deviation, made.dtype)).astype(dtype_of(elem), copy=False)
