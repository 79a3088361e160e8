"""The operator reference, written from the operators themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import ModuleType

from axon.ops import FAMILIES
from axon.ops.examples import examples, text_of
from axon.ops.operator import OPERATORS, SIGNS, Operator, Problem
from axon.types.elements import BIT

INTRODUCTION = """\
# Operators

<!-- Written by `python -m axon.ops.reference`; the text is in the docstrings of `src/axon/ops`. -->

An operator has a signature, which may depend on its attributes: named arguments whose values are
known before the program runs. The signatures here are those without attributes, or with those of
the first example where some are needed. `t`, `u`, `i` are element types, `s`, `p`, `q`, `r` and
`after` shapes, other names dimensions. Attributes are listed with the values that they have where
they are left out: `stride=1` is 1, or 1 for each dimension where a list is allowed; of one that has
none by default the text says what happens then. An example gives a type to each argument; the line
below it is the type of the result.
"""


def reference() -> str:
    """All operators, family by family, as Markdown."""
    return "\n".join([INTRODUCTION, *(_family(module) for module in FAMILIES)])


def _family(module: ModuleType) -> str:
    name = module.__name__.rpartition(".")[2]
    title, _, more = (module.__doc__ or "").strip().partition("\n\n")
    found = [
        _markdown(entry(operator)) for operator in OPERATORS.values() if operator.family == name
    ]
    heading = f"## {name.capitalize()}\n\n{_flowing(title)}\n"
    return "\n".join([heading + (f"\n{_flowing(more)}\n" if more else ""), *found])


@dataclass(frozen=True, slots=True)
class Entry:
    """What there is to say about an operator, or about a function of the standard library. `place`
    is the family, or the file; attributes have the text of their default, None if one must be
    given and "" if there is none.
    """

    name: str
    signature: str
    text: str
    place: str
    attributes: tuple[tuple[str, str | None], ...] = ()
    examples: tuple[tuple[str, str], ...] = ()
    sign: str = ""

    @property
    def summary(self) -> str:
        """The first sentence."""
        return re.split(r"(?<=\.)\s", self.text, maxsplit=1)[0]


def entry(operator: Operator) -> Entry:
    """What the definition of an operator says of it."""
    return Entry(
        operator.name,
        plain_signature(operator),
        _flowing(text_of(operator.doc)),
        operator.family,
        tuple((name, _default(name, operator)) for name in operator.attributes),
        tuple((example.call, example.expected) for example in examples(operator.doc)),
        next((sign for sign, found in SIGNS.items() if found is operator), ""),
    )


def _default(name: str, operator: Operator) -> str | None:
    if name in operator.required:
        return None
    default = operator.defaults[name]
    return "" if default is None else _written(default)


def attribute_text(name: str, default: str | None) -> str:
    """An attribute and its default, as Markdown."""
    match default:
        case None:
            return f"`{name}` (must be given)"
        case "":
            return f"`{name}` (none by default)"
        case _:
            return f"`{name}={default}`"


def _markdown(entry: Entry) -> str:
    shown = "\n".join(f">>> {call}\n{expected}" for call, expected in entry.examples)
    listed = ", ".join(attribute_text(*each) for each in entry.attributes)
    attributes = f"Attributes: {listed}.\n\n" if listed else ""
    return (
        f"### `{entry.name}`\n\n```text\n{entry.name} : {entry.signature}\n```\n\n{entry.text}\n\n"
        f"{attributes}```text\n{shown}\n```\n"
    )


def _written(value: object) -> str:
    """A value of an attribute as a program has it."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return value if value in BIT else f'"{value}"'
        case (only,):
            return _written(only)
        case tuple():
            return f"[{', '.join(map(_written, value))}]"
        case _:
            return str(value)


def plain_signature(operator: Operator) -> str:
    """The signature without attributes if there is one, else that of the first example."""
    shown = examples(operator.doc)
    plain = [example for example in shown if not re.search(r"\w=", example.call)]
    for example in (*plain, *shown):
        signature = example.signature(operator)
        if not isinstance(signature, Problem):
            return signature
    return "?"


def _flowing(text: str) -> str:
    """Paragraphs and list items on one line each: Markdown wraps them."""
    return re.sub(r"(?<=\S)\n(?!\n|- ) *", " ", text.strip())


if __name__ == "__main__":
    print(reference(), end="")
