"""The classes of the tree: frozen dataclasses with slots that are quick to make.

There are fifty, and `dataclass` compiles six methods for each, a fifth of the time until the first
answer. Here they share all but the constructor.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, fields
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def node(cls: type[T]) -> type[T]:
    """A class like those of `dataclass(frozen=True, slots=True)`."""
    cls.__doc__ = cls.__doc__ or cls.__name__  # without one, `dataclass` inspects the constructor
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    made.__init__ = _constructor(made)
    made.__repr__ = _repr
    made.__eq__ = _eq
    made.__hash__ = _hash
    made.__setattr__ = _frozen
    made.__delattr__ = _frozen
    made.__getstate__ = _state
    made.__setstate__ = _restore
    found: type[T] = made
    return found


def _constructor(cls: Any) -> Callable[..., None]:
    params = ["self"]
    lines = []
    names: dict[str, Any] = {}
    for field in fields(cls):
        default = field.default is not MISSING
        params.append(f"{field.name}=_default_{field.name}" if default else field.name)
        lines.append(f"  _set_{field.name}(self, {field.name})")
        names[f"_set_{field.name}"] = getattr(cls, field.name).__set__
        if default:
            names[f"_default_{field.name}"] = field.default
    exec("\n".join([f"def __init__({', '.join(params)}):", *lines]), names)
    made: Callable[..., None] = names["__init__"]
    return made


def _values(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, name) for name in self.__match_args__])


def _repr(self: Any) -> str:
    given = [f"{name}={getattr(self, name)!r}" for name in self.__match_args__]
    return f"{type(self).__qualname__}({', '.join(given)})"


def _eq(self: Any, other: object) -> bool:
    return self is other or (type(other) is type(self) and _values(self) == _values(other))


def _hash(self: Any) -> int:
    return hash(_values(self))


def _frozen(self: object, name: str, *_value: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _state(self: Any) -> tuple[Any, ...]:
    return _values(self)


def _restore(self: Any, state: tuple[Any, ...]) -> None:
    for name, value in zip(self.__match_args__, state, strict=True):
        object.__setattr__(self, name, value)
