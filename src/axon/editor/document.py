"""One file that is edited, and the questions about it."""

from __future__ import annotations

from axon.editor.edited_file import EditedFile
from axon.editor.values import (
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


class Document(EditedFile):
    """A file with its queries; any offset has an answer."""

    def hover(self, offset: int) -> Hover | None:
        """The type and the documentation of what is at an offset."""
        from axon.editor.hovers import hover

        return hover(self, self._clamped(offset))

    def hints(self, start: int = 0, end: int | None = None) -> list[Hint]:
        """The types that are not written, in a part of the text."""
        from axon.editor.hints import hints

        return hints(self, start, len(self.text) if end is None else end)

    def definition(self, offset: int) -> list[Place]:
        """Where the name at an offset is bound. The file may be `std/…`, of the library."""
        from axon.editor.places import definition

        return definition(self, self._clamped(offset))

    def references(self, offset: int, declaration: bool = True) -> list[Place]:
        """Where the name at an offset is used, in all files that are known."""
        from axon.editor.places import references

        return references(self, self._clamped(offset), declaration)

    def highlights(self, offset: int) -> list[Place]:
        """Where the name at an offset is used in this file."""
        from axon.editor.places import highlights

        return highlights(self, self._clamped(offset))

    def can_rename(self, offset: int) -> Place | Refusal:
        from axon.editor.renaming import can_rename

        return can_rename(self, self._clamped(offset))

    def rename(self, offset: int, new: str) -> list[Edit] | Refusal:
        """The edits, in all files that are known, that give a name another one. What would change
        the meaning of a program is refused.
        """
        from axon.editor.renaming import rename

        return rename(self, self._clamped(offset), new)

    def completions(self, offset: int) -> list[Completion]:
        """What may stand at an offset, the likely first."""
        from axon.editor.completion import completions

        return completions(self, self._clamped(offset))

    def signature_help(self, offset: int) -> SignatureHelp | None:
        """The call around an offset."""
        from axon.editor.calls import signature_help

        return signature_help(self, self._clamped(offset))

    def symbols(self) -> list[Symbol]:
        """What the file defines."""
        from axon.editor.outline import symbols

        return symbols(self)

    def folds(self) -> list[tuple[int, int]]:
        """Parts of the text that can be folded."""
        from axon.editor.outline import folds

        return folds(self)

    def selections(self, offset: int) -> list[tuple[int, int]]:
        """The expressions around an offset, the smallest first."""
        from axon.editor.outline import selections

        return selections(self, self._clamped(offset))

    def tokens(self, start: int = 0, end: int | None = None) -> list[Token]:
        """The pieces of the text that have a meaning."""
        from axon.editor.colours import tokens

        return tokens(self, start, len(self.text) if end is None else end)

    def actions(self, start: int, end: int) -> list[Action]:
        """What can be done about a part of the text."""
        from axon.editor.actions import actions

        return actions(self, self._clamped(start), self._clamped(end))

    def why(self, offset: int, question: str) -> Answer | None:
        """The answer to a question of an action, or to `n`, `x[1]`, `result[0]` as `axon explain
        --why` has it, about the definition at an offset.
        """
        from axon.editor.whys import why

        return why(self, self._clamped(offset), question)

    def formatted(self) -> str | Refusal:
        """The text in canonical form."""
        from axon.editor.formatting import formatted

        return formatted(self)

    def _clamped(self, offset: int) -> int:
        return min(max(offset, 0), len(self.text))
