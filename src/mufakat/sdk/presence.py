"""A connection that says that an agent is there: cut, the server misses it after 20 seconds."""

from __future__ import annotations

import http.client
import socket
import threading
from contextlib import suppress

from mufakat.sdk import backoff, errors
from mufakat.sdk.client import Client
from mufakat.sdk.events import CHUNK, SILENCE_SECONDS

READY_SECONDS = 5.0
"""So long a block waits at its beginning and its end; neither is worth more."""


class Presence:
    """Holds the connection in a thread, and takes it up again wherever it breaks.

    To be used in a `with` block around the whole session. `lost` is why it was given up, where
    the server refused it for good.
    """

    def __init__(self, client: Client, identity: str) -> None:
        self._client = client
        # Of the log it hears its own part alone, so that it costs next to nothing.
        self._query = {"presence": "true", "subject": identity, "kinds": "agent.connected"}
        self._ending = threading.Event()
        self._held = threading.Event()
        self._lock = threading.Lock()
        self._connection: http.client.HTTPConnection | None = None
        self._thread = threading.Thread(target=self._run, name="presence", daemon=True)
        self.lost: errors.ServerError | None = None

    @property
    def held(self) -> bool:
        """Whether the server has the connection just now."""
        return self._held.is_set()

    def __enter__(self) -> Presence:
        self._thread.start()
        # A server that is away just now is no error: the thread goes on trying.
        self._held.wait(READY_SECONDS)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let the connection end; the agent ought to leave, or to call within 20 seconds."""
        self._ending.set()
        with self._lock:
            stream = self._connection.sock if self._connection else None
            if stream is not None:
                # Wakes the thread, which waits for bytes.
                with suppress(OSError):
                    stream.shutdown(socket.SHUT_RDWR)
        self._thread.join(READY_SECONDS)

    def _run(self) -> None:
        failures = 0
        while not self._ending.is_set():
            try:
                failures = 0 if self._hold() else failures + 1
            except errors.ServerError as problem:
                if not problem.retryable:
                    self.lost = problem
                    return
                failures += 1
            finally:
                self._held.clear()
            self._ending.wait(backoff.pause(failures + 1, self._client.draw))
            self._client.relocate()

    def _hold(self) -> bool:
        """Hold one connection until it breaks; answers whether anything came by it."""
        headers = {"Accept": "text/event-stream"}
        connection, answer = self._client.open(
            "/events", self._query, headers, seconds=SILENCE_SECONDS
        )
        with self._lock:
            self._connection = connection
        heard = False
        try:
            while not self._ending.is_set() and answer.read1(CHUNK):
                heard = True
                self._held.set()
        except (OSError, http.client.HTTPException):
            return heard
        finally:
            with self._lock:
                self._connection = None
            answer.close()
            connection.close()
        return heard
