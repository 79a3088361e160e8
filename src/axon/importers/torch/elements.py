"""Element types, as PyTorch numbers them, and the type of what it computes from two of them."""

from __future__ import annotations

ELEMENTS = {
    1: "u8", 2: "i8", 3: "i16", 4: "i32", 5: "i64", 6: "f16", 7: "f32", 8: "f64", 12: "bool",
    13: "bf16", 28: "u16", 34: "u32", 35: "u64",
}  # fmt: skip
"""Element types by their numbers in an archive."""
COMPLEX = {9: "complex32", 10: "complex64", 11: "complex128"}
"""Those that Axon does not have, but that programs compute with."""
OF_PARTS = {"complex32": "f16", "complex64": "f32", "complex128": "f64"}
"""What their real and their imaginary part is of."""
FLOATS = ("f16", "bf16", "f32", "f64")
DEFAULT = "f32"
"""What integers become where a fraction is expected."""
ORDER = ("bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64")


def part(name: str, which: int) -> str:
    """What the real part of a complex tensor is called, or the imaginary one."""
    return f"{name}/{('re', 'im')[which]}"


def is_float(elem: object) -> bool:
    return elem in FLOATS


def kind(elem: str) -> int:
    """0 for truth values, 1 for integers, 2 for floats: a higher one decides the type."""
    return 0 if elem == "bool" else 2 if elem in FLOATS else 1


def joined(one: str, other: str) -> str:
    """The least type that has what both types have."""
    if one == other:
        return one
    both = {one, other}
    if both == {"f16", "bf16"}:
        return "f32"
    if both == {"u8", "i8"}:
        return "i16"
    if not both <= set(ORDER):  # the other unsigned ones, which PyTorch hardly computes with
        return max(both, key=lambda e: (kind(e), int(e[1:] or 0) if e[1:].isdigit() else 0))
    return max(both, key=ORDER.index)


def promoted(operands: list[tuple[str, int]]) -> str:
    """The type in which tensors are computed with: operands with their weight, 2 for tensors with
    dimensions, 1 for those without, 0 for numbers. One of less weight counts only if it is of a
    higher kind than all of more.
    """
    result: str | None = None
    for weight in (2, 1, 0):
        found = [elem for elem, own in operands if own == weight]
        if not found:
            continue
        here = found[0]
        for elem in found[1:]:
            here = joined(here, elem)
        if result is None:
            result = here
        elif kind(here) > kind(result):
            result = DEFAULT if weight == 0 and kind(here) == 2 else here
    return result or DEFAULT
