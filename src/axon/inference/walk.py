"""The interface that the modules of inference see of the walk over the tree."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from axon.diagnostics import error
from axon.inference.environment import Entry, Environment
from axon.inference.generalise.schemes import Generalised
from axon.inference.recording.record import Record, Use
from axon.inference.state import State
from axon.ops import Operator
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types.dim import Dim
from axon.types.type import UNKNOWN, Tensor, Type

Prelude = Callable[[str], Entry | None]
"""The standard library: asked for a name that nothing else explains."""


@dataclass(frozen=True, slots=True)
class Pending:
    """An operator call whose signature waits for a rank, or for what `decide` looks at: it chooses
    the signature if it can, and must if it is told that nothing more will be known.
    """

    operator: Operator
    attributes: dict[str, object]
    given: dict[str, Dim]
    args: list[Type]
    exprs: tuple[ast.Expr, ...]
    result: Type
    span: Span
    depth: int
    decide: Callable[[bool], bool] | None = None


class Walk:
    """`pending` are operator calls that wait for a rank to choose their signature. `results` are
    the results of calls, and `applied` the arguments of operators; both are checked at the end of
    the definition.

    `files` are the names of imported files, `missing` those that could not be read.
    `members` are fields that tensors of other libraries have, taken from values of unknown type,
    with their calls; `calling` is the call whose function is inferred.
    `inlined` are functions that are inferred again at each call, so that an error inside one has a
    place there; `inlines` counts how many calls may be.
    `tainted` is set when a definition uses one that has no type: then it has none either. `record`
    collects types, if they are needed.
    """

    def __init__(self, state: State, prelude: Prelude) -> None:
        self.state = state
        self.prelude = prelude
        self.pending: list[Pending] = []
        self.defining: list[str] = []
        self.defined_below: dict[str, Span] = {}
        self.results: list[tuple[Type, Span]] = []
        self.applied: list[tuple[Use, Span]] = []
        self.missing: set[str] = set()
        self.files: set[str] = set()
        self.members: list[tuple[Type, ast.Field, ast.Call | None]] = []
        self.calling: ast.Call | None = None
        self.guesses = 20
        self.inlined: dict[str, tuple[ast.Fn, Environment]] = {}
        self.inlines = 0
        self.tainted = False
        self.record: Record | None = None

    @abstractmethod
    def infer(self, expr: ast.Expr, env: Environment) -> Type:
        """The type of an expression."""

    @abstractmethod
    def infer_fn(
        self,
        fn: ast.Fn,
        env: Environment,
        given: Sequence[Type] = (),
        arguments: Sequence[tuple[Type, Origin] | None] = (),
    ) -> Type:
        """The type of a function."""

    @abstractmethod
    def bind(self, binding: ast.Binding, env: Environment) -> Generalised | None:
        """Infer a binding and enter its names."""

    def bounded(self, type_: Type, span: Span) -> Type:
        """Types may double at each step; one that has become too large is an error."""
        if isinstance(type_, Tensor) or not self.state.is_huge(type_):
            return type_
        self.error("AX216", "the type of this has more than 2000 parts", span, "too large")
        return UNKNOWN

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        help: str | None = None,
        subject: str = "",
    ) -> None:
        self.state.diagnostics.append(error(code, message, span, label, help, subject))
