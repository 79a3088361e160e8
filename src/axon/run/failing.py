"""What a call says when its run fails."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from axon.backends.checks import CheckFailed, Untraceable
from axon.backends.code import place_of
from axon.backends.externs import WrongResult
from axon.backends.failures import reason
from axon.backends.nature import DoesNotFit
from axon.backends.ragged import RaggedError
from axon.backends.sizes import Undetermined
from axon.diagnostics import Diagnostic, Label, Severity
from axon.graph.sharding import CannotShard
from axon.importers.operations import NoModel
from axon.ops.memory import shown
from axon.run.backend import Backend
from axon.run.errors import ArgumentError, RunError


@dataclass(frozen=True, slots=True)
class Failures:
    """The errors of the calls of one function."""

    name: str
    backend: Backend

    def guarded(self, function: Callable[..., Any], args: Sequence[Any]) -> Any:
        """Run; a failed run-time check becomes an error with its place in the program."""
        try:
            return function(*args)
        except CheckFailed as failed:
            raise RunError(f"{self.name}: a check failed at run time", _at(failed)) from None
        except (RaggedError, WrongResult) as problem:
            raise RunError(f"{self.name}: {problem}") from None
        except Undetermined as problem:
            raise self.undetermined(problem) from None
        except Exception as problem:
            raise self.as_run_error(problem) from None

    def traced(self, problem: ArgumentError) -> ArgumentError:
        """The error of arguments that JAX traces: it may be JAX that made them of 32 bits."""
        jax: Any = sys.modules.get("jax")
        if jax is None or jax.config.jax_enable_x64:
            return problem
        found = [_of_32_bits(each) for each in problem.diagnostics]
        return ArgumentError(problem.message, found)

    def undetermined(self, problem: Undetermined) -> ArgumentError:
        name = f" `{problem}`" if str(problem) else ""
        return ArgumentError(
            f"{self.name}: the arguments do not determine the size{name} that it needs"
        )

    def does_not_fit(self, problem: DoesNotFit) -> ArgumentError:
        number = shown(problem.number) if isinstance(problem.number, int) else problem.number
        return ArgumentError(f"{self.name}: the number {number} does not fit into {problem.elem}")

    def as_run_error(self, problem: Exception) -> Exception:
        """The error for the caller after a failed run; a bug of ours is returned unchanged."""
        name = self.name
        if isinstance(problem, Untraceable):
            return ArgumentError(
                f"{name} cannot be traced by JAX: some of its sizes depend on values"
            )
        if _is_of_a_tracer(problem):
            return ArgumentError(
                f"{name} is traced by JAX, but runs on NumPy: give JAX `net.{name}.jax`"
            )
        if isinstance(problem, CannotShard):
            return ArgumentError(f"{name} cannot be sharded: {problem}")
        if isinstance(problem, NoModel):  # a weight that cannot be read
            return RunError(f"{name}: {problem}")
        why = reason(problem) or self.backend.failure(problem)
        if why is None:
            return problem
        span = place_of(problem)
        if span is None:
            return RunError(f"{name}: {why}")
        label = Label(span, "computed here", primary=True)
        return RunError(
            f"{name}: the run failed", [Diagnostic("AX406", Severity.ERROR, why, (label,))]
        )


def _of_32_bits(problem: Diagnostic) -> Diagnostic:
    """The same with a help, where 64 bits are wanted and there are 32."""
    pairs = (("i64", "i32"), ("u64", "u32"), ("f64", "f32"))
    pair = next((pair for pair in pairs if problem.elements == {*pair}), None)
    if pair is None:
        return problem
    wide, narrow = pair
    hint = f'JAX makes {narrow} of {wide} without jax.config.update("jax_enable_x64", True)'
    if wide == "i64":
        hint += "; a parameter that is declared as `i` takes both"
    return replace(problem, help=(*problem.help, hint))


def _is_of_a_tracer(problem: Exception) -> bool:
    """Whether JAX, if it is there at all, has found one of its tracers on NumPy."""
    jax: Any = sys.modules.get("jax")
    return jax is not None and isinstance(problem, jax.errors.TracerArrayConversionError)


def _at(failed: CheckFailed) -> list[Diagnostic]:
    span, what = failed.origin.span, failed.origin.operator
    text = f"{what} needs it" if what else "needed here"
    labels = (Label(span, text, primary=True),) if span is not None else ()
    return [Diagnostic("AX404", Severity.ERROR, str(failed), labels)]
