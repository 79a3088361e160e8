"""examples/distributed.py: several processes, each with four devices, on this machine."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "distributed.py"
PATIENCE = 60.0
"""How many seconds a process may take to notice that another one is gone."""
CLOSE = 1e-6

pytest.importorskip("jax")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs Gloo, which JAX has there")


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The example, with its errors among its output."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    environment["PYTHONPATH"] = str(ROOT / "src")
    process = subprocess.Popen(
        [sys.executable, str(EXAMPLE), *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_to(process: subprocess.Popen[str], beginning: str) -> str:
    """The first line that begins so."""
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(beginning):
            return line
    raise AssertionError(f"it ended before a line with {beginning!r}")


def losses(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"loss ([\d.]+)", text)]


def run(arguments: Sequence[str]) -> str:
    with started(*arguments) as process:
        found, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, found
    return found


def test_two_processes_train_as_one_device_does() -> None:
    together = run(["--launch", "2", "--steps", "30", "--every", "10"])
    alone = run(["--steps", "30", "--every", "10"])
    assert "2 processes, 8 devices, mesh {'data': 4, 'model': 2}" in together
    assert len(losses(alone)) == 4
    assert losses(together) == pytest.approx(losses(alone), abs=CLOSE)
    assert losses(alone)[0] > 1.5 * losses(alone)[-1]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_if_a_process_dies_the_others_are_ended(number: signal.Signals) -> None:
    with started("--launch", "2", "--steps", "1000000", "--every", "10") as launcher:
        pids = [int(word) for word in read_to(launcher, "started").split()[1:]]
        read_to(launcher, "step")
        os.kill(pids[1], number)
        said, _ = launcher.communicate(timeout=PATIENCE)
    assert launcher.returncode == 1
    assert f"process 1 ended with status -{number}: the others are ended too" in said
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_who_launched_them_takes_them_with_it() -> None:
    with started("--launch", "2", "--steps", "1000000", "--every", "10") as launcher:
        pids = [int(word) for word in read_to(launcher, "started").split()[1:]]
        read_to(launcher, "step")
        launcher.terminate()
        launcher.communicate(timeout=PATIENCE)
    assert launcher.returncode == 128 + signal.SIGTERM
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("--launch 0", "argument --launch: 0 is not 1 or more"),
        ("--steps 0", "argument --steps: 0 is not 1 or more"),
        ("--process 0", "--processes and --process need a --coordinator"),
        ("--coordinator here --processes 2 --process 0", "--coordinator is HOST:PORT"),
        ("--coordinator here:1 --processes 2 --process 2", "which, from 0 on"),
    ],
)
def test_wrong_usage(arguments: str, says: str) -> None:
    with started(*arguments.split()) as process:
        said, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and says in said and "Traceback" not in said


@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_notices_that_another_died(victim: int) -> None:
    """Nobody is there to end it: it ends itself, and says why."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    shared = ["--local", "--coordinator", coordinator, "--processes", "2", "--heartbeat", "3"]
    shared += ["--steps", "1000000", "--every", "10"]
    with started(*shared, "--process", "0") as first, started(*shared, "--process", "1") as second:
        read_to(first, "step")
        both = [first, second]
        both[victim].kill()
        said, _ = both[1 - victim].communicate(timeout=PATIENCE)
    assert both[1 - victim].returncode not in (0, None)
    assert "another task died" in said
