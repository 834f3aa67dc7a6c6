"""Whatever the bytes and however they are cut: the same events, no exception, no invention."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from engines.running import CLIS, RECORDED, parser, read
from mufakat.core.talk import stream
from mufakat.engines.cli import one_shot
from mufakat.engines.openai_compat import events as completion
from mufakat.engines.openai_compat import sse
from mufakat.engines.process import stream as pipe
from mufakat.engines.transcript import Transcript

CAP = 64 * 1024
JUNK = b'\xff\xfe junk\r\n{"type":"noise","x":"\xc3"}\n\n[1,2]\n{"type":\n'


def bytes_of(cli: str, scenario: str) -> bytes:
    return (RECORDED / cli / f"{scenario}.jsonl").read_bytes()


def events(cli: str, chunks: list[bytes]) -> list[stream.StreamEvent]:
    made, lines = parser(cli), pipe.Lines(CAP)
    found: list[stream.StreamEvent] = []
    for chunk in chunks:
        for line in lines.feed(chunk):
            found += one_shot.events_of(made, line)
    last = lines.finish()
    return found + (list(one_shot.events_of(made, last)) if last else [])


def cut(data: bytes, at: list[int]) -> list[bytes]:
    ends = sorted({place % (len(data) + 1) for place in at} | {0, len(data)})
    return [data[a:b] for a, b in zip(ends, ends[1:], strict=False)]


@pytest.mark.parametrize("cli", CLIS)
@given(at=some.lists(some.integers(0, 10**6), max_size=30), scenario=some.sampled_from(["tool"]))
@settings(max_examples=40)
def test_any_chunking_gives_the_same_events(cli: str, at: list[int], scenario: str) -> None:
    data = JUNK + bytes_of(cli, scenario) + JUNK
    assert events(cli, cut(data, at)) == events(cli, [data])


@pytest.mark.parametrize("cli", CLIS)
def test_one_byte_at_a_time_gives_the_same_events(cli: str) -> None:
    data = bytes_of(cli, "answer") + "😀 не JSON\n".encode()
    assert events(cli, [bytes([byte]) for byte in data]) == events(cli, [data])


@pytest.mark.parametrize("cli", CLIS)
def test_a_20_mb_line_is_told_by_its_size_and_the_stream_goes_on(cli: str) -> None:
    long = b'{"type":"text","text":"' + b"x" * 20_000_000 + b'"}\n'
    data = bytes_of(cli, "answer")
    found = events(cli, [long + data])
    strange = [e for e in found if isinstance(e, stream.Unknown)]
    assert [e.type for e in strange] == ["oversize_line"]
    assert strange[0].raw["size"] == len(long) - 1
    assert [e for e in found if e not in strange] == events(cli, [data])


JSON = some.recursive(
    some.none() | some.booleans() | some.integers() | some.text(max_size=5),
    lambda inner: (
        some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


def mutated(document: Any, path: list[int], value: Any) -> Any:
    """The document with one value somewhere in it replaced."""
    if isinstance(document, dict) and document and path:
        key = sorted(document)[path[0] % len(document)]
        return {**document, key: mutated(document[key], path[1:], value)}
    if isinstance(document, list) and document and path:
        at = path[0] % len(document)
        return [*document[:at], mutated(document[at], path[1:], value), *document[at + 1 :]]
    return value


@pytest.mark.parametrize("cli", CLIS)
@given(data=some.data())
@settings(max_examples=150)
def test_a_wrong_shape_anywhere_is_never_fatal(cli: str, data: some.DataObject) -> None:
    names = sorted(path.stem for path in (RECORDED / cli).glob("*.jsonl"))
    name = data.draw(some.sampled_from(names))
    lines = [line for line in bytes_of(cli, name).decode().split("\n") if line]
    if not lines:
        return
    at = data.draw(some.integers(0, len(lines) - 1))
    path = data.draw(some.lists(some.integers(0, 20), min_size=1, max_size=5))
    broken = mutated(json.loads(lines[at]), path, data.draw(JSON))
    found = read(cli, [*lines[:at], json.dumps(broken), *lines[at + 1 :]])
    assert found.reply is not None


@given(at=some.lists(some.integers(0, 10**6), max_size=20), end=some.sampled_from("\n\r"))
@settings(max_examples=100)
def test_server_sent_events_do_not_depend_on_the_chunking(at: list[int], end: str) -> None:
    text = 'data: {"a": "é😀"}\n\n: ping\nevent: x\ndata: one\ndata: two\n\ndata: [DONE]\n\n'
    data = text.replace("\n", end if end == "\n" else "\r\n").encode()
    reader, found = sse.Reader(), list[str]()
    for chunk in cut(data, at):
        found += reader.feed(chunk)
    found += reader.feed(b"", last=True)
    assert found == ['{"a": "é😀"}', "one\ntwo", "[DONE]"]


def test_an_endless_line_is_refused() -> None:
    reader = sse.Reader()
    with pytest.raises(sse.TooLong):
        for _ in range(100):
            reader.feed(b"data: " + b"x" * 100_000)


@given(JSON)
@settings(max_examples=150)
def test_a_completion_of_any_shape_is_never_fatal(document: Any) -> None:
    answer = completion.Completion()
    answer.data(json.dumps({"choices": [{"delta": document}], "usage": document}))
    answer.data(json.dumps({"choices": document, "error": document}))
    answer.data(json.dumps(document))
    answer.reply()


@given(
    some.lists(
        some.one_of(
            some.tuples(some.just("piece"), some.text(min_size=1, max_size=4)),
            some.tuples(some.just("whole"), some.text(max_size=6)),
            some.tuples(some.sampled_from(["close", "void"]), some.just("")),
        ),
        max_size=20,
    )
)
def test_the_screen_always_shows_what_the_transcript_holds(steps: list[tuple[str, str]]) -> None:
    script, screen = Transcript(), ""
    for step, text in steps:
        told: list[stream.StreamEvent] = []
        match step:
            case "piece" | "whole" | "void":
                told = getattr(script, step)(text)
            case _:
                script.close()
        for event in told:
            screen = "" if isinstance(event, stream.TextReset) else screen
            screen += event.text if isinstance(event, stream.Text) else ""
    growing = [script.growing] if script.growing else []
    assert screen == "\n\n".join([*script.messages, *growing])
