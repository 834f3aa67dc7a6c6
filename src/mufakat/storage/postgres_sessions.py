"""Connections to PostgreSQL with the settings that durability and quick recovery rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from sqlalchemy import Engine, create_engine, event
from sqlalchemy.pool import NullPool

from mufakat.core import base
from mufakat.storage import errors, postgres_server
from mufakat.storage.postgres_address import Address
from mufakat.storage.postgres_server import Server

IDLE_MS = 2_000
"""A session that holds the head row and says nothing for so long is ended by the server."""
LOCK_MS = 10_000
READ_MS = 2_000
SCAN_MS = 600_000

CLIENT: Mapping[str, str] = MappingProxyType(
    {
        "connect_timeout": "2",
        "keepalives": "1",
        "keepalives_idle": "10",
        "keepalives_interval": "3",
        "keepalives_count": "3",
        "tcp_user_timeout": "10000",
    }
)
"""Our end; an address may say otherwise in its query."""
EVERYWHERE: Mapping[str, str] = MappingProxyType(
    {
        "client_encoding": "UTF8",
        "idle_in_transaction_session_timeout": str(IDLE_MS),
        "lock_timeout": str(LOCK_MS),
        "tcp_keepalives_idle": "10",
        "tcp_keepalives_interval": "3",
        "tcp_keepalives_count": "3",
        "tcp_user_timeout": "10000",
    }
)
"""The server's end."""
WRITER: Mapping[str, str] = MappingProxyType(
    {
        **EVERYWHERE,
        "default_transaction_isolation": "read committed",
        "default_transaction_read_only": "off",
    }
)
READER: Mapping[str, str] = MappingProxyType(
    {
        **EVERYWHERE,
        "default_transaction_isolation": "repeatable read",
        "default_transaction_read_only": "on",
        "statement_timeout": str(READ_MS),
    }
)
SCAN: Mapping[str, str] = MappingProxyType(
    {**READER, "statement_timeout": str(SCAN_MS), "idle_in_transaction_session_timeout": "60000"}
)
"""For checks and exports, which read everything in one snapshot."""


@dataclass(frozen=True, slots=True)
class Sessions:
    """How this server connects: where to, under which name, and to which PostgreSQL only."""

    address: Address
    name: str
    """Shown in pg_stat_activity."""
    expected: Server | None = None
    """Every connection must reach this server; None before it is known."""

    def engine(
        self,
        what: str,
        settings: Mapping[str, str],
        *,
        autocommit: bool = False,
    ) -> Engine:
        """An engine whose every connection is new and verified."""
        isolation = {"isolation_level": "AUTOCOMMIT"} if autocommit else {}
        try:
            engine = create_engine(
                self.address.url.difference_update_query(["options"]),
                connect_args=self._arguments(what, settings),
                poolclass=NullPool,
                hide_parameters=True,
                use_native_hstore=False,
                **isolation,
            )
        except ModuleNotFoundError as missing:
            raise base.Unavailable(
                "The driver for PostgreSQL is not installed.",
                fix="install Mufakat with its extra: mufakat[postgres]",
            ) from missing
        event.listen(engine, "connect", self._verify)
        return engine

    def _arguments(self, what: str, settings: Mapping[str, str]) -> dict[str, str]:
        query = self.address.url.query
        named = {**CLIENT, "application_name": f"{self.name} {what}"}
        arguments = {name: value for name, value in named.items() if name not in query}
        ours = " ".join(
            f"-c {name}={value.replace(' ', chr(92) + ' ')}" for name, value in settings.items()
        )
        theirs = query.get("options", "")
        arguments["options"] = f"{theirs if isinstance(theirs, str) else ' '.join(theirs)} {ours}"
        return arguments

    def _verify(self, raw: Any, _: object) -> None:
        try:
            found = postgres_server.read(raw)
            postgres_server.refuse_unsafe(found)
            if self.expected is not None:
                postgres_server.refuse_other(self.expected, found)
        except (raw.Error, base.MufakatError) as error:
            raw.close()
            raise errors.translate(error) from error
