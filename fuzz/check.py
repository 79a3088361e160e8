"""Any text through the whole pipeline: types or diagnostics, never an exception."""

from __future__ import annotations

import atheris
from harness import run

with atheris.instrument_imports(include=["axon"]):
    from axon.diagnostics.text import render_all
    from axon.driver import check_text


def one(data: bytes) -> None:
    checked = check_text(data.decode("utf-8", "replace"))
    render_all(checked.diagnostics)
    for signature in checked.signatures:
        signature.line(classes=True)


if __name__ == "__main__":
    run("check", one)
