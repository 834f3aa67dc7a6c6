"""The one table from error codes to exit codes, for every command."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

OK, FAILED, INVALID, TRANSIENT, HELD, NOT_FOUND, NOT_ALLOWED = range(7)
INTERRUPTED = 130

MEANING: Mapping[int, str] = MappingProxyType(
    {
        OK: "done",
        FAILED: "failed",
        INVALID: "wrong usage or invalid input",
        TRANSIENT: "transient: unavailable or in use, try again",
        HELD: "held or refused: the state does not permit it now",
        NOT_FOUND: "not found",
        NOT_ALLOWED: "not allowed: credential, schema or policy",
        INTERRUPTED: "stopped by Ctrl-C",
    }
)

CODES: Mapping[str, int] = MappingProxyType(
    {
        "internal": FAILED,
        "engine": FAILED,
        "engine_missing": FAILED,
        "store": FAILED,
        "store_corrupt": FAILED,
        "usage": INVALID,
        "invalid_input": INVALID,
        "bad_request": INVALID,
        "invalid_json": INVALID,
        "invalid_text": INVALID,
        "bad_cursor": INVALID,
        "method_not_allowed": INVALID,
        "unsupported_media_type": INVALID,
        "uri_too_long": INVALID,
        "headers_too_large": INVALID,
        "too_large": INVALID,
        "does_not_fit": INVALID,
        "unavailable": TRANSIENT,
        "in_use": TRANSIENT,
        "store_read_only": TRANSIENT,
        "storage_full": TRANSIENT,
        "request_timeout": TRANSIENT,
        "too_many_streams": TRANSIENT,
        "paused": TRANSIENT,
        "too_many": TRANSIENT,
        "conflict": HELD,
        "held": HELD,
        "deadlock": HELD,
        "lease_lost": HELD,
        "superseded": HELD,
        "stale": HELD,
        "idempotency_conflict": HELD,
        "unknown_epoch": HELD,
        "future_cursor": HELD,
        "not_found": NOT_FOUND,
        "compacted": NOT_FOUND,
        "engine_unknown": NOT_FOUND,
        "not_allowed": NOT_ALLOWED,
        "too_broad": NOT_ALLOWED,
        "misdirected": NOT_ALLOWED,
        "foreign_origin": NOT_ALLOWED,
        "unauthenticated": NOT_ALLOWED,
        "store_newer": NOT_ALLOWED,
        "store_rolled_back": NOT_ALLOWED,
    }
)

STATUS: Mapping[int, int] = MappingProxyType(
    {
        400: INVALID,
        401: NOT_ALLOWED,
        403: NOT_ALLOWED,
        404: NOT_FOUND,
        405: INVALID,
        408: TRANSIENT,
        409: HELD,
        410: NOT_FOUND,
        413: INVALID,
        414: INVALID,
        415: INVALID,
        421: NOT_ALLOWED,
        422: INVALID,
        429: TRANSIENT,
        431: INVALID,
        502: TRANSIENT,
        503: TRANSIENT,
        504: TRANSIENT,
        507: TRANSIENT,
    }
)
"""For codes that a newer server may send and this table does not know."""

FAILURES: Mapping[str, int] = MappingProxyType(
    {"rate_limit": TRANSIENT, "overloaded": TRANSIENT, "network": TRANSIENT}
)
"""Of turns; every other failure is plainly FAILED."""


def of_error(code: str, status: int = 0) -> int:
    """The exit code for an error; `status` is the HTTP status where there was one."""
    return CODES.get(code, STATUS.get(status, FAILED))


def of_turn(status: str, failure: str | None = None) -> int:
    """The exit code for a turn: 0 for `done` alone."""
    match status:
        case "done":
            return OK
        case "interrupted" | "queued" | "running":
            return TRANSIENT
    return FAILURES.get(failure or "", FAILED)
