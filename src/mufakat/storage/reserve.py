"""A file that only takes space, given up when the disk is full so that work can be finished."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SIZE = 8 * 1024 * 1024


class Reserve:
    """The reserve of one database; failing to have one is no error."""

    __slots__ = ("_path", "_size")

    def __init__(self, database: Path, *, size: int = SIZE) -> None:
        self._path = database.with_name(database.name + ".reserve")
        self._size = size

    @property
    def held(self) -> bool:
        return self._path.exists()

    def take(self) -> None:
        """Take the space where there is four times as much, so that it does not cause the lack."""
        if self.held or shutil.disk_usage(self._path.parent).free < 4 * self._size:
            return
        handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(handle, 0o600)
            _allocate(handle, self._size)
        except OSError:
            self.free()
        finally:
            os.close(handle)

    def free(self) -> None:
        """Give the space back."""
        self._path.unlink(missing_ok=True)


def _allocate(handle: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(handle, 0, size)
        return
    for _ in range(0, size, 1024 * 1024):
        os.write(handle, bytes(1024 * 1024))
