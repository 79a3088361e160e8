"""Train a network on a mesh of devices that several processes share: Axon says what is computed and
which sizes are cut, JAX moves what has to be moved.

python examples/distributed.py --launch 2           two processes on this machine, 4 devices each
python examples/distributed.py                      the same steps on one device

On a cluster each machine runs one of them:

python examples/distributed.py --coordinator HOST:PORT --processes 16 --process 3
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from typing import Any

PROGRAM = """
type Net(d, f) = { up : f32 [d,f], mid : f32 [f], down : f32 [f,d] };

net = fn (p : Net(d, f), x : f32 [b,d]) { x + tanh(x @ p.up + p.mid) @ p.down };

loss = fn (p : Net(d, f), x : f32 [b,d], y : f32 [b,d]) { mean(square(net(p, x) - y)) };
"""
BATCH, FEATURES, HIDDEN = 64, 16, 128
SHARD = {"b": "data", "f": "model"}
LOCAL_DEVICES = 4
START_S = 60


def train(steps: int, rate: float, mesh: dict[str, int] | None, every: int) -> list[float]:
    """The losses of some steps. Every process has the same numbers and computes its part."""
    import jax
    import numpy as np

    import axon

    program = axon.compile(PROGRAM)
    net = program.on("jax") if mesh is None else program.on("jax", mesh=mesh, shard=SHARD)
    random = np.random.default_rng(0)
    x = random.normal(size=(BATCH, FEATURES)).astype(np.float32)
    y = np.roll(x, 1, axis=1) * np.float32(0.5)
    weights = net.loss.init(0, d=FEATURES, f=HIDDEN)
    if mesh is not None:
        weights, x, y = net.loss.placed(weights, x, y)

    @jax.jit
    def step(weights: Any, x: Any, y: Any) -> tuple[Any, Any]:
        loss, slopes = jax.value_and_grad(net.loss.jax)(weights, x, y)
        return jax.tree.map(lambda w, slope: w - rate * slope, weights, slopes), loss

    losses: list[float] = []
    for done in range(1, steps + 1):
        weights, loss = step(weights, x, y)
        losses.append(float(loss))
        if every and done % every == 0:
            print(f"step {done}/{steps}  loss {losses[-1]:.6f}", flush=True)
    return losses


def work(options: argparse.Namespace) -> int:
    """One of several processes. If another one ends early, JAX ends this one and says so, as soon
    as it misses the other's heartbeats.
    """
    import jax

    import axon

    jax.config.update("jax_enable_preemption_service", False)  # it would note SIGTERM, and go on
    jax.distributed.initialize(
        options.coordinator,
        options.processes,
        options.process,
        coordinator_bind_address=options.coordinator if options.local else None,
        initialization_timeout=START_S,
        heartbeat_timeout_seconds=options.heartbeat,
        shutdown_timeout_seconds=options.heartbeat,
    )
    devices = jax.device_count()
    mesh = {"data": devices // 2, "model": 2} if devices % 2 == 0 else {"data": devices, "model": 1}
    first = options.process == 0
    if first:
        print(f"{options.processes} processes, {devices} devices, mesh {mesh}", flush=True)
    try:
        losses = train(options.steps, options.rate, mesh, options.every if first else 0)
    except axon.AxonError as problem:
        sys.exit(str(problem))
    except jax.errors.JaxRuntimeError as problem:  # found before a heartbeat was missed
        sys.exit(f"process {options.process} ends: it seems that another task died: {problem}")
    if first:
        print(f"final loss {losses[-1]:.8f}", flush=True)
    jax.distributed.shutdown()
    return 0


def launch(options: argparse.Namespace) -> int:
    """Some processes on this machine, with devices that the processor plays. If one fails, the
    others are ended.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        coordinator = f"127.0.0.1:{free.getsockname()[1]}"
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count"
    environment = {
        **os.environ,
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"{flags}={LOCAL_DEVICES}".strip(),
    }
    command = [sys.executable, __file__, "--local", "--coordinator", coordinator]
    command += ["--processes", str(options.launch), "--steps", str(options.steps)]
    command += ["--rate", str(options.rate), "--every", str(options.every)]
    command += ["--heartbeat", str(options.heartbeat)]
    running = [
        subprocess.Popen([*command, "--process", str(i)], env=environment)
        for i in range(options.launch)
    ]
    print("started", *(process.pid for process in running), flush=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # the others with it
    try:
        while any(process.poll() is None for process in running):
            failed = [i for i, p in enumerate(running) if p.poll() not in (None, 0)]
            if failed:
                print(
                    f"process {failed[0]} ended with status {running[failed[0]].returncode}:"
                    " the others are ended too",
                    file=sys.stderr,
                )
                return 1
            time.sleep(0.1)
        return max(abs(process.returncode) for process in running)
    finally:
        for process in running:
            process.kill()
            process.wait()


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def main() -> int:
    parser = argparse.ArgumentParser(description="train on a mesh of devices")
    parser.add_argument("--steps", type=positive, default=100)
    parser.add_argument("--rate", type=float, default=0.5)
    parser.add_argument("--every", type=int, default=20, help="print the loss every so many steps")
    parser.add_argument("--launch", type=positive, metavar="N", help="start N processes here")
    parser.add_argument("--coordinator", metavar="HOST:PORT", help="where process 0 listens")
    parser.add_argument("--processes", type=positive, metavar="N", help="how many there are")
    parser.add_argument("--process", type=int, metavar="I", help="which of them this is")
    parser.add_argument(
        "--heartbeat",
        type=positive,
        default=10,
        help="how many seconds another process may be silent",
    )
    parser.add_argument("--local", action="store_true", help="listen on this address alone")
    options = parser.parse_args()
    if options.launch is not None:
        return launch(options)
    if options.coordinator is not None:
        if ":" not in options.coordinator:
            parser.error("--coordinator is HOST:PORT")
        if options.process not in range(options.processes or 0):
            parser.error("--processes says how many there are, --process which, from 0 on")
        return work(options)
    if options.processes is not None or options.process is not None:
        parser.error("--processes and --process need a --coordinator")
    losses = train(options.steps, options.rate, None, options.every)
    print(f"final loss {losses[-1]:.8f}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
