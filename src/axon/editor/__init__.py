"""What an editor asks about a text: pure Python, no input or output, for the language server and
for a page in a browser alike.

A `Workspace` has the files; `open` gives a `Document`, `change` edits it. Each query takes an
offset in characters, and any offset has an answer. `Lines` converts from and to the lines and
UTF-16 columns of editors.

    >>> files = Workspace()
    >>> net = files.open("net.axon", "f = fn (x : f32 [n,3]) { y = transpose(x); y };")
    >>> net.diagnostics
    ()
    >>> [(hint.at, hint.text) for hint in net.hints()]
    [(22, 'f32 [3,n]'), (26, 'f32 [3,n]')]
    >>> net.hover(25).code
    'y : f32 [3,n]'

| query | answer |
|---|---|
| `diagnostics` | as `check` has them; a label in another file has a span of that file: `place_of` |
| `signatures` | of every definition that has a type |
| `hints(start, end)` | inferred types that are not written: `Hint` |
| `hover(at)` | type, plain reading, documentation: `Hover` |
| `definition(at)`, `references(at)` | `Place`s, in all files |
| `can_rename(at)`, `rename(at, new)` | `Edit`s, or a `Refusal` |
| `completions(at)`, `signature_help(at)` | at a place that may be half written |
| `symbols()`, `folds()`, `selections(at)`, `tokens(start, end)` | the structure of the text |
| `actions(start, end)` | `Action`s: suggestions, annotations, questions |
| `why(at, question)` | why a size is what it is: `Answer` |
| `formatted()` | the text in canonical form, or a `Refusal` |

Of a text with mistakes, what is fine has its types; what depends on something that is broken has
those from before.
"""

from __future__ import annotations

from axon.editor.document import Document
from axon.editor.values import (
    TOKEN_KINDS,
    Action,
    Answer,
    Completion,
    Edit,
    Hint,
    Hover,
    Place,
    Refusal,
    SignatureHelp,
    Symbol,
    Token,
)
from axon.editor.workspace import ReadFile, Workspace
from axon.source import Lines

__all__ = [
    "TOKEN_KINDS",
    "Action",
    "Answer",
    "Completion",
    "Document",
    "Edit",
    "Hint",
    "Hover",
    "Lines",
    "Place",
    "ReadFile",
    "Refusal",
    "SignatureHelp",
    "Symbol",
    "Token",
    "Workspace",
]
