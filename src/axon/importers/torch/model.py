"""PyTorch programs: inference and reports."""

from __future__ import annotations

from axon.importers.imported import Imported, import_operations
from axon.importers.node import Format, Made, Node, Rule
from axon.importers.operations import Operation, Unsupported
from axon.importers.reporting.report import Report, report_on
from axon.importers.torch import rules  # noqa: F401 (they enter themselves)
from axon.importers.torch.archive import Archive, open_archive
from axon.importers.torch.node import TorchNode
from axon.importers.torch.read import model_of
from axon.importers.torch.rules.complex_numbers import find
from axon.types.type import Type
from axon.workspace import workspace

NOT_AS_DECLARED = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError)
"""What a rule may raise where an argument is not of the kind that PyTorch's schema has for it."""


def careful(operation: Operation, version: int) -> Rule | None:
    """The rule for an operation. Nothing is known of the results where its arguments are not those
    of its operator: an archive may say anything, and it has no schema to compare with.
    """
    rule = find(operation, version)
    if rule is None:
        return None

    def applied(node: Node) -> Made:
        try:
            return rule(node)
        except NOT_AS_DECLARED as problem:
            kind = type(problem).__name__
            what = f"{operation.operator} with arguments that its rule does not know ({kind})"
            raise Unsupported(what) from problem

    return applied


TORCH = Format(careful, "std/torch.axon", TorchNode, batched=True)


def import_program(
    archive: Archive,
    forget: bool = False,
    said: dict[str, Type] | None = None,
    reasons: bool = True,
    program: bool = True,
) -> Imported:
    """Infer a program; see `import_operations`."""
    with workspace():
        model = model_of(archive)
        return import_operations(model, TORCH, archive.name, forget, said, reasons, program)


def infer_program(
    archive: Archive,
    forget: bool = False,
    said: dict[str, Type] | None = None,
    suggesting: bool = True,
) -> Report:
    """Everything there is to know about a program."""
    with workspace():
        found = import_program(archive, forget, said, program=False)
        return report_on(found, archive.name, forget, suggesting)


def infer_file(path: str, forget: bool = False) -> Report:
    """The same of the program in a file; raises `NoModel`."""
    return infer_program(open_archive(path, path), forget)
