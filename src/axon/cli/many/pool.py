"""Some workers that share the work: each takes the next file as soon as it is done with one."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

from axon.cli.crash import report
from axon.processes import Ended, Late, NotStarted, Worker, killed_by

Json = dict[str, Any]

WORKER = "axon.cli.many.worker"
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
"""Nothing is multiplied, and each thread of a library would reserve memory of its own."""
WAKE = 0.2
"""How often the main thread looks for Ctrl-C, where waiting cannot be interrupted."""


@dataclass(frozen=True, slots=True)
class Limits:
    seconds: float
    megabytes: int


class CannotWork(Exception):
    """No worker can be started; the sentence says why."""


class Pool:
    def __init__(self, jobs: int, limits: Limits, options: Mapping[str, object]) -> None:
        self._limits = limits
        arguments = str(limits.megabytes << 20), json.dumps(dict(options))
        quiet = not os.environ.get("AXON_DEBUG")
        self._workers = [
            Worker(WORKER, *arguments, quiet=quiet, more=ONE_THREAD) for _ in range(jobs)
        ]
        self._results: SimpleQueue[tuple[int, Json | CannotWork]] = SimpleQueue()
        self._lock = threading.Lock()
        self._starting = threading.Semaphore(processors())
        self.unlimited = False
        """Whether some worker runs without the limit of memory, as the system has none."""

    def results(self, paths: Sequence[str]) -> Iterator[tuple[int, Json]]:
        """What was found about each file, by its place in the list, in the order in which they are
        done; raises `CannotWork`.
        """
        todo = iter(enumerate(paths))
        for worker in self._workers:
            threading.Thread(target=self._work, args=(worker, todo), daemon=True).start()
        for _ in paths:
            found = self._next()
            if isinstance(found[1], CannotWork):
                raise found[1]
            yield found[0], found[1]

    def _next(self) -> tuple[int, Json | CannotWork]:
        while True:
            try:
                return self._results.get(timeout=WAKE)
            except Empty:
                continue

    def close(self) -> None:
        """End all workers, whatever they do."""
        for worker in self._workers:
            worker.close()
        for worker in self._workers:
            worker.end()

    def _work(self, worker: Worker, todo: Iterator[tuple[int, str]]) -> None:
        while True:
            with self._lock:
                at, path = next(todo, (-1, ""))
            if at < 0:
                return
            found: Json | CannotWork
            try:
                found = self._infer(worker, path)
            except NotStarted as problem:
                megabytes = self._limits.megabytes
                found = CannotWork(f"no process can be started with {megabytes} MB: {problem}")
            self._results.put((at, found))

    def _infer(self, worker: Worker, path: str) -> Json:
        """What a worker says of a file. If it runs out of memory, or ends, after other files, a
        new one has another try: what was left of them does not count.
        """
        fresh = worker.process is None
        if fresh:
            with self._starting:  # of many at once each would be late
                worker.start()
        worker.start()
        self.unlimited = self.unlimited or not worker.greeting["limited"]
        began = time.monotonic()
        try:
            found: Json = worker.ask(path, self._limits.seconds)
        except Late:
            found = {"outcome": "time", "message": f"not done in {self._limits.seconds:g} s"}
        except Ended as ended:
            if not fresh:
                return self._infer(worker, path)
            found = self._ended(path, ended.status)
        if found["outcome"] == "memory":
            worker.end()
            if not fresh:
                return self._infer(worker, path)
            found["message"] = f"not done with {self._limits.megabytes} MB of memory"
        found["seconds"] = round(time.monotonic() - began, 3)
        return found

    def _ended(self, path: str, status: int) -> Json:
        how = killed_by(status) or f"status {status}"
        if how in ("SIGKILL", "SIGABRT"):  # by the system, or by a library that got no memory
            return {"outcome": "memory"}
        said = report(RuntimeError(f"the process of {path} ended: {how}"), ["infer", path])
        return {"outcome": "bug", "message": said}


def processors() -> int:
    """How many processors there are for this process."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
