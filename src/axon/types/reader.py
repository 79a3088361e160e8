"""From the syntax of types to types: names become variables."""

from __future__ import annotations

from axon.diagnostics import Diagnostic, error
from axon.source import Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Dim, Poly
from axon.types.elements import ANY, BIT, ELEMENTS, TENSORS, called_elsewhere
from axon.types.rows import RowCall
from axon.types.scope import Aliases, Scope
from axon.types.type import (
    UNKNOWN,
    AtLeast,
    Broadcast,
    DimBroadcast,
    DimValue,
    Either,
    Elem,
    Fn,
    Relation,
    Shape,
    ShapeValue,
    Stacked,
    Tensor,
    Tuple,
    Type,
    record,
    shape_rank,
    shape_size,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, given_at, made_at
from axon.types.written import EXTREMA, apply_written


class Reader:
    """Reads types into a scope. `user` names are shown as they are written; `depth` is that of the
    tensors.

    In a signature (`quantified`) `?k` is a run-time size. In an annotation of a `fn` it is a name
    for one that the body makes, so a parameter cannot have it. A function argument of a built-in
    operator can: each call of that function gets a size of its own. A `given` type has its own
    sizes that vary, which those of an annotation stand for.
    """

    def __init__(
        self,
        scope: Scope,
        level: int,
        depth: int,
        user: bool = True,
        quantified: bool = False,
        aliases: Aliases = lambda _: None,
    ) -> None:
        self.scope = scope
        self.aliases = aliases
        self.caller: Reader | None = None
        self.bound: dict[str, ast.IndexExpr] = {}
        self.level = level
        self.depth = depth
        self.user = user
        self.quantified = quantified
        self.in_parameter = False
        self.given = False
        self._functions = 0
        self._nesting = 0
        self.places: dict[int, Span] = {}
        """The conditions among the relations that were written as such."""
        self.relations: list[Relation] = []
        self.stacked: list[tuple[Stacked, Span]] = []
        self.call = RowCall(depth)
        self.choices: list[Either] = []
        self.diagnostics: list[Diagnostic] = []

    # --- types ---

    def read_type(self, expr: ast.TypeExpr) -> Type:
        match expr:
            case ast.TensorType(elem, shape, span):
                ours = self._foreign(elem, span) if elem not in BIT else None
                sizes = self._sizes(self.shape(shape), shape.span)
                return Tensor(self.elem(ours or elem), sizes)
            case ast.NamedType(name, span) if name in self.bound:
                return self._outside(name, span)
            case ast.NamedType(name, span) if self._is_alias(name):
                return self._alias(name, (), span)
            case ast.AliasType(name, args, span):
                return self._alias(name, args, span)
            case ast.RecordType():
                return self._record(expr)
            case ast.NamedType(name, span):
                ours = self._foreign(name, span)
                if ours:
                    return Tensor(self.elem(ours), ())
                if name in self.scope.rows:
                    text = f"`{name}` stands for the other fields of a record"
                    self.error("AX109", text, span, "not a type on its own")
                if name not in self.scope.types:
                    self.scope.types[name] = TypeVar(name, self.level, self.user, self.here)
                if self.quantified and self._nesting > 1:
                    self.scope.types[name].wide = True
                return self.scope.types[name]
            case ast.TupleType(items, _):
                return Tuple(tuple(self.read_type(item) for item in items))
            case ast.FnType(params, result, _):
                self._functions += 1
                self._nesting += 1
                taken = tuple(self._read_param(p) for p in params)
                self._functions -= 1
                made = self.read_type(result)
                self._nesting -= 1
                return Fn(taken, made)
            case ast.ShapeValueType(shape, _):
                return ShapeValue(self._sizes(self.shape(shape), shape.span))
            case ast.DimValueType(dim, _):
                return DimValue(self.dim(dim))

    def _record(self, expr: ast.RecordType) -> Type:
        fields = {each.name: self.read_type(each.type) for each in expr.fields}
        if not expr.row:
            return record(fields)
        name, names = expr.row, frozenset(fields)
        row = self.scope.types.get(name)
        if row is not None and self.scope.rows.get(name) != names:
            text = (
                f"`{name}` stands for other fields elsewhere"
                if name in self.scope.rows
                else f"`{name}` is a type and the other fields of a record"
            )
            self.error("AX109", text, expr.span, help="use another name here")
            row = None
        if row is None:
            row = TypeVar(name, self.level, self.user, self.here, row=True)
            self.scope.types[name] = row
            self.scope.rows[name] = names
        return record(fields, row)

    # --- aliases ---

    def _is_alias(self, name: str) -> bool:
        return name[:1].isupper() or self.aliases(name) is not None

    def _alias(self, name: str, args: tuple[ast.IndexExpr, ...], span: Span) -> Type:
        """The type that a name stands for. Its own names are fresh at each use."""
        alias = self.aliases(name)
        if alias is None and (ours := self._foreign(name, span)):
            return Tensor(ours, ())
        if alias is None:
            help = (
                "a tensor is written `f32 [n,m]`, one of any element type and shape `t s`"
                if name.rpartition(".")[2] in TENSORS
                else "define it before: `type Block(d) = { w : f32 [d,d] };`"
            )
            self.error("AX219", f"there is no type `{name}`", span, "not defined", help)
            return UNKNOWN
        if alias.broken:
            return UNKNOWN
        if len(args) != len(alias.params):
            wanted = f"{len(alias.params)} argument{'' if len(alias.params) == 1 else 's'}"
            text = f"the type `{name}` takes {wanted}, {len(args)} given"
            form = f"{name}({', '.join(alias.params)})" if alias.params else name
            self.error("AX203", text, span, f"`{form}`")
            return UNKNOWN
        inner = Reader(Scope(), self.level, self.depth, False, self.quantified, alias.known.get)
        inner.caller = self
        inner.bound = dict(zip(alias.params, args, strict=True))
        inner.in_parameter, inner.given = self.in_parameter, self.given
        inner._functions, inner._nesting = self._functions, self._nesting
        inner.relations, inner.diagnostics = self.relations, self.diagnostics
        found = inner.read_type(alias.type)
        self.scope.ragged = self.scope.ragged or inner.scope.ragged
        return found

    def _outside(self, name: str, span: Span) -> Type:
        """A parameter of an alias that is used as a type."""
        arg = self.bound[name]
        assert self.caller is not None
        if isinstance(arg, ast.IndexName):
            return self.caller.read_type(ast.NamedType(arg.name, arg.span))
        self.error("AX005", f"`{name}` is a type, a size is given", arg.span, "not a type")
        return UNKNOWN

    def _read_param(self, expr: ast.TypeExpr) -> Type:
        """A parameter of an operator, which has no run-time sizes; its result may."""
        if not self.quantified:
            return self.read_type(expr)
        self.in_parameter = True
        type_ = self.read_type(expr)
        self.in_parameter = False
        return type_

    def elem(self, name: str) -> Elem:
        if name in BIT:
            return name
        arg = self.bound.get(name)
        if arg is not None:
            assert self.caller is not None
            if isinstance(arg, ast.IndexName):
                return self.caller.elem(arg.name)
            self.error("AX005", f"`{name}` is an element type", arg.span, "not an element type")
        if name not in self.scope.elems:
            self.scope.elems[name] = ElemVar(name, self.level, self.user, ANY)
        return self.scope.elems[name]

    def _foreign(self, name: str, span: Span) -> str | None:
        """Our name for an element type that is written as elsewhere, which is an error; in an alias
        it was reported where that is defined.
        """
        ours = called_elsewhere(name)
        if ours is None:
            return None
        if self.caller is not None:
            return ours.partition(" ")[0]
        place = Span(span.source, span.start, span.start + len(name))
        listed = f"{', '.join(ELEMENTS[:-1])} and {ELEMENTS[-1]}"
        self.error(
            "AX214",
            f"the element type `{name}` is {ours} in Axon"
            if ours
            else f"Axon has no element type `{name}`",
            place,
            "not an element type here",
            help=f"the element types are {listed}" if not ours else None,
        )
        return ours.partition(" ")[0]

    def _sizes(self, shape: Shape, span: Span) -> Shape:
        """Computed sizes that might be negative are checked."""
        for item in shape:
            if isinstance(item, int) and item < 0:
                self.error("AX103", f"a size cannot be negative: this one is {item}", span)
            elif isinstance(item, Poly) and not dims.is_nonnegative(item):
                self.relations.append(AtLeast(item, silent=True))
        return shape

    # --- shapes ---

    def shape(self, expr: ast.ShapeExpr) -> Shape:
        match expr:
            case ast.Dims(items, span):
                return self._dims(items, span)
            case ast.IndexName(name, _, _) if name in self.bound and self.caller is not None:
                return self.caller.as_shape(self.bound[name])
            case ast.IndexName():
                var = self._name(expr, ShapeVar)
                return (var,) if isinstance(var, ShapeVar) else ()
            case ast.Append(parts, _):
                word: list[Dim | ShapeVar] = []
                for part in parts:
                    if isinstance(part, ast.Dims):
                        word.extend(self._dims(part.items, part.span, len(word)))
                    else:
                        word.extend(self.shape(part))
                return tuple(word)
            case ast.BroadcastOf(args, _):
                result = ShapeVar("", self.level, scope=made_at(self.depth))
                self.relations.append(Broadcast((result,), tuple(self.shape(a) for a in args)))
                return (result,)

    def _dims(self, items: tuple[ast.DimExpr, ...], span: Span, before: int = 0) -> Shape:
        word: list[Dim] = []
        for item in items:
            if isinstance(item, ast.Star):
                if not word and not before:
                    self.error(
                        "AX105",
                        "a ragged dimension needs a dimension before it",
                        item.span,
                        "varies over nothing",
                        help="write the dimension that its size varies over first, as in [n,*]",
                    )
                self.scope.ragged = True
                word.append(self._star(item))
            else:
                word.append(self.dim(item))
                self._check_varying(item, word[-1])
        return tuple(word)

    @property
    def here(self) -> int:
        """The scope of a named size: a call receives it, or makes it."""
        return given_at(self.depth) if self.in_parameter else made_at(self.depth)

    def _star(self, star: ast.Star) -> DimVar:
        """A size that varies from row to row. Whether it varies inside a row as well depends on the
        arguments. The same name is the same size.
        """
        name = star.name
        known = self.scope.index.get(name) if name else None
        if isinstance(known, DimVar) and known.over:
            return known
        if known is not None:
            self._clash(name, star.span, "one size" if isinstance(known, DimVar) else "a shape")
        derived = self.given and self.in_parameter
        user = self.user and bool(name)
        made = DimVar(name, self.level, user, self.here, runtime=True, over=1, derived=derived)
        if name and known is None:
            self.scope.index[name] = made
            self.scope.places[name] = star.span
        return made

    def _check_varying(self, item: ast.DimExpr, dim: Dim) -> None:
        if isinstance(item, ast.IndexName) and isinstance(dim, DimVar) and dim.over:
            self._clash(item.name, item.span, "one that varies")

    def _clash(self, name: str, span: Span, was: str) -> None:
        now = "one size" if was == "one that varies" else "one that varies"
        first = self.scope.places.get(name)
        self.error(
            "AX109",
            f"`{name}` is {was} and {now}",
            span,
            f"{now} here",
            help="give one of the two another name",
            first=(first, f"{was} here") if first is not None else None,
        )

    # --- dimensions ---

    def dim(self, expr: ast.DimExpr) -> Dim:
        operations: list[ast.DimOp] = []
        while isinstance(expr, ast.DimOp):  # chains are left-associative and may be long
            operations.append(expr)
            expr = expr.left
        addends = [self._operand(expr)]
        for operation in reversed(operations):
            right = self.dim(operation.right)
            if operation.op == "+":
                addends.append(right)
            else:
                addends = [self._apply(operation, dims.total(addends), right)]
        return addends[0] if len(addends) == 1 else dims.total(addends)

    def _operand(self, expr: ast.DimExpr) -> Dim:
        match expr:
            case ast.DimConst(value, _):
                return value
            case ast.IndexName(name, _, _):
                if name in self.scope.given:
                    return self.scope.given[name]
                if name in self.bound and self.caller is not None:
                    return self.caller.as_dim(self.bound[name])
                var = self._name(expr, DimVar)
                return var if isinstance(var, DimVar) else 0
            case ast.Star(span):
                self.error("AX105", "`*` is a dimension by itself", span, "not part of a sum")
                return 0
            case ast.DimCall(function, args, _):
                parts = tuple(self.dim(a) for a in args)
                if function == "either":
                    text = (
                        "`either` must be the entire right side of an equation: `?k = either(n, m)`"
                    )
                    self.error("AX005", text, expr.span)
                    return 0
                if function == "broadcast":
                    result = DimVar("", self.level, scope=made_at(self.depth))
                    self.relations.append(DimBroadcast(result, parts))
                    return result
                return EXTREMA[function](*parts)
            case ast.ShapeMeasure(function, shape, _):
                word = self.shape(shape)
                return shape_size(word) if function == "size" else shape_rank(word)
            case ast.DimOp():
                return self.dim(expr)

    def _apply(self, operation: ast.DimOp, left: Dim, right: Dim) -> Dim:
        written = apply_written(operation.op, left, right)
        if written.problem is not None:
            self.error(*written.problem, operation.span)
        if written.guard is not None:
            self.relations.append(written.guard)
        return written.dim

    def _name(
        self, expr: ast.IndexName, kind: type[DimVar] | type[ShapeVar]
    ) -> DimVar | ShapeVar | None:
        name = expr.name
        own = self.in_parameter and self._functions > (1 if self.quantified else 0)
        if expr.runtime and self.in_parameter and not own:
            self.error(
                "AX108",
                f"the size `?{name}` of a parameter is known when the function is called",
                expr.span,
                "not a run-time size",
                help=f"write `{name}`",
            )
        known = self.scope.index.get(name)
        if known is None:
            runtime = expr.runtime and self.quantified
            scope = self.here
            if expr.runtime and own:  # each call of a function that is taken is given it
                scope = given_at(self.depth + 1) if self.quantified else made_at(self.depth)
            known = kind(name, self.level, self.user, scope=scope, runtime=runtime)
            self.scope.index[name] = known
            self.scope.places[name] = expr.span
        elif not isinstance(known, kind):
            was, now = (
                ("a dimension", "a shape") if kind is ShapeVar else ("a shape", "a dimension")
            )
            first = self.scope.places.get(name)
            self.error(
                "AX109",
                f"`{name}` is {was} and {now}",
                expr.span,
                f"{now} here",
                help="give one of the two another name",
                first=(first, f"{was} here") if first is not None else None,
            )
            return None
        return known

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        label: str = "",
        help: str | None = None,
        first: tuple[Span, str] | None = None,
    ) -> None:
        found = error(code, message, span, label, help)
        if first is not None:
            found = found.with_label(*first)
        self.diagnostics.append(found)

    def conditions_with_places(self) -> list[tuple[Relation, Span | None]]:
        """Every relation read so far, with the span of its condition if it was written as one."""
        return [(r, self.places.get(i)) for i, r in enumerate(self.relations)]

    def as_shape(self, side: ast.IndexExpr) -> Shape:
        match side:
            case ast.Dims() | ast.Append() | ast.BroadcastOf() | ast.IndexName():
                return self.shape(side)
            case _:
                self.error("AX109", "a dimension is used where a shape is expected", side.span)
                return ()

    def as_dim(self, side: ast.IndexExpr) -> Dim:
        match side:
            case ast.BroadcastOf(args, _):
                result = DimVar("", self.level, scope=made_at(self.depth))
                self.relations.append(DimBroadcast(result, tuple(self.as_dim(a) for a in args)))
                return result
            case ast.Dims(_, span) | ast.Append(_, span):
                self.error("AX109", "a shape is used where a dimension is expected", span)
                return 0
            case _:
                return self.dim(side)
