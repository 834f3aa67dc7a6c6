"""What is fuzzed: each parser of foreign bytes, with the properties that hold for any input.

A property that does not hold is an AssertionError; anything else that is raised is a crash.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from core.pack import conversations as made
from mufakat.core import quote, secrets
from mufakat.core.pack import assemble, deliver
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Reply, Status
from mufakat.engines.claude import events as claude
from mufakat.engines.cli import one_shot, session_id, verdict
from mufakat.engines.codex import events as codex
from mufakat.engines.gemini import events as gemini
from mufakat.engines.openai_compat import events as completion
from mufakat.engines.openai_compat import sse as model_sse
from mufakat.engines.opencode import events as opencode
from mufakat.engines.process import json_line
from mufakat.engines.process import stream as pipe
from mufakat.engines.process.command import Ended, Outcome
from mufakat.engines.scripted import told
from mufakat.sdk import events as sdk_events
from mufakat.sdk import sse as sdk_sse
from mufakat.services import announce, turn_record

CAP = 4096
"""Bytes of a line, so that small inputs reach the oversize path too."""
FENCE_WORD = b"{FENCE}"
"""Stands for the fence in inputs of `marks`: no mutation could guess 22 random characters."""
RECORDED = Path(__file__).resolve().parents[1] / "equipment" / "recorded"
CORPUS = Path(__file__).resolve().parent / "corpus"


@dataclass(frozen=True)
class Target:
    """One parser; `run` checks its properties over one input."""

    name: str
    run: Callable[[bytes], None]
    recorded: str = ""
    """Folder of the real recordings that serve as seeds, if there are any."""

    def own(self) -> list[bytes]:
        """Seeds made by hand, and inputs that once found a fault."""
        return [file.read_bytes() for file in sorted((CORPUS / self.name).glob("*"))]

    def seeds(self) -> list[bytes]:
        """All that mutation starts from: our own, and recordings of the real CLIs."""
        if not self.recorded:
            return self.own()
        files = sorted((RECORDED / self.recorded).glob("*.jsonl"))
        return self.own() + [file.read_bytes() for file in files]


def cuts(data: bytes) -> list[bytes]:
    """The input in pieces, at places that depend on nothing but the input."""
    places = {zlib.crc32(data, salt) % (len(data) + 1) for salt in range(3)}
    ends = sorted(places | {0, len(data)})
    return [data[a:b] for a, b in zip(ends, ends[1:], strict=False)]


def storable(value: object) -> None:
    """The value can stand in the database: JSON without infinities, in UTF-8."""
    json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")


def plain(text: str) -> secrets.Scrubbed:
    """Takes no secret out: that search is tested by itself and would slow this one down."""
    return secrets.Scrubbed(text, ())


def check_reply(reply: Reply) -> None:
    """Whatever an engine said, its reply can be stored, and says done or why not."""
    storable(announce.clean(turn_record.summary(reply, None), plain))
    storable([reply.text, reply.session])
    assert "\0" not in reply.text + reply.session + reply.message
    assert (reply.failure is None) == (reply.status is not Status.FAILED)
    assert reply.status is not Status.DONE or reply.text.strip()
    usage = reply.usage
    assert min(usage.fresh, usage.cache_read, usage.cache_write, usage.output) >= 0


def check_events(found: list[stream.StreamEvent]) -> None:
    """Every event can be announced."""
    for event in found:
        storable(announce.clean(announce.describe(event)[1], plain))


PARSERS: Mapping[str, Callable[[], one_shot.Parser]] = {
    "claude": partial(claude.Claude, ""),
    "codex": codex.Codex,
    "gemini": partial(gemini.Gemini, ""),
    "opencode": opencode.OpenCode,
}


def _engine_events(parser: one_shot.Parser, chunks: list[bytes]) -> list[stream.StreamEvent]:
    lines = pipe.Lines(CAP)
    found: list[stream.StreamEvent] = []
    for chunk in chunks:
        for line in lines.feed(chunk):
            found += one_shot.events_of(parser, line)
    last = lines.finish()
    return found + (list(one_shot.events_of(parser, last)) if last else [])


def engine_stream(name: str, data: bytes) -> None:
    """An engine's stdout: chunking changes nothing, and every end gives a reply."""
    parser = PARSERS[name]()
    found = _engine_events(parser, [data])
    assert found == _engine_events(PARSERS[name](), cuts(data))
    check_events(found)
    code = zlib.crc32(data) & 255
    for ended in (Ended.EXITED, Ended.IDLE):
        outcome = Outcome(ended, code, (), "", len(data), Path("raw"))
        reply = verdict.reply(parser.said(code), outcome)
        check_reply(reply)
        pattern = session_id.OPENCODE if name == "opencode" else session_id.UUID
        assert not reply.session or pattern.fullmatch(reply.session)


def sse_client(data: bytes) -> None:
    """Our own event stream, as the command line and other clients read it."""
    whole = sdk_sse.Parser(limit=CAP)
    frames = whole.feed(data)
    cut = sdk_sse.Parser(limit=CAP)
    assert [frame for piece in cuts(data) for frame in cut.feed(piece)] == frames
    assert (cut.last_id, cut.oversize) == (whole.last_id, whole.oversize)
    assert not frames or "\0" not in whole.last_id
    for frame in frames:
        assert len(frame.data.encode()) <= 3 * CAP
        sdk_events._event(frame)


def json_lines(data: bytes) -> None:
    """One line of JSON: an object that can be stored, or a reason."""
    found = json_line.decode(data.decode("utf-8", "replace"))
    if isinstance(found, json_line.NotJson):
        assert found.why
        return
    storable(found)
    again = json_line.decode(json.dumps(found, ensure_ascii=False))
    assert again == found


def model_server(data: bytes) -> None:
    """A model server's stream of completions."""
    results = []
    for chunks in ([data], cuts(data)):
        reader, answer = model_sse.Reader(), completion.Completion()
        found: list[stream.StreamEvent] = []
        for chunk in chunks:
            for item in reader.feed(chunk):
                found += answer.data(item)
        for item in reader.feed(b"", last=True):
            found += answer.data(item)
        reply = answer.reply()
        check_events(found)
        check_reply(reply)
        results.append((found, reply))
    assert results[0] == results[1]
    words = data.decode("utf-8", "replace")
    problem = completion.of_response(500, words, words[:20])
    storable(problem.message)
    assert problem.retry_after is None or problem.retry_after >= 0


def marks(data: bytes) -> None:
    """Text of others in a pack: no section, no header and no fence but our own."""
    words = data.replace(FENCE_WORD, made.FENCE.encode()).decode("utf-8", "replace")
    clean = quote.inert(words, made.FENCE)
    assert made.FENCE not in clean
    assert "<mufakat:" not in clean.lower() and "</mufakat:" not in clean.lower()
    assert _shape([words, words, words[::-1]]) == _expected()


def _shape(texts: Sequence[str]) -> tuple[list[str], int]:
    """Sections and quotations that an agent sees in a pack, taking all marks at face value."""
    names = (made.PERSON, "claude@host:000001", "codex@host:000002")
    said = [made.message(n, *pair) for n, pair in enumerate(zip(texts, names, strict=True), 1)]
    pack = assemble.assemble(made.facts(said, budget=20_000))
    assert isinstance(pack, assemble.Pack)
    text = deliver.fresh(pack, splits_system=False, expands_at=False).user
    kinds = [section.kind for section in told.read(text).sections]
    return kinds, text.count(made.FENCE)


@cache
def _expected() -> tuple[list[str], int]:
    return _shape(["x", "x", "x"])


ALL: Mapping[str, Target] = {
    target.name: target
    for target in (
        *(Target(name, partial(engine_stream, name), recorded=name) for name in PARSERS),
        Target("sse_client", sse_client),
        Target("json_line", json_lines),
        Target("model_server", model_server),
        Target("marks", marks),
    )
}


def run(name: str, data: bytes) -> Any:
    """Check one input; raises on a fault."""
    return ALL[name].run(data)
