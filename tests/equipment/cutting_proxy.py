"""A TCP proxy before the real server that cuts event streams again and again."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit


@dataclass(slots=True)
class Proxy:
    """Passes everything on; a stream of events ends after `bytes_each` bytes."""

    target: tuple[str, int]
    bytes_each: int
    cuts: int = 0
    listener: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def loop(self) -> None:
        threads: list[threading.Thread] = []
        with contextlib.suppress(OSError):
            while True:
                inside, _ = self.listener.accept()
                threads.append(threading.Thread(target=self.serve, args=(inside,)))
                threads[-1].start()
        for thread in threads:
            thread.join()

    def serve(self, inside: socket.socket) -> None:
        with inside, socket.create_connection(self.target) as outside, _ignoring():
            request = inside.recv(65_536)
            stream = b"follow=1" in request.partition(b"\r\n")[0]
            outside.sendall(request)
            back = threading.Thread(target=_copy_to_its_end, args=(inside, outside))
            back.start()
            left = self.bytes_each if stream else None
            _copy(outside, inside, left)
            self.cuts += stream
            for one in (inside, outside):
                with _ignoring():
                    one.shutdown(socket.SHUT_RDWR)
            back.join()


def _ignoring() -> contextlib.suppress:
    return contextlib.suppress(OSError)


def _copy(source: socket.socket, target: socket.socket, left: int | None = None) -> None:
    with _ignoring():
        while left is None or left > 0:
            data = source.recv(65_536 if left is None else min(left, 65_536))
            if not data:
                return
            target.sendall(data)
            left = None if left is None else left - len(data)


def _copy_to_its_end(source: socket.socket, target: socket.socket) -> None:
    _copy(source, target)
    with _ignoring():
        target.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def before(home: Path, bytes_each: int) -> Iterator[Proxy]:
    """Put the proxy between the home's server and every command, for a while."""
    path = home / "server.json"
    text = path.read_text("utf-8")
    place = urlsplit(json.loads(text)["url"])
    proxy = Proxy((place.hostname or "", place.port or 0), bytes_each)
    thread = threading.Thread(target=proxy.loop)
    thread.start()
    path.write_text(json.dumps(json.loads(text) | {"url": proxy.url}))
    try:
        yield proxy
    finally:
        path.write_text(text)
        proxy.listener.shutdown(socket.SHUT_RDWR)
        proxy.listener.close()
        thread.join()
