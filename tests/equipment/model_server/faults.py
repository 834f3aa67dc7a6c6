"""The ways in which the scripted model fails.

`status` (with `retry_after`, `message`, `body`) is an HTTP error; `fault` is one of `script.Fault`;
`sse_error` is an error event inside a stream that began well.
"""

from __future__ import annotations

from typing import Any

from equipment.model_server.answer import Event, Protocol
from equipment.model_server.script import Fault, Turn, fault_of
from equipment.model_server.wire_out import Wire

BROKEN_EVENT = b'event: nonsense\ndata: {"type": "broken", \n\ndata: }}}}\n\n'
HANG_SECONDS = 60.0


def before_answer(turn: Turn, protocol: Protocol, wire: Wire) -> bool:
    """Fail instead of answering; False when the turn gets as far as an answer."""
    match fault_of(turn):
        case Fault.RESET:
            wire.reset()
        case Fault.HANG:
            _hang(turn, wire)
        case _ if turn.get("status", 200) != 200:
            _http_error(turn, protocol, wire)
        case _:
            return False
    return True


def _http_error(turn: Turn, protocol: Protocol, wire: Wire) -> None:
    status = int(turn["status"])
    body = turn.get("body")
    if body is None:
        body = protocol.error(status, turn.get("message", f"scripted {status}"))
    headers = {"retry-after": str(turn["retry_after"])} if "retry_after" in turn else {}
    wire.document(status, body, headers)


def _hang(turn: Turn, wire: Wire) -> None:
    wire.silence(float(turn.get("seconds", HANG_SECONDS)))
    wire.hang_up()


def instead_of_document(
    turn: Turn, protocol: Protocol, document: dict[str, Any], wire: Wire
) -> bool:
    """Fail in a non-streaming answer; False when nothing is wrong."""
    match fault_of(turn):
        case Fault.HANG_MID:
            _hang(turn, wire)
        case Fault.MALFORMED | Fault.TRUNCATE:
            wire.half_document(document)
        case _ if turn.get("sse_error"):
            wire.document(529, protocol.error(529, "scripted error"))
        case _:
            return False
    return True


def in_stream(turn: Turn, sequence: list[Event], wire: Wire, delay: float) -> bool:
    """Send half of a stream and fail there; False (nothing sent) when nothing is wrong."""
    fault = fault_of(turn)
    if fault in (None, Fault.EMPTY) and not turn.get("sse_error"):
        return False
    for name, data in sequence[: max(1, len(sequence) // 2)]:
        wire.event(name, data)
        wire.pause(delay)
    match fault:
        case Fault.HANG_MID:
            _hang(turn, wire)
        case Fault.TRUNCATE:
            wire.hang_up()
        case Fault.MALFORMED:
            wire.chunk(BROKEN_EVENT)
            wire.chunk(b"")
        case _:
            error = {"message": "scripted error", **turn["sse_error"]}
            wire.event("error", {"type": "error", "error": error})
            wire.chunk(b"")
    return True
