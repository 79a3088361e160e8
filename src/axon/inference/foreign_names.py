"""Names of NumPy, PyTorch and JAX, and of Python, and how Axon writes what they stand for.

A form is an example in which `x` and `y` are tensors; `rewritten` puts the arguments of the program
in its place. What it gives is tried before it is shown (`trials.py`).
"""

from __future__ import annotations

from axon.ops import OPERATORS
from axon.syntax import ast
from axon.types.elements import BIT, called_elsewhere

LIBRARIES = {
    **dict.fromkeys(("np", "numpy", "scipy", "math", "einops"), "NumPy and the like"),
    **dict.fromkeys(("torch", "nn", "F", "functional", "optim"), "PyTorch"),
    **dict.fromkeys(("jnp", "jax", "lax"), "JAX"),
    **dict.fromkeys(("tf", "tensorflow", "keras"), "TensorFlow"),
}
"""What libraries are called in programs that use them."""

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
    "index_select": "gather(x, i)",
    "take": "gather(x, i)",
    "var": "variance(x)",
    "std": "sqrt(variance(x))",
    "amax": "max(x, axis=1)",
    "amin": "min(x, axis=1)",
    "dropout": "dropout(x, key=key, rate=0.1)",
    "linear": "x @ w + b",
    "cross_entropy": "cross_entropy(x, r)",
    "conv1d": "conv(x3, w3)",
    "conv2d": "conv(z, w4)",
    "conv3d": "conv(x5, w5)",
    "conv_transpose2d": "conv_transpose(z, w4)",
    "max_pool2d": "max_pool(z, window=2)",
    "avg_pool2d": "avg_pool(z, window=2)",
    "adaptive_avg_pool2d": "global_avg_pool(z)",
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
    "AdaptiveAvgPool2d": "global_avg_pool(z)",
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
    "pi": "3.141592653589793",
}
"""Functions and members. A member or a function of a library that is missing here, and is an
operator, is that operator.
"""

HELPS = {
    "shape": "`shape(x)[0]` is a size; a type can name it: `fn (x : t [n,d]) { … }`",
}
"""Where the form cannot just be written in the place of a member."""

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
}
"""Attributes as other libraries call them."""

JOINING = frozenset({"cat", "concatenate", "concat", "stack", "vstack", "hstack"})
"""What is given a list of tensors elsewhere."""

MOST_TEXT = 60


def is_known(name: str) -> bool:
    return name in FORMS or name in OPERATORS


def form_of(name: str) -> str | None:
    """How Axon writes it, as an example."""
    if name in FORMS:
        return FORMS[name]
    operator = OPERATORS.get(name)
    if operator is None:
        return None
    from axon.ops.examples import examples, lift  # only for a message

    shown_first = examples(operator.doc)
    return lift(shown_first[0].call)[1] if shown_first else f"{name}(x)"


def rewritten(name: str, receiver: ast.Expr | None, call: ast.Call | None) -> str | None:
    """A member or a function of another library, with the arguments that it is given here."""
    args = list(call.args) if call is not None else []
    if receiver is not None:
        args.insert(0, receiver)
    attributes = _attributes(call)
    if name in JOINING:
        return _joined("stack" if name == "stack" else "concat", args, attributes)
    texts = [arg.span.text for arg in args]
    operands = [_operand(arg) for arg in args]
    rest = ", ".join(texts[1:])
    match name, len(texts):
        case (("mm" | "bmm" | "matmul" | "dot" | "mv"), 2):
            return f"{operands[0]} @ {operands[1]}"
        case (("add" | "sub" | "subtract" | "mul" | "multiply" | "div" | "divide" | "power"), 2):
            return FORMS[name].replace("x", operands[0], 1).replace("y", operands[1], 1)
        case (("view" | "reshape"), n) if n > 1:
            shape = rest if isinstance(args[1], ast.ListExpr) else f"[{rest}]"
            return f"reshape({texts[0]}, {shape})"
        case (("permute" | "transpose"), n) if n > 3 or (n == 2 and _is_list(args[1])):
            perm = rest if n == 2 else f"[{rest}]"
            return f"transpose({texts[0]}, perm={perm})"
        case ("permute", n) if n > 1:
            return f"transpose({texts[0]}, perm=[{rest}])"
        case (("transpose" | "swapaxes"), 3):
            return None
        case "unsqueeze", 2:
            return f"expand_dims({texts[0]}, axis={texts[1]})"
        case "size", 2:
            return f"size({texts[0]}, axis={texts[1]})"
        case (("to" | "astype" | "type"), 2) if to := _element(args[1]):
            return f"cast({texts[0]}, to={to})"
        case "linear", (2 | 3):
            bias = f" + {operands[2]}" if len(texts) == 3 else ""
            return f"{operands[0]} @ transpose({texts[1]}){bias}"
        case _:
            return _called(name, args, texts, attributes)


def _is_list(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.ListExpr)


def _element(expr: ast.Expr) -> str | None:
    """Our name for `torch.float32`, `np.int32`, `float`."""
    if not isinstance(expr, ast.Name | ast.Field):
        return None
    return expr.name if expr.name in BIT else called_elsewhere(expr.name)


def _called(
    name: str, args: list[ast.Expr], texts: list[str], attributes: dict[str, str]
) -> str | None:
    form = FORMS.get(name)
    if form is not None:
        plain = form == "x" or form.endswith("(x)") or (form[-1] == ")" and "(x, to=" in form)
        if not plain or len(texts) != 1:
            return None
        return form.replace("x", _operand(args[0]) if form in ("x", "-x") else texts[0], 1)
    operator = OPERATORS.get(name)
    if operator is None or not texts:
        return None
    if "axis" in operator.attributes and "axis" not in attributes and len(args) > 1:
        if not is_axis(args[-1]):
            return None
        attributes = {"axis": texts.pop(), **attributes}
    given = [f"{key}={value}" for key, value in attributes.items()]
    return f"{name}({', '.join([*texts, *given])})"


def is_axis(expr: ast.Expr) -> bool:
    match expr:
        case ast.Number(_, kind, _, _):
            return kind == "int"
        case ast.Negate(operand, _):
            return is_axis(operand)
        case ast.ListExpr(items, _):
            return all(map(is_axis, items))
        case _:
            return False


def _joined(name: str, args: list[ast.Expr], attributes: dict[str, str]) -> str | None:
    """`cat([x, y], dim=1)` as `concat(x, y, axis=1)`."""
    if args and isinstance(args[0], ast.ListExpr | ast.TupleExpr):
        if len(args) == 2 and is_axis(args[1]):
            attributes["axis"] = args[1].span.text
        elif len(args) > 1:
            return None
        args = list(args[0].items)
    given = [f"{key}={value}" for key, value in attributes.items()]
    return f"{name}({', '.join([*(arg.span.text for arg in args), *given])})"


def _attributes(call: ast.Call | None) -> dict[str, str]:
    found: dict[str, str] = {}
    for attribute in call.attributes if call is not None else ():
        text = attribute.value.span.text
        name = ATTRIBUTES.get(attribute.name, attribute.name)
        found[name] = {"True": "true", "False": "false"}.get(text, text)
    return found


def _operand(expr: ast.Expr) -> str:
    """An expression as an operand of anything."""
    text = expr.span.text
    return f"({text})" if isinstance(expr, ast.Infix | ast.If | ast.Not) else text


def shown(text: str) -> bool:
    """Whether a piece of a program fits in a help."""
    return len(text) <= MOST_TEXT and "\n" not in text
