"""Names of NumPy, PyTorch and JAX, and of Python, and how Axon writes what they stand for.

A form is an example in which `x` and `y` are tensors; `foreign_calls.py` writes it with the
arguments of the program.
"""

from __future__ import annotations

from axon.ops import OPERATORS
from axon.syntax import ast

LIBRARIES = {
    **dict.fromkeys(("np", "numpy", "scipy", "math", "einops"), "NumPy and the like"),
    **dict.fromkeys(("torch", "nn", "F", "functional", "optim"), "PyTorch"),
    **dict.fromkeys(("jnp", "jax", "lax"), "JAX"),
    **dict.fromkeys(("tf", "tensorflow", "keras"), "TensorFlow"),
}
"""What libraries are called in programs that use them."""

CONSTANTS = {"pi": "3.141592653589793", "inf": "inf", "newaxis": "None"}
"""What a library calls a value."""

FORMS = {
    "T": "transpose(x)",
    "mT": "transpose(x)",
    "H": "transpose(x)",
    "t": "transpose(x)",
    "shape": "shape(x)",
    "size": "size(x, axis=0)",
    "numel": "size(x)",
    "len": "size(x, axis=0)",
    "ndim": "rank(x)",
    "dim": "rank(x)",
    "dtype": "cast(x, to=f32)",
    "dot": "x @ w",
    "mm": "x @ w",
    "bmm": "x @ w",
    "mv": "(x @ v[:, None])[:, 0]",
    "add": "x + y",
    "sub": "x - y",
    "subtract": "x - y",
    "mul": "x * y",
    "multiply": "x * y",
    "div": "x / y",
    "divide": "x / y",
    "true_divide": "x / y",
    "power": "x ** y",
    "neg": "-x",
    "negative": "-x",
    "absolute": "abs(x)",
    "cat": "concat(x, y)",
    "concatenate": "concat(x, y)",
    "vstack": "concat(x, y)",
    "hstack": "concat(x, y, axis=1)",
    "view": "reshape(x, [n * m])",
    "ravel": "reshape(x, [-1])",
    "permute": "transpose(x, perm=[1, 0])",
    "swapaxes": "transpose(x, perm=[1, 0])",
    "moveaxis": "transpose(x, perm=[1, 0])",
    "movedim": "transpose(x, perm=[1, 0])",
    "unsqueeze": "expand_dims(x, axis=0)",
    "flip": "reverse(x)",
    "chunk": "split(x, parts=2)",
    "topk": "top_k(x, k=2)",
    "clamp": "clip(x, min=0, max=6)",
    "masked_fill": "where(c, 0f, x)",
    "expand": "broadcast_to(x, [1, n, m])",
    "eq": "x == y",
    "ne": "x != y",
    "lt": "x < y",
    "le": "x <= y",
    "gt": "x > y",
    "ge": "x >= y",
    "new_zeros": "zeros([n, m])",
    "new_ones": "ones([n, m])",
    "full_like": "full(shape(x), 0f)",
    "rand_like": "uniform(key, shape(x))",
    "randn_like": "normal(key, shape(x))",
    "arange": "range(n)",
    "repeat_interleave": "repeat(x, times=2)",
    "take_along_axis": "gather_elements(x, r[:, None], axis=1)",
    "take_along_dim": "gather_elements(x, r[:, None], axis=1)",
    "index_select": "gather(x, i)",
    "take": "gather(x, i)",
    "var": "variance(x)",
    "std": "sqrt(variance(x))",
    "amax": "max(x, axis=1)",
    "amin": "min(x, axis=1)",
    "reduce_sum": "sum(x, axis=1)",
    "reduce_mean": "mean(x, axis=1)",
    "reduce_max": "max(x, axis=1)",
    "reduce_min": "min(x, axis=1)",
    "reduce_any": "any(c, axis=1)",
    "reduce_all": "all(c, axis=1)",
    "dropout": "dropout(x, key=key, rate=0.1)",
    "linear": "x @ w + b",
    "embedding": "gather(x, i)",
    "cosine_similarity": "sum(x * y, axis=-1) / (norm(x, axis=-1) * norm(y, axis=-1))",
    "scatter_add": 'scatter(x, i, y, mode="add")',
    "index_add": 'scatter(x, i, y, mode="add")',
    "segment_sum": 'scatter(zeros([n, m]), i, x, mode="add")',
    "cross_entropy": "cross_entropy(x, r)",
    "nll_loss": "negative_log_likelihood(x, r)",
    "binary_cross_entropy": "-mean(y * log(x) + (1 - y) * log(1 - x))",
    "binary_cross_entropy_with_logits": "mean(softplus(x) - x * y)",
    "kl_div": "mean(y * (log(y) - x))",
    "mse_loss": "mean((x - y) ** 2)",
    "l1_loss": "mean(abs(x - y))",
    "normalize": "x / norm(x, axis=1, keep=true)",
    "conv1d": "conv(x3, w3)",
    "conv2d": "conv(z, w4)",
    "conv3d": "conv(x5, w5)",
    "conv_transpose2d": "conv_transpose(z, w4)",
    "max_pool2d": "max_pool(z, window=2)",
    "avg_pool2d": "avg_pool(z, window=2)",
    "adaptive_avg_pool2d": "adaptive_avg_pool(z, [1, 1])",
    "interpolate": "upsample(z, scale=2)",
    "scaled_dot_product_attention": "attention(x, y, y)",
    "astype": "cast(x, to=f32)",
    "to": "cast(x, to=f32)",
    "type": "cast(x, to=f32)",
    "float": "cast(x, to=f32)",
    "long": "cast(x, to=i64)",
    "int": "cast(x, to=i32)",
    "half": "cast(x, to=f16)",
    "double": "cast(x, to=f64)",
    "bool": "cast(x, to=bool)",
    "item": "x",
    "contiguous": "x",
    "detach": "x",
    "clone": "x",
    "copy": "x",
    "cpu": "x",
    "cuda": "x",
    "numpy": "x",
    "array": "[1.0, 2.0]",
    "asarray": "[1.0, 2.0]",
    "tensor": "[1.0, 2.0]",
    "rand": "uniform(key, [n, m])",
    "randn": "normal(key, [n, m])",
    "Linear": "x @ w + b",
    "Dense": "x @ w + b",
    "Embedding": "gather(x, i)",
    "Conv1d": "conv(x3, w3)",
    "Conv2d": "conv(z, w4)",
    "Conv3d": "conv(x5, w5)",
    "ConvTranspose2d": "conv_transpose(z, w4)",
    "MaxPool2d": "max_pool(z, window=2)",
    "AvgPool2d": "avg_pool(z, window=2)",
    "AdaptiveAvgPool2d": "adaptive_avg_pool(z, [1, 1])",
    "LayerNorm": "layer_norm(x, scale, bias)",
    "RMSNorm": "rms_norm(x, scale)",
    "ReLU": "relu(x)",
    "GELU": "gelu(x)",
    "SiLU": "silu(x)",
    "Sigmoid": "sigmoid(x)",
    "Tanh": "tanh(x)",
    "Softmax": "softmax(x)",
    "LogSoftmax": "log_softmax(x)",
    "Flatten": "flatten(x)",
    "Dropout": "dropout(x, key=key, rate=0.1)",
    "Sequential": "x |> relu |> tanh",
    "vmap": "map(fn (row) { row + 1 }, x)",
    "scan": "loop(v, fn (state, row) { state + row, state }, x)",
    "fori_loop": "fold(v, fn (state, row) { state + row }, x)",
    "while_loop": "iterate(v, fn (v) { sum(v) < 1 }, fn (v) { v + 1 })",
    **CONSTANTS,
    "newaxis": "x[:, None]",
}
"""Functions and members. A member or a function of a library that is missing here, and is an
operator, is that operator.
"""

PAIRS = {
    name: f"`{name}(x, axis=1)` are the values, `arg{name}(x, axis=1)` their positions"
    for name in ("max", "min")
}
"""What gives two tensors in PyTorch, and one here."""

HELPS = {
    "shape": "`shape(x)[0]` is a size; a type can name it: `fn (x : t [n,d]) { … }`",
    "flatten": "Axon has `reshape(x, [n, -1])`, and `flatten(x, axis=1)` in two dimensions",
    **PAIRS,
    **dict.fromkeys(
        ("BatchNorm1d", "BatchNorm2d", "BatchNorm3d"),
        "Axon has `batch_norm(x, scale, bias, mean, variance)`",
    ),
    "LSTM": "Axon has `lstm` and `lstm_step`",
    "LSTMCell": "Axon has `lstm_step`",
    "GRU": "Axon has `gru` and `gru_step`",
    "GRUCell": "Axon has `gru_step`",
    "MultiheadAttention": "Axon has `multi_head_attention`",
    "Parameter": "weights are an argument: `fn (p, x) { x @ p.w + p.b }`",
    "ModuleList": "layers that repeat are `fold(x, fn (x, p) { layer(p, x) }, p.layers)`",
    "glu": "halves are `a, b = split(x, parts=2, axis=-1);`, and the result `a * sigmoid(b)`",
    "unbind": "rows are `x[0]`, `x[1]`; `map(fn (row) { … }, x)` goes over all of them",
    "at": 'Axon has `scatter(x, i, y, mode="add")`',
    "type_as": "a tensor of another element type is `cast(x, to=f32)`",
    "dtype": "a type can name the element type: `fn (x : t [n,d]) { … }`",
    "var": "Axon has `variance(x)`, of all the elements; of a sample with `correction=1`",
    "std": "Axon has `sqrt(variance(x))`; the variance of a sample has `correction=1`",
    "device": "a program does not say where it runs: leave it out",
    **dict.fromkeys(
        ("grad", "requires_grad", "backward"), "JAX has the gradients: `jax.grad(net.f.jax)`"
    ),
}
"""Where the form cannot just be written in the place of a member."""

ALL_SIZES = frozenset({"shape", "size"})
"""What has all the sizes of a tensor: `x.shape`, `x.size()`, `shape(x)`."""

IN_MODULES = {"random.split": "split_key"}
"""Functions whose name alone says something else."""

ATTRIBUTES_OF_TENSORS = frozenset({"T", "mT", "H", "shape", "size", "ndim", "dtype"})
"""Members that are not called. A field of another name, `p.mean`, may well be one of a record."""

WORDS = {
    "True": "write `true`",
    "False": "write `false`",
    "TRUE": "write `true`",
    "FALSE": "write `false`",
    "null": "a value is never missing: give another one",
    "nil": "a value is never missing: give another one",
    "return": "the value of a block is what it ends with: leave `return` out",
    "self": "weights are an argument: `fn (p, x) { x @ p.w + p.b }`",
    "print": "nothing is printed while a program runs: leave it out, or make it part of the result",
    "lambda": "a function is written `fn (x) { … }`",
    "for": "`map(fn (row) { … }, x)` goes over the rows of `x`",
    "while": "`iterate(x, fn (x) { x > 0 }, fn (x) { … })` repeats while a condition holds",
}
"""Names that are nothing in Axon, and what to do."""

ATTRIBUTES = {
    "dim": "axis",
    "dims": "axis",
    "axes": "perm",
    "permutation": "perm",
    "keepdim": "keep",
    "keepdims": "keep",
    "keep_dims": "keep",
    "padding": "pad",
    "strides": "stride",
    "kernel_size": "window",
    "dtype": "to",
    "a_min": "min",
    "a_max": "max",
    "eps": "epsilon",
    "p": "rate",
    "repeats": "times",
    "chunks": "parts",
    "scale_factor": "scale",
    "num_classes": "depth",
    "is_causal": "causal",
    "negative_slope": "slope",
    "shifts": "by",
    "diagonal": "k",
    "start_dim": "axis",
    "output_padding": "output_pad",
    "ddof": "correction",
    "count_include_pad": "count_pad",
}
"""Attributes as other libraries call them."""

JOINING = frozenset({"cat", "concatenate", "concat", "stack", "vstack", "hstack"})
"""What is given a list of tensors elsewhere."""

MOST_TEXT = 60


def ours(name: str) -> str:
    """A name without what marks a method that writes into its tensor: `add_`."""
    return name[:-1] if name.endswith("_") and name[:-1] in FORMS else name


def is_known(name: str) -> bool:
    return ours(name) in FORMS or name in OPERATORS


def form_of(name: str) -> str | None:
    """How Axon writes it, as an example."""
    if ours(name) in FORMS:
        return FORMS[ours(name)]
    operator = OPERATORS.get(name)
    if operator is None:
        return None
    from axon.ops.examples import examples, lift  # only for a message

    shown_first = examples(operator.doc)
    return lift(shown_first[0].call)[1] if shown_first else f"{name}(x)"


def help_of(name: str, form: str) -> str:
    """The sentence about a form that is not written with the arguments of the program."""
    return HELPS.get(name) or ("leave it out" if form == "x" else f"Axon has `{form}`")


def is_axis(expr: ast.Expr) -> bool:
    """Whether it is a number, or a list of numbers."""
    match expr:
        case ast.Number(_, kind, _, _):
            return kind == "int"
        case ast.Negate(operand, _):
            return is_axis(operand)
        case ast.ListExpr(items, _):
            return all(map(is_axis, items))
        case _:
            return False


def shown(text: str) -> bool:
    """Whether a piece of a program fits in a help."""
    return len(text) <= MOST_TEXT and "\n" not in text
