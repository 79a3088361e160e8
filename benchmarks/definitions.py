"""Does the cost of checking grow linearly with the program? Seconds, and the ratio 1k to 10k.

python benchmarks/definitions.py
"""

from __future__ import annotations

import sys
import time

from axon import check_text

LAYER = """dense{i} = fn (x, w, b) {{ relu(x @ w + b) }};
block{i} = fn (x, w : t [k,k], g) {{
  h = dense{i}(x, w, g);
  s = softmax(matmul(h, transpose(h)));
  matmul(s, h) + x
}};
use{i} = fn (x : f32 [n,16,64], w : f32 [64,64], g : f32 [64]) {{ block{i}(x, w, g) }};
norm{i} = fn (x : t [b,c,h,w]) {{ mean(reshape(x, [b, c, h * w]), axis=2) }};
down{i} = fn (x, f) {{ max_pool(conv(x, f, stride=[2,2], pad=[1,1]), window=[2,2]) }};
"""


def program(definitions: int) -> str:
    return "".join(LAYER.format(i=i) for i in range(definitions // 5))


def seconds(text: str, times: int = 3) -> float:
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        checked = check_text(text)
        best = min(best, time.process_time() - start)
        assert checked.ok, checked.diagnostics[0]
    return best


def main() -> int:
    sizes = [int(a) for a in sys.argv[1:]] or [1_000, 10_000]
    check_text(program(50))
    found = [(n, seconds(program(n), 3 if n <= 1000 else 2)) for n in sizes]
    for n, taken in found:
        print(f"{n:>7} definitions  {taken:7.2f} s  {n / taken:8.0f} definitions/s")
    ratio = found[-1][1] / found[0][1]
    grown = found[-1][0] / found[0][0]
    print(
        f"{grown:g} times the program takes {ratio:.2f} times as long"
        f" ({ratio / grown:.2f} of linear)"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
