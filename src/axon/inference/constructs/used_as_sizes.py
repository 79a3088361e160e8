"""Names that are used as sizes, read off the tree.

A parameter without a declared type that occurs where only a size can is a size from the beginning,
also in the lines before, where a number would be possible too. So the order of lines does not
matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from axon.inference.constructs.lists import is_no_size
from axon.inference.environment import Environment, bound_names
from axon.inference.walk import Walk
from axon.ops import OPERATORS
from axon.ops.named import Attributes, Exprs, placed
from axon.ops.scheme import scheme_of
from axon.syntax import ast
from axon.types.type import DimValue, Fn, Scheme, ShapeValue, Tensor, Type
from axon.types.variables import ShapeVar
from axon.types.written import EXTREMA, SIZE_SIGNS

Kind = Literal["dim", "shape", "tensor"]
"""A `tensor` is an index that is used as a tensor with dimensions elsewhere."""

_KINDS: Final[dict[type, Kind]] = {DimValue: "dim", ShapeValue: "shape"}


@dataclass(frozen=True, slots=True, eq=False)
class _Root:
    """A name whose use is searched for, or a parameter further in."""

    name: str


_Kinds = tuple[Kind | None, ...]
"""How a function uses its parameters."""

_Seen = dict[str, _Root | _Kinds | None]
"""What names stand for, local functions for their uses; one that hides another, for nothing."""


def used_as_sizes(
    inference: Walk,
    env: Environment,
    names: Iterable[str],
    bindings: Sequence[ast.Binding],
    result: ast.Expr,
    tensors: frozenset[str] = frozenset(),
) -> dict[str, Kind]:
    """Those of the names that these lines use as sizes, or as shapes, and tensors that are indices;
    `tensors` are declared to be tensors.
    """
    roots = {name: _Root(name) for name in names}
    search = _Search(inference, env, tensors)
    search.lines(bindings, result, dict(roots))
    return {name: kind for name, root in roots.items() if (kind := search.kind(root))}


@dataclass(slots=True)
class _Search:
    inference: Walk
    env: Environment
    tensors: frozenset[str] = frozenset()
    found: dict[_Root, Kind] = field(default_factory=dict)
    params: dict[str, tuple[str, ...]] = field(default_factory=dict)
    indices: set[_Root] = field(default_factory=set)
    indexed: set[_Root] = field(default_factory=set)
    ranked: set[_Root] = field(default_factory=set)

    def kind(self, root: _Root) -> Kind | None:
        """How a name is used. An index is a size, unless it is a tensor that is indexed itself, or
        is used as one with dimensions.
        """
        if root in self.indices and root not in self.found:
            return "tensor" if root in self.indexed or root in self.ranked else "dim"
        kind = self.found.get(root)
        return None if kind == "dim" and root in self.indexed else kind

    def lines(self, bindings: Sequence[ast.Binding], result: ast.Expr, seen: _Seen) -> None:
        for binding in bindings:
            pattern, value = binding.pattern, binding.value
            if isinstance(value, ast.Fn) and isinstance(pattern, ast.NamePattern):
                seen[pattern.name] = self._function(value, seen)
                self.params[pattern.name] = tuple([param.name for param in value.params])
                continue
            self.expr(value, seen)
            same = seen.get(value.name) if isinstance(value, ast.Name) else None
            for name, _ in bound_names(pattern):
                seen[name] = same if isinstance(pattern, ast.NamePattern) else None
        self.expr(result, seen)

    def _function(self, fn: ast.Fn, seen: _Seen) -> _Kinds:
        roots = [_Root(param.name) for param in fn.params]
        inner: _Seen = {**seen, **{root.name: root for root in roots}}
        self.lines(fn.body.bindings, fn.body.result, inner)
        return tuple([self.kind(root) for root in roots])

    def expr(self, expr: ast.Expr, seen: _Seen) -> None:
        while isinstance(expr, ast.Infix):
            self.expr(expr.right, seen)
            expr = expr.left
        match expr:
            case ast.ListExpr(items, _):
                tensor = any(is_no_size(item) or self._is_tensor(item, seen) for item in items)
                read = self.expr if tensor else self.size
                for item in items:
                    read(item, seen)
            case ast.Call():
                self._call(expr, seen)
            case ast.Negate(operand, _) | ast.Not(operand, _):
                self.expr(operand, seen)
            case ast.Subscript(value, items, _):
                if isinstance(value, ast.Name) and isinstance(root := seen.get(value.name), _Root):
                    self.indexed.add(root)
                self.expr(value, seen)
                self._subscript(items, seen)
            case ast.If():
                for part in expr.parts:
                    self.expr(part, seen)
            case ast.Fn():
                self._function(expr, seen)
            case ast.TupleExpr(items, _):
                for item in items:
                    self.expr(item, seen)
            case _:
                pass

    def size(self, expr: ast.Expr, seen: _Seen) -> None:
        """An expression that is read as a size."""
        while isinstance(expr, ast.Infix) and expr.op in SIZE_SIGNS:
            self.size(expr.right, seen)
            expr = expr.left
        match expr:
            case ast.Name(name, _):
                self._mark(name, "dim", seen)
            case ast.Negate(operand, _):
                self.size(operand, seen)
            case ast.ListExpr(items, _):  # in an attribute, or a shape
                for item in items:
                    self.size(item, seen)
            case ast.Call(ast.Name(name, _), args, (), _) if name in EXTREMA and len(args) > 1:
                for arg in args:
                    self.size(arg, seen)
            case _:
                self.expr(expr, seen)

    def _is_tensor(self, item: ast.Expr, seen: _Seen) -> bool:
        """Whether an item of a list is declared to be a tensor."""
        return isinstance(item, ast.Name) and item.name in self.tensors and item.name not in seen

    def _subscript(self, items: Sequence[ast.SubscriptItem], seen: _Seen) -> None:
        for item in items:
            match item:
                case ast.Slice():
                    for bound in item.bounds:
                        self.size(bound, seen)
                case ast.Rest() | ast.NewAxis():
                    pass
                case ast.Name(name, _):
                    if isinstance(root := seen.get(name), _Root):
                        self.indices.add(root)
                case _:
                    self.size(item, seen)

    def _call(self, call: ast.Call, seen: _Seen) -> None:
        self.expr(call.function, seen)
        listed = self._listed(call, seen)
        if listed is not None:
            for item in listed.items:
                self.expr(item, seen)
            return
        args, attributes = self._operands(call, seen)
        kinds, reads = self._kinds(call, seen)
        names = self._names(call, seen)
        by_axis = names is None and any(each.name == "axis" for each in attributes)
        if by_axis and args and isinstance(args[0], ast.Name):
            self._mark(args[0].name, "tensor", seen)
        if names is not None:  # what is given by name is an argument
            for attribute in attributes:
                at = names.index(attribute.name) if attribute.name in names else len(names)
                kind = kinds[at] if at < len(kinds) else None
                if kind is not None and isinstance(attribute.value, ast.Name):
                    self._mark(attribute.value.name, kind, seen)
                else:
                    self.expr(attribute.value, seen)
            attributes = ()
        for i, arg in enumerate(args):
            kind = kinds[i] if i < len(kinds) else None
            if kind is not None and isinstance(arg, ast.Name):
                self._mark(arg.name, kind, seen)
            elif reads and (kind == "dim" or (kind == "shape" and isinstance(arg, ast.ListExpr))):
                self.size(arg, seen)
            else:
                self.expr(arg, seen)
        for attribute in attributes:
            self.size(attribute.value, seen)

    def _listed(self, call: ast.Call, seen: _Seen) -> ast.ListExpr | None:
        """The tensors that are joined, where they are in a list as in other libraries: an error,
        and no shape.
        """
        first = call.args[0] if call.args else None
        if not isinstance(first, ast.ListExpr):
            return None
        from axon.inference.habits.foreign_names import JOINING, is_axis

        if not all(map(is_axis, call.args[1:])):
            return None
        function = call.function
        name = function.name if isinstance(function, ast.Name | ast.Field) else ""
        root = function.record if isinstance(function, ast.Field) else function
        if name not in JOINING or not isinstance(root, ast.Name):
            return None
        hidden = root.name in seen or self.env.find(root.name) is not None
        return None if hidden else first

    def _names(self, call: ast.Call, seen: _Seen) -> Sequence[str] | None:
        """The names of a function's parameters, as far as they are known; None for an operator."""
        name = self._called(call, seen)
        if not name:
            return ()
        if name in seen:
            return self.params.get(name, ())
        entry = self.env.find(name)
        if entry is None and name not in self.inference.defining:
            if name in OPERATORS:
                return None
            entry = self.inference.prelude(name)
        known = entry.function if entry is not None else None
        return known.names if known is not None else ()

    def _operands(self, call: ast.Call, seen: _Seen) -> tuple[Exprs, Attributes]:
        """An operand of an operator that is given by name is no attribute."""
        name = call.function.name if isinstance(call.function, ast.Name) else ""
        if name not in OPERATORS or name in seen or self.env.find(name) is not None:
            return call.args, call.attributes
        return placed(OPERATORS[name], call.args, call.attributes)

    def _kinds(self, call: ast.Call, seen: _Seen) -> tuple[_Kinds, bool]:
        """How a function uses its arguments, and whether it reads expressions as sizes."""
        name = self._called(call, seen)
        if not name:
            return (), False
        if name in seen:
            local = seen[name]
            return (local if isinstance(local, tuple) else ()), False
        entry = self.env.find(name)
        if entry is None and name in OPERATORS:
            operator = OPERATORS[name]
            if operator.required or operator.spatial:
                return (), False
            scheme = scheme_of(operator, len(call.args), {})
            return (_kinds_of(scheme) if isinstance(scheme, Scheme) else ()), True
        if entry is None and name not in self.inference.defining:
            entry = self.inference.prelude(name)
        return (_kinds_of(entry.type) if entry is not None else ()), False

    def _called(self, call: ast.Call, seen: _Seen) -> str:
        """The name of the function that is called, or of one in an imported file."""
        function = call.function
        if isinstance(function, ast.Field) and isinstance(function.record, ast.Name):
            hidden = function.record.name in seen or self.env.find(function.record.name) is not None
            return "" if hidden else function.dotted
        return function.name if isinstance(function, ast.Name) else ""

    def _mark(self, name: str, kind: Kind, seen: _Seen) -> None:
        root = seen.get(name)
        if isinstance(root, _Root) and kind == "tensor":
            self.ranked.add(root)
        elif isinstance(root, _Root):
            self.found.setdefault(root, kind)


def _kinds_of(type_: Type | Scheme) -> _Kinds:
    type_ = type_.type if isinstance(type_, Scheme) else type_
    if not isinstance(type_, Fn):
        return ()
    return tuple([_kind_of(param) for param in type_.params])


def _kind_of(param: Type) -> Kind | None:
    if isinstance(param, Tensor):
        return None if all(isinstance(item, ShapeVar) for item in param.shape) else "tensor"
    return _KINDS.get(type(param))
