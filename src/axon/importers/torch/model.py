"""PyTorch programs: inference and reports."""

from __future__ import annotations

from axon.importers.imported import Imported, import_operations
from axon.importers.node import Format
from axon.importers.reporting.report import Report, report_on
from axon.importers.torch import rules  # noqa: F401 (they enter themselves)
from axon.importers.torch.archive import Archive, open_archive
from axon.importers.torch.node import TorchNode
from axon.importers.torch.read import model_of
from axon.importers.torch.rules.numbers.complex_numbers import find
from axon.types.type import Type
from axon.workspace import workspace

TORCH = Format(find, TorchNode, batched=True)


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
