"""Inference: a walk over expressions that returns a type for each and posts constraints."""

from __future__ import annotations

from collections.abc import Sequence

from axon.inference import calls, operators
from axon.inference.constructs import lists, size_values, structures
from axon.inference.constructs.parameters import as_value, copied, has_defaults, parameters_of
from axon.inference.constructs.used_as_sizes import Kind, used_as_sizes
from axon.inference.environment import Entry, Environment, Parameters
from axon.inference.generalise.existentials import named_sizes
from axon.inference.generalise.schemes import Generalised, generalise, instantiate
from axon.inference.unify import unify, widened
from axon.inference.walk import Walk
from axon.ops import OPERATORS, written_as
from axon.ops.families.pointwise import negate
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast, print_type
from axon.types import dim as dims
from axon.types.conditions import read_conditions
from axon.types.elements import FLOAT
from axon.types.reader import Reader
from axon.types.type import (
    UNKNOWN,
    DimValue,
    Fn,
    Record,
    Scheme,
    ShapeEq,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    has_runtime_sizes,
    relation_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, given_at, made_at


class Inference(Walk):
    """The walk, one method for each kind of expression."""

    # --- expressions ---

    def infer(self, expr: ast.Expr, env: Environment) -> Type:
        match expr:
            case ast.Name():
                return self._name(expr, env)
            case ast.Number():
                return self.number(expr)
            case ast.Call():
                return calls.infer_call(self, expr, env)
            case ast.Infix():
                return self._infix(expr, env)
            case ast.Negate(operand, span):
                if isinstance(operand, ast.Number) and operand.kind != "bool":
                    number = self.number(operand)
                    if isinstance(number, DimValue):
                        return DimValue(dims.scale(-1, number.dim))
                    return number
                type_ = self.infer(operand, env)
                return size_values.negated(self, type_) or operators.apply_chosen(
                    self, negate, {}, {}, [type_], (operand,), span
                )
            case ast.Not(operand, _):
                return operators.apply_not(self, expr, self.infer(operand, env))
            case ast.Fn():
                if has_defaults(expr):
                    return self.infer(as_value(self, expr, env), env)
                return self.infer_fn(expr, env)
            case ast.TupleExpr(items, _):
                return self.bounded(Tuple(tuple(self.infer(i, env) for i in items)), expr.span)
            case ast.Field():
                return self._field(expr, env)
            case ast.Record():
                from axon.inference.constructs import records

                return records.infer_record(self, expr, env)
            case ast.OperatorName(op, span):
                return operators.operator_value(self, written_as(op).name, span)
            case ast.If():
                from axon.inference.constructs.branches import infer_if

                return infer_if(self, expr, env)
            case ast.Subscript():
                from axon.inference.constructs.subscripts import infer_subscript

                return infer_subscript(self, expr, env)
            case ast.ListExpr():
                return lists.infer_list(self, expr, env)
            case ast.String(_, span):
                self.error("AX207", "a string is used where a tensor is expected", span)
                return UNKNOWN
            case ast.Broken():
                return UNKNOWN

    def number(self, expr: ast.Number) -> Type:
        """A literal has the element type that its context requires; an integer is also a size."""
        if expr.kind == "bool":
            return Tensor("bool", ())
        if expr.kind == "int":
            return DimValue(int(expr.value))
        return Tensor(ElemVar("", self.state.level, allowed=FLOAT, literal="float"), ())

    def _infix(self, expr: ast.Infix, env: Environment) -> Type:
        """The left spine is a loop, since chains are left-associative and may be long."""
        spine: list[ast.Infix] = []
        left: ast.Expr = expr
        while isinstance(left, ast.Infix):
            spine.append(left)
            left = left.left
        type_ = self.infer(left, env)
        for node in reversed(spine):
            right = self.infer(node.right, env)
            type_ = operators.apply_infix(self, node, type_, right)
            if self.record is not None:
                self.record.types[id(node)] = type_
        return type_

    def _field(self, expr: ast.Field, env: Environment) -> Type:
        name = calls.imported(self, expr, env)
        if name is not None:
            return self._name(name, env)
        if calls.is_of_library(self, expr, env):
            from axon.inference.habits.unbound import report_library  # only for a message

            report_library(self, expr, None)
            return UNKNOWN
        from axon.inference.constructs import records

        return records.infer_field(self, expr, env, expr.name in OPERATORS)

    def _name(self, expr: ast.Name, env: Environment) -> Type:
        entry = env.find(expr.name)
        size = size_values.named_size(self, expr.name)
        if size is not None and (entry is None or env.is_global(expr.name)):
            return size
        if entry is None and expr.name not in self.defining:
            if expr.name in OPERATORS:
                return operators.operator_value(self, expr.name, expr.span)
            entry = self.prelude(expr.name)
        if entry is None:
            from axon.inference.habits.unbound import report_unbound  # only for a message

            report_unbound(self, expr, env)
            return UNKNOWN
        if isinstance(entry.type, Scheme):
            origin = Origin("value", expr.span, expr.name)
            value = entry.function.as_value if entry.function is not None else None
            return instantiate(self.state, value or entry.type, origin, called=False)
        self.tainted = self.tainted or entry.type is UNKNOWN
        return entry.type

    # --- functions ---

    def infer_fn(
        self,
        fn: ast.Fn,
        env: Environment,
        given: Sequence[Type] = (),
        arguments: Sequence[tuple[Type, Origin] | None] = (),
    ) -> Type:
        """The type of a function. `given` are the types of its parameters if they are known
        already, `arguments` the types that it is called with, each with its origin. Both are known
        before the body is inferred, so the body's constraints meet the actual sizes.
        """
        state = self.state
        inner = Environment(env)
        params: list[Type] = []
        names, depth = state.names, state.depth + 1
        reader = Reader(names, state.names_level, depth, aliases=env.find_type)
        reader.in_parameter = True
        reader.given = bool(arguments)
        open_ = [
            param.name
            for i, param in enumerate(fn.params)
            if param.type is None and not given and (i >= len(arguments) or arguments[i] is None)
        ]
        body = fn.body
        uses: dict[str, Kind] = {}
        if open_:
            tensors = frozenset(p.name for p in fn.params if isinstance(p.type, ast.TensorType))
            uses = used_as_sizes(self, env, open_, body.bindings, body.result, tensors)
        for i, param in enumerate(fn.params):
            if param.name in inner.names and param.name != "_":
                self.error(
                    "AX215",
                    f"two parameters are called `{param.name}`",
                    param.name_span,
                    "this is another one",
                )
            known = given[i] if given and param.type is None else None
            type_ = self._parameter(param, reader, uses) if known is None else known
            params.append(type_)
            declared = param.span if param.type is not None else None
            inner.names[param.name] = Entry(type_, param.name_span, declared)
        reader.in_parameter = False
        for type_, argument in zip(params, arguments, strict=False):
            if argument is not None:
                known, origin = argument
                if isinstance(known, Tuple) and isinstance(type_, TypeVar):
                    known = self._declared(known, origin)
                if isinstance(known, DimValue) and isinstance(type_, TypeVar):
                    # a number that is given as a size stays one
                    unify(state, type_, self._size("dim", given_at(depth)), origin, deeper=1)
                unify(state, type_, known, origin, deeper=1)
        state.depth += 1
        wanted = reader.read_type(fn.result) if fn.result is not None else None
        read_conditions(reader, fn.where)
        for relation, span in reader.conditions_with_places():
            note = span.text if span is not None else ""
            for var in relation_variables(relation):
                if isinstance(var, DimVar) and var.rank_of is not None:
                    state.store.ask_rank(var.rank_of)
            state.post(relation, Origin("condition", span or fn.span, "", 0, note))
        if reader.stacked:
            structures.post_written(state, reader.stacked, "condition", state.depth)
        state.diagnostics.extend(reader.diagnostics)
        mark = len(self.pending)
        result = widened(state, self._block(fn.body, inner))
        if wanted is not None and fn.result is not None:
            origin = Origin("result", fn.body.result.span, "", 0, f"`{print_type(fn.result)}`")
            scope = made_at(state.depth)
            for relation in named_sizes(state.resolve(result), state.resolve(wanted), scope):
                state.post(relation, origin)
            unify(state, result, wanted, origin)
        operators.settle(self, mark, final=False)
        state.depth -= 1
        if wanted is not None and not has_runtime_sizes(state.resolve(Tuple((result, wanted)))):
            result = wanted  # as it is written, where an equation of shapes waits
        return Fn(tuple(params), result)

    def _parameter(self, param: ast.Param, reader: Reader, uses: dict[str, Kind]) -> Type:
        """A declared shape is a constraint of its own: messages can point to the declaration."""
        if param.name in uses and param.type is None:
            return self._size(uses[param.name], given_at(self.state.depth + 1))
        if param.type is None:
            type_ = TypeVar(param.name, self.state.level, scope=given_at(self.state.depth + 1))
            type_.shown = True
            return type_
        declared = reader.read_type(param.type)
        if not self.state.reasons:
            return declared
        note = f"`{param.name} : {print_type(param.type)}`"
        return self._declared(declared, Origin("annotation", param.span, "", 0, note))

    def _size(self, kind: Kind, scope: int) -> Type:
        if kind == "dim":
            return DimValue(DimVar("", self.state.level, scope=scope))
        if kind == "tensor":
            shape = ShapeVar("", self.state.level, scope=scope)
            return Tensor(ElemVar("", self.state.level), (shape,))
        return ShapeValue((ShapeVar("", self.state.level, scope=scope),))

    def _declared(self, type_: Type, origin: Origin) -> Type:
        match type_:
            case Tensor(elem, shape) if shape:
                var = ShapeVar("", self.state.level, scope=given_at(self.state.depth + 1))
                self.state.store.post(ShapeEq((var,), shape), origin, self.state.depth + 1)
                return Tensor(elem, (var,))
            case Tuple(items):
                return type_.of(tuple(self._declared(item, origin) for item in items))
            case _:
                return type_

    def _block(self, block: ast.Block, env: Environment) -> Type:
        inner = Environment(env)
        for i, binding in enumerate(block.bindings):
            self.bind(binding, inner)
            if not isinstance(binding.pattern, ast.NamePattern):
                self._parts_used_as_sizes(binding, block.bindings[i + 1 :], block.result, inner)
        return self.infer(block.result, inner)

    def _parts_used_as_sizes(
        self, binding: ast.Binding, rest: Sequence[ast.Binding], result: ast.Expr, env: Environment
    ) -> None:
        """Decide which parts of a tuple argument are used as sizes, as for parameters."""
        parts = {
            name: found
            for name, entry in env.names.items()
            if not isinstance(entry.type, Scheme)
            and isinstance(found := self.state.prune(entry.type), TypeVar)
        }
        for name, kind in used_as_sizes(self, env, parts, rest, result).items():
            size = self._size(kind, parts[name].scope)
            unify(self.state, size, parts[name], Origin("pattern", binding.value.span))

    # --- bindings ---

    def bind(self, binding: ast.Binding, env: Environment) -> Generalised | None:
        """Infer a binding and enter its names; a `fn` is generalised."""
        pattern, value = binding.pattern, binding.value
        if isinstance(pattern, ast.NamePattern):
            self.defining.append(pattern.name)
        generalised: Generalised | None = None
        function: Parameters | None = None
        if isinstance(value, ast.Fn) and isinstance(pattern, ast.NamePattern):
            names = copied(self.state.names) if has_defaults(value) else self.state.names
            said = len(self.state.diagnostics), len(self.state.store.conflicts)
            self.state.level += 1
            mark, checked = len(self.pending), len(self.state.store.guards)
            type_ = self.bounded(self.infer_fn(value, env), pattern.span)
            operators.settle(self, mark, final=True)
            self.state.level -= 1
            generalised = generalise(self.state, type_, checked)
            sound = said == (len(self.state.diagnostics), len(self.state.store.conflicts))
            function = parameters_of(self, pattern.name, value, env, names, sound)
        elif (other := self._other_name(value, env)) is not None:
            scheme, function = other
            type_ = scheme.type
            generalised = Generalised(scheme, (), type_)
        else:
            type_ = self.infer(value, env)
        if isinstance(pattern, ast.NamePattern):
            self.defining.pop()
            if pattern.name != "_":
                known = type_ if generalised is None else generalised.scheme
                env.names[pattern.name] = Entry(known, pattern.span, None, function)
        else:
            self._destructure(pattern, type_, env, value.span)
        return generalised

    def _other_name(
        self, value: ast.Expr, env: Environment
    ) -> tuple[Scheme, Parameters | None] | None:
        """The scheme of a function, where a binding is only another name for it."""
        if isinstance(value, ast.OperatorName):
            return _of_operator(written_as(value.op).name)
        if isinstance(value, ast.Field):
            value = calls.imported(self, value, env) or value
        if not isinstance(value, ast.Name) or size_values.named_size(self, value.name) is not None:
            return None
        entry = env.find(value.name)
        if entry is None and value.name not in self.defining:
            if value.name in OPERATORS:
                return _of_operator(value.name)
            entry = self.prelude(value.name)
        if entry is None or not isinstance(entry.type, Scheme):
            return None
        return entry.type, entry.function

    def _destructure(self, pattern: ast.Pattern, type_: Type, env: Environment, span: Span) -> None:
        if isinstance(pattern, ast.NamePattern):
            if pattern.name != "_":
                env.names[pattern.name] = Entry(type_, pattern.span)
            return
        if isinstance(pattern, ast.RecordPattern):
            from axon.inference.constructs import records

            types = records.fields_of(self, pattern, type_, span)
            for field, part in zip(pattern.items, types, strict=True):
                self._destructure(field, part, env, span)
            return
        found = self.state.prune(type_)
        if isinstance(found, Record):
            unify(
                self.state, Tuple((UNKNOWN,) * len(pattern.items)), found, Origin("pattern", span)
            )
            found = UNKNOWN
        if isinstance(found, Tuple) and len(found.items) != len(pattern.items):
            self.error(
                "AX213",
                f"a tuple of {len(found.items)} cannot be unpacked into {len(pattern.items)}",
                pattern.span,
                f"{len(pattern.items)} names",
            )
            found = UNKNOWN
        parts: tuple[Type, ...]
        if isinstance(found, Tuple):
            parts = found.items
        elif found is UNKNOWN:
            parts = (UNKNOWN,) * len(pattern.items)
        else:
            parts = tuple(self.state.fresh_type() for _ in pattern.items)
            unify(self.state, Tuple(parts), found, Origin("pattern", span))
            if isinstance(found, ShapeValue):  # a list of what were no sizes is the same mistake
                said = self.state.diagnostics
                said[:] = [
                    d for d in said if not (d.code == "AX206" and d.span and d.span.is_within(span))
                ]
                parts = (UNKNOWN,) * len(parts)
        for item, part in zip(pattern.items, parts, strict=True):
            self._destructure(item, part, env, span)


def _of_operator(name: str) -> tuple[Scheme, Parameters] | None:
    found = operators.scheme_of_value(name)
    return None if found is None else (found, Parameters((), operator=name))
