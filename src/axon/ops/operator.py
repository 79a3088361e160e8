"""What an operator is: a name, a typing rule, a doc and examples, all in one function.

A rule is a function from attributes to a signature, written in Axon's own type syntax:

    @operator
    def concat(arity: int, *, axis: int = 0) -> Rule:
        '''Join tensors along an axis. …

        >>> concat(x : f32 [2,3], y : f32 [4,3])
        f32 [6,3]
        '''
        return f"({…}) -> …"

Its keyword parameters are the operator's attributes: a default makes one optional. Their
annotations say what they take: int, bool, float, str, `Ints` (a list of integers, or one),
`Element` (an element type), `Extent` (an integer or a dimension) and `Extents` (a list of those, or
one). Symbolic dimensions arrive as names that may be used in the signature. A positional parameter
`arity` is given the number of arguments; `spatial` the number of spatial dimensions, by rank.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

Ints = tuple[int, ...]
Element = str
Extent = int | str
Extents = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why these attributes give no signature: a sentence for the user."""

    text: str


Rule = str | Problem


@dataclass(frozen=True, slots=True)
class Operator:
    name: str
    rule: Callable[..., Rule]
    doc: str
    family: str
    attributes: dict[str, str] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    roles: dict[str, str] = field(default_factory=dict)
    variadic: bool = False
    spatial: bool = False

    def signature(
        self, arity: int, attributes: dict[str, object], spatial: int | None = None
    ) -> Rule:
        """The signature for so many arguments and these attributes."""
        extra: dict[str, object] = {"spatial": spatial} if self.spatial else {}
        if self.variadic:
            return self.rule(arity, **attributes, **extra)
        return self.rule(**attributes, **extra)


OPERATORS: dict[str, Operator] = {}


def operator(
    rule: Callable[..., Rule] | None = None,
    *,
    name: str = "",
    roles: dict[str, str] | None = None,
) -> Callable[..., Rule]:
    """Enter a rule into the table. `roles` says what the signature's variables are, for messages:
    {"k": "inner sizes"}."""
    if rule is None:
        return lambda inner: operator(inner, name=name, roles=roles)  # type: ignore[return-value]
    kinds = {k: str(v) for k, v in rule.__annotations__.items() if k not in ("return", "arity")}
    spatial = kinds.pop("spatial", None) is not None
    defaults = rule.__kwdefaults__ or {}
    known = name or rule.__name__.rstrip("_")
    OPERATORS[known] = Operator(
        name=known,
        rule=rule,
        doc=rule.__doc__ or "",
        family=rule.__module__.rpartition(".")[2],
        attributes=kinds,
        required=frozenset(k for k in kinds if k not in defaults),
        roles=roles or {},
        variadic="arity" in rule.__annotations__,
        spatial=spatial,
    )
    return rule
