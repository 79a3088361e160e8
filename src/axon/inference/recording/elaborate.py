"""Elaboration: a function is inferred again at known argument types, and all types are recorded.

The paper notes that shapes can be inferred once more when the inputs are known. A graph is made
from the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from axon.diagnostics import Diagnostic, Severity
from axon.inference import operators
from axon.inference.environment import Environment
from axon.inference.generalise.existentials import conditions, seal
from axon.inference.generalise.rows import first_sizes, same_rows
from axon.inference.generalise.schemes import as_run_finds_it, resolved
from axon.inference.infer import Inference
from axon.inference.recording.record import Record
from axon.inference.report.conflict import describe_all
from axon.inference.state import State
from axon.inference.unify import unify
from axon.inference.walk import Prelude
from axon.solver.constraints import NOWHERE, Guard, Origin
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim
from axon.types.show import Show
from axon.types.type import (
    DimEq,
    DimValue,
    Fn,
    HasRank,
    Shape,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    relation_variables,
    shape_size,
    shape_variables,
)
from axon.types.variables import DimVar, ShapeVar, made_at, made_so_far


class Recording(Inference):
    """Inference that records the type of every expression."""

    def __init__(self, state: State, prelude: Prelude) -> None:
        super().__init__(state, prelude)
        self.kept = Record()
        self.record = self.kept

    def infer(self, expr: ast.Expr, env: Environment) -> Type:
        type_ = super().infer(expr, env)
        self.kept.types[id(expr)] = type_
        return type_


@dataclass(frozen=True, slots=True)
class Elaboration:
    """`type` is the type of the function at these arguments, `found` the same before substitution;
    `checks` are the conditions left for the run.
    """

    fn: ast.Fn
    type: Fn
    found: Fn
    record: Record
    state: State
    checks: tuple[Guard, ...]

    def names(self) -> dict[str, Dim | Shape]:
        """What the names in annotations stand for: dimensions and shapes."""
        store = self.state.store
        return {
            name: store.dim(var) if isinstance(var, DimVar) else store.word((var,))
            for name, var in self.state.names.index.items()
        }

    def as_made(self, type_: Type) -> Type:
        """The type with each run-time size as the operator made it, even where a check equates it
        with something: that equation is what the check compares.
        """
        if not self.state.store.guards:
            return self.state.resolve(type_)
        known = self.state.resolve(type_)
        raw = self.state.prune(type_)
        match raw, known:
            case Tensor(_, shape), Tensor(elem, _):
                return Tensor(elem, self._made_word(shape))
            case ShapeValue(shape), _:
                return ShapeValue(self._made_word(shape))
            case DimValue(dim), DimValue(_, number):
                return DimValue(self._made(dim), number)
            case Tuple(items), _:
                return raw.of(tuple(self.as_made(item) for item in items))
            case _:
                return known

    def _made_word(self, shape: Shape) -> Shape:
        word: list[Dim | ShapeVar] = []
        for item in shape:
            if isinstance(item, ShapeVar):
                binding = self.state.store.bindings.get(item)
                if binding is None or item.runtime:
                    word.append(item)
                else:
                    assert isinstance(binding.given, tuple)
                    word.extend(self._made_word(binding.given))
            else:
                word.append(self._made(item))
        return tuple(word)

    def _made(self, dim: Dim) -> Dim:
        return dims.substitute(dim, self._made_value, self._made_size)

    def _made_value(self, var: DimVar) -> Dim:
        binding = self.state.store.bindings.get(var)
        if binding is None or (var.runtime and not var.derived):
            return var
        assert not isinstance(binding.given, tuple)
        return self._made(binding.given)

    def _made_size(self, var: ShapeVar) -> Dim:
        return shape_size(self._made_word((var,)))

    def type_of(self, expr: ast.Expr) -> Type:
        return self.state.resolve(self.record.types[id(expr)])


def elaborate(
    fn: ast.Fn,
    environment: Callable[[Inference], Environment],
    prelude: Prelude,
    params: Sequence[Type | None],
    result: Type | None = None,
    *,
    name: str = "",
    names: dict[str, Dim | Shape] | None = None,
    depth: int = 0,
    concrete: bool = False,
) -> Elaboration | list[Diagnostic]:
    """Infer a function whose arguments have these types (None: any), in its own environment.

    `names` are the dimensions and shapes named by the enclosing definition. If `concrete`, every
    element type is decided at the end.
    """
    since = made_so_far()
    state = State()
    state.level, state.depth = 1, depth
    inference = Recording(state, prelude)
    for known, value in (names or {}).items():
        enter_name(state, known, value)
    arguments = [
        None if given is None else (given, _at_call(param, i + 1, given, name))
        for i, (param, given) in enumerate(zip(fn.params, params, strict=True))
    ]
    found = inference.infer_fn(fn, environment(inference), arguments=arguments)
    assert isinstance(found, Fn)
    if result is not None:
        origin = Origin("result", fn.body.result.span, "", 0, "what it is used as")
        unify(state, found.result, result, origin, deeper=1)
    operators.settle(inference, 0, final=True)
    first_sizes(state, found)
    same_rows(state, 0)
    record = inference.kept
    uses = (use.type for use in record.uses.values())
    for each in (found, *record.types.values(), *record.calls.values(), *uses):
        state.default_elements(each, concrete)
    state.store.review()
    problems = [d for d in state.diagnostics if d.severity == Severity.ERROR]
    constraints = tuple(state.store.posted)
    problems += describe_all(state.store, state.store.conflicts[:3], constraints)[0]
    if problems:
        return list({(d.code, d.message, d.span): d for d in problems}.values())
    type_ = state.resolve(found)
    assert isinstance(type_, Fn)
    relations = [resolved(state, c.relation) for c in state.store.waiting]
    relations += [as_run_finds_it(state.store, g).relation for g in state.store.guards]
    seal(type_, relations, made_at(depth + 1))
    checks = tuple(conditions(_guards(state), since, running=True))
    return Elaboration(fn, type_, found, record, state, checks)


def _at_call(param: ast.Param, position: int, given: Type, name: str) -> Origin:
    """The origin of an argument's type: the call of `name`, seen from the parameter."""
    note = f"`{param.name}` is {Show().type(given)}"
    return Origin("called", param.span, name, position, note)


def enter_name(state: State, name: str, value: Dim | Shape) -> None:
    """Let a name in annotations stand for a dimension or shape of the enclosing definition."""
    lone = value[0] if isinstance(value, tuple) and len(value) == 1 else value
    if isinstance(lone, ShapeVar) or (isinstance(lone, DimVar) and not isinstance(value, tuple)):
        state.names.index[name] = lone
    elif isinstance(value, tuple):
        scope = max((v.scope for v in shape_variables(value)), default=0)
        var = state.names.index[name] = ShapeVar(name, state.level, user=True, scope=scope)
        state.post(ShapeEq((var,), value), NOWHERE)
    else:
        scope = max((v.scope for v in dims.variables(value)), default=0)
        dim = state.names.index[name] = DimVar(name, state.level, user=True, scope=scope)
        state.post(DimEq(dim, value), NOWHERE)


def _guards(state: State) -> Iterator[Guard]:
    seen: set[object] = set()
    for constraint in state.store.waiting:
        relation = resolved(state, constraint.relation)
        if not isinstance(relation, HasRank) and relation not in seen:
            seen.add(relation)
            if relation_variables(relation):
                yield Guard(relation, constraint.origin, constraint.depth)
    for guard in state.store.guards:
        yield as_run_finds_it(state.store, guard)
