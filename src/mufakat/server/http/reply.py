"""JSON answers: written at once, without the framework's own walk over every value."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from mufakat.server.http import problem
from mufakat.server.http.schemas.answers import Problem

ERRORS: dict[int | str, dict[str, Any]] = {
    "default": {
        "description": "An error; `code` says which.",
        "content": {
            problem.MEDIA: {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}
        },
    }
}
"""For every route; the framework adds its own shape of errors where this is missing."""


class Json(Response):
    """An answer of plain JSON data."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return json.dumps(
            content, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode("utf-8", "replace")
