"""IPython in this process: cells are run, and what they show is caught.

A kernel and its client would run the same code in another process, which takes seconds to start
and needs three more packages; the magics and the display system are IPython's own either way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

Shown = dict[str, Any]
"""One output: texts by their kind, `text/html`, `text/plain`."""

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


@dataclass(frozen=True, slots=True)
class Ran:
    """What a cell left behind. `printed` has the message of an error, too."""

    success: bool
    outputs: list[Shown]
    printed: str

    @property
    def html(self) -> str:
        return "".join(str(each.get("text/html", "")) for each in self.outputs)

    @property
    def text(self) -> str:
        return "\n".join(str(each.get("text/plain", "")) for each in self.outputs)


class Notebook:
    def __init__(self, shell: InteractiveShell) -> None:
        self.shell = shell

    def run(self, code: str) -> Ran:
        with capture_output() as caught:
            done = self.shell.run_cell(code, store_history=True)
        outputs = [dict(each.data) for each in caught.outputs]
        printed = _COLOURS.sub("", caught.stdout + caught.stderr)
        if done.result is not None:
            data, _ = self.shell.display_formatter.format(done.result)
            outputs.append(data)
            printed = re.sub(r"(?s)Out\[\d+\]:.*", "", printed)
        return Ran(bool(done.success), outputs, printed)


@contextmanager
def notebook(folder: Path) -> Iterator[Notebook]:
    """A new shell, which writes nothing outside the folder."""
    config = Config()
    config.HistoryManager.enabled = False
    with mock.patch.dict("os.environ", {"IPYTHONDIR": str(folder / "ipython")}):
        shell = InteractiveShell.instance(config=config)
        try:
            yield Notebook(shell)
        finally:
            shell.reset()
            InteractiveShell.clear_instance()
