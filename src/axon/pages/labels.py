"""Types as labels of edges: the shape alone, where that says enough."""

from __future__ import annotations

from axon.types.show import Show
from axon.types.type import DimValue, Fn, Record, ShapeValue, Tensor, Tuple, Type, Unknown
from axon.types.variables import TypeVar

LONGEST = 44
MOST_TEXT = 600
_FLOATS = ("f16", "bf16", "f32", "f64")


def label(type_: Type | None, show: Show) -> str:
    """`[b,s,d]`, with the element type where that is not a float or there is no shape."""
    return clip(_label(type_, show))


def type_text(type_: Type | None, show: Show) -> str:
    return "?" if type_ is None else clip(show.type(type_), MOST_TEXT)


def _label(type_: Type | None, show: Show) -> str:
    match type_:
        case None | Unknown():
            return "?"
        case Tensor(elem, shape):
            word = elem if isinstance(elem, str) else ""
            if not shape:
                return word or show.names(elem)  # type: ignore[arg-type]
            text = show.shape(shape)
            return text if not word or word in _FLOATS else f"{word} {text}"
        case DimValue(dim, _):
            return f"dim {show.dim(dim)}"
        case ShapeValue(shape):
            return f"shape {show.shape(shape)}"
        case Record(_, names, _):
            return f"{{{', '.join(names)}}}"
        case Tuple(items):
            whole = ", ".join(_label(item, show) for item in items[:8])
            return f"({whole})" if len(items) <= 8 else f"({len(items)} parts)"
        case Fn():
            return "fn"
        case TypeVar():
            return show.names(type_)


def clip(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
