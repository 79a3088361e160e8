"""Results as text: their type, then the tensors in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy

from axon.backends.ragged import Ragged
from axon.run.structures import Fields
from axon.run.values import exact_type
from axon.types.show import Show


def type_of_result(result: Any) -> str:
    return Show().type(exact_type(on_host(result)))


def lines_of_result(value: Any, name: str = "") -> Iterator[str]:
    """The tensors of a result; one in a record after its name."""
    if isinstance(value, dict):
        for field, part in value.items():
            yield from lines_of_result(part, f"{name}.{field}" if name else field)
        return
    if isinstance(value, tuple):
        for i, part in enumerate(value):
            yield from lines_of_result(part, f"{name}[{i}]" if name else "")
        return
    if name:
        yield f"{name} ="
    if isinstance(value, Ragged):
        yield str(value)
    else:
        array = numpy.asarray(value)
        yield numpy.array2string(array, threshold=200, precision=4, suppress_small=True)


def on_host(value: Any) -> Any:
    """A result with arrays of NumPy; a record as `Fields`."""
    if isinstance(value, tuple):
        return tuple(on_host(item) for item in value)
    if isinstance(value, dict):
        return Fields({name: on_host(item) for name, item in value.items()})
    return value if isinstance(value, Ragged) else numpy.asarray(value)
