"""Calls of functions of NumPy, PyTorch and JAX, and of members of their tensors, with their own
arguments in the form of Axon. What comes of it is tried before it is shown (`trials.py`); a call
whose arguments say something that the form would leave out is not rewritten.
"""

from __future__ import annotations

from typing import Any

from axon.inference.habits.foreign_names import (
    ATTRIBUTES,
    ATTRIBUTES_OF_TENSORS,
    FORMS,
    JOINING,
    LIBRARIES,
    MOST_TEXT,
    PAIRS,
    is_axis,
    ours,
)
from axon.ops import OPERATORS
from axon.syntax import ast
from axon.syntax.mentioned import parts
from axon.types.elements import BIT, called_elsewhere

_INFIX = {
    **dict.fromkeys(("mm", "bmm", "matmul", "dot", "mv"), "@"),
    **dict.fromkeys(("add",), "+"),
    **dict.fromkeys(("sub", "subtract"), "-"),
    **dict.fromkeys(("mul", "multiply"), "*"),
    **dict.fromkeys(("div", "divide", "true_divide"), "/"),
    "power": "**",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}
"""Functions of two tensors that are signs in Axon."""

_CONV = ("", "", "", "stride", "pad", "dilation", "groups")
_POOL = ("", "window", "stride", "pad")
_REDUCE = ("", "axis", "keep")

_PLACES: dict[str, tuple[str, tuple[str, ...]]] = {
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), ("conv", _CONV)),
    "conv_transpose2d": ("conv_transpose", ("", "", "", "stride", "pad", "output_pad")),
    "max_pool2d": ("max_pool", _POOL),
    "avg_pool2d": ("avg_pool", _POOL),
    "interpolate": ("upsample", ("", "size", "scale")),
    **dict.fromkeys(("clamp", "clip"), ("clip", ("", "min", "max"))),
    "topk": ("top_k", ("", "k", "axis")),
    "chunk": ("split", ("", "parts", "axis")),
    "one_hot": ("one_hot", ("", "depth")),
    "leaky_relu": ("leaky_relu", ("", "slope")),
    "roll": ("roll", ("", "by", "axis")),
    "flip": ("reverse", ("", "axis")),
    "amax": ("max", _REDUCE),
    "amin": ("min", _REDUCE),
    **{f"reduce_{name}": (name, _REDUCE) for name in ("sum", "mean", "max", "min", "any", "all")},
    "repeat_interleave": ("repeat", ("", "times", "axis")),
    "index_select": ("gather", ("", "axis", "")),
    "take": ("gather", ("", "", "axis")),
    **dict.fromkeys(("take_along_dim", "take_along_axis"), ("gather_elements", ("", "", "axis"))),
    "tile": ("tile", ("", "reps")),
    "cross_entropy": ("cross_entropy", ("", "")),
    "nll_loss": ("negative_log_likelihood", ("", "")),
}
"""The operator of Axon, and what it calls the arguments by their places; "" is a tensor."""

_IDLE = frozenset({"training", "inplace", "device", "requires_grad", "non_blocking", "copy"})
"""Arguments that have no counterpart, and need none."""


def rewritten(name: str, receiver: ast.Expr | None, call: ast.Call | None) -> str | None:
    """A member or a function of another library, with the arguments that it is given here."""
    name = ours(name)
    args = list(call.args) if call is not None else []
    if receiver is not None:
        args.insert(0, receiver)
    if name in PAIRS and call is not None and any(each.name == "dim" for each in call.attributes):
        return None  # two tensors in PyTorch
    attributes = _attributes(name, call)
    if name in JOINING:
        return _joined("stack" if name == "stack" else "concat", args, attributes)
    texts = [written(arg) for arg in args]
    if name in _INFIX:
        operands = [_operand(arg) for arg in args]
        return f" {_INFIX[name]} ".join(operands) if len(args) == 2 and not attributes else None
    if name == "avg_pool2d" and ("pad" in attributes or len(texts) > 3):
        attributes.setdefault("count_pad", "true")  # as PyTorch does
    if name in _PLACES and not (name == "interpolate" and len(args) > 1):
        if (
            name in ("flip", "roll")
            and "axis" not in attributes
            and len(args) < 2 + (name == "roll")
        ):
            return None  # of all axes elsewhere, of one here
        return _placed(*_PLACES[name], texts, attributes)
    return _particular(name, receiver, args, texts, attributes)


def _particular(
    name: str,
    receiver: ast.Expr | None,
    args: list[ast.Expr],
    texts: list[str],
    attributes: dict[str, str],
) -> str | None:
    """Those whose arguments stand in another order, or in another form."""
    first = texts[0] if texts else ""
    rest = ", ".join(texts[1:])
    listed = len(args) == 2 and isinstance(args[1], ast.ListExpr | ast.TupleExpr)
    match name, len(texts):
        case (("view" | "reshape"), n) if n > 1:
            return f"reshape({first}, {rest if listed else f'[{rest}]'})"
        case "expand", n if n > 1 and "-1" not in texts:
            return f"broadcast_to({first}, {rest if listed else f'[{rest}]'})"
        case "repeat", n if n > 2 and receiver is not None and all(map(is_axis, args[1:])):
            return f"tile({first}, reps=[{rest}])"
        case (("zeros" | "ones" | "rand" | "randn"), n) if n > 0:
            shape = first if n == 1 and first.startswith("[") else f"[{', '.join(texts)}]"
            return _with(f"{name}({shape}", attributes) if name in OPERATORS else None
        case "full_like", 2:
            return f"full(shape({first}), {rest})"
        case "arange", (1 | 2):
            return _with(f"range({', '.join(texts)}", attributes)
        case "arange", 3:
            return _with(f"range({texts[0]}, {texts[1]}, step={texts[2]}", attributes)
        case (("permute" | "transpose"), n) if n > 3 or listed:
            perm = rest if n == 2 else f"[{rest}]"
            return f"transpose({first}, perm={perm})"
        case "permute", n if n > 1:
            return f"transpose({first}, perm=[{rest}])"
        case (("transpose" | "swapaxes"), 3):
            return None
        case "unsqueeze", 2:
            return f"expand_dims({first}, axis={rest})"
        case "size", 2:
            return f"size({first}, axis={rest})"
        case "masked_fill", 3:
            return f"where({rest}, {first})"
        case "gather", 3 if is_axis(args[1]):
            return f"gather_elements({first}, {texts[2]}, axis={texts[1]})"
        case "adaptive_avg_pool2d", 2:
            return f"adaptive_avg_pool({first}, {rest if listed else f'[{rest}, {rest}]'})"
        case "flatten", n if n > 2 or attributes.get("axis", texts[-1] if n == 2 else "1") != "1":
            return None  # in two dimensions here, from an axis on elsewhere
        case "embedding", 2:
            return f"gather({rest}, {first})"
        case "len", 1:
            return f"size({first}, axis=0)"
        case (("array" | "asarray" | "tensor"), 1) if isinstance(args[0], ast.ListExpr):
            return first if not attributes else None
        case (("to" | "astype" | "type" | "cast"), 2):
            return _converted(first, args[1])
        case "linear", (2 | 3):
            bias = f" + {_operand(args[2])}" if len(texts) == 3 else ""
            return f"{_operand(args[0])} @ transpose({texts[1]}){bias}"
        case "mse_loss", 2:
            return f"mean(({first} - {_operand(args[1])}) ** 2)"
        case "binary_cross_entropy_with_logits", 2 if not attributes:
            return f"mean(softplus({first}) - {_operand(args[0])} * {_operand(args[1])})"
        case "scan", 3 if not attributes:
            return f"loop({texts[1]}, {first}, {texts[2]})"
        case "while_loop", 3:
            return f"iterate({texts[2]}, {first}, {texts[1]})"
        case "l1_loss", 2:
            return f"mean(abs({first} - {_operand(args[1])}))"
        case "normalize", 1:
            axis = attributes.get("axis", "1")
            return f"{_operand(args[0])} / norm({first}, axis={axis}, keep=true)"
        case "layer_norm", n if n > 1:
            return _layer_norm(args, texts, attributes)
        case "batch_norm", 5:
            x, mean, variance, scale, bias = texts
            return f"batch_norm({x}, {scale}, {bias}, {mean}, {variance})"
        case "cosine_similarity", 2:
            axis = attributes.get("axis", "1")
            norms = f"norm({first}, axis={axis}) * norm({rest}, axis={axis})"
            return f"sum({_operand(args[0])} * {_operand(args[1])}, axis={axis}) / ({norms})"
        case (("scatter_add" | "index_add"), 4) if is_axis(args[1]):
            operator = "scatter" if name == "index_add" else "scatter_elements"
            parts = f"{texts[0]}, {texts[2]}, {texts[3]}"
            return f'{operator}({parts}, axis={texts[1]}, mode="add")'
        case "scatter_add", 3 if not attributes:
            return f'scatter({first}, {rest}, mode="add")'
        case "scaled_dot_product_attention", 3 if not attributes:
            return f"attention({first}, {rest})"
        case "scaled_dot_product_attention", 3 | 4:
            return _with(f"dot_product_attention({first}, {rest}", attributes)
        case (("dtype" | "dropout" | "std" | "scan" | "repeat" | "segment_sum" | "kl_div"), _):
            return None
        case "var", _ if not {"correction", "unbiased"} & {*attributes}:
            return None  # of a sample or of all elements: that differs between libraries
        case _:
            return _called(name, args, texts, attributes)


def _converted(text: str, to: ast.Expr) -> str | None:
    """`x.to(torch.float16)` as a cast; a device is left out."""
    if not isinstance(to, ast.Name | ast.Field):
        return None
    element = to.name if to.name in BIT else called_elsewhere(to.name)
    return f"cast({text}, to={element})" if element else text if to.name == "device" else None


def _layer_norm(args: list[ast.Expr], texts: list[str], attributes: dict[str, str]) -> str | None:
    """PyTorch's has the sizes of the last axes as its second argument."""
    if not isinstance(args[1], ast.ListExpr | ast.TupleExpr):
        return None
    count = len(args[1].items)
    operands = [texts[0], *texts[2:]]
    operands += [attributes.pop(each) for each in ("weight", "bias") if each in attributes]
    return _with(f"layer_norm({', '.join(operands)}", _axes(count) | attributes)


def _axes(count: int) -> dict[str, str]:
    return {"axes": str(count)} if count != 1 else {}


def _called(
    name: str, args: list[ast.Expr], texts: list[str], attributes: dict[str, str]
) -> str | None:
    """An operator of that name, or of the name that its form has."""
    form = FORMS.get(name)
    if form is not None:
        if form == "x" and len(texts) == 1:
            return texts[0]
        if form == "-x" and len(texts) == 1:
            return f"-{_operand(args[0])}"
        if "(x, to=" in form and len(texts) == 1 and not attributes:
            return form.replace("x", texts[0], 1)
        name = form[: -len("(x)")] if form.endswith("(x)") else ""
    elif name not in OPERATORS and len(texts) == 1 and (element := called_elsewhere(name)):
        return f"cast({texts[0]}, to={element})"
    operator = OPERATORS.get(name)
    if operator is None or not texts:
        return None
    if attributes.pop("unbiased", "false") == "true":
        attributes["correction"] = "1"
    if "axis" in operator.attributes and "axis" not in attributes and len(args) > 1:
        if not is_axis(args[-1]):
            return None
        attributes = {"axis": texts.pop(), **attributes}
    return _with(f"{name}({', '.join(texts)}", attributes)


def _placed(
    operator: str, places: tuple[str, ...], texts: list[str], attributes: dict[str, str]
) -> str | None:
    if len(texts) > len(places):
        return None
    pairs = list(zip(places, texts, strict=False))
    operands = [text for place, text in pairs if not place]
    given = {place: text for place, text in pairs if place}
    return _with(f"{operator}({', '.join(operands)}", given | attributes)


def _with(call: str, attributes: dict[str, str]) -> str:
    return "".join([call, *(f", {name}={value}" for name, value in attributes.items()), ")"])


def _joined(name: str, args: list[ast.Expr], attributes: dict[str, str]) -> str | None:
    """`cat([x, y], dim=1)` as `concat(x, y, axis=1)`."""
    if args and isinstance(args[0], ast.ListExpr | ast.TupleExpr):
        if len(args) == 2 and is_axis(args[1]):
            attributes["axis"] = args[1].span.text
        elif len(args) > 1:
            return None
        args = list(args[0].items)
    return _with(f"{name}({', '.join(map(written, args))}", attributes)


def _attributes(name: str, call: ast.Call | None) -> dict[str, str]:
    """The arguments by name, as the operator of ours calls them."""
    known = _PLACES[name][0] if name in _PLACES else name
    operator = OPERATORS.get(known)
    found: dict[str, str] = {}
    for attribute in call.attributes if call is not None else ():
        if attribute.name in _IDLE:
            continue
        key = attribute.name
        if operator is None or key not in operator.attributes:
            key = ATTRIBUTES.get(key, key)
        text = written(attribute.value)
        found[key] = {"True": "true", "False": "false"}.get(text, text)
    return found


def _operand(expr: ast.Expr) -> str:
    """An expression as an operand of anything."""
    text = written(expr)
    return f"({text})" if isinstance(expr, ast.Infix | ast.If | ast.Not) else text


def written(expr: ast.Expr, inside: bool = False) -> str:
    """The text of an expression, with what it has of other libraries in the form of Axon; a tuple
    is a list, as sizes and axes are, but not `inside` a function.
    """
    inside = inside or isinstance(expr, ast.Fn)
    text = expr.span.text
    if len(text) > 2 * MOST_TEXT:
        return text  # it is not shown
    if isinstance(expr, ast.TupleExpr) and not inside:
        return f"[{', '.join(map(written, expr.items))}]"
    found = _foreign(expr)
    if found is not None:
        return found
    inner: list[Any] = [each for each in parts(expr) if getattr(each, "span", None) is not None]
    for part in sorted(inner, key=lambda each: each.span.start, reverse=True):
        start, end = part.span.start - expr.span.start, part.span.end - expr.span.start
        if 0 <= start < end <= len(text):
            text = text[:start] + written(part, inside) + text[end:]
    return text


def _foreign(expr: ast.Expr) -> str | None:
    """A part that is a call of another library, or a member of a tensor."""
    call = expr if isinstance(expr, ast.Call) else None
    field = call.function if call is not None else expr
    if not isinstance(field, ast.Field):
        return None
    known = ours(field.name) in FORMS or field.name in OPERATORS
    root: ast.Expr = field
    while isinstance(root, ast.Field):
        root = root.record
    if isinstance(root, ast.Name) and root.name in LIBRARIES:
        return rewritten(field.name, None, call) if known and call is not None else None
    if not known or (call is None and field.name not in ATTRIBUTES_OF_TENSORS):
        return None
    return rewritten(field.name, field.record, call)
