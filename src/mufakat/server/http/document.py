"""The API document: what the framework writes, plus what holds for every route."""

from __future__ import annotations

from typing import Any

from mufakat.core.coordination.principal import Right
from mufakat.server.http import api, rights
from mufakat.server.http.door import PREFIX
from mufakat.server.http.schemas.answers import Problem

METHODS = frozenset({"get", "put", "post", "delete"})


def build() -> dict[str, Any]:
    """The OpenAPI 3.1 document of this version."""
    document: dict[str, Any] = api.routes().openapi()
    components = document["components"]
    components["schemas"][Problem.__name__] = Problem.model_json_schema()
    for unused in ("HTTPValidationError", "ValidationError"):
        components["schemas"].pop(unused, None)
    components["securitySchemes"] = {
        right.value: {"type": "http", "scheme": "bearer"} for right in Right
    }
    document["security"] = [{Right.OPERATOR.value: []}]
    for path, item in document["paths"].items():
        for method in METHODS & item.keys():
            route = f"{method.upper()} {path.partition(PREFIX)[2] or path}"
            item[method]["security"] = _security(route)
    return document


def _security(route: str) -> list[dict[str, list[str]]]:
    if route in rights.OPEN:
        return []
    others = sorted(rights.TABLE.get(route, frozenset()))
    return [{right.value: []} for right in (Right.OPERATOR, *others)]
