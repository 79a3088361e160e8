"""The syntax tree, for this grammar:

program    = { import | op | alias | binding } [ expression ]
import     = 'import' STRING 'as' NAME ';'
op         = 'op' NAME ':' type [ where ] ';'
alias      = 'type' NAME [ '(' { NAME } ')' ] '=' type ';'
binding    = pattern '=' expression ';'
pattern    = NAME | '_' | '(' pattern ')' | pattern { ',' pattern } | '{' { NAME } '}'
expression = tuples, |>, or, and, not, comparisons, + -, * / // % @, unary -, **, calls, fields,
             subscripts, names, numbers, fn, if, lists, records
record     = '{' [ path '|' ] { NAME '=' expression } '}'
field      = expression '.' NAME
fn         = 'fn' '(' { NAME [ ':' type ] [ '=' expression ] } ')' [ ':' type ] [ where ] block
block      = '{' { binding } expression [ ';' ] '}'
if         = 'if' expression block 'else' ( block | if )
call       = expression '(' { expression | NAME '=' expression } ')'
subscript  = expression '[' item { ',' item } ']'
item       = expression | [ expression ] ':' [ expression ] [ ':' [ expression ] ] | '...' | 'None'

type       = ELEM [ shape ] | NAME | '(' { type } ')' | type '->' type
           | 'shape' shape | 'dim' dimension | NAME '(' { index } ')'
           | '{' [ NAME '|' ] { NAME ':' type } '}'
shape      = part { '@' part }
part       = NAME | '?'NAME | '[' { dimension } ']' | 'broadcast' '(' { shape } ')' | '(' shape ')'
dimension  = NUM | NAME | '?'NAME | '*' | infix + - * / mod | '(' op dimension dimension ')'
           | ( 'min' | 'max' | 'broadcast' ) '(' { dimension } ')'
           | ( 'size' | 'rank' ) '(' shape ')'
where      = 'where' condition { ',' condition }
condition  = side ( '=' | '>=' | '<=' | '>' | '<' ) side | 'broadcast' '(' { side } ')'
           | NAME ':' CLASS
"""

from __future__ import annotations

from axon.source import Source, Span
from axon.syntax.node import node

# --- shapes and dimensions -------------------------------------------------------------------


@node
class IndexName:
    """A name in a shape or a dimension: which of the two depends on its uses. `?k` is runtime."""

    name: str
    runtime: bool
    span: Span


@node
class DimConst:
    value: int
    span: Span


@node
class Star:
    """`*`, a dimension that varies inside the tensor; `*k` where it has a name."""

    span: Span
    name: str = ""


@node
class DimOp:
    """`left op right`, op one of + - * / mod."""

    op: str
    left: DimExpr
    right: DimExpr
    span: Span


@node
class DimCall:
    """`min`, `max` or `broadcast` of dimensions."""

    function: str
    args: tuple[DimExpr, ...]
    span: Span


@node
class ShapeMeasure:
    """`size(shape)` or `rank(shape)`: a dimension read off a shape."""

    function: str
    shape: ShapeExpr
    span: Span


@node
class Dims:
    """`[d, …]`, a shape of known rank."""

    items: tuple[DimExpr, ...]
    span: Span


@node
class Append:
    """`s @ t @ …`, at least two parts."""

    parts: tuple[ShapeExpr, ...]
    span: Span


@node
class BroadcastOf:
    """`broadcast(s, t, …)` as a shape, or, in a condition between plain names, of either kind."""

    args: tuple[ShapeExpr, ...]
    span: Span


DimExpr = DimConst | IndexName | Star | DimOp | DimCall | ShapeMeasure
ShapeExpr = Dims | IndexName | Append | BroadcastOf
IndexExpr = DimExpr | ShapeExpr

# --- conditions ------------------------------------------------------------------------------


@node
class Relation:
    """`left op right`, op one of = >= <= > <."""

    op: str
    left: IndexExpr
    right: IndexExpr
    span: Span


@node
class Compatible:
    """`broadcast(a, b)` standing alone: the parts broadcast together."""

    args: tuple[IndexExpr, ...]
    span: Span


@node
class ElementClass:
    """`t : num`."""

    name: str
    class_name: str
    span: Span


Condition = Relation | Compatible | ElementClass

# --- types -----------------------------------------------------------------------------------


@node
class TensorType:
    """`f32 [n,m]`, `t s`; no shape written (a scalar) is `Dims(())`."""

    elem: str
    shape: ShapeExpr
    span: Span


@node
class NamedType:
    """A lower-case name alone, not an element type: a variable for a whole type."""

    name: str
    span: Span


@node
class TupleType:
    items: tuple[TypeExpr, ...]
    span: Span


@node
class FieldType:
    name: str
    type: TypeExpr
    span: Span


@node
class RecordType:
    """`{ w : f32 [n] }`; with a `row`, `{ r | w : f32 [n] }`, there may be more fields."""

    fields: tuple[FieldType, ...]
    row: str
    span: Span


@node
class AliasType:
    """A type by its name, `Block(768)`; one without arguments is a `NamedType` unless its name has
    a dot.
    """

    name: str
    args: tuple[IndexExpr, ...]
    span: Span


@node
class FnType:
    params: tuple[TypeExpr, ...]
    result: TypeExpr
    span: Span


@node
class ShapeValueType:
    """`shape s`, the type of a value that is a shape."""

    shape: ShapeExpr
    span: Span


@node
class DimValueType:
    """`dim n`, the type of a value that is a dimension."""

    dim: DimExpr
    span: Span


TypeExpr = (
    TensorType
    | NamedType
    | TupleType
    | RecordType
    | AliasType
    | FnType
    | ShapeValueType
    | DimValueType
)


@node
class Signature:
    """A type and its conditions."""

    type: TypeExpr
    where: tuple[Condition, ...]
    span: Span


# --- expressions -----------------------------------------------------------------------------


@node
class Name:
    """A variable, or an operator by name."""

    name: str
    span: Span


@node
class Number:
    """A literal: kind is 'int', 'float' or 'bool'. `0f` and `inf` are floats."""

    value: int | float | bool
    kind: str
    text: str
    span: Span


@node
class String:
    """Only ever the value of an attribute: `pad="same"`."""

    value: str
    span: Span


@node
class OperatorName:
    """An infix operator on its own, as a function value: the `+` of `reduce(+, 0f, x)`."""

    op: str
    span: Span


@node
class Attribute:
    name: str
    value: Expr
    span: Span


@node
class Call:
    """`function(args, attributes)`; one that is `piped` has its first argument before it:
    `x |> f(y)`.
    """

    function: Expr
    args: tuple[Expr, ...]
    attributes: tuple[Attribute, ...]
    span: Span
    piped: bool = False


@node
class Infix:
    """`left op right`. Chains lean left and may be long: walk the left spine in a loop. Only those
    of `**` lean right; they are not longer than the nesting limit.
    """

    op: str
    left: Expr
    right: Expr
    op_span: Span
    span: Span


@node
class Negate:
    operand: Expr
    span: Span


@node
class Not:
    operand: Expr
    span: Span


@node
class TupleExpr:
    """`a, b`; `()` has no items."""

    items: tuple[Expr, ...]
    span: Span


@node
class ListExpr:
    """`[a, b]`: a shape literal, or a list for an attribute."""

    items: tuple[Expr, ...]
    span: Span


@node
class Slice:
    """`start:stop:step` in a subscript."""

    start: Expr | None
    stop: Expr | None
    step: Expr | None
    span: Span

    @property
    def bounds(self) -> tuple[Expr, ...]:
        """The parts that are written."""
        return tuple([part for part in (self.start, self.stop, self.step) if part is not None])


@node
class Rest:
    """`...` in a subscript: the axes that it does not mention."""

    span: Span


@node
class NewAxis:
    """`None` in a subscript."""

    span: Span


@node
class Subscript:
    """`value[items]`, at least one of them."""

    value: Expr
    items: tuple[SubscriptItem, ...]
    span: Span

    @property
    def parts(self) -> tuple[Expr, ...]:
        """The expressions in it."""
        found = [self.value]
        for item in self.items:
            match item:
                case Slice():
                    found += item.bounds
                case Rest() | NewAxis():
                    pass
                case _:
                    found.append(item)
        return tuple(found)


@node
class Record:
    """`{ w = e, b = e }`; with a `base`, that record with some fields replaced."""

    base: Expr | None
    fields: tuple[Attribute, ...]
    span: Span


@node
class Field:
    """`record.name`, or a name of an imported file."""

    record: Expr
    name: str
    span: Span

    @property
    def dotted(self) -> str:
        """The name in an imported file that this may be, `file.name`, or nothing."""
        return f"{self.record.name}.{self.name}" if isinstance(self.record, Name) else ""


@node
class Param:
    name: str
    type: TypeExpr | None
    span: Span
    name_span: Span
    default: Expr | None = None


@node
class Block:
    bindings: tuple[Binding, ...]
    result: Expr
    span: Span


@node
class Fn:
    params: tuple[Param, ...]
    result: TypeExpr | None
    where: tuple[Condition, ...]
    body: Block
    span: Span


@node
class If:
    """`if condition { … } else { … }`; the branches are functions without parameters."""

    condition: Expr
    then: Fn
    otherwise: Fn
    span: Span

    @property
    def parts(self) -> tuple[Expr, ...]:
        return self.condition, self.then, self.otherwise


@node
class Broken:
    """What stands where an expression could not be read; the error was reported by the parser."""

    span: Span


Expr = (
    Name
    | Number
    | String
    | OperatorName
    | Call
    | Infix
    | Negate
    | Not
    | TupleExpr
    | ListExpr
    | Record
    | Field
    | Fn
    | If
    | Subscript
    | Broken
)
SubscriptItem = Expr | Slice | Rest | NewAxis

# --- patterns, bindings, programs --------------------------------------------------------------


@node
class NamePattern:
    """`_` is the pattern that binds nothing."""

    name: str
    span: Span


@node
class TuplePattern:
    items: tuple[Pattern, ...]
    span: Span


@node
class RecordPattern:
    """`{ w, b }`: each field under its own name."""

    items: tuple[NamePattern, ...]
    span: Span


Pattern = NamePattern | TuplePattern | RecordPattern


@node
class Binding:
    pattern: Pattern
    value: Expr
    span: Span


@node
class OpDecl:
    name: str
    signature: Signature
    span: Span
    name_span: Span


@node
class Import:
    path: str
    alias: str
    span: Span
    path_span: Span


@node
class TypeAlias:
    """`type Block(d) = { w : f32 [d,d] };`."""

    name: str
    params: tuple[str, ...]
    type: TypeExpr
    span: Span
    name_span: Span


Item = Import | OpDecl | TypeAlias | Binding


@node
class Program:
    """A file: its items in order, the expression it may end in, its comments for the printer."""

    items: tuple[Item, ...]
    result: Expr | None
    source: Source
    comments: tuple[Span, ...] = ()
