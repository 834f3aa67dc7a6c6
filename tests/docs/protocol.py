"""The JSON schemas of docs/iacp/schemas.json, taken out of the API document by scripts/openapi."""

from __future__ import annotations

import json
import sys
from typing import Any

from mufakat.server.http import document

ABOUT = "Requests and records of IACP, as docs/iacp.md names them; made from the routes."
ROOTS = (
    "NewAgent",
    "Joined",
    "Agent",
    "StateReport",
    "Sending",
    "Sent",
    "Letter",
    "Claim",
    "Shown",
    "Ack",
    "NewNotice",
    "Notice",
    "NewLease",
    "Granted",
    "Lease",
    "Renewal",
    "Release",
    "Transfer",
    "FenceCheck",
    "WaitFor",
    "NewReaction",
    "Accepted",
    "Stop",
    "Decision",
    "Problem",
)
_PREFIX = "#/components/schemas/"


def schemas() -> dict[str, Any]:
    """The schemas that are named, with everything they refer to."""
    known = document.build()["components"]["schemas"]
    wanted, found = list(ROOTS), {}
    while wanted:
        name = wanted.pop()
        if name not in found:
            found[name] = known[name]
            wanted += _references(known[name])
    text = json.dumps({"$comment": ABOUT, "$defs": found}).replace(_PREFIX, "#/$defs/")
    done: dict[str, Any] = json.loads(text)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **done}


def _references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"].removeprefix(_PREFIX)] if "$ref" in schema else []
        return own + [name for value in schema.values() for name in _references(value)]
    if isinstance(schema, list):
        return [name for value in schema for name in _references(value)]
    return []


if __name__ == "__main__":
    json.dump(schemas(), sys.stdout, indent=1, sort_keys=True, ensure_ascii=False)
    sys.stdout.write("\n")
