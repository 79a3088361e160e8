"""The operator reference, written from the operators themselves."""

from __future__ import annotations

import re
from types import ModuleType

from axon.ops import FAMILIES
from axon.ops.examples import examples, text_of
from axon.ops.operator import OPERATORS, Operator, Problem
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
    found = [_entry(operator) for operator in OPERATORS.values() if operator.family == name]
    heading = f"## {name.capitalize()}\n\n{_flowing(title)}\n"
    return "\n".join([heading + (f"\n{_flowing(more)}\n" if more else ""), *found])


def _entry(operator: Operator) -> str:
    body = _flowing(text_of(operator.doc))
    shown = "\n".join(f">>> {e.call}\n{e.expected}" for e in examples(operator.doc))
    signature = f"{operator.name} : {plain_signature(operator)}"
    attributes = _attributes(operator)
    return (
        f"### `{operator.name}`\n\n```text\n{signature}\n```\n\n{body}\n\n"
        f"{attributes}```text\n{shown}\n```\n"
    )


def _attributes(operator: Operator) -> str:
    """The attributes with their defaults."""
    listed = [_attribute(name, operator) for name in operator.attributes]
    return f"Attributes: {', '.join(listed)}.\n\n" if listed else ""


def _attribute(name: str, operator: Operator) -> str:
    if name in operator.required:
        return f"`{name}` (must be given)"
    default = operator.defaults[name]
    return f"`{name}` (none by default)" if default is None else f"`{name}={_written(default)}`"


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
