"""One server per database file: an advisory lock that names its holder and ends with it."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
from pathlib import Path

from mufakat.core import base

NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "smb3"}
)
"""File systems on which locks or shared memory cannot be trusted."""
MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")
"""How the kernel writes white space and backslashes; all else is as it is."""


class Lock:
    """A held lock; released by `release` or by the end of the process."""

    __slots__ = ("_handle",)

    def __init__(self, handle: int) -> None:
        self._handle: int | None = handle

    def release(self) -> None:
        """Let the next process in."""
        if self._handle is not None:
            os.ftruncate(self._handle, 0)
            os.close(self._handle)
            self._handle = None


def acquire(database: Path, *, address: str = "") -> Lock:
    """Lock `<database>.lock` and write pid and address into it; raises InUse with both."""
    path = database.with_name(database.name + ".lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        pid, at = _holder(handle)
        os.close(handle)
        where = f" at {at}" if at else ""
        raise base.InUse(
            f"The database {database} is in use by process {pid or 'unknown'}{where}.",
            fix="use the running server, or stop it first",
            pid=pid,
            address=at,
        ) from error
    os.fchmod(handle, 0o600)
    os.ftruncate(handle, 0)
    os.pwrite(handle, json.dumps({"pid": os.getpid(), "address": address}).encode(), 0)
    return Lock(handle)


def refuse_network(database: Path, *, mounts: str | None = None) -> None:
    """Raise Unavailable where the database would lie on a network file system."""
    kind = filesystem(database.parent, _read_mounts() if mounts is None else mounts)
    if kind.partition(".")[0] in NETWORK:
        raise base.Unavailable(
            f"{database.parent} is on a network file system ({kind}), where locks are not safe.",
            fix="choose a local folder with --home, or use --force at your own risk",
        )


def filesystem(folder: Path, mounts: str) -> str:
    """The file system type of `folder` by the kernel's mount table; empty where unknown."""
    best, kind = -1, ""
    for line in mounts.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split()
        if not dash or len(fields) < 5:
            continue
        point = Path(_OCTAL.sub(lambda found: chr(int(found[1], 8)), fields[4]))
        if folder.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), after.split()[0]
    return kind


def _read_mounts() -> str:
    return MOUNTS.read_text("utf-8", errors="surrogateescape") if MOUNTS.exists() else ""


def _holder(handle: int) -> tuple[int, str]:
    for _ in range(10):
        try:
            found = json.loads(os.pread(handle, 4096, 0))
            return int(found["pid"]), str(found["address"])
        except (ValueError, KeyError, TypeError):
            # The holder has only just locked it and is about to write its name.
            time.sleep(0.02)
    return 0, ""
