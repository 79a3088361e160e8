"""Inference of a program that records the types of its expressions, at the general type of each
definition: what pictures are drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence

from axon.inference.constructs.parameters import has_defaults
from axon.inference.environment import Environment
from axon.inference.generalise.schemes import Generalised
from axon.inference.program import ImportReader, ProgramInference
from axon.inference.recording.elaborate import Recording
from axon.inference.recording.record import Record
from axon.inference.state import State
from axon.inference.walk import Prelude
from axon.solver.constraints import Origin
from axon.source import Span
from axon.syntax import ast
from axon.types.type import Type


class Recorder(Recording):
    """It records functions too. One with defaults is inferred once more without them, which is not
    recorded.
    """

    def __init__(self, state: State, prelude: Prelude) -> None:
        super().__init__(state, prelude)
        self.done: set[int] = set()

    def infer_fn(
        self,
        fn: ast.Fn,
        env: Environment,
        given: Sequence[Type] = (),
        arguments: Sequence[tuple[Type, Origin] | None] = (),
    ) -> Type:
        kept = self.kept
        if id(fn.body.result) in self.done:
            self.record = self.kept = Record()
        type_ = super().infer_fn(fn, env, given, arguments)
        self.kept.types[id(fn)] = type_
        self.record = self.kept = kept
        if has_defaults(fn):
            self.done.add(id(fn.body.result))
        return type_


class RecordedInference(ProgramInference):
    """The definitions of a program, one after the other, with a record of them all."""

    def __init__(
        self, read_import: ImportReader, prelude: Prelude, broken: tuple[Span, ...] = ()
    ) -> None:
        super().__init__(read_import, prelude, broken)
        self.recorder = Recorder(self.state, prelude)
        self.inference = self.recorder

    def _attempt(self, item: ast.Binding) -> tuple[Generalised | None, bool]:
        self.recorder.done.clear()
        return super()._attempt(item)
