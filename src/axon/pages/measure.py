"""How large boxes and labels are. Fonts differ, so a box has some room to spare."""

from __future__ import annotations

from axon.pages.drawing import Box, Kind, Output

TITLE, LINE, TAG = 18.0, 15.0, 18.0
STUB = 7.0
PAD = 11.0
TAG_GAP = 14.0
NARROWEST = 44.0
_SANS, _MONO = 8.5, 6.95
_WIDE = frozenset("mwMW@%—…")
_THIN = frozenset("iljtfrI.,:;'|!()[] ")


def sans(text: str) -> float:
    """The width of a title, at 13 pixels."""
    width = 0.0
    for char in text:
        wide = char in _WIDE or ord(char) > 0x2E80
        width += 13.0 if wide else 5.4 if char in _THIN else 9.8 if char.isupper() else _SANS
    return width


def mono(text: str) -> float:
    """The width of a label, at 11.5 pixels."""
    return sum(12.0 if ord(char) > 0x2E80 else _MONO for char in text)


def tag_text(output: Output) -> str:
    return f"{output.name} {output.label}" if output.name else output.label


def tag_width(output: Output) -> float:
    return mono(tag_text(output)) + 8


def tags_width(box: Box) -> float:
    widths = [tag_width(output) for output in box.outputs]
    return sum(widths) + TAG_GAP * max(0, len(widths) - 1)


def title_of(box: Box) -> str:
    return f"{box.title} ×{box.count}" if box.count > 1 else box.title


def box_size(box: Box) -> tuple[float, float]:
    """The width and the height of a closed box, without its labels."""
    title = sans(title_of(box)) + (16 if box.inside is not None else 0)
    lines = [mono(line) * 0.94 for line in box.lines]
    says = sans(box.says) * 0.9 if box.says else 0.0
    width = max(title, *lines, says, NARROWEST - 2 * PAD) + 2 * PAD
    height = TITLE + 10 + LINE * (len(lines) + bool(box.says))
    if box.kind in (Kind.INPUT, Kind.RESULT):
        width += 6
    return round(width, 1), height
