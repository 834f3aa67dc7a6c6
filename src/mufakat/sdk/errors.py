"""What can go wrong on the client's side, in the words of the server's problem documents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


class ServerError(Exception):
    """The server refused or failed; `code`, `fix` and `retryable` are its own words."""

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        status: int = 0,
        fix: str = "",
        retryable: bool = False,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.code = code
        self.status = status
        """HTTP status; 0 where no answer came."""
        self.fix = fix
        self.retryable = retryable
        self.extra = dict(extra or {})
        self.retry_after: float | None = None
        """Seconds, where the server asked for a pause."""


class Unreachable(ServerError):
    """No whole answer came: nobody listens, or the connection broke."""

    def __init__(self, detail: str, *, fix: str = "") -> None:
        super().__init__(
            detail,
            code="unavailable",
            fix=fix or "Start it with `mufakat up`, or look into its log.",
            retryable=True,
        )


CODES = {
    400: "invalid_input",
    401: "unauthenticated",
    403: "not_allowed",
    404: "not_found",
    408: "unavailable",
    409: "conflict",
    413: "too_large",
    422: "invalid_input",
    429: "unavailable",
    503: "unavailable",
}
"""For answers that are not problem documents, as a proxy may send them."""

KNOWN = frozenset({"type", "title", "status", "detail", "fix", "code", "retryable"})


def from_answer(status: int, body: bytes) -> ServerError:
    """Read an error answer, whatever it holds."""
    problem = _object(body)
    code = problem.get("code")
    retryable = problem.get("retryable")
    detail = problem.get("detail") or problem.get("title") or f"The server answered {status}."
    fix = problem.get("fix")
    return ServerError(
        str(detail),
        code=code if isinstance(code, str) and code else CODES.get(status, "internal"),
        status=status,
        fix=fix if isinstance(fix, str) else "",
        retryable=retryable if isinstance(retryable, bool) else _may_pass(status),
        extra={name: value for name, value in problem.items() if name not in KNOWN},
    )


def _may_pass(status: int) -> bool:
    return status >= 500 or status in {408, 429}


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
