"""The answer: which sizes of the inputs are free, and what fixes each of the others."""

from __future__ import annotations

from dataclasses import dataclass, field

from axon.importers.operations import Place
from axon.importers.torch.dynamic.arguments import Argument


@dataclass(slots=True)
class Answer:
    """What is known of one size. `free` is None where the program does not tell: it may stand as a
    number in the source, or PyTorch may have written it down.
    """

    name: str
    free: bool | None
    value: int | None = None
    where: list[str] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)
    why: str = ""

    def as_json(self) -> dict[str, object]:
        return {
            "free": self.free,
            "value": self.value,
            "where": self.where,
            "places": [place.short for place in self.places],
            "why": self.why,
        }

    @property
    def verdict(self) -> str:
        if self.free:
            return f"free where {', '.join(self.where)}" if self.where else "free"
        if self.free is None:
            return "not known" if self.value is None else f"{self.value}, or free"
        only = f" ({', '.join(self.where)})" if self.where else ""
        return f"fixed: {self.value}{only}"


@dataclass(slots=True)
class Dynamic:
    """The answers for each input, the argument for `torch.export.export`, and how PyTorch's own
    conditions differ from them.
    """

    inputs: dict[str, list[Answer]]
    argument: Argument = field(default_factory=Argument)
    more: list[str] = field(default_factory=list)
    """What the program takes beyond what PyTorch says."""
    less: list[str] = field(default_factory=list)
    """Conditions that PyTorch does not have."""
    notes: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, object]:
        return {
            "dynamic": {
                name: [each.as_json() for each in answers] for name, answers in self.inputs.items()
            },
            "dynamic_shapes": str(self.argument),
            "accepted": self.more,
            "unstated": self.less,
            "notes": self.notes,
        }

    def __str__(self) -> str:
        lines = [*self._table()]
        if self.argument.text:
            lines += ["", "for torch.export.export:"]
            lines += [f"  {line}" for line in str(self.argument).splitlines()]
        if self.more:
            lines += ["", "accepted, though PyTorch says otherwise:"]
            lines += [f"  {line}" for line in self.more]
        if self.less:
            lines += ["", "asked for by the program, though not by PyTorch:"]
            lines += [f"  {line}" for line in self.less]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def _table(self) -> list[str]:
        every = [each for answers in self.inputs.values() for each in answers]
        width = max((len(each.name) for each in every), default=0)
        verdicts = max((len(each.verdict) for each in every if each.places), default=0)
        lines: list[str] = []
        for each in every:
            shown = [f"{place.short}: {place.text}".rstrip(": ") for place in each.places]
            first = f"{each.name.ljust(width)}  {each.verdict.ljust(verdicts)}"
            lines.append(f"{first}  {shown[0]}" if shown else first.rstrip())
            margin = " " * (width + verdicts + 4)
            lines += [margin + text for text in shown[1:]]
            if each.why:
                lines.append(f"{' ' * (width + 2)}{each.why}")
        return lines
