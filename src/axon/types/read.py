"""Types that are complete by themselves: signatures of operators, and types under a name."""

from __future__ import annotations

from axon.diagnostics import Diagnostic, error
from axon.source import Span
from axon.syntax import ast
from axon.types import dim as dims
from axon.types.conditions import read_conditions
from axon.types.dim import Dim
from axon.types.reader import Reader
from axon.types.scope import Alias, Aliases, Scope
from axon.types.type import (
    UNKNOWN,
    Fn,
    Scheme,
    Uniform,
    make_scheme,
    relation_variables,
    type_variables,
)
from axon.types.variables import DimVar, Var

# The shape after an axis that an operator takes away: what it stands for must not vary (see
# Uniform).
AFTER = "after"
LARGEST_ALIAS = 2000
DEEPEST_ALIAS = 100


def make_alias(item: ast.TypeAlias, find: Aliases) -> tuple[Alias, list[Diagnostic]]:
    """The alias that an item defines, and its mistakes."""
    broken = Alias(item.name, item.params, item.type, {}, 1, broken=True)
    known: dict[str, Alias] = {}
    parts = 0
    own: Span | None = None
    todo: list[ast.TypeExpr] = [item.type]
    while todo:
        part = todo.pop()
        parts += 1
        match part:
            case ast.NamedType(name) | ast.AliasType(name):
                alias = find(name)
                if name == item.name:
                    own = part.span
                elif alias is not None:
                    known[name] = alias
                    parts += alias.parts
            case ast.TupleType(items):
                todo.extend(items)
            case ast.RecordType(fields):
                todo.extend(each.type for each in fields)
            case ast.FnType(params, result):
                todo.extend((*params, result))
            case _:
                pass
    if own is not None:
        text = f"the type `{item.name}` would have to contain itself"
        return broken, [error("AX208", text, own, "used in its own definition")]
    if parts > LARGEST_ALIAS:
        text = f"the type `{item.name}` has more than {LARGEST_ALIAS} parts"
        return broken, [error("AX216", text, item.name_span, "too large")]
    depth = 1 + max((each.depth for each in known.values()), default=0)
    if depth > DEEPEST_ALIAS:
        text = f"the type `{item.name}` is made of more than {DEEPEST_ALIAS} types, one in another"
        return broken, [error("AX216", text, item.name_span, "too deep")]
    if any(each.broken for each in known.values()):
        return broken, []
    made = Alias(item.name, item.params, item.type, known, parts, depth)
    reader = Reader(Scope(), level=1, depth=1, user=False, aliases=known.get)
    reader.read_type(item.type)
    problems = list(reader.diagnostics)
    if len(set(item.params)) < len(item.params):
        text = f"two parameters of the type `{item.name}` have the same name"
        problems.append(error("AX215", text, item.name_span, ""))
    return (broken if any(p.code == "AX219" for p in problems) else made), problems


def read_signature(
    signature: ast.Signature,
    user: bool = False,
    given: dict[str, Dim] | None = None,
    aliases: Aliases = lambda _: None,
) -> tuple[Scheme, list[Diagnostic]]:
    """A closed scheme: the type of an operator. Scopes count from the operator: `?k` is 1, `*` is
    2.
    """
    scope = Scope(given=given or {})
    reader = Reader(scope, level=1, depth=1, user=user, quantified=True, aliases=aliases)
    type_ = reader.read_type(signature.type)
    read_conditions(reader, signature.where)
    after = tuple(v for name, v in reader.scope.index.items() if name.startswith(AFTER))
    if after and not user:
        reader.relations.append(Uniform(after))
    variables: dict[Var, None] = dict.fromkeys(type_variables(type_))
    for relation in reader.relations:
        variables.update(dict.fromkeys(relation_variables(relation)))
    stacked = tuple(each for each, _ in reader.stacked)
    for either in reader.choices:
        variables.update(dict.fromkeys(dims.variables(either.left)))
        variables.update(dict.fromkeys(dims.variables(either.right)))
    for each in stacked:
        variables.update(dict.fromkeys((each.whole, each.row, *dims.variables(each.size))))
    own = {v: None for v in variables if not (isinstance(v, DimVar) and v.rank_of is not None)}
    for var in [v for v in variables if isinstance(v, DimVar) and v.rank_of is not None]:
        assert var.rank_of is not None
        own[var.rank_of] = None
    if given:
        for dim in given.values():
            for outer in dims.variables(dim):
                own.pop(outer, None)
    if reader.diagnostics:
        type_ = UNKNOWN if not isinstance(type_, Fn) else type_
    relations, chosen = tuple(reader.relations), tuple(reader.choices)
    made = make_scheme(tuple(own), type_, relations, stacked=stacked, choices=chosen)
    return made, reader.diagnostics
