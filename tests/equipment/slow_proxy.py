"""A TCP proxy before the real server through which every answer comes late."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit


def _serve(inside: socket.socket, target: tuple[str, int], seconds: float) -> None:
    with inside, contextlib.suppress(OSError), socket.create_connection(target) as outside:
        back = threading.Thread(target=_pass_on, args=(outside, inside, seconds))
        back.start()
        _pass_on(inside, outside, 0.0)
        back.join()


def _pass_on(source: socket.socket, target: socket.socket, seconds: float) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65_536):
            time.sleep(seconds)
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _loop(listener: socket.socket, target: tuple[str, int], seconds: float) -> None:
    threads: list[threading.Thread] = []
    with contextlib.suppress(OSError):
        while True:
            inside, _ = listener.accept()
            threads.append(threading.Thread(target=_serve, args=(inside, target, seconds)))
            threads[-1].start()
    for thread in threads:
        thread.join()


@contextlib.contextmanager
def before(home: Path, seconds: float) -> Iterator[None]:
    """Put the proxy between the home's server and whoever looks for it, for a while."""
    path = home / "server.json"
    text = path.read_text("utf-8")
    place = urlsplit(json.loads(text)["url"])
    listener = socket.create_server(("127.0.0.1", 0))
    target = (place.hostname or "", place.port or 0)
    thread = threading.Thread(target=_loop, args=(listener, target, seconds))
    thread.start()
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    path.write_text(json.dumps(json.loads(text) | {"url": url}))
    try:
        yield
    finally:
        path.write_text(text)
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()
