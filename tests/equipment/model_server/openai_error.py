"""HTTP error bodies in the style of OpenAI, shared by its two protocols.

The type matters: clients decide by it whether they try again.
"""

from __future__ import annotations

from typing import Any

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    429: "rate_limit_error",
}


def error(status: int, message: str) -> dict[str, Any]:
    """The body of an HTTP error."""
    kind = TYPES.get(status, "server_error")
    return {"error": {"message": message, "type": kind, "param": None, "code": None}}
