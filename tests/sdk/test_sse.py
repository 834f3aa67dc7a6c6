"""The stream parser: the same frames however the bytes were cut."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from mufakat.sdk import sse
from mufakat.sdk.sse import Frame

lines = st.one_of(
    st.sampled_from(
        [b"data: x", b"data:y", b"data", b"id: e-1", b"id: e-2", b"id: a\0b", b"event: turn.text"]
        + [b"", b"", b"", b": ping", b"retry: 5", b"unknown: z", b"data: \xff\xc3", b"\xef\xbb\xbf"]
        + [b"data: \xe2\x80\xa8 \xf0\x9f\x99\x82"]
    ),
    st.binary(max_size=12),
)
streams = st.lists(st.tuples(lines, st.sampled_from([b"\n", b"\r", b"\r\n"])), max_size=25).map(
    lambda rows: b"".join(line + end for line, end in rows)
)


def parse(pieces: Sequence[bytes], **options: int) -> tuple[list[Frame], str]:
    parser = sse.Parser(**options)
    return [frame for piece in pieces for frame in parser.feed(piece)], parser.last_id


@given(streams, st.lists(st.integers(0, 300), max_size=8), st.sampled_from([20, sse.FRAME_BYTES]))
def test_chunked_equals_whole(stream: bytes, cuts: list[int], limit: int) -> None:
    places = sorted({0, *(min(cut, len(stream)) for cut in cuts), len(stream)})
    pieces = [stream[a:b] for a, b in zip(places, places[1:], strict=False)]
    assert parse(pieces, limit=limit) == parse([stream], limit=limit)
    assert parse([bytes([byte]) for byte in stream], limit=limit) == parse([stream], limit=limit)


def test_fields() -> None:
    text = b'\xef\xbb\xbf: hi\nid: e-7\nevent: turn.text\ndata: {"a":\ndata: 1}\n\ndata: b\n\n'
    assert parse([text])[0] == [
        Frame("turn.text", '{"a":\n1}', "e-7"),
        Frame("message", "b", "e-7"),
    ]


def test_the_cursor_moves_only_with_a_whole_frame() -> None:
    begun = b"id: e-1\ndata: one\n\nid: e-2\ndata: tw"
    assert parse([begun])[1] == "e-1"
    assert parse([begun, b"o\n\n"])[1] == "e-2"
    assert parse([b"id: e-9\n\n"])[1] == "e-9", "a frame without data moves it too"


class Eager(sse.Parser):
    """The fault: the cursor moves as soon as an id is read."""

    def _field(self, line: str) -> None:
        super()._field(line)
        if self._id is not None:
            self.last_id = self._id


def test_twin_eager_cursor_would_lose_an_event() -> None:
    parser = Eager()
    told = parser.feed(b"id: e-1\ndata: one\n\nid: e-2\ndata: tw")
    assert [frame.id for frame in told] == ["e-1"]
    assert parser.last_id == "e-2", "resuming here would skip the event e-2"


def test_a_runaway_frame_is_dropped_and_counted() -> None:
    parser = sse.Parser(limit=1000)
    for _ in range(10_000):
        assert parser.feed(b"data: " + b"x" * 100) == []
    assert len(parser._line) <= 1000
    assert parser.feed(b"\nid: e-3\n\ndata: after\n\n") == [Frame("message", "after", "")]
    assert parser.oversize == 1
