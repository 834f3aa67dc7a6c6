"""Server-sent events as bytes arrive: the same frames however the stream was cut into pieces."""

from __future__ import annotations

from dataclasses import dataclass, field

FRAME_BYTES = 16 * 1024 * 1024
"""A longer frame is dropped and counted, so that a runaway stream cannot fill the memory."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One event of the stream; `id` is the newest id seen, also on frames without their own."""

    event: str
    data: str
    id: str = ""


@dataclass(slots=True)
class Parser:
    """Keeps what is not complete yet; follows the HTML standard and ignores everything else.

    `last_id` moves only when a frame is complete: resuming behind it loses nothing.
    """

    last_id: str = ""
    limit: int = FRAME_BYTES
    oversize: int = 0
    """Frames dropped because of their length."""
    _line: bytearray = field(default_factory=bytearray)
    _line_size: int = 0
    _frame_size: int = 0
    _id: str | None = None
    _event: str = ""
    _data: list[str] = field(default_factory=list)
    _after_cr: bool = False
    _begun: bool = False

    def feed(self, piece: bytes) -> list[Frame]:
        """Take the next bytes; answers the frames that they complete."""
        if not piece:
            return []
        # A line ends with LF, CR or CR LF, and a cut may fall between the last two.
        text = piece.removeprefix(b"\n") if self._after_cr else piece
        self._after_cr = piece.endswith(b"\r")
        *lines, rest = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        frames: list[Frame] = []
        for line in lines:
            self._keep(line)
            frame = self._end_line()
            if frame is not None:
                frames.append(frame)
        self._keep(rest)
        return frames

    def _keep(self, part: bytes) -> None:
        self._line_size += len(part)
        self._frame_size += len(part)
        if self._frame_size <= self.limit:
            self._line += part

    def _end_line(self) -> Frame | None:
        raw, empty = bytes(self._line), not self._line_size
        self._line.clear()
        self._line_size = 0
        if not self._begun:
            self._begun = True
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        if empty:
            return self._end_frame()
        if self._frame_size <= self.limit:
            self._field(raw.decode("utf-8", "replace"))
        return None

    def _field(self, line: str) -> None:
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        match name:
            case "data":
                self._data.append(value)
            case "event":
                self._event = value
            case "id" if "\0" not in value:
                self._id = value

    def _end_frame(self) -> Frame | None:
        if self._id is not None:
            self.last_id = self._id
        event, data, whole = self._event, self._data, self._frame_size <= self.limit
        self._id, self._event, self._data, self._frame_size = None, "", [], 0
        if not whole:
            self.oversize += 1
            return None
        return Frame(event or "message", "\n".join(data), self.last_id) if data else None
