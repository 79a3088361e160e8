"""Element types, and the classes of them that operators require.

A set of element types is a bit mask.
"""

from __future__ import annotations

ELEMENTS = (
    "bool",
    "i8", "i16", "i32", "i64",
    "u8", "u16", "u32", "u64",
    "f16", "bf16", "f32", "f64",
)  # fmt: skip

BIT = {name: 1 << i for i, name in enumerate(ELEMENTS)}


def _mask(*names: str) -> int:
    return sum(BIT[name] for name in names)


ANY = _mask(*ELEMENTS)
FLOAT = _mask("f16", "bf16", "f32", "f64")
INT = _mask("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
NUM = FLOAT | INT

BITS = {
    8: _mask("bool", "i8", "u8"),
    16: _mask("i16", "u16", "f16", "bf16"),
    32: _mask("i32", "u32", "f32"),
    64: _mask("i64", "u64", "f64"),
}
"""The element types that take so many bits."""

CLASSES = {
    "num": NUM, "float": FLOAT, "int": INT, "any": ANY,
    **{f"bits{count}": mask for count, mask in BITS.items()},
}  # fmt: skip


def class_name(mask: int) -> str:
    """The class with these members, else the members: `num`, `i32 or i64`."""
    for name, value in CLASSES.items():
        if value == mask & ANY:
            return name
    return " or ".join(name for name in ELEMENTS if BIT[name] & mask)


ELSEWHERE = {
    "float": "f32", "single": "f32", "double": "f64", "half": "f16", "bfloat": "bf16",
    "int": "i32 or i64", "integer": "i32 or i64", "uint": "u32 or u64",
    "long": "i64", "short": "i16", "byte": "u8", "char": "i8", "boolean": "bool",
    **{f"{name}{bits}": f"{ours}{bits}"
       for name, ours in (("int", "i"), ("uint", "u"), ("float", "f"), ("fp", "f"))
       for bits in (8, 16, 32, 64) if f"{ours}{bits}" in BIT},
    "bfloat16": "bf16",
    **dict.fromkeys(("complex", "complex64", "complex128", "float8", "fp8", "float128"), ""),
}  # fmt: skip
"""Names of element types in other languages and libraries, and ours; none where we lack it."""


TENSORS = frozenset({"Tensor", "Array", "NDArray", "FloatTensor", "LongTensor"})
"""What libraries call the type of a tensor."""


def called_elsewhere(name: str) -> str | None:
    """Our name for what others call an element type by this name, `F32` and `int32_t` included;
    empty if we have none, None if it is not known as one.
    """
    if name in BIT:
        return None
    plain = name.lower().removesuffix("_").removesuffix("_t")
    return plain if plain in BIT else ELSEWHERE.get(plain)
