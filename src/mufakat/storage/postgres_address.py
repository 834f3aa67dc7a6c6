"""The address of a PostgreSQL database: taken apart once, and shown only without its secrets."""

from __future__ import annotations

from dataclasses import dataclass, field

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from mufakat.core import base

SCHEMES = ("postgresql", "postgres")
EXAMPLE = "postgresql://user@host/database"


@dataclass(frozen=True, slots=True)
class Address:
    """Where the database is; `url` holds the password, `shown` never does."""

    url: URL = field(repr=False)
    shown: str
    password: str = field(default="", repr=False)


def parse(text: str) -> Address:
    """Take an address apart; the InvalidInput for a wrong one does not repeat it."""
    try:
        url = make_url(text)
        scheme = url.drivername
    except (ArgumentError, ValueError):
        scheme = ""
    if scheme not in SCHEMES:
        raise base.InvalidInput(
            "The store's address cannot be understood.", fix=f"write it as {EXAMPLE}"
        ) from None
    in_query = url.query.get("password", "")
    password = str(url.password or (in_query if isinstance(in_query, str) else ""))
    return Address(url.set(drivername="postgresql+psycopg"), _shown(url), password)


def _shown(url: URL) -> str:
    """User, hosts and database; whatever else stands in an address may be secret."""
    hosts = url.query.get("host", ())
    named = (hosts,) if isinstance(hosts, str) else hosts
    host = url.host or ",".join(named) or "localhost"
    port = f":{url.port}" if url.port else ""
    user = f"{url.username}@" if url.username else ""
    return f"postgresql://{user}{host}{port}/{url.database or ''}"
