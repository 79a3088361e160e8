"""The operators and the functions of the standard library: found by name, or by what they do."""

from __future__ import annotations

import re
from difflib import get_close_matches

from axon import stdlib
from axon.driver import library_definition
from axon.inference.habits.foreign_names import FORMS
from axon.inference.report.signature import describe_definition
from axon.ops import OPERATORS
from axon.ops.operator import SIGNS
from axon.ops.reference import Entry, entry
from axon.syntax.comments import comment_above


def find(name: str) -> Entry | None:
    """What there is to say about an operator, by its name or its sign, or a library function."""
    operator = OPERATORS.get(name) or SIGNS.get(name)
    if operator is not None:
        return entry(operator)
    return _library_entry(name)


def _library_entry(name: str) -> Entry | None:
    definition = library_definition(name)
    if definition is None:
        return None
    signature = describe_definition(definition)
    _, _, line = signature.line(names=True).partition(" : ")
    text = comment_above(definition.span).replace("\n", " ")
    return Entry(name, line, text, stdlib.files()[name])


def every_name() -> list[str]:
    """The names of all operators, family by family, and of the library."""
    return [*OPERATORS, *(n for n, path in stdlib.files().items() if path not in stdlib.IMPORTED)]


def search(text: str) -> list[Entry]:
    """What a text may mean, the best first: part of a name, the name of another library, or words
    of the description.
    """
    wanted = text.lower()
    words = re.findall(r"\w+", wanted)
    ours = {word: _our_name(word) for word in (text, *words)}
    ranked: list[tuple[int, int, str]] = []
    for at, name in enumerate(every_name()):
        if ours[text] == name:
            ranked.append((0, at, name))
        elif name.startswith(wanted):
            ranked.append((1, at, name))
        elif wanted in name:
            ranked.append((2, at, name))
        elif words and _mentions(_documentation(name).lower(), words):
            ranked.append((3, at, name))
        elif len(words) > 1 and all(ours[w] == name or _is_about(name, w) for w in words):
            ranked.append((4, at, name))
    return [found for _, _, name in sorted(ranked) if (found := find(name)) is not None]


def _documentation(name: str) -> str:
    if name in OPERATORS:
        return OPERATORS[name].doc
    definition = library_definition(name)
    return "" if definition is None else comment_above(definition.span)


def _mentions(text: str, words: list[str]) -> bool:
    """Whether each word stands in a text, as the beginning of a word; a letter is a whole one."""
    whole = [rf"{re.escape(word)}\b" if len(word) == 1 else re.escape(word) for word in words]
    return all(re.search(rf"\b{word}", text) for word in whole)


def _our_name(word: str) -> str | None:
    """The operator that another library calls so."""
    form = re.match(r"\w+", FORMS.get(word, ""))
    return form and form[0]


def _is_about(name: str, word: str) -> bool:
    """Whether a name or its description has a word, in whatever form: `matrices` for `matrix`."""
    stem = word[: max(4, len(word) - 2)]
    return stem in name or _mentions(_documentation(name).lower(), [stem])


def close_names(text: str) -> list[str]:
    """Names that are spelled like a text."""
    return get_close_matches(text, every_name(), 3)
