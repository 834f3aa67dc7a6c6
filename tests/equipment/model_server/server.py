"""The server in a thread of the test process, closed without leaving a socket or a thread."""

from __future__ import annotations

import socket
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from equipment.model_server import handler, records, script

LOOPBACK = "127.0.0.1"


class _Listener(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for every handler: no thread outlives the server

    def __init__(
        self, port: int, owned: script.Script, kept: records.Records, max_requests: int
    ) -> None:
        self.script = owned
        self.records = kept
        self.max_requests = max_requests
        self.closing = threading.Event()
        self.errors: list[BaseException] = []
        self._open: set[socket.socket] = set()
        self._open_lock = threading.Lock()
        super().__init__((LOOPBACK, port), handler.Handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._open_lock:
            self._open.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        with self._open_lock:
            self._open.discard(request)
        super().close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that breaks off is no event; a fault of this server must be seen."""
        error = sys.exception()
        if error and not isinstance(error, ConnectionError) and not self.closing.is_set():
            self.errors.append(error)

    def disconnect(self) -> None:
        """End every open connection, so that no handler waits for its client."""
        self.closing.set()
        with self._open_lock:
            for connection in self._open:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    continue  # already gone


class ModelServer:
    """A running scripted model server: `with ModelServer({"turns": [...]}) as server`.

    It listens on a free loopback port, refuses after `max_requests` and closes by itself after
    `max_seconds`.  Every request is kept; with `log_dir` also as files.  An error in a handler
    is raised when the `with` block ends.
    """

    def __init__(
        self,
        data: dict[str, Any] | None = None,
        *,
        log_dir: Path | None = None,
        port: int = 0,
        max_seconds: float = 600.0,
        max_requests: int = 2000,
    ) -> None:
        self._records = records.Records(log_dir)
        self._listener = _Listener(port, script.Script(data or {}), self._records, max_requests)
        self.port: int = self._listener.server_address[1]
        self.base = f"http://{LOOPBACK}:{self.port}"
        self.closed = threading.Event()
        self._close_once = threading.Lock()
        self._serving = threading.Thread(
            target=self._listener.serve_forever,
            kwargs={"poll_interval": 0.05},
            name=f"model-server-{self.port}",
        )
        self._limit = threading.Timer(max_seconds, self.close)
        self._limit.daemon = True

    def __enter__(self) -> Self:
        self._serving.start()
        self._limit.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if threading.current_thread() is not self._limit:
            self._limit.join()
        if error is None and self._listener.errors:
            raise self._listener.errors[0]

    def close(self) -> None:
        """Stop listening, end every connection, wait for the threads; a second call is free."""
        with self._close_once:
            if self.closed.is_set():
                return
            self._limit.cancel()
            self._listener.shutdown()
            self._listener.disconnect()
            self._listener.server_close()
            self._serving.join()
            self.closed.set()

    @property
    def requests(self) -> list[records.Request]:
        """The main requests so far: those that took a turn of the script."""
        return self._records.main()

    @property
    def all_requests(self) -> list[records.Request]:
        """Every request so far, with titles, token counts and model lists."""
        return self._records.all()

    def bodies(self) -> list[dict[str, Any]]:
        """The bodies of the main requests."""
        return [request.body for request in self.requests]

    def set_script(self, data: dict[str, Any]) -> None:
        """Replace the script and start it from its first turn; the requests stay."""
        self._listener.script = script.Script(data)

    def wait_for(self, count: int, timeout: float) -> list[records.Request]:
        """Block until `count` main requests arrived; `TimeoutError` after `timeout` seconds."""
        return self._records.wait_for(count, timeout)
