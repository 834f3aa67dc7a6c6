"""Follows the server's event log; a cut connection is taken up again where it broke."""

from __future__ import annotations

import http.client
import json
import math
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mufakat.sdk import backoff, errors, sse
from mufakat.sdk.client import Client

SILENCE_SECONDS = 45.0
"""The server says something every 15 seconds; a stream silent for longer is dead."""
CHUNK = 65_536
TRIES = 8
"""Connections in a row that bring nothing at all: about 3 seconds."""
TRANSPORT_ONLY = frozenset({"progress", "ping"})
"""Frames that only move the cursor."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of the log; `id` is the cursor behind it, `epoch-revision`."""

    id: str
    kind: str
    subject: str = ""
    at: str = ""
    """ISO 8601, UTC."""
    data: Mapping[str, Any] = field(default_factory=dict)


def follow(
    client: Client,
    *,
    after: str = "",
    subject: str = "",
    conversation: str = "",
    kinds: Sequence[str] = (),
    silence: float = SILENCE_SECONDS,
    seconds: float = math.inf,
    tries: int = TRIES,
) -> Generator[Event]:
    """Yield events behind the cursor `after` for `seconds`, each once and in order.

    Raises ServerError when the server refuses the cursor, and Unreachable after so many `tries`
    in a row that brought nothing.
    """
    wanted = {"subject": subject, "conversation": conversation, "kinds": ",".join(kinds)}
    state = _State(sse.Parser(last_id=after))
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        yield from _connection(client, wanted, state, silence=silence, limit=limit)
        if state.failures >= tries:
            raise errors.Unreachable(f"The event stream is lost: {state.why}")
        wait = backoff.pause(state.quiet, client.draw)
        client.sleep(min(wait, max(0.0, limit - time.monotonic())))
        client.relocate()


@dataclass(slots=True)
class _State:
    """Where the reader stands, over all its connections."""

    parser: sse.Parser
    failures: int = 0
    """Connections in a row that brought nothing at all."""
    quiet: int = 0
    """Connections since the last frame."""
    why: str = ""


def _connection(
    client: Client, wanted: Mapping[str, str], state: _State, *, silence: float, limit: float
) -> Iterator[Event]:
    """The events of one connection, until it ends in whatever way."""
    state.parser = parser = sse.Parser(last_id=state.parser.last_id)
    heard, state.why = False, "the stream ended"
    query = {"follow": "1", "after": parser.last_id, **wanted}
    try:
        for frame in _frames(client, query, parser, silence=silence, limit=limit):
            heard = True
            state.quiet = state.quiet if frame is None else 0
            event = None if frame is None else _event(frame)
            if event is not None:
                yield event
    except errors.ServerError as problem:
        if not problem.retryable:
            raise
        state.why = str(problem)
    state.failures = 0 if heard else state.failures + 1
    state.quiet += 1


def _frames(
    client: Client, query: Mapping[str, str], parser: sse.Parser, *, silence: float, limit: float
) -> Iterator[sse.Frame | None]:
    """The frames of one connection, until it ends; None for bytes that complete none."""
    headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
    if parser.last_id:
        headers["Last-Event-ID"] = parser.last_id
    patience = min(silence, max(0.01, limit - time.monotonic()))
    connection, answer = client.open("/events", query, headers, seconds=patience)
    try:
        while piece := answer.read1(CHUNK):
            frames = parser.feed(piece)
            yield from frames
            if not frames:
                yield None
            if time.monotonic() >= limit:
                return
    except (OSError, http.client.HTTPException) as problem:
        raise errors.Unreachable(f"the connection broke ({problem})") from problem
    finally:
        answer.close()
        connection.close()


def _event(frame: sse.Frame) -> Event | None:
    """Read a frame, however the server wrapped its data; None for frames without content."""
    if frame.event in TRANSPORT_ONLY:
        return None
    try:
        payload = json.loads(frame.data)
    except (ValueError, RecursionError):
        payload = {"text": frame.data}
    return from_json(payload, kind=frame.event, id=frame.id)


def from_json(payload: Any, *, kind: str = "", id: str = "") -> Event:
    """Read an event as the server writes it; unknown members are kept in `data`."""
    if not isinstance(payload, dict):
        return Event(id, kind, data={"value": payload})
    inner = payload.get("data")
    if "kind" not in payload and not isinstance(inner, dict):
        return Event(id, kind, data=payload)
    return Event(
        str(payload.get("id") or id),
        str(payload.get("kind") or kind),
        str(payload.get("subject") or ""),
        str(payload.get("at") or ""),
        inner if isinstance(inner, dict) else {},
    )
