"""Server-sent events out of bytes, however they are cut; bounded, and pure."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field

LINE = 1024 * 1024
"""Longest line in characters; no answer's piece is that long."""


class TooLong(ValueError):
    """The server sent a line without end."""


@dataclass(slots=True)
class Reader:
    """Holds the unfinished line and the data lines of the unfinished event."""

    rest: str = ""
    data: list[str] = field(default_factory=list)
    held: int = 0
    """Characters in `data`, with a line feed for each."""
    decoder: codecs.IncrementalDecoder = field(
        default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace")
    )
    after_return: bool = False

    def feed(self, chunk: bytes, *, last: bool = False) -> list[str]:
        """The data of every event that is complete now; raises TooLong."""
        text = self.rest + self._unified(self.decoder.decode(chunk, last))
        *lines, self.rest = text.split("\n")
        if len(self.rest) > LINE or any(len(line) > LINE for line in lines):
            raise TooLong
        if last:
            lines, self.rest = [*lines, self.rest, ""], ""
        found = [self._line(line) for line in lines]
        return [data for data in found if data is not None]

    def _unified(self, text: str) -> str:
        """CR, LF and CRLF all end a line; a CRLF may be cut in two."""
        if self.after_return and text:
            text = text.removeprefix("\n")
            self.after_return = False
        if text.endswith("\r"):
            self.after_return = True
        return text.replace("\r\n", "\n").replace("\r", "\n")

    def _line(self, line: str) -> str | None:
        if line.startswith("data:"):
            self.data.append(line[5:].removeprefix(" "))
            self.held += len(self.data[-1]) + 1
            if self.held > LINE:
                raise TooLong
            return None
        if line or not self.data:
            return None
        complete, self.data, self.held = "\n".join(self.data), [], 0
        return complete
