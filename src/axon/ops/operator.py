"""What an operator is: a name, a typing rule, its traits, a doc, examples, and what it does, in one
place.

A rule is a function from attributes to a signature, written in Axon's own type syntax:

    @operator()
    def concat(arity: int, *, axis: int = 0) -> Rule:
        '''Join tensors along an axis. …

        >>> concat(x : f32 [2,3], y : f32 [4,3])
        f32 [6,3]
        '''
        return f"({…}) -> …"

    @concat.means
    def _(xp: Arrays, *parts: Array, axis: int) -> Array:
        return xp.concatenate(parts, axis=axis)

Its keyword parameters are the operator's attributes: a default makes one optional. Their
annotations say what they take: int, bool, float, str, `Ints` (a list of integers, or one),
`Floats` (the same of numbers), `Element` (an element type), `Extent` (an integer or a dimension)
and `Extents` (a list of those, or one). Symbolic dimensions arrive as names that may be used in the
signature. A positional parameter `arity` is given the number of arguments; `spatial` the number of
spatial dimensions, by rank.

What else there is to know about the operator, it states as `Traits`: `@operator(POINTWISE)`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from axon.ops.arrays import Meaning
from axon.ops.traits import PLAIN, Traits

Ints = tuple[int, ...]
Floats = tuple[float, ...]
Element = str
Extent = int | str
Extents = tuple[int | str, ...]


@dataclass(frozen=True, slots=True)
class Problem:
    """Why these attributes have no signature: a sentence for the user."""

    text: str


@dataclass(frozen=True, slots=True)
class Windowed:
    """A signature with windows that must fit. `reaches` is how far each can slide, the padded input
    less the window, which is not negative; a type does not show that.
    """

    text: str
    reaches: tuple[str, ...]


Rule = str | Problem | Windowed


@dataclass(slots=True, eq=False)
class Operator:
    """`defaults` are the optional attributes; `meaning` is None for operators whose result is a
    size, which inference computes. The last operands, if they are there, may be given by the names
    in `named`. `hints` say what an operand is, by its place, where something else is given.
    `family` is for the reference and decides nothing.
    """

    name: str
    rule: Callable[..., Rule]
    doc: str
    family: str
    traits: Traits = PLAIN
    attributes: dict[str, str] = field(default_factory=dict)
    defaults: dict[str, object] = field(default_factory=dict)
    required: frozenset[str] = frozenset()
    roles: dict[str, str] = field(default_factory=dict)
    named: tuple[str, ...] = ()
    hints: dict[int, str] = field(default_factory=dict)
    variadic: bool = False
    spatial: bool = False
    meaning: Meaning | None = None
    padded_meaning: Meaning | None = None

    @property
    def arity_as_value(self) -> int:
        """How many arguments a function value takes if its number is open: two, less those that are
        given by name."""
        return 2 - len(self.named)

    def means(self, meaning: Meaning) -> Meaning:
        """Register the meaning of the operator."""
        self.meaning = meaning
        return meaning

    def padded(self, meaning: Meaning) -> Meaning:
        """Register the meaning for padded operands: it takes their true sizes, after the namespace
        (`ops/padding.py`).
        """
        self.padded_meaning = meaning
        return meaning

    def signature(
        self, arity: int, attributes: dict[str, object], spatial: int | None = None
    ) -> str | Problem:
        """The signature for `arity` arguments and these attributes."""
        found = self.ruled(arity, attributes, spatial)
        return found.text if isinstance(found, Windowed) else found

    def ruled(self, arity: int, attributes: dict[str, object], spatial: int | None = None) -> Rule:
        """The same, with the windows in it."""
        extra: dict[str, object] = {"spatial": spatial} if self.spatial else {}
        if self.variadic:
            return self.rule(arity, **attributes, **extra)
        return self.rule(**attributes, **extra)


OPERATORS: dict[str, Operator] = {}

SIGNS: dict[str, Operator] = {}
"""Operators by the sign, or the word, that stands between or before their operands."""


def written_as(sign: str) -> Operator:
    """The operator that has this sign, or this name."""
    return SIGNS.get(sign) or OPERATORS[sign]


def operator(
    traits: Traits = PLAIN,
    *,
    name: str = "",
    sign: str = "",
    roles: dict[str, str] | None = None,
    named: tuple[str, ...] = (),
    hints: dict[int, str] | None = None,
) -> Callable[[Callable[..., Rule]], Operator]:
    """Enter a rule into the table, under a unique name. `sign` is how expressions write it, if that
    is another; `roles` describes the signature's variables, for messages: {"k": "inner sizes"}.
    `named` are operands that may be given by name, `hints` sentences about operands by their place,
    from 1.
    """

    def enter(rule: Callable[..., Rule]) -> Operator:
        kinds = {k: str(v) for k, v in rule.__annotations__.items() if k not in ("return", "arity")}
        spatial = kinds.pop("spatial", None) is not None
        defaults = {k: v for k, v in (rule.__kwdefaults__ or {}).items() if k in kinds}
        known = name or rule.__name__.rstrip("_")
        if known in OPERATORS:
            raise ValueError(f"there are two operators called {known}")
        entered = OPERATORS[known] = Operator(
            name=known,
            rule=rule,
            doc=rule.__doc__ or "",
            family=rule.__module__.rpartition(".")[2],
            traits=traits,
            attributes=kinds,
            defaults=defaults,
            required=frozenset(k for k in kinds if k not in defaults),
            roles=roles or {},
            named=named,
            hints=hints or {},
            variadic="arity" in rule.__annotations__,
            spatial=spatial,
        )
        written = sign or (known if not known.isidentifier() else "")
        if written in SIGNS:
            raise ValueError(f"there are two operators written {written}")
        if written:
            SIGNS[written] = entered
        return entered

    return enter
