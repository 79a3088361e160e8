"""How long until the first answer? Seconds of whole processes, Python's own start-up included, and
of the processor, which other work on the machine changes less.

python benchmarks/startup.py
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = """softmax = fn (e : t [m,n]) {
  z = exp(e);
  s = map(fn (a) { reduce(+, 0f, a) }, transpose(e));
  map(fn (a) { a / s }, z)
};

attention = fn (Q, K, V) {
  matmul(softmax(matmul(Q, transpose(K))), V)
};

dense = fn (x, w, b) { relu(x @ w + b) };

block = fn (x, f1, f2) {
  y = relu(conv(x, f1, pad=[1,1]));
  z = conv(y, f2, pad=[1,1]);
  relu(z + x)
};

heads = fn (x : f32 [b,s,d]) {
  transpose(reshape(x, [b, s, 8, d / 8]), perm=[0,2,1,3])
};

residual = fn (a, b, s) {
  _, r = loop(a, b, s);
  r + s
};

classify = fn (x, w1 : f32 [784,256], b1, w2, b2) {
  h = dense(x, w1, b1);
  softmax(h @ w2 + b2)
};
"""


def seconds(command: list[str], bytecode: str, times: int = 20) -> tuple[float, float]:
    """The least time of several runs, on the clock and of the processor, with the modules as
    bytecode, as they are once installed.
    """
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = bytecode
    elapsed, used = [], []
    for _ in range(times):
        before, processor = time.perf_counter(), _of_children()
        subprocess.run(command, check=True, capture_output=True, env=environment)
        elapsed.append(time.perf_counter() - before)
        used.append(_of_children() - processor)
    return min(elapsed), min(used)


def _of_children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "thirty_lines.axon"
        path.write_text(PROGRAM)
        rows = [
            ("python -c pass", [sys.executable, "-c", "pass"], None),
            ("import axon", [sys.executable, "-c", "import axon"], None),
            ("axon --version", [sys.executable, "-m", "axon", "--version"], 0.08),
            ("axon infer, 30 lines", [sys.executable, "-m", "axon", "infer", str(path)], 0.3),
        ]
        for name, command, limit in rows:
            elapsed, used = seconds(command, str(Path(folder) / "bytecode"))
            wanted = f"   (to be under {limit} s)" if limit else ""
            print(f"{name:<22} {elapsed:6.3f} s, {used:6.3f} s of the processor{wanted}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
