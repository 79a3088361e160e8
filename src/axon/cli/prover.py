"""The option `--prove`."""

from __future__ import annotations

import argparse

from axon.cli.out import complain


def add_prove(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--prove",
        action="store_true",
        help="drop conditions that follow from others, reject those that no sizes meet",
    )


def lacks_prover(options: argparse.Namespace) -> bool:
    """Whether `--prove` is asked for and cannot be done; if so, say what to do."""
    if not options.prove:
        return False
    from axon.prove.extra import INSTALL, missing

    lacking = missing()
    if lacking:
        complain(f"--prove needs {' and '.join(lacking)}: {INSTALL}")
    return bool(lacking)
