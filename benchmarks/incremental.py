"""How much does checking after an edit cost, next to checking the whole file?

python benchmarks/incremental.py
"""

from __future__ import annotations

import time

from definitions import program

from axon.session import Session

DEFINITIONS = 3_000
LIMIT = 0.05


def main() -> int:
    text = program(DEFINITIONS)
    session = Session("net.axon")
    start = time.process_time()
    session.check(text)
    whole = time.process_time() - start
    print(f"{'the whole file':<34}{whole:8.3f} s   {DEFINITIONS} definitions")
    edits = {
        "a body, same type": text.replace(
            "dense300 = fn (x, w, b) { relu(", "dense300 = fn (x, w, b) { abs("
        ),
        "a type that two others use": text.replace(
            "dense300 = fn (x, w, b) { relu(x @ w + b) }", "dense300 = fn (x, w, b) { relu(x @ w) }"
        ),
        "a comment at the top": "# hello\n" + text,
    }
    worst = 0.0
    for name, edited in edits.items():
        assert edited != text
        session.check(text)
        start = time.process_time()
        snapshot = session.check(edited)
        taken = time.process_time() - start
        worst = max(worst, taken / whole)
        print(f"{name:<34}{taken:8.3f} s   {snapshot.inferred} inferred, {taken / whole:.1%}")
    return int(worst > LIMIT)


if __name__ == "__main__":
    raise SystemExit(main())
