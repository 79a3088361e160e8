"""Do `axon infer` and the program that `axon import` writes say the same of a model?

    python benchmarks/onnx_agreement.py [--only OPERATOR …] [--part I/N]

Of onnx's node tests, and of the same with the shape of one input changed, those on which the two
differ are listed: one refuses the model and the other does not, or the outputs have other types.
The exit status is 1 if there are any. `tests/importers/onnx_changes.py` makes the models.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter

from onnx_models.shared import changes, disagreement, make


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", help="operators to look at")
    parser.add_argument("--part", default="0/1", help="every N-th model, from the I-th on")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    first, step = map(int, options.part.split("/"))
    found: Counter[str] = Counter()
    every = changes(options.only)[first::step]
    begun = time.process_time()
    for change in every:
        try:
            said = disagreement(make(change).model)
        except Exception as problem:  # a bug of Axon's, which is to be counted
            said = f"{type(problem).__name__}: {problem}"
        if said:
            found[change.operator] += 1
            print(f"{change.operator:24} {change.key}; {said}")
    print(f"{found.total()} of {len(every)} models differ, {time.process_time() - begun:.0f} s")
    print(", ".join(f"{name} {count}" for name, count in found.most_common()))
    return int(found.total() > 0)


if __name__ == "__main__":
    sys.exit(main())
