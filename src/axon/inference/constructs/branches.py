"""`if c { a } else { b }`: only the branch that is taken is computed.

The branches agree in rank and element type. A size that they share is the size of the result; one
in which they differ is known at run time. Which it is may follow from later lines, so it is decided
at the end of the definition, unless the two have the same type already.
"""

from __future__ import annotations

from axon.inference import operators
from axon.inference.constructs.branch_types import differing, has_function, signature, tensors
from axon.inference.environment import Environment
from axon.inference.generalise import choices
from axon.inference.unify import unify, widened
from axon.inference.walk import Pending, Walk
from axon.ops.families.functional import cond
from axon.solver.constraints import Origin
from axon.syntax import ast
from axon.types.type import UNKNOWN, DimValue, Fn, Tensor, Type
from axon.types.variables import ShapeVar

SIGN = "if"


def infer_if(inference: Walk, expr: ast.If, env: Environment) -> Type:
    state = inference.state
    condition = inference.infer(expr.condition, env)
    then, otherwise = inference.infer(expr.then, env), inference.infer(expr.otherwise, env)
    assert isinstance(then, Fn) and isinstance(otherwise, Fn)
    branches = _Branches(inference, expr, condition, then.result, otherwise.result)
    if branches.are_alike():
        return branches.applied()
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
        result = self.applied(final=True)
        unify(state, self.result, result, Origin("call", self.expr.span, SIGN))
        state.depth = depth
        return True

    def _ranks_agree(self) -> bool:
        ranks = [_rank(self.inference, type_) for type_ in (self.then, self.otherwise)]
        if None in ranks or ranks[0] == ranks[1]:
            return True
        if _rank(self.inference, self.condition):  # a choice for each element, as `where` makes it
            origin = Origin("argument", self.expr.condition.span, SIGN, 1, "", self.expr.span)
            unify(self.inference.state, Tensor("bool", ()), self.condition, origin)
            return False
        text = f"the branches have {_dimensions(ranks[0])} and {_dimensions(ranks[1])}"
        span = _result(self.expr.otherwise).span
        self.inference.error("AX102", text, span, _dimensions(ranks[1]), subject=SIGN)
        return False

    def _gives_function(self) -> bool:
        state = self.inference.state
        for branch, type_ in ((self.expr.then, self.then), (self.expr.otherwise, self.otherwise)):
            if has_function(state, type_):
                help = "choose in a function: `fn (x) { if c { f(x) } else { g(x) } }`"
                text = "if: a branch cannot give a function"
                self.inference.error("AX207", text, _result(branch).span, help=help)
                return True
        return False

    def applied(self, final: bool = False) -> Type:
        """The type of the result. Sizes in which the two differ are found if it is `final`."""
        inference, state = self.inference, self.inference.state
        then, otherwise = self.then, self.otherwise
        if then is UNKNOWN or otherwise is UNKNOWN or self._gives_function():
            return UNKNOWN
        if isinstance(state.prune(self.condition), DimValue):
            message = "a condition is a truth value, and this is a number"
            span = self.expr.condition.span
            inference.error("AX206", message, span, "a number", "compare it, as in `n > 0`", SIGN)
            return UNKNOWN
        if not self._ranks_agree():
            return UNKNOWN
        if not self.are_alike():
            then = widened(state, then, sizes=True)
            otherwise = widened(state, otherwise, sizes=True)
        args: list[Type] = [self.condition, Fn((), then), Fn((), otherwise)]
        attributes: dict[str, object] = {}
        text = signature(state, then, otherwise) if final else None
        if final and (axes := differing(state, then, otherwise)):
            attributes["differ"] = axes
        made = operators.apply_chosen(
            inference, cond, attributes, {}, args, _results(self.expr), self.expr.span, SIGN, text
        )
        if text is not None or attributes:
            origin = Origin("call", self.expr.span, SIGN)
            for each in reversed(list(tensors(state, made, then, otherwise))):
                choices.add(state, each[0], each[1], each[2], origin)
            choices.solve(state)
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
