"""Which proxy leads to a model server, by the usual variables of the environment."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

LOCAL = frozenset({"127.0.0.1", "localhost", "::1"})


def choose(address: str, environ: Mapping[str, str]) -> str | None:
    """The proxy for an address: by its scheme, none for this machine and for NO_PROXY."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    # Lower case wins, as everywhere these variables are read.
    named = {name.lower(): value for name, value in sorted(environ.items())}
    if host in LOCAL or _excepted(host, named.get("no_proxy", "")):
        return None
    return named.get(f"{parts.scheme}_proxy") or named.get("all_proxy") or None


def _excepted(host: str, without: str) -> bool:
    """Whether NO_PROXY names the host, a domain above it, or everything."""
    for name in (part.strip().lstrip(".").lower() for part in without.split(",")):
        if name == "*" or (name and (host == name or host.endswith(f".{name}"))):
            return True
    return False
