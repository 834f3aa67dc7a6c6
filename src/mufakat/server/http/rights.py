"""Who may ask for what: one table. What is not in it is the operator's alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from mufakat.core.coordination.principal import Principal, Right

CHAT = "POST /chat/{channel}"
OPEN = frozenset({"GET /health", CHAT})
"""What is answered without a token of ours: that we are here, and the chat, which signs."""

AGENT = frozenset({Right.AGENT})
HOOK = frozenset({Right.AGENT, Right.JOIN})

TABLE: Mapping[str, frozenset[Right]] = MappingProxyType(
    {
        "POST /agents": HOOK,
        "GET /agents": AGENT,
        "GET /agents/{name}": AGENT,
        "DELETE /agents/{name}": AGENT,
        "PUT /agents/{name}/state": AGENT,
        "POST /messages": AGENT,
        "GET /inbox": AGENT,
        "POST /inbox/claim": AGENT,
        "POST /inbox/shown": AGENT,
        "POST /inbox/ack": AGENT,
        "GET /notices": AGENT,
        "PUT /notices/{key}": AGENT,
        "DELETE /notices/{key}": AGENT,
        "GET /leases": AGENT,
        "POST /leases": AGENT,
        "GET /leases/queue": AGENT,
        "GET /leases/{id}": AGENT,
        "POST /leases/{id}/renew": AGENT,
        "POST /leases/{id}/release": AGENT,
        "POST /leases/{id}/transfer": AGENT,
        "POST /leases/{id}/defer": AGENT,
        "POST /leases/check": AGENT,
        "POST /leases/guard": AGENT,
        "POST /policy/explain": AGENT,
        "GET /reactions": AGENT,
        "POST /reactions": AGENT,
        "DELETE /reactions/{id}": AGENT,
        "POST /wait": AGENT,
        "GET /context": AGENT,
        "POST /context/shown": AGENT,
        "POST /gate": AGENT,
        "POST /gate/skipped": AGENT,
        "GET /snapshot": AGENT,
        "POST /pull": AGENT,
        "GET /recall": AGENT,
        "GET /events": AGENT,
        "GET /conversations": AGENT,
        "GET /conversations/{id}": AGENT,
        "GET /conversations/{id}/messages": AGENT,
        "GET /branches": AGENT,
        "GET /branches/{id}": AGENT,
        "GET /conversations/{id}/memory": AGENT,
        "GET /conversations/{id}/memory/lines": AGENT,
        "GET /conversations/{id}/links": AGENT,
        "POST /conversations/{id}/links": AGENT,
        "DELETE /conversations/{id}/links/{other}": AGENT,
        "GET /conversations/{id}/links/{other}/messages": AGENT,
        "GET /search/code": AGENT,
        "GET /graph/blast": AGENT,
        "GET /graph/{relation}": AGENT,
        "GET /projects/{id}/index": AGENT,
        "POST /projects/{id}/index": AGENT,
        "GET /skills": AGENT,
        "GET /skills/{name}": AGENT,
        "GET /docs/search": AGENT,
        "GET /docs/page/{name}": AGENT,
        "POST /docs/notes/{name}": AGENT,
        "POST /hooks/{engine}/{event}": HOOK,
    }
)
"""Who may beside the operator; keys are method and address below the API's prefix."""


def permits(by: Principal, route: str) -> bool:
    """Whether a caller may ask for a route, `METHOD /address/{parameter}`."""
    return by.operator or by.right in TABLE.get(route, frozenset())
