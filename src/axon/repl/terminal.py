"""The session on a terminal, by prompt_toolkit: history, completion, colours, several lines."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from axon.repl.completion import choices
from axon.repl.interpreter import Interpreter
from axon.repl.lines import CONTINUED, PROMPT
from axon.repl.reading import is_complete, words
from axon.repl.showing import Printer

INDENT = "  "

STYLE = Style.from_dict(
    {
        "prompt": "ansigreen",
        "command": "ansimagenta",
        "keyword": "ansimagenta",
        "type": "ansicyan",
        "number": "ansiblue",
        "string": "ansigreen",
        "comment": "ansibrightblack",
        "call": "ansiyellow",
        "definition": "bold",
        "field": "",
        "bad": "ansired",
    }
)


def history_file() -> Path:
    """Where the lines of former sessions are: in the user's folder for such things."""
    state = os.environ.get("XDG_STATE_HOME") or os.path.join("~", ".local", "state")
    return Path(state).expanduser() / "axon" / "history"


def open_history() -> History:
    """The history in its file; one that is forgotten where there can be no file."""
    path = history_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with path.open("a", encoding="utf-8"):
            pass
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))


class _Words(Lexer):
    """Colours by the kinds of words."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        text = document.text
        pieces: StyleAndTextTuples = []
        at = 0
        for start, end, kind in words(text):
            pieces += [("", text[at:start]), (f"class:{kind}", text[start:end])]
            at = end
        pieces.append(("", text[at:]))
        lines: list[StyleAndTextTuples] = [[]]
        for style, piece, *_ in pieces:
            first, *more = piece.split("\n")
            lines[-1].append((style, first))
            lines += [[(style, each)] for each in more]
        return lambda number: lines[number] if number < len(lines) else []


class _Choices(Completer):
    def __init__(self, interpreter: Interpreter) -> None:
        self._interpreter = interpreter

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        before = document.text_before_cursor
        for choice in choices(self._interpreter.state, before):
            start = choice.start - len(before)
            yield Completion(choice.text, start, display_meta=choice.about[:60])


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @keys.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        """Send what is complete; an empty line at the end sends what is not."""
        buffer = event.current_buffer
        document = buffer.document
        text = document.text
        last = document.is_cursor_at_the_end and not document.current_line.strip()
        if is_complete(text) or (last and text.strip()):
            buffer.validate_and_handle()
        else:
            buffer.insert_text("\n" + INDENT * _depth(document.text_before_cursor))

    @Condition
    def at_margin() -> bool:
        from prompt_toolkit.application import get_app

        document = get_app().current_buffer.document
        return not document.current_line_before_cursor.strip() and bool(document.text.strip())

    @keys.add("tab", filter=at_margin)
    def _tab(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text(INDENT)

    @keys.add("}", filter=at_margin)
    def _brace(event: KeyPressEvent) -> None:
        """A block ends where its line begins."""
        buffer = event.current_buffer
        if buffer.document.current_line_before_cursor.endswith(INDENT):
            buffer.delete_before_cursor(len(INDENT))
        buffer.insert_text("}")

    return keys


def _depth(text: str) -> int:
    """How many brackets are open."""
    return max(0, sum((sign in "([{") - (sign in ")]}") for sign in text))


def make_prompt(interpreter: Interpreter) -> PromptSession[str]:
    return PromptSession(
        [("class:prompt", PROMPT)],
        history=open_history(),
        completer=_Choices(interpreter),
        complete_while_typing=False,
        lexer=_Words(),
        style=STYLE,
        key_bindings=_keys(),
        multiline=True,
        prompt_continuation=lambda *_: [("class:prompt", CONTINUED)],
    )


def talk(interpreter: Interpreter, printer: Printer) -> None:
    """Answer inputs until the user leaves. Ctrl-C clears a line, or stops what is computed."""
    session = make_prompt(interpreter)
    while True:
        try:
            text = session.prompt()
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        try:
            if text.strip() and not printer.show(interpreter.answer(text)):
                return
        except KeyboardInterrupt:
            printer.interrupted()
