"""docs/iacp.md, its schemas and its vectors say what our own rules say."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from docs import protocol, tables
from mufakat.core.base import Conflict, Millis
from mufakat.core.coordination import delivery, identity, resource, state
from mufakat.core.coordination.inbox import Delivery, Status
from mufakat.core.coordination.state import Moved, On, Report, Same, Standing, State
from mufakat.sdk.lease import Lease
from mufakat.server.http import problem

PAGE = (tables.DOCS / "iacp.md").read_text("utf-8")
VECTORS: dict[str, Any] = json.loads((tables.DOCS / "iacp" / "vectors.json").read_text("utf-8"))


def vectors(name: str) -> Any:
    return pytest.mark.parametrize("vector", VECTORS[name], ids=str)


@vectors("identities")
def test_identities(vector: dict[str, Any]) -> None:
    assert (identity.parse(vector["text"]) is not None) is vector["valid"]


@vectors("overlaps")
def test_overlaps(vector: dict[str, Any]) -> None:
    assert resource.overlap(vector["one"], vector["other"]) is vector["overlap"]
    assert resource.overlap(vector["other"], vector["one"]) is vector["overlap"]


@vectors("states")
def test_states(vector: dict[str, Any]) -> None:
    start = State(vector["from"])
    on = On.APPROVAL if start is State.BLOCKED else None
    standing = Standing(start, Millis(0), on=on, run="r", ordinal=1)
    wanted = On(vector["on"]) if "on" in vector else None
    found = state.decide(standing, Report(State(vector["to"]), "r", 2, on=wanted), now=Millis(1))
    assert isinstance(found, Moved) is vector["allowed"]


@vectors("ordinals")
def test_ordinals(vector: dict[str, Any]) -> None:
    standing = Standing(State.WORKING, Millis(0), run="r", ordinal=vector["current"])
    run = "r" if vector["same_run"] else "another"
    found = state.decide(standing, Report(State.IDLE, run, vector["report"]), now=Millis(1))
    assert isinstance(found, Moved | Same) is vector["taken"]


@vectors("deliveries")
def test_deliveries(vector: dict[str, Any]) -> None:
    row = Delivery("a@b:000000", 1, "m_1", Status(vector["from"]), Millis(0))  # type: ignore[arg-type]
    if vector["allowed"]:
        moved = delivery.move(row, Status(vector["to"]), at=Millis(1))
        assert moved.status is Status(vector["to"])
    else:
        with pytest.raises(Conflict):
            delivery.move(row, Status(vector["to"]), at=Millis(1))


class Granting:
    """Grants at once whatever is asked for."""

    def post(self, path: str, body: dict[str, Any], **_: object) -> dict[str, Any]:
        return {"id": "l_1", "fences": {"task:x": "1"}, "expires_in": body["ttl"]}


@vectors("client_fencing")
def test_client_fencing(vector: dict[str, Any]) -> None:
    times = iter([vector["sent_at"], vector["sent_at"], vector["now"]])
    wanted = {"resources": ["task:x"], "ttl": vector["ttl"]}
    held = Lease(Granting(), wanted, now=lambda: next(times)).acquire()  # type: ignore[arg-type]
    assert held.valid is vector["valid"]


def test_no_vector_stands_unused() -> None:
    used = {"identities", "overlaps", "states", "ordinals", "deliveries", "client_fencing"}
    assert set(VECTORS) - {"about"} == used


def test_the_schemas_are_fresh_and_valid() -> None:
    found = json.loads((tables.DOCS / "iacp" / "schemas.json").read_text("utf-8"))
    assert found == protocol.schemas(), "run scripts/openapi"
    for name in found["$defs"]:
        Draft202012Validator.check_schema(found | {"$ref": f"#/$defs/{name}"})


def test_the_errors_of_the_page_are_those_of_the_door() -> None:
    table = dict(re.findall(r"^\| `([a-z_]+)` \| (\d{3}) \|", PAGE, re.MULTILINE))
    assert len(table) >= 13
    assert {code: problem.STATUS[code] for code in table} == {c: int(s) for c, s in table.items()}


def test_the_routes_of_the_page_are_there() -> None:
    known = set(tables.json.loads((tables.DOCS / "openapi.json").read_text("utf-8"))["paths"])
    named = set(re.findall(r"(?:GET|POST|PUT|DELETE)\s+(/[a-z/-]*[a-z])", PAGE))
    assert named >= {"/agents", "/leases", "/messages", "/inbox", "/gate", "/context"}
    whole = {re.sub(r"^/agents/me", "/agents/{name}", route) for route in named}
    assert {f"/api/v1{route}" for route in whole} <= known
