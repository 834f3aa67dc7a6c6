"""The listening socket: bound before anything else, so that a taken port costs nothing."""

from __future__ import annotations

import errno
import os
import socket
from contextlib import suppress
from pathlib import Path

from mufakat.core.base import InUse, InvalidInput, Unavailable

BACKLOG = 512
DEAD_AFTER = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 10, "TCP_KEEPCNT": 3, "TCP_USER_TIMEOUT": 30_000}
"""A peer that does not even acknowledge what was sent is taken for gone: seconds, milliseconds."""
ANY = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared, not bound
"""Addresses that stand for all of this machine's, and the one that its own clients use."""


def bind(host: str, port: int) -> socket.socket:
    """Listen on an address; port 0 takes a free one. Raises InUse with the holder's name."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as problem:
        raise InvalidInput(
            f"The address {host!r} is not one of this machine.", fix="Correct `host`."
        ) from problem
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        _notice_dead(listener)
        listener.bind(address)
        listener.listen(BACKLOG)
    except OSError as problem:
        listener.close()
        raise _refusal(problem, host, port) from problem
    listener.setblocking(False)
    return listener


def _notice_dead(listener: socket.socket) -> None:
    """Let connections end whose other side went without a word; accepted sockets inherit it."""
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in DEAD_AFTER.items():
        option = getattr(socket, name, None)
        if option is not None:
            listener.setsockopt(socket.IPPROTO_TCP, option, value)


def url(listener: socket.socket) -> str:
    """The address that clients on this machine use."""
    host, port = listener.getsockname()[:2]
    return f"http://{_bracketed(ANY.get(host, host))}:{port}"


def names(host: str) -> set[str]:
    """Names that a Host header may carry because of the address that is bound."""
    # Browsers let any page talk to 0.0.0.0, so it must not be a name of ours.
    return set() if host in ANY else {_bracketed(host)}


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def holder(port: int) -> str:
    """The process that listens on a TCP port, as far as this system tells; else empty."""
    inodes = _listening(port)
    if not inodes:
        return ""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if any(_link(entry) in inodes for entry in (process / "fd").iterdir()):
                return f"{(process / 'comm').read_text().strip()} (pid {process.name})"
    return ""


def _link(entry: Path) -> str:
    try:
        return os.readlink(entry)  # noqa: PTH115 - a socket's name is no path
    except OSError:
        return ""


def _listening(port: int) -> set[str]:
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for fields in map(str.split, rows):
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                found.add(f"socket:[{fields[9]}]")
    return found


def _refusal(problem: OSError, host: str, port: int) -> Exception:
    match problem.errno:
        case errno.EADDRINUSE:
            by = holder(port)
            return InUse(
                f"Port {port} of {host} is in use by {by or 'another process'}.",
                fix="Stop that process, or choose another `port` (0 takes a free one).",
                port=port,
                holder=by,
            )
        case errno.EADDRNOTAVAIL:
            return InvalidInput(
                f"The address {host!r} is not one of this machine.", fix="Correct `host`."
            )
        case errno.EACCES:
            return InvalidInput(
                f"Port {port} may not be used by this user.", fix="Choose a `port` above 1023."
            )
        case _:
            return Unavailable(f"Cannot listen on {host}:{port}: {problem.strerror}.")
