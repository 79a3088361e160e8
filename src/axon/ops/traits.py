"""Traits of an operator: what other modules need to know about it besides its signature.

They use a trait, never the operator's name, nor the module that it is defined in. An operator
states what is special about it; the defaults are those of one that takes tensors, computes a new
one, and is applied to ragged tensors row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Literal, NamedTuple


class RowRule(Enum):
    """How an operator is applied to tensors whose rows vary in size.

    `ops/levels.py` computes where the sizes of its result vary, `backends/rowwise.py` the result.
    """

    BATCH = 1
    """Each row by itself, if its signature keeps the dimensions that sizes vary over as a batch."""
    REDUCTION = 2
    """As BATCH; but all values at once if all dimensions that vary are reduced. Has `axis` and
    `keep`."""
    FILLED_SHAPE = 3
    """As BATCH; a shape that it is given may vary too, and each row is made in its own shape."""
    JOINED = 4
    """As BATCH; operands that are all ragged are joined along `axis`, whatever varies."""
    STACKED = 5
    """The operands are put side by side along a new `axis`; what varied in them still does."""
    AXES_INSERTED = 6
    """The axes in `axis` are new, and of size 1; what varied still does."""
    AXES_REMOVED = 7
    """The axes in `axis` were of size 1; what varied over others still does."""
    TRIANGLE = 8
    """As BATCH; or a matrix whose rows end early: what becomes of an element depends on its place
    alone, so the rows can be padded and cut again."""
    EVEN = 9
    """The rows must be of one size after all: the result is an array."""
    DRAWN = 10
    """As BATCH for one operand. Of several one is the key of random numbers, which is for one
    tensor: rows that vary would all have the same numbers, so each needs a key of its own."""


class Calls(Enum):
    """What an operator passes to its function arguments, and what it does with their results."""

    EACH_ROW = 1
    """(function, tensors …): the rows; the results are stacked."""
    STATE = 2
    """(state, function, tensors …): a state and the rows; the result is the next state."""
    STATE_AND_OUTPUT = 3
    """The same, with an output beside the next state; the outputs are stacked."""
    WHILE = 4
    """(state, condition, function): a state, as long as the condition holds of it; an output beside
    the next state if `outputs` is set."""
    BRANCH = 5
    """(condition, function, function): nothing; only one of the two is called."""


ArrayReduction = Literal["", "sum", "prod", "max", "min", "all", "any"]

Fill = Literal["anything", "zero", "one", "lowest", "highest", "true", "false"]
"""What stands behind the true elements of a padded tensor."""


class Padding(NamedTuple):
    """What padding does to an operator. Its operands may be longer along an axis than they truly
    are; the true elements come first, and so they must in the result. An axis is called as the
    signature calls it; `d*` are all that begin so, and a size that is no variable has a `~` before
    its variables: `~h,r` is that of `h-r+1`. Nothing need be said about the axes that an operator
    keeps as a batch before all others, whatever is named free in its signature.

    `free`: nothing is computed along these axes, but for what the operator's result says.
    `fills`: what must stand in the padding along the axes that something is computed along.
    `reduced`: the same of all axes that the result does not have.
    `made`: sizes of the result that no operand has, or as a size only: the true part comes first.
    `sizes`: attributes, and operands that are sizes, that may be those of padded axes.
    `in_order`: the result has the elements of the operand in their order, under another shape.
    `reason`: why it is not padded along other axes, for the report.

    Where the true sizes count, the operator has a meaning that knows them (`Operator.padded`).
    """

    free: tuple[str, ...] = ()
    fills: Mapping[str, Fill] = {}
    reduced: Fill | None = None
    made: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    in_order: bool = False
    reason: str = "it is not known what padding does to it"


Attributes = Mapping[str, object]

PaddingRule = Callable[[Attributes], Padding | str]
"""The same, or why the operator cannot be padded, by its attributes."""


class Traits(NamedTuple):
    """What an operator states about itself. (A tuple, for the fastest start.)"""

    pointwise: bool = False
    """Elementwise, and broadcasts. With REDUCTION: of several tensors, and one tensor
    is reduced (`max`)."""

    core: int | None = None
    """Operands broadcast but for so many dimensions at the end, which are called core dimensions.
    None: they do not broadcast. What is pointwise has no core dimensions, and need not state it."""

    rows: RowRule = RowRule.BATCH

    calls: Calls | None = None
    """None: it takes no functions, or only functions of scalars (`reduce`)."""

    arithmetic: bool = False
    """Of two tensors that have one number type and one shape it makes a third such tensor."""

    array_reduction: ArrayReduction = ""
    """What arrays call the reduction that combines elements by this operator."""

    passes_through: bool = False
    """The result is the operand itself, whatever it is: there is nothing to compute."""

    counts_elements: bool = False
    """The result is the number of elements of the operand, or its size along `axis`."""

    infers_size: bool = False
    """One size in a shape that is written for it may be -1: the one that makes it fit."""

    often_transposed: bool = False
    """If the operands do not fit, it is worth trying whether one of them does transposed."""

    intermediate: bool = False
    """It is given a function of a state and an element, a first state and a tensor, and gives every
    state. The tensor may be a structure: then its rows are the elements."""

    joins: bool = False
    """It takes the tensors that it joins one by one; other libraries have them in a list."""

    broadcasting_form: str = ""
    """The operator that does the same for shapes that broadcast."""

    scales: tuple[int, ...] = ()
    """The operands, by place from 1, that multiply or divide the others: ones there change
    nothing."""

    recomputed: bool = False
    """For a gradient it is cheaper to compute it again from its operands than to keep what it
    computes on the way."""

    padding: Padding | PaddingRule = Padding()
    """What padding does to it. What is pointwise need not state it."""


PLAIN = Traits()
POINTWISE = Traits(pointwise=True)
ACTIVATION = Traits(pointwise=True, recomputed=True)
REDUCTION = Traits(rows=RowRule.REDUCTION)
FILLED_SHAPE = Traits(rows=RowRule.FILLED_SHAPE)
