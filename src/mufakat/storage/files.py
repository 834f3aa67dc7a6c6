"""Files and folders that only their owner may read, whatever the umask."""

from __future__ import annotations

import os
from pathlib import Path


def private_folder(path: Path) -> None:
    """Make `path` and what is missing above it; folders made here have mode 0700."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)


def private_file(path: Path) -> None:
    """Make `path` where it is missing, and set mode 0600."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(handle, 0o600)
    finally:
        os.close(handle)


def replace(path: Path, data: bytes) -> None:
    """Replace a small file durably: the old content stays until the new one is on disk."""
    part = path.with_name(path.name + ".new")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(handle, 0o600)
        os.write(handle, data)
        os.fsync(handle)
    finally:
        os.close(handle)
    part.replace(path)
    sync(path.parent)


def sync(path: Path) -> None:
    """Force a file or a folder's entries to disk."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
