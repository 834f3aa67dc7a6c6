"""The one listening connection: a notification only wakes, what is new is read from the head."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import SQLAlchemyError

from mufakat.core import base
from mufakat.storage import errors, head_row
from mufakat.storage.postgres_backend import CHANNEL
from mufakat.storage.postgres_outage import Outage
from mufakat.storage.scope import Head

LIVE = 0x4D55464B_0001
"""Key of the advisory lock that every live server shares; whoever has it alone is alone."""
LOOK_SECONDS = 5.0
"""The head is looked at so often without being woken: a notification can be lost."""


class Listener:
    """A thread that moves the store's head when any server has written; reconnects by itself."""

    def __init__(self, engine: Engine, *, seen: Callable[[Head], None], name: str) -> None:
        """`seen` gets every head that is read, in this thread; `engine` is in autocommit.

        `name` stands in the notifications of our own writer, which tells the store by itself.
        """
        self._engine = engine
        self._seen = seen
        self._name = name
        self._outage = Outage()
        self._connection: Connection | None = None
        self._heard = False
        self._stopping = False
        self._wake_end, self._stop_end = os.pipe()
        self._thread = threading.Thread(target=self._loop, name="store-listener", daemon=True)

    def connect(self) -> bool:
        """Listen, and say that this server lives; answers whether it is the only one."""
        connection = self._engine.connect()
        self._connection = connection
        raw = _raw(connection)
        raw.add_notify_handler(lambda told: self._hear(told.payload))
        alone = bool(_ask(connection, f"SELECT pg_try_advisory_lock({LIVE})"))
        _ask(connection, f"SELECT pg_advisory_lock_shared({LIVE})")
        if alone:
            _ask(connection, f"SELECT pg_advisory_unlock({LIVE})")
        connection.exec_driver_sql(f"LISTEN {CHANNEL}")
        self._heard = True
        return alone

    def start(self) -> None:
        """Begin to follow the head."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and tell the database that this server is gone."""
        self._stopping = True
        os.write(self._stop_end, b".")
        if self._thread.ident is not None:
            self._thread.join()
        self._drop()
        os.close(self._stop_end)
        os.close(self._wake_end)

    def _loop(self) -> None:
        while not self._stopping:
            try:
                if self._connection is None:
                    self.connect()
                assert self._connection is not None
                self._catch_up(self._connection)
                self._outage.over()
                self._listen(_raw(self._connection))
            except (SQLAlchemyError, base.MufakatError, OSError) as error:
                self._drop()
                self._sleep([], self._outage.failed(errors.translate(error)))

    def _catch_up(self, connection: Connection) -> None:
        """Read the head until no notification of others has come in meanwhile."""
        raw = _raw(connection)
        while self._heard:
            self._heard = False
            self._seen(head_row.read(connection))
            # One that came right behind the answer waits in the driver, not in the socket.
            self._take(raw)

    def _listen(self, raw: Any) -> None:
        """Sleep until something comes in, or it is time to look without having been woken."""
        if raw.fileno() not in self._sleep([raw.fileno()], LOOK_SECONDS):
            self._heard = True
            return
        try:
            raw.pgconn.consume_input()
        except raw.Error:
            taken = 0
        else:
            taken = self._take(raw)
        # Something else than a notification is bad news; reading the head tells which.
        self._heard = self._heard or not taken

    def _take(self, raw: Any) -> int:
        """Hear the notifications that wait in the driver; answers how many there were."""
        taken = 0
        while (told := raw.pgconn.notifies()) is not None:
            self._hear(told.extra.decode())
            taken += 1
        return taken

    def _sleep(self, sources: list[int], seconds: float) -> list[int]:
        return select.select([*sources, self._wake_end], [], [], seconds)[0]

    def _hear(self, writer: str) -> None:
        self._heard = self._heard or writer != self._name

    def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is None:
            return
        with suppress(SQLAlchemyError):
            # The backend outlives the connection for a moment; its lock must not.
            _ask(connection, "SELECT pg_advisory_unlock_all()")
        with suppress(SQLAlchemyError):
            connection.close()


def _ask(connection: Connection, query: str) -> object:
    return connection.exec_driver_sql(query).scalar()


def _raw(connection: Connection) -> Any:
    """The psycopg connection under an SQLAlchemy one."""
    return connection.connection.driver_connection
