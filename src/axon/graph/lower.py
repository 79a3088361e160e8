"""From a definition to its graph at given argument types.

The tree is evaluated once, with values of the graph in place of tensors: functions are applied as
they are met, so none is left but those that operators take. A function of the file that is called
with plain values becomes a graph of its own, made once for each list of argument types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from axon.diagnostics import Diagnostic, error
from axon.graph import ragged
from axon.graph.checks import place_checks
from axon.graph.graph import (
    Alias,
    Apply,
    Bundle,
    Call,
    Extern,
    Function,
    Graph,
    Item,
    Measure,
    Node,
    Number,
    Operand,
    OperatorFunction,
    ShapeOf,
    SizeOf,
    Value,
)
from axon.graph.module import Module
from axon.graph.scope import (
    Closure,
    Declared,
    Known,
    NotAValue,
    Scope,
    Stop,
    constant,
    made_outside,
    operand_type,
    plain,
    renamed,
)
from axon.graph.tidy import tidy
from axon.inference.elaborate import Elaboration, elaborate
from axon.inference.environment import Entry, Environment
from axon.inference.infer import Inference, Prelude
from axon.inference.record import Use
from axon.ops import OPERATORS, Operator
from axon.solver.constraints import Guard
from axon.source import Span
from axon.syntax import ast, mentioned
from axon.types.show import Show
from axon.types.type import (
    DimValue,
    Fn,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    relation_variables,
)

MOST_NODES = 200_000

Library = Callable[[str], tuple[Module, str, int] | None]
"""Where a name of the standard library is."""


def lower(
    module: Module,
    name: str,
    params: Sequence[Type | None],
    prelude: Prelude,
    library: Library,
) -> Graph | list[Diagnostic]:
    """The graph of a definition at these argument types."""
    place = module.find(name, len(module.items))
    assert place is not None
    shared = Shared(prelude, library)
    try:
        made = shared.graph(*place, params)
        return replace(made, result=_as_tensors(made.result))
    except Stop as stop:
        return stop.diagnostics


def _as_tensors(result: Operand) -> Operand:
    """Sizes that are given to the caller are tensors of integers."""
    match result:
        case SizeOf(dim, ""):
            return SizeOf(dim, "i64")
        case ShapeOf(shape, ""):
            return ShapeOf(shape, "i64")
        case Bundle(items):
            return Bundle(tuple(_as_tensors(item) for item in items))
        case _:
            return result


class Shared:
    """What the graphs of one program have in common."""

    def __init__(self, prelude: Prelude, library: Library) -> None:
        self.prelude = prelude
        self.library = library
        self.graphs: dict[tuple[int, str, int, str], Graph] = {}
        self.elaborations: dict[tuple[int, int, Fn], tuple[Closure, Elaboration]] = {}
        self.count = 0

    def graph(
        self,
        module: Module,
        name: str,
        at: int,
        params: Sequence[Type | None],
        result: Type | None = None,
    ) -> Graph:
        item = module.items[at]
        assert isinstance(item, ast.Binding)
        fn = item.value if isinstance(item.value, ast.Fn) else constant(item.value)
        found = elaborate(
            fn,
            lambda _: module.environment(at, fn),
            self.prelude,
            params,
            result,
            name=name,
            concrete=True,
        )
        if isinstance(found, list):
            raise Stop(found)
        lowering = Lowering(self, found)
        values = tuple(
            Value(param.name, type_, lowering.depth, made if made != type_ else None)
            for param, type_, made in zip(
                fn.params, found.type.params, map(found.as_made, found.found.params), strict=True
            )
        )
        scope = Scope(module, at, None, {}, found)
        scope.names.update((p.name, v) for p, v in zip(fn.params, values, strict=True))
        known = lowering.result(fn, scope, found)
        result_ = lowering.part_of(known, fn.body.result.span, "a function cannot be a result")
        if isinstance(item.pattern, ast.TuplePattern):
            names: dict[str, Known] = {}
            lowering.bind(item.pattern, result_, names)
            result_ = lowering.part_of(names[name], item.span)
        requires, later = _split(found.checks)
        every = [*lowering.first, *lowering.nodes]
        nodes = place_checks(values, every, [*later, *lowering.checks])
        return Graph(name, values, tidy(values, nodes, result_), result_, tuple(requires))


def _split(checks: Sequence[Guard]) -> tuple[list[Guard], list[Guard]]:
    """What can be checked before anything runs, and what speaks of run-time sizes."""
    later = [g for g in checks if any(v.runtime for v in relation_variables(g.relation))]
    return [g for g in checks if g not in later], later


class Lowering:
    """One graph in the making. `depth` is that of the function whose body is being evaluated."""

    def __init__(self, shared: Shared, elaboration: Elaboration) -> None:
        self.shared = shared
        self.elab = elaboration
        self.nodes: list[Node] = []
        self.first: list[Node] = []
        self.constants: dict[tuple[int, int, str, Type | None], Known] = {}
        self.checks: list[Guard] = []
        self.depth = elaboration.state.depth + 1
        self._hint = ""

    def emit(self, node: Node) -> None:
        self.shared.count += 1
        if self.shared.count > MOST_NODES:
            span = getattr(node, "span", None) or self.elab.fn.span
            raise Stop([error("AX402", f"the graph has more than {MOST_NODES} nodes", span)])
        self.nodes.append(node)

    def value(self, type_: Type, written: Type | None = None) -> Value:
        hint, self._hint = self._hint, ""
        made = self.elab.as_made(written) if written is not None else None
        return Value(hint, type_, self.depth, made if made != type_ else None)

    # --- functions ---

    def result(self, fn: ast.Fn, scope: Scope, elaboration: Elaboration) -> Known:
        """The body of a function whose parameters are bound."""
        whole = elaboration.record.types.get(id(fn))
        type_ = elaboration.state.resolve(whole) if whole is not None else elaboration.type
        assert isinstance(type_, Fn)
        return self.argument(self.block(fn.body, scope), type_.result)

    def block(self, block: ast.Block, scope: Scope) -> Known:
        inner = Scope(scope.module, scope.before, scope, {}, scope.around)
        for binding in block.bindings:
            pattern, value = binding.pattern, binding.value
            if isinstance(value, ast.Fn) and isinstance(pattern, ast.NamePattern):
                found: Known = Closure(value, inner, pattern.name)
                inner = Scope(scope.module, scope.before, inner, {}, scope.around)
            else:
                self._hint = pattern.name if isinstance(pattern, ast.NamePattern) else ""
                found = self.expr(value, inner)
                self._hint = ""
            self.bind(pattern, found, inner.names)
        return self.expr(block.result, inner)

    def bind(self, pattern: ast.Pattern, value: Known, names: dict[str, Known]) -> None:
        if isinstance(pattern, ast.NamePattern):
            if pattern.name != "_":
                names[pattern.name] = value
            return
        for i, item in enumerate(pattern.items):
            name = item.name if isinstance(item, ast.NamePattern) else ""
            self.bind(item, self.item(value, i, name), names)

    def item(self, value: Known, index: int, name: str) -> Known:
        if isinstance(value, Bundle):
            return value.items[index]
        assert isinstance(value, Value) and isinstance(value.type, Tuple)
        part = Value(name, value.type.items[index], value.depth)
        self.emit(Item(part, value, index))
        return part

    def apply(self, callee: Known, args: list[Known], type_: Fn, span: Span) -> Known:
        """Apply a function to arguments; `type_` is what it is here."""
        match callee:
            case OperatorFunction(operator):
                given = tuple(self.coerce(a, p) for a, p in zip(args, type_.params, strict=True))
                return self.operator(operator, given, {}, type_, type_, span)
            case Declared(name):
                given = tuple(self.coerce(a, p) for a, p in zip(args, type_.params, strict=True))
                result = self.value(type_.result)
                self.emit(Extern(result, name, given, span))
                return result
            case Closure():
                args = [self.argument(a, p) for a, p in zip(args, type_.params, strict=True)]
                if callee.elaboration is not None:
                    return self.inline(callee, callee.elaboration, args, type_)
                if callee.scope.outer is None and not callee.scope.names and plain(type_):
                    return self.call(callee, args, type_, span)
                return self.inline(callee, self.again(callee, type_), args, type_)
            case _:
                raise AssertionError(callee)

    def argument(self, value: Known, type_: Type) -> Known:
        return value if isinstance(type_, Fn) else self.coerce(value, type_)

    def inline(
        self, closure: Closure, elaboration: Elaboration, args: list[Known], type_: Fn
    ) -> Known:
        around = closure.scope
        before, depth = self.elab, self.depth
        self.elab = elaboration
        self.depth = elaboration.state.depth + 1 if closure.elaboration is None else closure.depth
        if closure.elaboration is None:
            args = [self.under_its_type(elaboration, i, arg) for i, arg in enumerate(args)]
        names = {p.name: a for p, a in zip(closure.fn.params, args, strict=True)}
        scope = Scope(around.module, around.before, around, names, elaboration)
        result = self.result(closure.fn, scope, elaboration)
        self.elab, self.depth = before, depth
        return self.seen_from_here(result, type_.result)

    def under_its_type(self, elaboration: Elaboration, index: int, arg: Known) -> Known:
        """An argument under the type that the function knows: sizes are read off it by that."""
        type_ = elaboration.type.params[index]
        made = elaboration.as_made(elaboration.found.params[index])
        if not isinstance(arg, Value) or (arg.type == type_ and made == type_):
            return arg
        inner = Value(elaboration.fn.params[index].name, type_, self.depth, made)
        self.emit(Alias(inner, arg))
        return inner

    def seen_from_here(self, result: Known, type_: Type) -> Known:
        """The result of a function under the type that its caller knows."""
        match result, type_:
            case Closure() | Declared() | OperatorFunction(), _:
                return result
            case Value(), _:
                if result.type == type_ and (
                    result.depth == self.depth or not ragged.runtime(type_)
                ):
                    return result
                outer = self.value(type_)
                self.emit(Alias(outer, result))
                return outer
            case Bundle(items), Tuple(types):
                parts = [self.seen_from_here(i, t) for i, t in zip(items, types, strict=True)]
                return Bundle(tuple(part for part in parts if not isinstance(part, NotAValue)))
            case _:
                return self.coerce(result, type_)

    def again(self, closure: Closure, type_: Fn) -> Elaboration:
        """Infer a function once more, at the types that it has here."""
        key = (id(closure), self.depth, type_)
        known = self.shared.elaborations.get(key)
        if known is not None:
            return known[1]
        around = closure.scope.around
        inner = made_outside(type_, self.depth)
        found = elaborate(
            closure.fn,
            lambda inference: self.types(inference, closure),
            self.shared.prelude,
            inner.params,
            inner.result,
            name=closure.name,
            names=around.names() if around is not None else None,
            depth=self.depth - 1,  # its body stands where it is called
            concrete=True,
        )
        if isinstance(found, list):
            raise Stop(found)
        self.checks += [g for g in _split(found.checks)[1] if g not in self.checks]
        self.shared.elaborations[key] = closure, found
        return found

    def types(self, inference: Inference, closure: Closure) -> Environment:
        """The types of the names that a function mentions."""
        scope = closure.scope
        outer = scope.module.environment(scope.before, closure.fn)
        inner = Environment(outer)
        for name in set(mentioned(closure.fn)):
            match scope.find(name):
                case None | Function():
                    pass
                case Closure() as other if other.scope.outer is None and not other.scope.names:
                    entry = other.scope.module.entry(other.name, other.scope.before + 1)
                    if entry is not None:
                        inner.names[name] = entry
                case Closure() as other:
                    env = self.types(inference, other)
                    pattern = ast.NamePattern(name, other.fn.span)
                    inference.bind(ast.Binding(pattern, other.fn, other.fn.span), env)
                    inner.names[name] = env.names[name]
                case Declared(declared):
                    entry = scope.module.entry(declared, scope.before)
                    if entry is not None:
                        inner.names[name] = entry
                case OperatorFunction():
                    pass
                case known:
                    inner.names[name] = Entry(operand_type(known))
        return inner

    def call(self, closure: Closure, args: list[Known], type_: Fn, span: Span) -> Known:
        """A function of a file becomes a graph of its own."""
        scope = closure.scope
        key = (id(scope.module), closure.name, scope.before, Show(depth=self.depth).type(type_))
        graph = self.shared.graphs.get(key)
        if graph is None:
            fresh = renamed(type_)
            graph = self.shared.graph(
                scope.module, closure.name, scope.before, fresh.params, fresh.result
            )
            self.shared.graphs[key] = graph
        result = self.value(type_.result)
        operands = tuple(self.coerce(a, p) for a, p in zip(args, type_.params, strict=True))
        self.emit(Call(result, graph, operands, span))
        return result

    def function(self, value: Known, type_: Fn, span: Span) -> Operand:
        """A function that an operator takes, as a graph in the graph."""
        if isinstance(value, OperatorFunction):
            return value
        nodes, self.nodes = self.nodes, []
        self.depth += 1
        params = tuple(Value("", t, self.depth) for t in type_.params)
        found = self.apply(value, list(params), type_, span)
        result = self.coerce(found, type_.result)
        self.depth -= 1
        nodes, self.nodes = self.nodes, nodes
        return Function(params, tuple(nodes), result)

    # --- expressions ---

    def expr(self, expr: ast.Expr, scope: Scope) -> Known:
        match expr:
            case ast.Name():
                return self.name(expr, scope)
            case ast.Number() | ast.Negate(ast.Number(), _):
                return self.number(expr)
            case ast.Negate(operand, span):
                return self.use(self.elab.record.uses[span], (operand,), (), span, scope)
            case ast.Call():
                return self.application(expr, scope)
            case ast.Infix():
                return self.infix(expr, scope)
            case ast.Fn():
                return Closure(expr, scope, "", self.elab, self.depth + 1)
            case ast.TupleExpr(items, _):
                return Bundle(tuple(self.part(item, scope) for item in items))
            case ast.OperatorName(op, _):
                return OperatorFunction(OPERATORS[op])
            case ast.ListExpr(items, _):
                type_ = self.elab.type_of(expr)
                assert isinstance(type_, ShapeValue)
                for item in items:
                    self.measure(item, scope)
                return ShapeOf(type_.shape)
            case ast.String() | ast.Broken():
                raise AssertionError(expr)

    def part(self, expr: ast.Expr, scope: Scope) -> Operand:
        return self.part_of(self.expr(expr, scope), expr.span)

    def part_of(
        self, found: Known, span: Span, text: str = "a function in a tuple cannot be run"
    ) -> Operand:
        if isinstance(found, Closure | Declared | OperatorFunction):
            raise Stop([error("AX403", text, span)])
        return found

    def number(self, expr: ast.Number | ast.Negate) -> Operand:
        type_ = self.elab.type_of(expr)
        if isinstance(type_, DimValue):
            return SizeOf(type_.dim)
        assert isinstance(type_, Tensor)
        number = expr.operand if isinstance(expr, ast.Negate) else expr
        assert isinstance(number, ast.Number)
        return Number(-number.value if isinstance(expr, ast.Negate) else number.value, type_)

    def name(self, expr: ast.Name, scope: Scope) -> Known:
        type_ = self.elab.type_of(expr) if id(expr) in self.elab.record.types else None
        if isinstance(type_, DimValue):
            return SizeOf(type_.dim)
        if isinstance(type_, ShapeValue):
            return ShapeOf(type_.shape)
        return self.look_up(expr.name, scope, type_)

    def look_up(self, name: str, scope: Scope, type_: Type | None = None) -> Known:
        found = scope.find(name)
        if found is not None:
            return found
        place = scope.module.find(name, scope.before)
        if place is None and name in OPERATORS:
            return OperatorFunction(OPERATORS[name])
        place = place or self.shared.library(name)
        assert place is not None, name
        module, known, at = place
        item = module.items[at]
        if isinstance(item, ast.OpDecl):
            return Declared(known)
        assert isinstance(item, ast.Binding)
        if isinstance(item.value, ast.Fn):
            return Closure(item.value, Scope(module, at), known)
        return self.top_level(module, known, at, item, type_)

    def top_level(
        self, module: Module, name: str, at: int, item: ast.Binding, type_: Type | None
    ) -> Known:
        """A value of a file: computed once, before everything else."""
        key = (id(module), at, name, type_)
        if key in self.constants:
            return self.constants[key]
        closure = Closure(constant(item.value), Scope(module, at), name)
        entry = module.types.get((name, at))
        whole = isinstance(item.pattern, ast.NamePattern)
        known = type_ if whole and type_ is not None else None
        if known is None and whole and entry is not None and not hasattr(entry.type, "variables"):
            known = entry.type
        found = elaborate(
            closure.fn,
            lambda _: module.environment(at, closure.fn),
            self.shared.prelude,
            (),
            known,
            name=name,
            concrete=True,
        )
        if isinstance(found, list):
            raise Stop(found)
        nodes, self.nodes = self.nodes, []
        value = self.inline(closure, found, [], found.type)
        names: dict[str, Known] = {}
        self.bind(item.pattern, value, names)
        self.first += self.nodes
        self.nodes = nodes
        self.constants[key] = names[name]
        return names[name]

    def infix(self, expr: ast.Infix, scope: Scope) -> Known:
        """Chains lean left and may be long, so the left spine is a loop."""
        spine: list[ast.Infix] = []
        left: ast.Expr = expr
        while isinstance(left, ast.Infix):
            spine.append(left)
            left = left.left
        hint, self._hint = self._hint, ""
        found = self.expr(left, scope)
        for node in reversed(spine):
            right = self.expr(node.right, scope)
            type_ = self.elab.type_of(node)
            if isinstance(type_, DimValue):
                found = SizeOf(type_.dim)
                continue
            use = self.elab.record.uses[node.span]
            fn_type = self.elab.state.resolve(use.type)
            assert isinstance(fn_type, Fn)
            if node is expr:
                self._hint = hint
            operands = (
                self.coerce(found, fn_type.params[0]),
                self.coerce(right, fn_type.params[1]),
            )
            found = self.operator(use.operator, operands, {}, fn_type, use.type, node.span)
        return found

    def application(self, call: ast.Call, scope: Scope) -> Known:
        function = call.function
        callee: Known
        if isinstance(function, ast.OperatorName):
            callee = OperatorFunction(OPERATORS[function.op])
        elif isinstance(function, ast.Name):
            callee = self.look_up(function.name, scope)
        else:
            callee = self.expr(function, scope)
        if isinstance(callee, OperatorFunction) and call.span in self.elab.record.uses:
            use = self.elab.record.uses[call.span]
            return self.use(use, call.args, call.attributes, call.span, scope)
        hint, self._hint = self._hint, ""
        args = [self.expr(arg, scope) for arg in call.args]
        type_ = self.elab.state.resolve(self.elab.record.calls[call.span])
        assert isinstance(type_, Fn)
        self._hint = hint
        return self.apply(callee, args, type_, call.span)

    # --- operators ---

    def use(
        self,
        use: Use,
        exprs: tuple[ast.Expr, ...],
        attributes: tuple[ast.Attribute, ...],
        span: Span,
        scope: Scope,
    ) -> Known:
        type_ = self.elab.state.resolve(use.type)
        assert isinstance(type_, Fn)
        hint, self._hint = self._hint, ""
        operands: list[Operand] = []
        for param, expr in zip(type_.params, exprs, strict=True):
            if isinstance(param, DimValue):
                self.measure(expr, scope)
                operands.append(SizeOf(param.dim))
            elif isinstance(param, ShapeValue) and isinstance(expr, ast.ListExpr):
                for item in expr.items:
                    self.measure(item, scope)
                operands.append(ShapeOf(param.shape))
            elif isinstance(param, Fn):
                operands.append(self.function(self.expr(expr, scope), param, expr.span))
            else:
                operands.append(self.coerce(self.expr(expr, scope), param))
        for attribute in attributes:
            for item in _items(attribute.value):
                self.measure(item, scope)
        self._hint = hint
        given = {name: self.attribute(use, value) for name, value in use.attributes.items()}
        return self.operator(use.operator, tuple(operands), given, type_, use.type, span)

    def attribute(self, use: Use, value: object) -> object:
        if isinstance(value, tuple):
            return tuple(self.attribute(use, item) for item in value)
        if isinstance(value, str) and value in use.given:
            dim = self.elab.state.store.dim(use.given[value])
            return dim if isinstance(dim, int) else SizeOf(dim)
        return value

    def operator(
        self,
        operator: Operator,
        operands: tuple[Operand, ...],
        attributes: dict[str, object],
        type_: Fn,
        written: Type,
        span: Span,
    ) -> Known:
        """Apply an operator. `written` is its type before what is known was put in."""
        if isinstance(type_.result, DimValue):
            return SizeOf(type_.result.dim)
        if isinstance(type_.result, ShapeValue):
            return ShapeOf(type_.result.shape)
        if operator.name == "identity":
            return operands[0]
        given = {**operator.defaults, **attributes}
        rows = ragged.row_operands(operator, operands, type_, written)
        assert isinstance(written, Fn)
        result = self.value(type_.result, written.result)
        self.emit(Apply(result, operator, operands, given, span, rows))
        return result

    def coerce(self, value: Known, type_: Type) -> Operand:
        """A value where one of this type is wanted: sizes become tensors, and tensors sizes."""
        match value, type_:
            case SizeOf(dim, ""), Tensor(elem, _):
                return SizeOf(dim, str(elem))
            case ShapeOf(shape, ""), Tensor(elem, _):
                return ShapeOf(shape, str(elem))
            case Value(), DimValue(dim) if not isinstance(value.type, DimValue):
                self.emit(Measure(value, (dim,)))
                return SizeOf(dim)
            case Value(), ShapeValue(shape) if not isinstance(value.type, ShapeValue):
                self.emit(Measure(value, shape))
                return ShapeOf(shape)
            case Bundle(items), Tuple(types):
                return Bundle(tuple(self.coerce(i, t) for i, t in zip(items, types, strict=True)))
            case Closure() | Declared(), _:
                raise Stop(
                    [error("AX403", "a function cannot be a result", self.elab.fn.body.result.span)]
                )
            case _:
                return value

    def measure(self, expr: ast.Expr, scope: Scope) -> None:
        """Compute the tensors inside a size, whose values are sizes from here on."""
        for dim, source in self.elab.record.data:
            if source is expr:
                known = self.elab.state.store.dim(dim)
                self.emit(Measure(self.coerce(self.expr(expr, scope), Tensor("i64", ())), (known,)))
                return
        match expr:
            case ast.Infix(op, left, right, _, _) if op in "+-*/":
                while isinstance(left, ast.Infix) and left.op in "+-*/":
                    self.measure(left.right, scope)
                    left = left.left
                self.measure(left, scope)
                self.measure(right, scope)
            case ast.Negate(operand, _):
                self.measure(operand, scope)
            case ast.Call(ast.Name("min" | "max", _), args, (), _) if len(args) > 1:
                for arg in args:
                    self.measure(arg, scope)
            case _ if id(expr) in self.elab.record.types:
                # a size by name, or `size(x)`: what it is of must have been computed
                if isinstance(self.elab.type_of(expr), DimValue) and isinstance(expr, ast.Call):
                    self.expr(expr, scope)
            case _:
                pass


def _items(expr: ast.Expr) -> tuple[ast.Expr, ...]:
    if isinstance(expr, ast.ListExpr):
        return tuple(item for part in expr.items for item in _items(part))
    return (expr,)
