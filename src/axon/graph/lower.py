"""From a definition to its graph at given argument types.

The tree is evaluated once, with values of the graph in place of tensors. Functions are applied
where they are met, so the only ones left are arguments of operators. A function of the file that is
called with plain values becomes a graph of its own, made once for each list of argument types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from axon.diagnostics import Diagnostic
from axon.graph import elaborations
from axon.graph.calls import apply, is_demanding, written_out
from axon.graph.checks import place_checks
from axon.graph.convert import argument, as_tensors, coerce, coerce_all, no_function, row_argument
from axon.graph.graph import (
    Bundle,
    Function,
    Graph,
    Item,
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.levels import Analysis
from axon.graph.measure import measure
from axon.graph.module import Module
from axon.graph.names import bound_to, imported, is_imported, look_up, value_of
from axon.graph.operators import apply_operator, subscript, type_at, use_operator
from axon.graph.ragged import runtime
from axon.graph.scope import Closure, Known, Scope, Stop, Structure, as_function, bundle
from axon.graph.state import Library, Shared, State
from axon.graph.structures import grouped
from axon.graph.tidy import tidy
from axon.graph.walk import Walk
from axon.inference.constructs.parameters import constant
from axon.inference.environment import Entry
from axon.inference.recording.record import Default
from axon.inference.walk import Prelude
from axon.ops import written_as
from axon.ops.levels import LevelTree, levels_of_type
from axon.source import Span
from axon.syntax import ast, with_defaults
from axon.types.type import DimValue, Fn, Record, Shape, ShapeValue, Tensor, Tuple, Type


def lower(
    module: Module,
    name: str,
    params: Sequence[Type | None],
    prelude: Prelude,
    library: Library,
    left_out: frozenset[str] = frozenset(),
) -> Graph | list[Diagnostic]:
    """The graph of a definition at these argument types; parameters that are `left_out` have their
    defaults.
    """
    place = module.find(name, len(module.items))
    assert place is not None
    levels = [None if type_ is None else levels_of_type(type_) for type_ in params]
    try:
        shared = Shared(prelude, library)
        made = make_graph(shared, *place, params, levels=levels, left_out=left_out)
        return replace(made, result=as_tensors(made.result, place[0].items[place[2]].span))
    except Stop as stop:
        return stop.diagnostics


def make_graph(
    shared: Shared,
    module: Module,
    name: str,
    at: int,
    params: Sequence[Type | None],
    result: Type | None = None,
    levels: Sequence[LevelTree | None] = (),
    left_out: frozenset[str] = frozenset(),
) -> Graph:
    """The graph of a named definition of an item. `levels` are those of the arguments, where they
    are known.
    """
    item = module.items[at]
    assert isinstance(item, ast.Binding)
    fn = _without(as_function(item.value, len(params)), module.entry(name, at + 1), left_out)
    found = elaborations.of_item(shared, module, name, at, fn, params, result)
    state = State(shared, found)
    lowering = Lowering(state)
    values = tuple(
        Value(param.name, type_, state.depth, made if made != type_ else None)
        for param, type_, made in zip(
            fn.params,
            found.type.params,
            map(found.as_made, found.found.params),
            strict=True,
        )
    )
    scope = Scope(module, at, None, {}, found)
    scope.names.update((p.name, v) for p, v in zip(fn.params, values, strict=True))
    known = lowering.result(fn, scope)
    given = no_function(known, fn.body.result.span, "a function cannot be a result")
    if not isinstance(item.pattern, ast.NamePattern):
        names: dict[str, Known] = {}
        lowering.bind(item.pattern, given, names)
        given = no_function(names[name], item.span)
    requires, runtime_checks = elaborations.split(found.checks)
    nodes = place_checks(values, [*state.first, *state.nodes], [*runtime_checks, *state.checks])
    nodes = tidy(values, nodes, given)
    typed = [levels_of_type(value.type) for value in values]
    trees = [t if k is None else k for t, k in zip_longest(typed, levels)]
    analysis = Analysis(values, trees, fn.body.result.span)
    analysis.run(nodes, as_tensors(given, fn.body.result.span))
    return Graph(name, values, nodes, given, tuple(requires), analysis.levels)


def _without(fn: ast.Fn, entry: Entry | None, left_out: frozenset[str]) -> ast.Fn:
    """A function without some parameters. Another name for one gives it the others by name."""
    function = entry.function if entry is not None else None
    if not left_out or function is None:
        return fn
    given = [name for name in function.names if name not in left_out]
    call = fn.body.result
    own = tuple([param.name for param in fn.params]) == function.names
    if own or not isinstance(call, ast.Call):
        return with_defaults(fn, frozenset(given))
    by_name = [
        ast.Attribute(name, arg, arg.span) for name, arg in zip(given, call.args, strict=True)
    ]
    called = replace(call, args=(), attributes=tuple(by_name))
    return replace(fn, body=replace(fn.body, result=called))


class Lowering(Walk):
    """The walk, one method for each kind of expression."""

    # --- functions ---

    def graph(
        self,
        module: Module,
        name: str,
        at: int,
        params: Sequence[Type | None],
        result: Type | None,
    ) -> Graph:
        """Another graph of the same program."""
        return make_graph(self.state.shared, module, name, at, params, result)

    def function(
        self,
        value: Known,
        type_: Fn,
        written: Type,
        own: Type,
        span: Span,
        rows: Sequence[Shape] = (),
        groups: Sequence[Type] = (),
        by_row: int = 0,
    ) -> Operand:
        """A function argument of an operator, as a nested graph. `written` is its type before
        substitution, `own` that of the function by itself: it may take a size where the operator
        passes a number. `rows` are the shapes of the rows that it is called for, if those vary. Its
        arguments are of the types `groups`, if there are any: the last ones, so many as `by_row`
        says, are structures made of rows.
        """
        state = self.state
        if isinstance(value, OperatorFunction):
            if (
                not groups
                and not is_demanding(value.operator, type_)
                and not _takes_matrices(type_)
            ):
                return value
            value = written_out(value, len(groups or type_.params), span)
        nodes = state.take_nodes()
        state.depth += 1
        known = map(state.elaboration.as_made, written.params if isinstance(written, Fn) else ())
        params = tuple(
            Value("", t, state.depth, m if m != t else None)
            for t, m in zip(type_.params, known, strict=True)
        )
        args: Sequence[Operand] = params
        if rows:
            first = len(params) - len(rows)
            asked = [
                row_argument(state, *each, span) for each in zip(params[first:], rows, strict=True)
            ]
            params = (*params[:first], *(given for given, _ in asked))
            args = (*args[:first], *(arg for _, arg in asked))
        called = _with_sizes(type_, own)
        if groups:
            first_row = len(groups) - by_row
            args = [*args[:first_row], *grouped(groups[first_row:], args[first_row:])]
            called = Fn(tuple(groups), type_.result)
        found = apply(self, value, list(args), called, span, alone=True)
        result = coerce(state, found, type_.result)
        nodes, state.nodes = state.nodes, nodes
        made = Function(params, tuple(nodes), result, state.depth)
        state.depth -= 1
        return made

    def result(self, fn: ast.Fn, scope: Scope) -> Known:
        """The body of a function whose parameters are bound."""
        elaboration = self.state.elaboration
        whole = elaboration.record.types.get(id(fn))
        type_ = elaboration.state.resolve(whole) if whole is not None else elaboration.type
        assert isinstance(type_, Fn)
        return argument(self.state, self.block(fn.body, scope), type_.result)

    def block(self, block: ast.Block, scope: Scope) -> Known:
        inner = Scope(scope.module, scope.before, scope, {}, scope.around)
        for binding in block.bindings:
            pattern, value = binding.pattern, binding.value
            if isinstance(value, ast.Fn) and isinstance(pattern, ast.NamePattern):
                found: Known = Closure(value, inner, pattern.name)
                inner = Scope(scope.module, scope.before, inner, {}, scope.around)
            else:
                self.state.hint = pattern.name if isinstance(pattern, ast.NamePattern) else ""
                named = isinstance(pattern, ast.NamePattern)
                found = bound_to(self, value, inner) if named else self.expr(value, inner)
                self.state.hint = ""
            self.bind(pattern, found, inner.names)
        return self.expr(block.result, inner)

    def bind(self, pattern: ast.Pattern, value: Known, names: dict[str, Known]) -> None:
        if isinstance(pattern, ast.NamePattern):
            if pattern.name != "_":
                names[pattern.name] = value
            return
        if isinstance(pattern, ast.RecordPattern):
            for field in pattern.items:
                self.bind(field, self._field(value, field.name), names)
            return
        for i, item in enumerate(pattern.items):
            name = item.name if isinstance(item, ast.NamePattern) else ""
            self.bind(item, self._item(value, i, name), names)

    def _field(self, value: Known, name: str) -> Known:
        """A field of a record: its place depends on the fields that the record has."""
        return self._item(value, _names(value).index(name), name)

    def _item(self, value: Known, index: int, name: str) -> Known:
        if isinstance(value, Bundle | Structure):
            return value.items[index]
        assert isinstance(value, Value) and isinstance(value.type, Tuple)
        part = Value(name, value.type.items[index], value.depth, None, value.foreign)
        self.state.emit(Item(part, value, index))
        return part

    # --- expressions ---

    def expr(self, expr: ast.Expr, scope: Scope) -> Known:
        match expr:
            case ast.Name():
                return value_of(self, expr, scope)
            case ast.Number() | ast.Negate(ast.Number(), _):
                return self._number(expr)
            case ast.Negate(operand, _) if isinstance(size := self.state.size_of(expr), DimValue):
                self.expr(operand, scope)
                return SizeOf(size.dim, "", size.number)
            case ast.Negate(operand, span) | ast.Not(operand, span):
                use = self.state.elaboration.record.uses[span]
                return use_operator(self, use, (operand,), (), span, scope)
            case ast.Call():
                return self._call(expr, scope)
            case ast.Infix():
                return self._infix(expr, scope)
            case ast.Fn():
                value = self.state.elaboration.record.rewritten.get(expr.span, expr)
                assert isinstance(value, ast.Fn)
                return Closure(value, scope, "", self.state.elaboration, self.state.depth + 1)
            case ast.TupleExpr(items, _):
                return bundle([self.expr(item, scope) for item in items])
            case ast.Record():
                return self._record(expr, scope)
            case ast.Field():
                if is_imported(expr, scope):
                    return imported(self, expr, scope)
                return self._field(self.expr(expr.record, scope), expr.name)
            case ast.OperatorName(op, _):
                return OperatorFunction(written_as(op))
            case ast.If(span=span):
                use = self.state.elaboration.record.uses[span]
                return use_operator(self, use, expr.parts, (), span, scope)
            case ast.Subscript():
                return subscript(self, expr, scope)
            case ast.ListExpr(items, span) if span in self.state.elaboration.record.uses:
                use = self.state.elaboration.record.uses[span]
                return use_operator(self, use, items, (), span, scope)
            case ast.ListExpr():
                measure(self, expr, scope)
                type_ = self.state.size_of(expr)
                assert isinstance(type_, ShapeValue)
                return ShapeOf(type_.shape)
            case ast.String() | ast.Broken():
                raise AssertionError(expr)

    def _record(self, expr: ast.Record, scope: Scope) -> Known:
        base = None if expr.base is None else self.expr(expr.base, scope)
        fields: dict[str, Known] = {}
        for field in expr.fields:
            fields[field.name] = self.expr(field.value, scope)
        if base is not None:
            for name in _names(base):
                if name not in fields:
                    fields[name] = self._field(base, name)
        names = tuple(sorted(fields))
        return bundle([fields[name] for name in names], names)

    def _argument(self, arg: ast.Expr | Default, callee: Known, span: Span, scope: Scope) -> Known:
        """An argument, or the default of a parameter that is left out."""
        if not isinstance(arg, Default):
            return self.expr(arg, scope)
        assert isinstance(callee, Closure)
        param = next(p for p in callee.fn.params if p.name == arg.name)
        assert param.default is not None
        value = Closure(constant(param.default), callee.scope.within(), arg.name)
        type_ = self.state.elaboration.state.resolve(arg.type)
        assert isinstance(type_, Fn)
        return apply(self, value, [], type_, span)

    def _number(self, expr: ast.Number | ast.Negate) -> Operand:
        type_ = self.state.type_of(expr)
        if isinstance(type_, DimValue):
            return SizeOf(type_.dim, "", type_.number)
        assert isinstance(type_, Tensor)
        number = expr.operand if isinstance(expr, ast.Negate) else expr
        assert isinstance(number, ast.Number)
        return Number(-number.value if isinstance(expr, ast.Negate) else number.value, type_)

    def _infix(self, expr: ast.Infix, scope: Scope) -> Known:
        """The left spine is a loop, since chains are left-associative and may be long."""
        state = self.state
        spine: list[ast.Infix] = []
        left: ast.Expr = expr
        while isinstance(left, ast.Infix):
            spine.append(left)
            left = left.left
        hint = state.take_hint()
        found = self.expr(left, scope)
        for node in reversed(spine):
            right = self.expr(node.right, scope)
            size = state.size_of(node)
            if isinstance(size, DimValue):
                found = SizeOf(size.dim, "", size.number)
                continue
            use = state.elaboration.record.uses[node.span]
            type_ = type_at(state, use)
            if node is expr:
                state.hint = hint
            operands = coerce_all(state, (found, right), type_.params)
            found = apply_operator(state, use.operator, operands, {}, type_, use.type, node.span)
        return found

    def _call(self, call: ast.Call, scope: Scope) -> Known:
        state, record = self.state, self.state.elaboration.record
        if call.span in record.rewritten:
            return self.expr(record.rewritten[call.span], scope)
        if isinstance(call.function, ast.Name):
            callee = look_up(self, call.function.name, scope)
        elif isinstance(call.function, ast.Field) and is_imported(call.function, scope):
            callee = look_up(self, call.function.dotted, scope)
        elif isinstance(call.function, ast.Fn):  # as if it had a name
            callee = Closure(call.function, scope, "")
        else:
            callee = self.expr(call.function, scope)
        if isinstance(callee, OperatorFunction) and call.span in record.uses:
            use = record.uses[call.span]
            return use_operator(self, use, call.args, call.attributes, call.span, scope)
        hint = state.take_hint()
        given = record.arguments.get(call.span, call.args)
        args = [self._argument(arg, callee, call.span, scope) for arg in given]
        type_ = state.elaboration.state.resolve(record.calls[call.span])
        assert isinstance(type_, Fn)
        state.hint = hint
        return apply(self, callee, args, type_, call.span)


def _names(value: Known) -> tuple[str, ...]:
    """The names of the fields of a record."""
    if isinstance(value, Bundle | Structure):
        names = value.names
    else:
        assert isinstance(value, Value) and isinstance(value.type, Record)
        names = value.type.names
    assert names is not None
    return names


def _with_sizes(type_: Fn, own: Type) -> Fn:
    """The type that an operator gives a function, with the sizes that the function itself takes."""
    if not isinstance(own, Fn) or len(own.params) != len(type_.params):
        return type_
    each = zip(type_.params, own.params, strict=True)
    return Fn(
        tuple([mine if isinstance(mine, DimValue | ShapeValue) else given for given, mine in each]),
        type_.result,
    )


def _takes_matrices(type_: Fn) -> bool:
    """Whether a function of rows is given tensors whose own rows may vary in size."""
    return any(isinstance(p, Tensor) and len(p.shape) > 1 and runtime(p) for p in type_.params)
