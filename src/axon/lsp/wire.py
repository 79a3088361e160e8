"""The base protocol: messages with a header. Whatever comes, the next message is found.

Law: `Content-Length: N` with a blank line after it does not stand inside JSON, since a string there
has no raw line end. So a header inside of what should be a body begins the next message, and the
length before was wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

LARGEST = 64 << 20
LONGEST_HEADER = 4096

_LENGTH = re.compile(rb"content-length:[ \t]*([^\r\n]*)\r?\n", re.IGNORECASE)
_HEADER = re.compile(
    rb"content-length:[ \t]*\d+[ \t]*\r?\n(?:[a-z-]+:[^\r\n]*\r?\n)*\r?\n", re.IGNORECASE
)
_OTHERS = re.compile(rb"(?:[A-Za-z-]+:[^\r\n]*\r?\n)*\r?\n")
_LINES = re.compile(rb"(?:[A-Za-z-]+:[^\r\n]*\r?\n|\s)*")


@dataclass(frozen=True, slots=True)
class Malformed:
    """Something that is no message: a sentence that says why."""

    text: str


class Reader:
    """The messages of a stream; `read` gives some bytes, none at its end."""

    def __init__(self, read: Callable[[], bytes]) -> None:
        self._read = read
        self._buffer = bytearray()
        self._lost = False

    def messages(self) -> Iterator[object]:
        """What is in the JSON of each message, or `Malformed`. One mistake is one answer."""
        while True:
            length = self._header()
            if isinstance(length, Malformed):
                if not self._lost:
                    yield length
                self._lost = True
                continue
            if length is None:
                return
            self._lost = False
            found = _decoded(self._body(length))
            self._lost = isinstance(found, Malformed)
            yield found

    def _more(self) -> bool:
        data = self._read()
        self._buffer += data
        return bool(data)

    def _header(self) -> int | Malformed | None:
        """The length of the next body; None at the end of the stream."""
        while True:
            match = _LENGTH.search(self._buffer)
            if match is None:
                lost = len(self._buffer) > LONGEST_HEADER
                if lost:
                    del self._buffer[:-LONGEST_HEADER]
                    return Malformed("a message begins with `Content-Length: N`")
                if not self._more():
                    return None
                continue
            junk = bytes(self._buffer[: match.start()])
            if not _LINES.fullmatch(junk):
                del self._buffer[: match.start()]
                return Malformed("a message begins with `Content-Length: N`")
            rest = _OTHERS.match(self._buffer, match.end())
            if rest is None:
                after = self._buffer[match.end() :]
                cut = len(after) > LONGEST_HEADER or (after and not _may_go_on(bytes(after)))
                if cut or not self._more():
                    del self._buffer[: match.end()]
                    return Malformed("the header of a message ends with an empty line")
                continue
            number = bytes(match[1]).strip()  # before the buffer changes under the match
            del self._buffer[: rest.end()]
            if not number.isdigit() or len(number) > 12 or int(number) > LARGEST:
                shown = number[:40].decode("ascii", "replace")
                return Malformed(f"`Content-Length: {shown}` is not a length up to {LARGEST}")
            return int(number)

    def _body(self, length: int) -> bytes:
        scanned = 0
        while True:
            match = _HEADER.search(self._buffer, scanned, max(length, 0) + LONGEST_HEADER)
            if match is not None and match.start() < length:
                length = match.start()
            if len(self._buffer) >= length:
                break
            scanned = max(0, len(self._buffer) - LONGEST_HEADER)
            if not self._more():
                length = len(self._buffer)
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return body


def _may_go_on(data: bytes) -> bool:
    """Whether a header may go on like this."""
    line = data.rpartition(b"\n")[2]
    whole = data[: len(data) - len(line)]
    return bool(re.fullmatch(rb"(?:[A-Za-z-]+:[^\r\n]*\r?\n)*", whole)) and bool(
        re.fullmatch(rb"\r?|[A-Za-z-]+(?::[^\r\n]*\r?)?", line)
    )


def _decoded(body: bytes) -> object:
    try:
        return json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        return Malformed("a message is not UTF-8")
    except RecursionError:
        return Malformed("a message is nested too deeply")
    except ValueError as problem:
        return Malformed(f"a message is not JSON: {problem}"[:200])


def framed(data: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


def encoded(message: object) -> bytes:
    """JSON in ASCII: half of a surrogate pair is no UTF-8."""
    return json.dumps(message, separators=(",", ":")).encode("ascii")
