"""Syntax trees of every kind, drawn without regard to what they mean."""

from __future__ import annotations

import dataclasses
from typing import Any

from hypothesis import strategies as st

from axon.source import Source, Span
from axon.syntax import parse_expression
from axon.syntax.ast import (
    AliasType,
    Append,
    Attribute,
    Binding,
    Block,
    BroadcastOf,
    Call,
    Compatible,
    Condition,
    DimCall,
    DimConst,
    DimExpr,
    DimOp,
    Dims,
    DimValueType,
    ElementClass,
    Expr,
    Field,
    FieldType,
    Fn,
    FnType,
    If,
    Import,
    IndexName,
    Infix,
    ListExpr,
    Name,
    NamedType,
    NamePattern,
    Negate,
    NewAxis,
    Not,
    OpDecl,
    OperatorName,
    Param,
    Pattern,
    Program,
    Record,
    RecordPattern,
    RecordType,
    Relation,
    Rest,
    ShapeExpr,
    ShapeMeasure,
    ShapeValueType,
    Signature,
    Slice,
    Star,
    String,
    Subscript,
    SubscriptItem,
    TensorType,
    TupleExpr,
    TuplePattern,
    TupleType,
    TypeAlias,
    TypeExpr,
)
from axon.syntax.tokens import INFIX_LEVEL

SOURCE = Source("none", "")
AT = Span(SOURCE, 0, 0)


def bones(tree: object) -> object:
    """A tree without its spans."""
    if isinstance(tree, tuple):
        return tuple(bones(each) for each in tree)
    if not dataclasses.is_dataclass(tree):
        return tree
    return (
        type(tree).__name__,
        *(
            bones(getattr(tree, field.name))
            for field in dataclasses.fields(tree)
            if "span" not in field.name and field.name not in ("source", "comments")
        ),
    )


def distinct(fields: list[Any]) -> tuple[Any, ...]:
    """The fields of a record: of two with the same name, the last."""
    return tuple({field.name: field for field in fields}.values())


# --- trees -----------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "n", "x'", "long_name_of_something", "Q", "op", "size", "_x"])
index_names = st.builds(
    IndexName, st.sampled_from(["a", "n", "s'", "Q"]), st.booleans(), st.just(AT)
)


def grow_dims(inner: st.SearchStrategy[DimExpr]) -> st.SearchStrategy[DimExpr]:
    many = st.lists(inner, min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(DimOp, st.sampled_from(["+", "-", "*", "/", "mod"]), inner, inner, st.just(AT)),
        st.builds(DimCall, st.sampled_from(["min", "max", "broadcast"]), many, st.just(AT)),
        st.builds(
            ShapeMeasure,
            st.sampled_from(["size", "rank"]),
            st.builds(Dims, many, st.just(AT)),
            st.just(AT),
        ),
    )


sums: st.SearchStrategy[DimExpr] = st.recursive(
    st.one_of(index_names, st.builds(DimConst, st.integers(), st.just(AT))),
    grow_dims,
    max_leaves=6,
)
stars = st.builds(Star, st.just(AT), st.sampled_from(["", "k", "s'"]))
dims: st.SearchStrategy[DimExpr] = st.one_of(sums, stars)


def grow_shapes(inner: st.SearchStrategy[ShapeExpr]) -> st.SearchStrategy[ShapeExpr]:
    return st.one_of(
        st.builds(Append, st.lists(inner, min_size=2, max_size=3).map(tuple), st.just(AT)),
        st.builds(BroadcastOf, st.lists(inner, min_size=1, max_size=3).map(tuple), st.just(AT)),
    )


shapes: st.SearchStrategy[ShapeExpr] = st.recursive(
    st.one_of(index_names, st.builds(Dims, st.lists(dims, max_size=3).map(tuple), st.just(AT))),
    grow_shapes,
    max_leaves=4,
)

plain_dims = dims.filter(lambda dim: not (isinstance(dim, DimCall) and dim.function == "broadcast"))
evident = st.builds(DimConst, st.integers(0, 9), st.just(AT))

conditions: st.SearchStrategy[Condition] = st.one_of(
    st.builds(
        Relation, st.sampled_from(["=", ">=", "<=", ">", "<"]), plain_dims, evident, st.just(AT)
    ),
    st.builds(Relation, st.just("="), shapes, shapes, st.just(AT)),
    st.builds(Compatible, st.lists(shapes, min_size=1, max_size=3).map(tuple), st.just(AT)),
    st.builds(Compatible, st.tuples(plain_dims, evident), st.just(AT)),
    st.builds(ElementClass, st.just("t"), st.sampled_from(["num", "float", "int"]), st.just(AT)),
)

elements = st.sampled_from(["f32", "i64", "bool", "t", "u"])


def not_one(inner: st.SearchStrategy[object]) -> st.SearchStrategy[tuple[object, ...]]:
    return st.one_of(st.just(()), st.lists(inner, min_size=2, max_size=3).map(tuple))


types: st.SearchStrategy[TypeExpr] = st.recursive(
    st.one_of(
        st.builds(TensorType, elements, shapes, st.just(AT)),
        st.builds(NamedType, st.sampled_from(["t", "S", "shape", "r'"]), st.just(AT)),
        st.builds(ShapeValueType, shapes, st.just(AT)),
        st.builds(DimValueType, dims, st.just(AT)),
        st.builds(
            AliasType, st.just("Block"), st.lists(shapes, min_size=1).map(tuple), st.just(AT)
        ),
        st.builds(AliasType, st.just("m.Block"), st.lists(plain_dims).map(tuple), st.just(AT)),
    ),
    lambda inner: st.one_of(
        st.builds(TupleType, not_one(inner), st.just(AT)),
        st.builds(
            RecordType,
            st.lists(st.builds(FieldType, names, inner, st.just(AT)), max_size=3).map(distinct),
            st.sampled_from(["", "r"]),
            st.just(AT),
        ),
        st.builds(FnType, st.lists(inner, max_size=3).map(tuple), inner, st.just(AT)),
    ),
    max_leaves=5,
)

signatures = st.builds(Signature, types, st.lists(conditions, max_size=3).map(tuple), st.just(AT))

patterns: st.SearchStrategy[Pattern] = st.recursive(
    st.builds(NamePattern, st.one_of(names, st.just("_")), st.just(AT)),
    lambda inner: st.one_of(
        st.builds(TuplePattern, not_one(inner), st.just(AT)),
        st.builds(
            RecordPattern,
            st.lists(st.builds(NamePattern, names, st.just(AT)), max_size=3).map(distinct),
            st.just(AT),
        ),
    ),
    max_leaves=4,
)

numbers = st.sampled_from(["0", "12", "0f", "1.5", "1e-5", "2.5f", "inf", "true", "false"]).map(
    lambda text: parse_expression(Source("number", text))[0]
)

operators = st.builds(OperatorName, st.sampled_from(["not", *sorted(INFIX_LEVEL)]), st.just(AT))


def subscripts(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[tuple[SubscriptItem, ...]]:
    bound = st.one_of(st.none(), inner)
    item: st.SearchStrategy[SubscriptItem] = st.one_of(
        inner,
        st.builds(Slice, bound, bound, bound, st.just(AT)),
        st.builds(NewAxis, st.just(AT)),
    )
    some = st.lists(item, min_size=1, max_size=2).map(tuple)
    return st.one_of(some, some.map(lambda items: (*items[:1], Rest(AT), *items[1:])))


def grow_expressions(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    some = st.lists(inner, max_size=3).map(tuple)

    def in_order(params: list[Param]) -> tuple[Param, ...]:
        return tuple(sorted(params, key=lambda param: param.default is not None))

    kinds = st.one_of(st.none(), types)
    defaults = st.one_of(st.none(), st.none(), inner)
    params = st.builds(Param, names, kinds, st.just(AT), st.just(AT), defaults)
    bindings = st.builds(Binding, patterns, inner, st.just(AT))
    block = st.builds(Block, st.lists(bindings, max_size=1).map(tuple), inner, st.just(AT))
    branch = st.builds(Fn, st.just(()), st.none(), st.just(()), block, st.just(AT))
    return st.one_of(
        st.builds(
            Call,
            inner,
            st.lists(st.one_of(inner, operators), max_size=3).map(tuple),
            st.lists(
                st.builds(
                    Attribute,
                    names,
                    st.one_of(inner, operators, st.builds(String, st.text(), st.just(AT))),
                    st.just(AT),
                ),
                max_size=2,
            ).map(tuple),
            st.just(AT),
        ),
        st.builds(
            Infix, st.sampled_from(sorted(INFIX_LEVEL)), inner, inner, st.just(AT), st.just(AT)
        ),
        st.builds(
            Call,
            inner,
            st.lists(st.one_of(inner, operators), min_size=1, max_size=3).map(tuple),
            st.lists(st.builds(Attribute, names, inner, st.just(AT)), max_size=1).map(tuple),
            st.just(AT),
            st.just(True),
        ),
        st.builds(Negate, inner, st.just(AT)),
        st.builds(Not, inner, st.just(AT)),
        st.builds(Subscript, inner, subscripts(inner), st.just(AT)),
        st.builds(If, inner, branch, branch, st.just(AT)),
        st.builds(TupleExpr, not_one(inner), st.just(AT)),
        st.builds(ListExpr, some, st.just(AT)),
        st.builds(Field, inner, names, st.just(AT)),
        st.builds(
            Record,
            st.sampled_from([None, Name("p", AT), Field(Name("p", AT), "q", AT)]),
            st.lists(st.builds(Attribute, names, inner, st.just(AT)), max_size=3).map(distinct),
            st.just(AT),
        ),
        st.builds(
            Fn,
            st.lists(params, max_size=2).map(in_order),
            st.one_of(st.none(), types),
            st.lists(conditions, max_size=1).map(tuple),
            st.builds(Block, st.lists(bindings, max_size=2).map(tuple), inner, st.just(AT)),
            st.just(AT),
        ),
    )


expressions: st.SearchStrategy[Expr] = st.recursive(
    st.one_of(st.builds(Name, names, st.just(AT)), numbers, operators),
    grow_expressions,
    max_leaves=12,
)

programs = st.builds(
    Program,
    st.lists(
        st.one_of(
            st.builds(Binding, patterns, expressions, st.just(AT)),
            st.builds(OpDecl, names, signatures, st.just(AT), st.just(AT)),
            st.builds(Import, st.text(), names, st.just(AT), st.just(AT)),
            st.builds(
                TypeAlias,
                st.sampled_from(["Block", "weights"]),
                st.lists(names, max_size=2).map(tuple),
                types,
                st.just(AT),
                st.just(AT),
            ),
        ),
        max_size=3,
    ).map(tuple),
    st.one_of(st.none(), expressions),
    st.just(SOURCE),
)
