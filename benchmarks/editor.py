"""How long does an editor wait after a key, in a file of 3,000 lines?

python benchmarks/editor.py [LINES] [EDITS]

A real client talks to `axon lsp` over its standard input and output. Each edit is one character of
a random line of code, typed, deleted or pasted over, so that the text is broken about half of the
time; then it asks for the hints of the 60 lines around, and waits for these and for the
diagnostics. Exit 1 if the 95th percentile is above 100 ms.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from typing import Any

LIMIT = 0.1
URI = "file:///net.axon"

BLOCK = """\
# One layer of many.
dense{i} = fn (x, w, b) {{
  h = x @ w;
  relu(h + b)
}};
block{i} = fn (x : f32 [n,{m}], w : f32 [{m},k], b : f32 [k]) {{
  y = dense{i}(x, w, b);
  z = layer_norm(y);
  p = {{ mean = mean(z), rows = sum(z, axis=-1) }};
  z * p.mean + eps
}};
pair{i} = fn (x, s) {{
  a, c = x, concat(x, x);
  t = map(fn (row) {{ row * s }}, a);
  t, c
}};

"""


def program(lines: int) -> str:
    size = BLOCK.count("\n")
    return "eps = 1e-5;\n" + "".join(
        BLOCK.format(i=i, m=8 + i % 5) for i in range(lines // size + 1)
    )


class Client:
    def __init__(self) -> None:
        command = [sys.executable, "-m", "axon", "lsp"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count = 0

    def send(self, message: dict[str, Any]) -> None:
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(data), data))
        self.process.stdin.flush()

    def ask(self, method: str, params: object) -> int:
        self.count += 1
        self.send({"id": self.count, "method": method, "params": params})
        return self.count

    def read(self) -> dict[str, Any]:
        stream = self.process.stdout
        assert stream is not None
        length = 0
        while (line := stream.readline().strip()) != b"":
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        found: dict[str, Any] = json.loads(stream.read(length))
        return found

    def until(self, id: int | None, version: int | None) -> dict[str, float]:
        """When the answer, and the diagnostics of a version, were there."""
        seen: dict[str, float] = {}
        while (id is not None and "hints" not in seen) or (version and "diagnostics" not in seen):
            message = self.read()
            if message.get("id") == id and "method" not in message:
                assert "result" in message, message
                seen["hints"] = time.perf_counter()
                continue
            told = message.get("method") == "textDocument/publishDiagnostics"
            if told and message["params"].get("version") == version:
                seen["diagnostics"] = time.perf_counter()
        return seen


def edited(line: str, source: random.Random) -> tuple[int, int, str]:
    """The columns that an edit replaces, and the new text."""
    at = source.randrange(len(line) + 1)
    match source.randrange(5):
        case 0 | 1:
            return at, at, source.choice("abxyw123;,()[]=.+ *@{}")
        case 2 | 3:
            return at, min(at + 1, len(line)), ""
        case _:
            return at, min(at + 3, len(line)), source.choice(("relu(x)", "zeros([3])", "x.w", ""))


def main() -> int:
    numbers = [int(a) for a in sys.argv[1:] if a.isdigit()]
    lines = numbers[0] if numbers else 3_000
    count = numbers[1] if len(numbers) > 1 else 300
    source = random.Random(1)
    text = program(lines).split("\n")
    client = Client()
    client.until(client.ask("initialize", {"capabilities": {}}), None)
    client.send({"method": "initialized", "params": {}})
    document = {"uri": URI, "languageId": "axon", "version": 1, "text": "\n".join(text)}
    start = time.perf_counter()
    client.send({"method": "textDocument/didOpen", "params": {"textDocument": document}})
    client.until(None, 1)
    print(f"opened: {len(text)} lines, {time.perf_counter() - start:.2f} s until the diagnostics")
    taken: list[tuple[float, float, str]] = []
    version = 1
    undo: tuple[int, str] | None = None
    for number in range(count):
        version += 1
        if undo is not None and number % 3 == 2:
            row, new = undo
            first, last = 0, len(text[row])
            undo = None
        else:
            row = undo[0] if undo is not None else source.randrange(len(text))
            undo = undo or (row, text[row])
            first, last, new = edited(text[row], source)
        text[row] = text[row][:first] + new + text[row][last:]
        place = {
            "start": {"line": row, "character": first},
            "end": {"line": row, "character": last},
        }
        change = {"range": place, "text": new}
        start = time.perf_counter()
        client.send(
            {
                "method": "textDocument/didChange",
                "params": {
                    "textDocument": {"uri": URI, "version": version},
                    "contentChanges": [change],
                },
            }
        )
        around = {
            "start": {"line": max(0, row - 30), "character": 0},
            "end": {"line": row + 30, "character": 0},
        }
        id = client.ask("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": around})
        seen = client.until(id, version)
        what = f"line {row + 1}: {text[row]!r}"
        taken.append((seen["hints"] - start, seen["diagnostics"] - start, what))
    client.until(client.ask("shutdown", None), None)
    client.send({"method": "exit"})
    client.process.wait()
    for name, at in (("hints", 0), ("diagnostics", 1)):
        times = sorted(each[at] for each in taken)
        shown = [times[len(times) * part // 100] for part in (50, 95, 99)] + [times[-1]]
        figures = "  ".join(f"{time * 1000:7.1f}" for time in shown)
        print(f"{name:<12} ms: p50, p95, p99, most  {figures}")
    worst = sorted(taken, key=lambda each: -max(each[:2]))[:5]
    for hints, diagnostics, what in worst:
        print(f"  {max(hints, diagnostics) * 1000:7.1f} ms  {what}")
    p95 = sorted(max(each[:2]) for each in taken)[len(taken) * 95 // 100]
    print(f"p95 of both: {p95 * 1000:.1f} ms")
    return int(p95 > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
