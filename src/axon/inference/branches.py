"""`if c { a } else { b }`: only the branch that is taken is computed.

The branches agree in rank and element type. A size that they share is the size of the result; one
in which they differ is known at run time. Which it is may follow from later lines, so it is decided
at the end of the definition, unless the two have the same type already.
"""

from __future__ import annotations

from axon.inference import choices, operators
from axon.inference.environment import Environment
from axon.inference.unify import unify, widened
from axon.inference.walk import Pending, Walk
from axon.ops.axes import LIMIT
from axon.ops.families.functional import cond
from axon.solver.constraints import Origin
from axon.syntax import ast
from axon.types.type import UNKNOWN, Fn, Tensor, Type
from axon.types.variables import ShapeVar

SIGN = "if"


def infer_if(inference: Walk, expr: ast.If, env: Environment) -> Type:
    state = inference.state
    condition = inference.infer(expr.condition, env)
    then, otherwise = inference.infer(expr.then, env), inference.infer(expr.otherwise, env)
    assert isinstance(then, Fn) and isinstance(otherwise, Fn)
    branches = _Branches(inference, expr, condition, then.result, otherwise.result)
    if branches.are_alike():
        return branches.applied(())
    result = state.fresh_type()
    args = [then.result, otherwise.result, condition]
    pending = Pending(
        cond, {}, {}, args, expr.parts, result, expr.span, state.depth, branches.decide
    )
    branches.result = result
    branches.depth = state.depth
    inference.pending.append(pending)
    return result


class _Branches:
    """An `if` whose branches have been inferred."""

    def __init__(
        self, inference: Walk, expr: ast.If, condition: Type, then: Type, otherwise: Type
    ) -> None:
        self.inference = inference
        self.expr = expr
        self.condition = condition
        self.then = then
        self.otherwise = otherwise
        self.result: Type = UNKNOWN
        self.depth = 0

    def are_alike(self) -> bool:
        """Whether the two have the same type, whatever becomes known later."""
        state = self.inference.state
        one, other = state.resolve(self.then), state.resolve(self.otherwise)
        return one is UNKNOWN or other is UNKNOWN or one == other

    def decide(self, final: bool) -> bool:
        """Choose the type of the result, if it is known or nothing more will be."""
        if not final and not self.are_alike():
            return False
        state = self.inference.state
        depth, state.depth = state.depth, self.depth
        result = self.applied(self._differ())
        unify(state, self.result, result, Origin("call", self.expr.span, SIGN))
        state.depth = depth
        return True

    def _differ(self) -> tuple[int, ...]:
        """The axes along which two tensors of one rank differ."""
        state = self.inference.state
        one, other = state.prune(self.then), state.prune(self.otherwise)
        if not isinstance(one, Tensor) or not isinstance(other, Tensor):
            return ()
        left, right = state.store.word(one.shape), state.store.word(other.shape)
        if len(left) != len(right) or len(left) > LIMIT:
            return ()
        if any(isinstance(item, ShapeVar) for item in (*left, *right)):
            return ()
        return tuple(
            [i for i, pair in enumerate(zip(left, right, strict=True)) if pair[0] != pair[1]]
        )

    def _ranks_agree(self) -> bool:
        ranks = [_rank(self.inference, type_) for type_ in (self.then, self.otherwise)]
        if None in ranks or ranks[0] == ranks[1]:
            return True
        text = f"the branches have {_dimensions(ranks[0])} and {_dimensions(ranks[1])}"
        span = _result(self.expr.otherwise).span
        self.inference.error("AX102", text, span, _dimensions(ranks[1]), subject=SIGN)
        return False

    def applied(self, differ: tuple[int, ...]) -> Type:
        inference = self.inference
        then, otherwise = self.then, self.otherwise
        if then is UNKNOWN or otherwise is UNKNOWN:
            return UNKNOWN
        if not self._ranks_agree():
            return UNKNOWN
        if not self.are_alike():
            then = widened(inference.state, then, sizes=True)
            otherwise = widened(inference.state, otherwise, sizes=True)
        args: list[Type] = [self.condition, Fn((), then), Fn((), otherwise)]
        attributes: dict[str, object] = {"differ": differ} if differ else {}
        made = operators.apply_chosen(
            inference, cond, attributes, {}, args, _results(self.expr), self.expr.span, SIGN
        )
        if differ:
            origin = Origin("call", self.expr.span, SIGN)
            choices.add(inference.state, made, then, otherwise, origin)
        return made


def _rank(inference: Walk, type_: Type) -> int | None:
    known = inference.state.prune(type_)
    word = inference.state.store.word(known.shape) if isinstance(known, Tensor) else None
    if word is None or any(isinstance(item, ShapeVar) for item in word):
        return None
    return len(word)


def _dimensions(count: int | None) -> str:
    return "1 dimension" if count == 1 else f"{count or 'no'} dimensions"


def _results(expr: ast.If) -> tuple[ast.Expr, ...]:
    """What messages point to."""
    return expr.condition, _result(expr.then), _result(expr.otherwise)


def _result(branch: ast.Fn) -> ast.Expr:
    return branch.body.result
