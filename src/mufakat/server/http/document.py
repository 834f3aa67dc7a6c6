"""The API document: what the framework writes, plus what holds for every route."""

from __future__ import annotations

from typing import Any

from mufakat.server.http import api
from mufakat.server.http.auth import OPEN
from mufakat.server.http.schemas.answers import Problem

BEARER = "operator"


def build() -> dict[str, Any]:
    """The OpenAPI 3.1 document of this version."""
    document: dict[str, Any] = api.routes().openapi()
    components = document["components"]
    components["schemas"][Problem.__name__] = Problem.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {BEARER: {"type": "http", "scheme": "bearer"}}
    document["security"] = [{BEARER: []}]
    for method, path in OPEN:
        document["paths"][path][method.lower()]["security"] = []
    return document
