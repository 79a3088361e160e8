"""The scheme of an operator: its rule applied to attributes, parsed once."""

from __future__ import annotations

from dataclasses import dataclass, replace

from axon.ops.operator import Operator, Problem, Rule, Windowed
from axon.ops.structures import structured_signature
from axon.source import Source
from axon.syntax import parse_signature
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.read import read_signature
from axon.types.type import AtLeast, Scheme
from axon.types.variables import DimVar

MOST_SCHEMES = 10_000

_schemes: dict[tuple[object, ...], General | Problem] = {}


@dataclass(frozen=True, slots=True)
class General:
    """A scheme for arbitrary integers in the attributes: in it they are differences of the sizes
    that are `given`, as a single size could not be negative.
    """

    scheme: Scheme
    given: dict[str, tuple[DimVar, DimVar]]

    def sizes(self, given: dict[str, Dim]) -> dict[DimVar, Dim]:
        """The values of those sizes for these integers."""
        found: dict[DimVar, Dim] = {}
        for name, (more, less) in self.given.items():
            found[more], found[less] = given[name], 0
        return found


def scheme_of(
    operator: Operator,
    arity: int,
    attributes: dict[str, object],
    spatial: int | None = None,
    given: dict[str, Dim] | None = None,
) -> Scheme | Problem:
    """The operator's scheme for `arity` arguments and these attributes, in which names stand for
    the integers that are `given`.
    """
    found = general_scheme(operator, arity, attributes, spatial, tuple(given or ()))
    return found if isinstance(found, Problem) else found.scheme.at(found.sizes(given or {}))


def general_scheme(
    operator: Operator,
    arity: int,
    attributes: dict[str, object],
    spatial: int | None = None,
    given: tuple[str, ...] = (),
) -> General | Problem:
    """The same for arbitrary integers of these names."""
    key = (operator.name, arity, spatial, given, *sorted(attributes.items()))
    known = _schemes.get(key)
    if known is None:
        if len(_schemes) > MOST_SCHEMES:
            _schemes.clear()
        known = _schemes[key] = _read(operator, operator.ruled(arity, attributes, spatial), given)
    return known


def structured_scheme(operator: Operator, arity: int) -> General:
    """The scheme of an operator whose rows may be structures."""
    key = (operator.name, arity, "structured")
    known = _schemes.get(key)
    if known is None:
        known = _schemes[key] = _read(operator, structured_signature(operator, arity), ())
    assert isinstance(known, General)
    return known


def spelled_scheme(operator: Operator, signature: str) -> General | Problem:
    """The scheme of an operator for one signature of those that it has for structures."""
    key = (operator.name, signature)
    known = _schemes.get(key)
    if known is None:
        known = _schemes[key] = _read(operator, signature, ())
    return known


def _read(operator: Operator, rule: Rule, given: tuple[str, ...]) -> General | Problem:
    if isinstance(rule, Problem):
        return rule
    text = rule.text if isinstance(rule, Windowed) else rule
    reaches = rule.reaches if isinstance(rule, Windowed) else ()
    if reaches:  # read as conditions, which are the last
        asked = ", ".join(f"{reach} >= 0" for reach in reaches)
        text += f"{', ' if ' where ' in text else ' where '}{asked}"
    parsed, problems = parse_signature(Source(f"the signature of {operator.name}", text))
    assert parsed is not None and not problems, (operator.name, text, problems)
    names = {name: (DimVar(name), DimVar(name)) for name in given}
    integers = {name: dims.sub(more, less) for name, (more, less) in names.items()}
    scheme, misread = read_signature(parsed, given=integers)
    assert not misread, (operator.name, text, misread)
    return General(_with_windows(scheme, len(reaches)), names)


def _with_windows(scheme: Scheme, count: int) -> Scheme:
    """The last `count` conditions are those of windows that must fit. One that fits has a position:
    that the numbers of positions are sizes follows, and is not required again.
    """
    if not count:
        return scheme
    conditions = [r for r in scheme.relations if isinstance(r, AtLeast) and not r.silent]
    windows = [AtLeast(r.dim, silent=True, why="window") for r in conditions[-count:]]
    others = [
        r
        for r in scheme.relations
        if not (isinstance(r, AtLeast) and (r in conditions[-count:] or (r.silent and not r.why)))
    ]
    return replace(scheme, relations=(*others, *windows))
