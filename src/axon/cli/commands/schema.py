"""`axon schema`: the JSON schema of what commands print with `--json`."""

from __future__ import annotations

import argparse
from pathlib import Path

from axon.cli.status import FINE


def add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser


def run(options: argparse.Namespace) -> int:
    del options
    print((Path(__file__).parents[1] / "schema.json").read_text(encoding="utf-8"), end="")
    return FINE
