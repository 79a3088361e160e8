"""What a command has made: a file or a text, and what there is to say about it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import TYPE_CHECKING

from axon.cli.out import print_diagnostics, say, say_json
from axon.cli.status import FINE, HAS_ERRORS

if TYPE_CHECKING:
    from axon.diagnostics import Diagnostic


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--json", action="store_true", help="what was made, and the diagnostics, as JSON"
    )


def tell(
    options: argparse.Namespace,
    diagnostics: Sequence[Diagnostic],
    text: str | None = None,
    **more: object,
) -> int:
    """Say what was made: the file of `--output`, or else a text. The status that follows."""
    if options.json:
        from axon.diagnostics.json import to_json

        made = {"file": None if text is not None else options.output, "text": text}
        say_json({**made, **more, "diagnostics": [to_json(d) for d in diagnostics]})
    else:
        say(options.output if text is None else text)
        print_diagnostics(diagnostics)
    return HAS_ERRORS if any(d.severity == "error" for d in diagnostics) else FINE


def tell_nothing(options: argparse.Namespace, diagnostics: Sequence[Diagnostic]) -> None:
    """The same where nothing was made."""
    if options.json:
        from axon.diagnostics.json import to_json

        nothing = {"file": None, "text": None}
        say_json({**nothing, "diagnostics": [to_json(d) for d in diagnostics]})
    else:
        print_diagnostics(diagnostics)
