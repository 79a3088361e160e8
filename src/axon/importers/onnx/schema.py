"""Whether an operation is what ONNX declares its operator to be: the kinds of attributes, and how
many inputs and outputs there are. What is not is `Malformed`, and no rule is asked about it.

The schemas are those of the `onnx` package. An operator of a domain that it does not know has none,
and where the package is not installed (in a browser) no operator has.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from axon.importers.operations import Constant, Graph, Malformed, Operation

NEWEST = (1 << 31) - 1
ONNX = ("", "ai.onnx")
"""The names of the domain whose version is that of the model."""
LIKE = {"SimplifiedLayerNormalization": "LayerNormalization"}
"""Operators of other tools that are written as ONNX's own, and one of ONNX with their schema."""
WORDS = {
    "FLOAT": "a number", "INT": "a whole number", "STRING": "a text", "TENSOR": "a tensor",
    "GRAPH": "a graph", "FLOATS": "a list of numbers", "INTS": "a list of whole numbers",
    "STRINGS": "a list of texts", "GRAPHS": "a list of graphs",
}  # fmt: skip
"""Kinds of attributes that are read from a file; one of another kind is left out."""
KINDS = {int: "INT", float: "FLOAT", str: "STRING", Constant: "TENSOR", Graph: "GRAPH"}


class Schema(NamedTuple):
    """What an operator takes and gives: the least and the most, and the names of inputs; those
    that are `needed` must be there. `kinds` are those that an attribute may have; one that this
    version does not have may be what another version has.
    """

    kinds: dict[str, frozenset[str]]
    required: tuple[str, ...]
    names: tuple[str, ...]
    needed: tuple[int, ...]
    inputs: tuple[int, int]
    outputs: tuple[int, int]


def check(operation: Operation, version: int) -> None:
    """Raise `Malformed` with a sentence if the operation is not what its operator declares."""
    schema = schema_of(operation.domain, operation.operator, version)
    if schema is None:
        return
    attributes, inputs = operation.attributes, operation.inputs
    for name, value in attributes.items():
        kinds = schema.kinds.get(name)
        if kinds and not _is(value, kinds):
            raise Malformed(f"its attribute `{name}` is {_told(value)}, not {_either(kinds)}")
    for name in schema.required:
        if name not in attributes:
            raise Malformed(f"it has no attribute `{name}`, which it must have")
    _check_count("input", len(inputs), schema.inputs)
    _check_count("output", len(operation.outputs), schema.outputs)
    for at in schema.needed:
        if at < len(inputs) and not inputs[at]:
            raise Malformed(f"it has no input `{schema.names[at]}`, which it must have")


def declared_attributes(domain: str, operator: str) -> frozenset[str] | None:
    """The attributes that an operator has in some version; None if nothing is declared of it."""
    schema = schema_of(domain, operator, NEWEST)
    return None if schema is None else frozenset(schema.kinds)


def _check_count(what: str, count: int, bounds: tuple[int, int]) -> None:
    least, most = bounds
    if not least <= count <= most:
        bound = f"at least {least}" if count < least else f"at most {most}"
        raise Malformed(f"it has {count} {what}{'' if count == 1 else 's'}, and must have {bound}")


# --- kinds -------------------------------------------------------------------------------------


def _is(value: Any, kinds: frozenset[str]) -> bool:
    if value == () and isinstance(value, tuple):  # an empty list is one of anything
        return any(kind.endswith("S") for kind in kinds)
    return _kind(value) in kinds


def _kind(value: Any) -> str:
    """The kind of an attribute; empty for a reference to what no function is called with."""
    if type(value) is tuple:
        return f"{_kind(value[0])}S" if value else ""
    return KINDS.get(type(value), "")


def _told(value: Any) -> str:
    if value == () and isinstance(value, tuple):
        return "a list"
    return WORDS.get(_kind(value), "a reference to an attribute that no function is called with")


def _either(kinds: frozenset[str]) -> str:
    return " or ".join(sorted(WORDS.get(kind, kind.lower()) for kind in kinds))


# --- schemas -----------------------------------------------------------------------------------


@cache
def schema_of(domain: str, operator: str, version: int) -> Schema | None:
    """What ONNX declares of an operator in a version, or in the newest for another domain."""
    history = _history("" if domain in ONNX else domain, LIKE.get(operator, operator))
    if not history:
        return None
    kinds: dict[str, set[str]] = {}
    for each in history:
        for name, attribute in each.attributes.items():
            kinds.setdefault(name, set()).add(attribute.type.name)
    newest = version if domain in ONNX else NEWEST
    current = next((each for each in history if each.since_version <= newest), history[-1])
    if newest < 1:  # the file does not say which: what all of them require
        always = set.intersection(*(_required(each) for each in history))
        return Schema(_frozen(kinds), tuple(sorted(always)), (), (), (0, NEWEST), (0, NEWEST))
    kinds.update({name: {each.type.name} for name, each in current.attributes.items()})
    needed = [i for i, each in enumerate(current.inputs) if each.option.name == "Single"]
    return Schema(
        _frozen(kinds),
        tuple(sorted(_required(current))),
        tuple(each.name for each in current.inputs),
        tuple(needed),
        (current.min_input, current.max_input),
        (current.min_output, current.max_output),
    )


def _required(schema: Any) -> set[str]:
    every = schema.attributes.items()
    return {name for name, each in every if each.required and each.type.name in WORDS}


def _frozen(kinds: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(found) for name, found in kinds.items()}


def _history(domain: str, operator: str) -> list[Any]:
    """The schemas of an operator, the newest first; none where `onnx` is not installed."""
    try:
        import onnx.defs
    except ModuleNotFoundError:
        return []
    found: list[Any] = []
    version = NEWEST
    while version > 0 and onnx.defs.has(operator, version, domain):
        schema = onnx.defs.get_schema(operator, version, domain)
        if not schema.deprecated:
            found.append(schema)
        version = schema.since_version - 1
    return found
