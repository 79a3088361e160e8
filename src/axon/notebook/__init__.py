"""Axon in IPython and Jupyter: `%load_ext axon.notebook`.

`magics` has `%%axon` and `%axon_explain`. What programs, functions and errors look like they know
themselves (`run/html.py`), also without this extension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """Called by `%load_ext axon.notebook`."""
    from axon.notebook.magics import AxonMagics

    shell.register_magics(AxonMagics)
