"""The state of inference: the store, bindings of type and element variables, level, depth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from axon.diagnostics import Diagnostic
from axon.solver.constraints import Conflict, Origin
from axon.solver.rules import new_store
from axon.solver.store import Store
from axon.types.dim import Dim
from axon.types.elements import BIT
from axon.types.rows import RowCall
from axon.types.scope import Scope
from axon.types.type import (
    DimValue,
    Elem,
    Fn,
    Record,
    Relation,
    ShapeValue,
    Tensor,
    Tuple,
    Type,
    Unknown,
    record,
    type_variables,
)
from axon.types.variables import DimVar, ElemVar, ShapeVar, TypeVar, made_at

LARGEST_TYPE = 2000


class Asked(Exception):
    """A constraint was posted where none is allowed."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A condition that `whole` is `row` stacked, with the call that passes the rows, its origin and
    its depth.
    """

    whole: Type
    row: Type
    size: Dim
    call: RowCall
    origin: Origin
    depth: int


@dataclass(frozen=True, slots=True)
class Choice:
    """A run-time size that is one of two others, with its origin and depth."""

    size: DimVar
    left: Dim
    right: Dim
    origin: Origin
    depth: int


@dataclass(slots=True)
class Attempt:
    """The errors of an attempt, once it is over."""

    conflicts: list[Conflict] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return bool(self.conflicts or self.diagnostics)


@dataclass(slots=True)
class State:
    """`level` counts the enclosing `fn` bindings, which generalise; `depth` all functions."""

    store: Store = field(default_factory=new_store)
    types: dict[TypeVar, Type] = field(default_factory=dict)
    elems: dict[ElemVar, Elem] = field(default_factory=dict)
    asked: dict[ElemVar, Origin] = field(default_factory=dict)
    """What narrowed an element type to a class: a tensor that is used as a size, say."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    names: Scope = field(default_factory=Scope)
    names_level: int = 1
    level: int = 0
    depth: int = 0
    reasons: bool = True
    """Whether each fact has a reason. Without them a call replaces what its arguments decide."""
    uniform: bool = False
    """Whether no size varies inside a tensor, as in models of other formats."""
    stacked: list[Waiting] = field(default_factory=list)
    """Conditions on structures that are not known yet."""
    choices: list[Choice] = field(default_factory=list)
    """Sizes that one of two branches decides."""
    sizes: set[Dim] = field(default_factory=set)
    """Expressions that are known to be sizes, or are asked to be."""
    sealed: bool = False
    """Whether nothing may be asked for: who does is stopped by `Asked`."""

    # --- fresh variables ---

    def fresh_type(self) -> TypeVar:
        return TypeVar("", self.level, scope=made_at(self.depth))

    def fresh_row(self) -> TypeVar:
        return TypeVar("", self.level, scope=made_at(self.depth), row=True)

    def fresh_dim(self, runtime: bool = False) -> DimVar:
        return DimVar("", self.level, scope=made_at(self.depth), runtime=runtime)

    def fresh_shape(self, runtime: bool = False) -> ShapeVar:
        return ShapeVar("", self.level, scope=made_at(self.depth), runtime=runtime)

    def post(self, relation: Relation, origin: Origin, deeper: int = 0) -> None:
        if self.sealed:
            raise Asked
        self.store.post(relation, origin, self.depth + deeper)

    # --- trying something out ---

    @contextmanager
    def attempt(self) -> Iterator[Attempt]:
        """A block that tries something out with variables of its own: errors until the end of the
        block belong to the attempt, not to the state. Bindings of other variables remain.
        """
        conflicts, diagnostics, made = len(self.store.conflicts), len(self.diagnostics), Attempt()
        try:
            yield made
        finally:
            made.conflicts = self.store.set_aside(conflicts)
            made.diagnostics = self.diagnostics[diagnostics:]
            del self.diagnostics[diagnostics:]

    @contextmanager
    def sealing(self) -> Iterator[None]:
        """A block in which no constraint may be posted; posting one raises `Asked`. So what reaches
        the end of the block holds whether or not it runs.
        """
        before, self.sealed = self.sealed, True
        try:
            yield
        finally:
            self.sealed = before

    def default_elements(self, type_: Type, concrete: bool = False) -> None:
        """Choose element types for the numbers in a type that nothing decides; if `concrete`, for
        all of its element variables.
        """
        for var in type_variables(self.resolve(type_)):
            if isinstance(var, ElemVar) and (var.literal or concrete) and var not in self.elems:
                whole = var.literal != "float" and var.allowed & BIT["i64"]
                self.elems[var] = "i64" if whole else "f32" if var.allowed & BIT["f32"] else "bool"

    # --- what is known ---

    @property
    def is_bare(self) -> bool:
        """Whether no variable is bound, so that every type is already resolved."""
        return not (self.elems or self.types) and self.store.is_bare

    def prune(self, type_: Type) -> Type:
        """The type, with a variable at its head replaced, and a record with all known fields."""
        while isinstance(type_, TypeVar):
            known = self.types.get(type_)
            if known is None:
                return type_
            type_ = known
        if isinstance(type_, Record) and type_.rest is not None and type_.rest in self.types:
            rest = self.prune(type_.rest)
            self.types[type_.rest] = rest  # so that a long chain of fields is followed once
            return record(type_.fields, rest)
        return type_

    def is_huge(self, type_: Type) -> bool:
        """Whether the type, written out, has too many parts to be useful."""
        todo, parts = [type_], 0
        while todo:
            current = self.prune(todo.pop())
            parts += 1
            if isinstance(current, Tuple):
                todo.extend(current.items)
            elif isinstance(current, Fn):
                todo.extend((*current.params, current.result))
            if parts + len(todo) > LARGEST_TYPE:
                return True
        return False

    def elem(self, elem: Elem) -> Elem:
        while isinstance(elem, ElemVar):
            known = self.elems.get(elem)
            if known is None:
                return elem
            elem = known
        return elem

    def resolve(self, type_: Type) -> Type:
        """The type under all bindings."""
        if self.is_bare:
            return type_
        type_ = self.prune(type_)
        if isinstance(type_, Tensor):
            elem, word = self.elem(type_.elem), self.store.word(type_.shape)
            same = elem is type_.elem and word is type_.shape
            return type_ if same else Tensor(elem, word)
        match type_:
            case Tuple(items):
                return type_.of(tuple(self.resolve(item) for item in items))
            case Fn(params, result):
                return Fn(tuple(self.resolve(p) for p in params), self.resolve(result))
            case ShapeValue(shape):
                return ShapeValue(self.store.word(shape))
            case DimValue(dim, number):
                if number is None:
                    return DimValue(self.store.dim(dim))
                top, bottom = number
                return DimValue(self.store.dim(dim), (self.store.dim(top), self.store.dim(bottom)))
            case TypeVar() | Unknown():
                return type_
