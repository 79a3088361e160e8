"""PyTorch's conditions on sizes beside those that inference finds: who asks for more?

Both are tried on some sizes. What a program takes is what its constraints allow; what differs is
said with the sizes that show it.
"""

from __future__ import annotations

from collections.abc import Iterator

from axon.importers.torch.dynamic.conditions import Condition
from axon.importers.torch.dynamic.empty import needs_elements
from axon.importers.torch.dynamic.input_sizes import InputSizes
from axon.importers.torch.dynamic.search import Found

TRIED = (0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 25, 64, 100)
MOST = 12
"""Lines about each of the two sides."""


def compared(
    given: InputSizes, said: list[Condition], found: Found, free: set[str]
) -> tuple[list[str], list[str]]:
    """What the program takes that PyTorch excludes, and what it does not take although PyTorch
    has no condition against it.
    """
    more = [
        line
        for condition in said
        if condition.about <= free
        for line in _excluded(given, condition, found)
    ]
    return list(dict.fromkeys(more))[:MOST], list(_not_said(given, said, found, free))[:MOST]


def _excluded(given: InputSizes, condition: Condition, found: Found) -> Iterator[str]:
    """Sizes that a condition excludes and the program takes."""
    examples = {each.name: each.example for each in given.every()}
    for name in sorted(condition.about):
        taken = [
            n
            for n in TRIED
            if condition.holds({**examples, name: n}) is False
            and _takes(given, found, {**examples, name: n})
            and (n > 0 or not needs_elements(given, found, {**examples, name: n}))
        ]
        if taken:
            listed = ", ".join(map(str, taken[:4]))
            yield f"{name} of {listed}: PyTorch asks for {condition.text}"
            return


def _not_said(
    given: InputSizes, said: list[Condition], found: Found, free: set[str]
) -> Iterator[str]:
    """Sizes that all of PyTorch's conditions allow and the program does not take."""
    examples = {each.name: each.example for each in given.every()}
    open_ = [each for each in given.every() if each.name in free and not each.is_fixed]
    for size in open_:
        refused = []
        for n in TRIED[1:]:
            sizes = {**examples, size.name: n}
            for each in open_:
                if each.declared == size.declared:
                    sizes[each.name] = n
            if all(c.holds(sizes) is not False for c in said) and (
                _takes(given, found, sizes) is False
            ):
                refused.append(n)
        if refused:
            yield f"{size.name} cannot be {', '.join(map(str, refused[:4]))}"


def _takes(given: InputSizes, found: Found, sizes: dict[str, int]) -> bool | None:
    return found.takes({each.var: sizes[each.name] for each in given.every()})
