"""Five small tasks, and what each tool says of them, in its own words: docs/comparison.md.

    python benchmarks/comparison.py [--only TASK]

The tools are Axon; jaxtyping with beartype, on PyTorch; torch.export; onnx's inference of shapes,
strict and with data propagation; and onnxruntime's symbolic inference. Those that are not installed
are left out. To have all:

    pip install '.[onnx]' jaxtyping beartype torch==2.13.0 onnxruntime sympy
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import io
import logging
import re
import sys
import tempfile
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

ENCODER = Path(__file__).parents[1] / "examples" / "onnx" / "encoder.onnx"
MOST_LINES = 8
NEEDS = {
    "axon": ("axon",),
    "jaxtyping": ("jaxtyping", "beartype", "torch"),
    "torch.export": ("torch",),
    "onnx": ("onnx",),
    "onnxruntime": ("onnx", "onnxruntime", "sympy"),
}

Question = Callable[[], object]
TASKS: dict[str, list[tuple[str, str, Question]]] = {}


def asks(task: str, tool: str, how: str) -> Callable[[Question], Question]:
    """A question of a task to a tool."""

    def entered(question: Question) -> Question:
        TASKS.setdefault(task, []).append((tool, how, question))
        return question

    return entered


# --- how each tool is asked -------------------------------------------------------------------


def axon(program: str | Path, *arguments: str) -> str:
    from axon.cli import main

    with tempfile.TemporaryDirectory() as folder:
        path = program if isinstance(program, Path) else Path(folder) / "net.axon"
        if isinstance(program, str):
            path.write_text(program, encoding="utf-8")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            main([arguments[0], str(path), *arguments[1:]])
    return printed.getvalue().replace(f"{path.parent}/", "")


def checked(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function whose annotations are compared with its arguments and its result at a call."""
    from beartype import beartype
    from jaxtyping import jaxtyped

    return jaxtyped(function, typechecker=beartype)


def exported(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    dims: Any = None,
    *,
    strict: bool = False,
) -> str:
    """The inputs and the result of an exported function, with the sizes that are left open."""
    import torch

    class Module(torch.nn.Module):
        def forward(self, *inputs: Any) -> Any:
            return function(*inputs)

    named = (dims,) if dims else None
    program = torch.export.export(Module(), arguments, dynamic_shapes=named, strict=strict)
    nodes = [node for node in program.graph.nodes if node.op != "output"]
    shapes = [f"{node.name} : {list(node.meta['val'].shape)}" for node in nodes]
    return "\n".join([*shapes, f"ranges: {program.range_constraints}"])


def model(text: str, *, ranked: bool = True) -> Any:
    """A model from onnx's text; the shapes of its inputs are forgotten if it is not `ranked`."""
    import onnx.parser

    parsed = onnx.parser.parse_model('<ir_version: 10, opset_import: ["" : 20]>\n' + text)
    return parsed if ranked else without_shapes(parsed)


def without_shapes(parsed: Any) -> Any:
    for value in (*parsed.graph.input, *parsed.graph.output):
        value.type.tensor_type.ClearField("shape")
    del parsed.graph.value_info[:]
    return parsed


def by_onnx(parsed: Any) -> str:
    import onnx

    inferred = onnx.shape_inference.infer_shapes(parsed, strict_mode=True, data_prop=True)
    return types(inferred)


def by_onnxruntime(parsed: Any) -> str:
    from onnxruntime.tools.symbolic_shape_infer import SymbolicShapeInference

    return types(SymbolicShapeInference.infer_shapes(parsed))


def types(parsed: Any) -> str:
    """The inputs and outputs, and how much is known of what is in between."""
    graph = parsed.graph
    ends = [f"{v.name} : {_type(v)}" for v in (*graph.input, *graph.output)]
    named = [name for node in graph.node for name in node.output if name]
    values = (*graph.value_info, *graph.output)
    known = {v.name for v in values if not re.search(r"\?|unk__", _type(v))}
    return "\n".join([*ends, f"sizes known or named: of {len(known)} of {len(named)} results"])


def _type(value: Any) -> str:
    tensor = value.type.tensor_type
    if not tensor.HasField("shape"):
        return "no shape ?"
    sizes = (dim.dim_param or dim.dim_value or "?" for dim in tensor.shape.dim)
    return f"[{','.join(map(str, sizes))}]"


def some(*shape: int) -> Any:
    import torch

    return torch.zeros(shape)


# --- 1. a forgotten transpose -----------------------------------------------------------------

SCORES = "scores = fn (q : f32 [b,m,d], k : f32 [b,n,d]) { matmul(q, k) };\n"
SCORES_NUMBERS = "scores = fn (q : f32 [b,8,64], k : f32 [b,10,64]) { matmul(q, k) };\n"
TRANSPOSE = "a forgotten transpose"


@asks(TRANSPOSE, "axon", "sizes as names")
def _() -> object:
    return axon(SCORES, "check", "--strict")


@asks(TRANSPOSE, "axon", "sizes as numbers")
def _() -> object:
    return axon(SCORES_NUMBERS, "check")


def _jaxtyping_scores() -> Callable[..., Any]:
    from jaxtyping import Float
    from torch import Tensor

    def scores(q: Any, k: Any) -> Any:
        return q @ k

    scores.__annotations__ = {
        "q": Float[Tensor, "b m d"],
        "k": Float[Tensor, "b n d"],
        "return": Float[Tensor, "b m n"],
    }
    return checked(scores)


@asks(TRANSPOSE, "jaxtyping", "called with [2,8,64] and [2,10,64]")
def _() -> object:
    return _jaxtyping_scores()(some(2, 8, 64), some(2, 10, 64)).shape


@asks(TRANSPOSE, "jaxtyping", "called with [2,8,64] and [2,64,64]")
def _() -> object:
    return _jaxtyping_scores()(some(2, 8, 64), some(2, 64, 64)).shape


def _scores_export(n: int, **named: Any) -> object:
    from torch.export import Dim

    batch, m, keys = Dim("b"), Dim("m"), Dim("n")
    dims = ({0: batch, 1: m}, {0: batch, 1: keys})
    return exported(lambda q, k: q @ k, (some(2, 8, 64), some(2, n, 64)), dims)


@asks(TRANSPOSE, "torch.export", "from examples [2,8,64] and [2,10,64]")
def _() -> object:
    return _scores_export(10)


@asks(TRANSPOSE, "torch.export", "from examples [2,8,64] and [2,64,64]")
def _() -> object:
    return _scores_export(64)


@asks(TRANSPOSE, "onnx", "sizes as names")
def _() -> object:
    return by_onnx(model("g (float[b,m,d] q, float[b,n,d] k) => (y) { y = MatMul(q, k) }"))


@asks(TRANSPOSE, "onnx", "sizes as numbers")
def _() -> object:
    return by_onnx(model("g (float[b,8,64] q, float[b,10,64] k) => (y) { y = MatMul(q, k) }"))


@asks(TRANSPOSE, "onnxruntime", "sizes as names")
def _() -> object:
    return by_onnxruntime(
        _output(model("g (float[b,m,d] q, float[b,n,d] k) => (float[r] y) { y = MatMul(q, k) }"))
    )


def _output(parsed: Any) -> Any:
    """The shape of the output is forgotten (onnxruntime's tool wants its element type)."""
    for value in parsed.graph.output:
        value.type.tensor_type.ClearField("shape")
    return parsed


# --- 2. no annotations ------------------------------------------------------------------------

DENSE = "dense = fn (x, w, b) { relu(x @ w + b) };\n"
UNANNOTATED = "a function without annotations"


@asks(UNANNOTATED, "axon", "as it is")
def _() -> object:
    return axon(DENSE, "infer", "--plain")


def dense(x: Any, w: Any, b: Any) -> Any:
    import torch

    return torch.relu(x @ w + b)


@asks(UNANNOTATED, "jaxtyping", "called with [2,3], [4,5], [5]")
def _() -> object:
    return checked(dense)(some(2, 3), some(4, 5), some(5)).shape


@asks(UNANNOTATED, "torch.export", "from examples [2,3], [3,5], [5], every size Dim.AUTO")
def _() -> object:
    from torch.export import Dim

    auto = Dim.AUTO
    dims = ({0: auto, 1: auto}, {0: auto, 1: auto}, {0: auto})
    return exported(dense, (some(2, 3), some(3, 5), some(5)), dims)


DENSE_ONNX = """g (float[] x, float[] w, float[] b) => (float[] y)
{ p = MatMul(x, w) s = Add(p, b) y = Relu(s) }"""


@asks(UNANNOTATED, "onnx", "inputs without shapes")
def _() -> object:
    return by_onnx(model(DENSE_ONNX, ranked=False))


@asks(UNANNOTATED, "onnxruntime", "inputs without shapes")
def _() -> object:
    return by_onnxruntime(model(DENSE_ONNX, ranked=False))


# --- 3. [n] + [m] -----------------------------------------------------------------------------

TOTAL = """total = fn (x : f32 [n], y : f32 [m]) { x + y };
used = fn (x : f32 [8]) { total(x, zeros([1])) };
wrong = fn (x : f32 [8]) { total(x, zeros([3])) };
"""
ADDED = "[n] + [m]"


@asks(ADDED, "axon", "and two uses of it")
def _() -> object:
    return axon(TOTAL, "infer")


def _jaxtyping_total(x: int, y: int, names: tuple[str, str, str]) -> object:
    from jaxtyping import Float
    from torch import Tensor

    def total(x: Any, y: Any) -> Any:
        return x + y

    first, second, result = (Float[Tensor, name] for name in names)
    total.__annotations__ = {"x": first, "y": second, "return": result}
    return checked(total)(some(x), some(y)).shape


@asks(ADDED, "jaxtyping", '"n" and "m", called with [3] and [4]')
def _() -> object:
    return _jaxtyping_total(3, 4, ("n", "m", "n"))


@asks(ADDED, "jaxtyping", '"#n" and "#n", called with [1] and [4]')
def _() -> object:
    return _jaxtyping_total(1, 4, ("#n", "#n", "n"))


def _total_export(x: int, y: int) -> object:
    from torch.export import Dim

    return exported(lambda x, y: x + y, (some(x), some(y)), ({0: Dim("n")}, {0: Dim("m")}))


@asks(ADDED, "torch.export", "from examples [4] and [4]")
def _() -> object:
    return _total_export(4, 4)


@asks(ADDED, "torch.export", "from examples [1] and [4]")
def _() -> object:
    return _total_export(1, 4)


TOTAL_ONNX = "g (float[n] x, float[m] y) => (float[r] z) { z = Add(x, y) }"


@asks(ADDED, "onnx", "sizes as names")
def _() -> object:
    return by_onnx(_output(model(TOTAL_ONNX)))


@asks(ADDED, "onnxruntime", "sizes as names")
def _() -> object:
    return by_onnxruntime(_output(model(TOTAL_ONNX)))


# --- 4. what a model accepts ------------------------------------------------------------------

WEIGHTS = "the input shape of a model from its weights"


@asks(WEIGHTS, "axon", "examples/onnx/encoder.onnx, declared shapes forgotten")
def _() -> object:
    return axon(ENCODER, "infer", "--forget-inputs")


@asks(WEIGHTS, "torch.export", "without examples")
def _() -> object:
    return exported(lambda x, w: x @ w, ())


@asks(WEIGHTS, "onnx", "the same file")
def _() -> object:
    import onnx

    return by_onnx(without_shapes(onnx.load(ENCODER)))


@asks(WEIGHTS, "onnxruntime", "the same file")
def _() -> object:
    import onnx

    return by_onnxruntime(without_shapes(onnx.load(ENCODER)))


# --- 5. a ragged batch ------------------------------------------------------------------------

RAGGED = """pooled = fn (texts : f32 [n,*,d]) { map(fn (words) { mean(words, axis=0) }, texts) };
attend = fn (texts : f32 [n,*,d]) { map(fn (x) { softmax(x @ transpose(x)) @ x }, texts) };
"""
ROWS = "a ragged batch"


def texts() -> Any:
    import torch

    return torch.nested.nested_tensor([some(2, 3), some(5, 3)], layout=torch.jagged)


@asks(ROWS, "axon", "pooling and attention in each row")
def _() -> object:
    return axon(RAGGED, "infer")


@asks(ROWS, "jaxtyping", 'is a nested tensor of rows [2,3] and [5,3] a "n k 3"?')
def _() -> object:
    from jaxtyping import Float
    from torch import Tensor

    return isinstance(texts(), Float[Tensor, "n k 3"])


@asks(ROWS, "torch.export", "pooling, nested tensor")
def _() -> object:
    return exported(lambda x: x.mean(dim=1), (texts(),))


@asks(ROWS, "torch.export", "pooling, nested tensor, strict=True")
def _() -> object:
    return exported(lambda x: x.mean(dim=1), (texts(),), strict=True)


@asks(ROWS, "torch.export", "PyTorch itself: attention written out")
def _() -> object:
    import torch

    x = texts()
    return (torch.softmax(x @ x.transpose(1, 2), -1) @ x).shape


@asks(ROWS, "torch.export", "PyTorch itself: its operator for attention")
def _() -> object:
    import torch

    x = texts().unflatten(-1, [1, 3]).transpose(1, 2)  # one head
    return torch.nn.functional.scaled_dot_product_attention(x, x, x).shape


# --- all of it --------------------------------------------------------------------------------


def said(question: Question) -> str:
    """What a tool answers: its result, or its exception; the end of a long one is left out."""
    hidden = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(hidden):
            warnings.simplefilter("ignore")
            answer = str(question())
    except Exception as problem:
        answer = f"{type(problem).__name__}: {problem}"
    lines = [line for line in answer.strip().splitlines() if line.strip()]
    more = [f"… ({len(lines) - MOST_LINES} more lines)"] if len(lines) > MOST_LINES else []
    return "\n".join(f"    {line}" for line in [*lines[:MOST_LINES], *more])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", metavar="TASK", default="", help="tasks whose name has this")
    only = parser.parse_args().only
    logging.disable(logging.CRITICAL)
    there = {tool for tool, needs in NEEDS.items() if all(map(importlib.util.find_spec, needs))}
    packages = sorted({package for tool in there for package in NEEDS[tool]} - {"axon"})
    print(", ".join(f"{package} {version(package)}" for package in packages))
    print("not installed:", ", ".join(NEEDS.keys() - there) or "none")
    for task, questions in TASKS.items():
        if only not in task:
            continue
        print(f"\n== {task}")
        for tool, how, question in questions:
            if tool in there:
                print(f"\n{tool}, {how}\n{said(question)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
