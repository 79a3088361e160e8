"""Types, shapes and dimensions as syntax trees: the trees that the parser makes of what `Show`
writes. The inverse is `types/read.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.source import Source, Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.dim import Atom, Dim, FloorDiv, Max, Min, Size, Vast
from axon.types.show import Names, Quotient, Show, Term, as_one_extremum, balanced
from axon.types.type import (
    AtLeast,
    DimValue,
    Fn,
    Record,
    Shape,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
)
from axon.types.variables import DimVar, ShapeVar, TypeVar, is_ragged

NOWHERE = Span(Source("", ""), 0, 0)
ZERO = ast.DimConst(0, NOWHERE)


@dataclass(frozen=True, slots=True)
class Trees:
    """The notation: the names of variables; `mods`, whether a remainder is written with `mod`,
    which expressions do not have.
    """

    names: Names = field(default_factory=Names)
    mods: bool = True

    # --- types ---

    def type(self, type_: Type) -> ast.TypeExpr:
        match type_:
            case Tensor(elem, shape):
                name = elem if isinstance(elem, str) else self.names(elem)
                return ast.TensorType(name, self.shape(shape), NOWHERE)
            case Record(items, names, rest):
                fields = tuple(
                    ast.FieldType(name, self.type(item), NOWHERE)
                    for name, item in zip(names, items, strict=True)
                )
                return ast.RecordType(fields, "" if rest is None else self.names(rest), NOWHERE)
            case Tuple(items):
                return ast.TupleType(tuple(map(self.type, items)), NOWHERE)
            case Fn(params, result):
                return ast.FnType(tuple(map(self.type, params)), self.type(result), NOWHERE)
            case TypeVar():
                return ast.NamedType(self.names(type_), NOWHERE)
            case ShapeValue(shape):
                return ast.ShapeValueType(self.shape(shape), NOWHERE)
            case DimValue(dim):
                return ast.DimValueType(self.dim(dim), NOWHERE)
            case Unknown():
                raise ValueError("what is not known cannot be written")

    def shape(self, shape: Shape) -> ast.ShapeExpr:
        parts: list[ast.ShapeExpr] = []
        run: list[ast.DimExpr] = []
        for item in shape:
            if not isinstance(item, ShapeVar):
                run.append(self.dim(item))
                continue
            if run:
                parts.append(ast.Dims(tuple(run), NOWHERE))
                run = []
            parts.append(self._name(item))
        if run or not parts:
            parts.append(ast.Dims(tuple(run), NOWHERE))
        return parts[0] if len(parts) == 1 else ast.Append(tuple(parts), NOWHERE)

    def at_least(self, relation: AtLeast) -> ast.Relation:
        """`dim >= 0` with positive terms on both sides."""
        left, op, right = balanced(relation.dim, ">=", "<=")
        return ast.Relation(op, self.dim(left), self.dim(right), NOWHERE)

    # --- dimensions ---

    def dim(self, dim: Dim) -> ast.DimExpr:
        if isinstance(dim, int):
            return ast.DimConst(dim, NOWHERE)
        if any(is_ragged(var) for var in dims.variables(dim)):
            given = self.names.given.get(dim, "") if isinstance(dim, DimVar) else ""
            return ast.Star(NOWHERE, given)
        if isinstance(dim, DimVar):
            return self._variable(dim)
        inside = as_one_extremum(dim)
        if inside is not None:
            return self._extremum(*inside)
        terms = Show(self.names, mods=self.mods).terms(dim)
        return self._sum(terms)

    def _sum(self, terms: list[Term]) -> ast.DimExpr:
        found: ast.DimExpr | None = None
        for term in terms:
            first = found is None
            product = self._product(term, signed=first)
            if first and (term.coefficient != -1 or not term.factors):
                found = product
            else:
                op = "+" if term.coefficient > 0 else "-"
                found = ast.DimOp(op, found or ZERO, product, NOWHERE)
        return found or ZERO

    def _product(self, term: Term, signed: bool) -> ast.DimExpr:
        size = abs(term.coefficient)
        if signed and (size != 1 or not term.factors):
            size = term.coefficient
        factors = [self._factor(each) for each in term.factors]
        if size != 1 or not factors:
            factors.insert(0, ast.DimConst(size, NOWHERE))
        found = factors[0]
        for factor in factors[1:]:
            found = ast.DimOp("*", found, factor, NOWHERE)
        return found

    def _factor(self, factor: Atom | Quotient) -> ast.DimExpr:
        match factor:
            case DimVar():
                return self._variable(factor)
            case Size(args=(shape,)):
                return ast.ShapeMeasure("size", self._name(shape), NOWHERE)
            case FloorDiv(args=(top, bottom)):
                return ast.DimOp("/", self.dim(top), self.dim(bottom), NOWHERE)
            case Quotient(op, top, bottom):
                return ast.DimOp(op, self.dim(top), self.dim(bottom), NOWHERE)
            case Min(args=parts) | Max(args=parts):
                return self._extremum("min" if isinstance(factor, Min) else "max", list(parts))
            case Vast():
                raise ValueError("a dimension that is too large to keep cannot be written")

    def _extremum(self, word: str, parts: list[Dim]) -> ast.DimExpr:
        ordered = sorted(parts, key=lambda part: isinstance(part, int))
        return ast.DimCall(word, tuple(map(self.dim, ordered)), NOWHERE)

    def _variable(self, var: DimVar) -> ast.DimExpr:
        if var.rank_of is not None:
            return ast.ShapeMeasure("rank", self._name(var.rank_of), NOWHERE)
        return self._name(var)

    def _name(self, var: DimVar | ShapeVar) -> ast.IndexName:
        return ast.IndexName(self.names(var), var.runtime and not is_ragged(var), NOWHERE)


def as_expression(index: ast.IndexExpr) -> ast.Expr:
    """A dimension or a shape as an expression: `[n, 2*m] @ s`."""
    match index:
        case ast.IndexName(name, _, _):
            return ast.Name(name, NOWHERE)
        case ast.DimConst(value, _):
            number = ast.Number(abs(value), "int", str(abs(value)), NOWHERE)
            return ast.Negate(number, NOWHERE) if value < 0 else number
        case ast.DimOp("-", ast.DimConst(0, _), right, _):
            return ast.Negate(as_expression(right), NOWHERE)
        case ast.DimOp(op, left, right, _):
            a, b = as_expression(left), as_expression(right)
            return ast.Infix(op, a, b, NOWHERE, NOWHERE)
        case ast.DimCall(function, args, _):
            given = tuple(map(as_expression, args))
            return ast.Call(ast.Name(function, NOWHERE), given, (), NOWHERE)
        case ast.ShapeMeasure(function, shape, _):
            of = (as_expression(shape),)
            return ast.Call(ast.Name(function, NOWHERE), of, (), NOWHERE)
        case ast.Dims(items, _):
            return ast.ListExpr(tuple(map(as_expression, items)), NOWHERE)
        case ast.Append(parts, _):
            found = as_expression(parts[0])
            for part in parts[1:]:
                found = ast.Infix("@", found, as_expression(part), NOWHERE, NOWHERE)
            return found
        case ast.Star() | ast.BroadcastOf():
            raise ValueError("no expression is this size")
