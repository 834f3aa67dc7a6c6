"""What a database driver says, in the words of our own error tree."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy.exc import DBAPIError, PendingRollbackError, SQLAlchemyError

from mufakat.core import base
from mufakat.storage import postgres_errors

_BY_CODE: dict[int, tuple[type[base.MufakatError], str, str]] = {
    sqlite3.SQLITE_FULL: (base.StorageFull, "", "free space on the disk of the database"),
    sqlite3.SQLITE_READONLY: (base.StoreReadOnly, "", "make the file and its folder writable"),
    sqlite3.SQLITE_CANTOPEN: (
        base.Unavailable,
        "The database file cannot be opened; check that its folder exists and is yours.",
        "check the folder's owner and mode",
    ),
    sqlite3.SQLITE_CORRUPT: (base.StoreCorrupt, "", "mufakat restore <newest backup>"),
    sqlite3.SQLITE_NOTADB: (
        base.StoreCorrupt,
        "The file is not a database, or its beginning is damaged; restore the newest backup.",
        "mufakat restore <newest backup>",
    ),
    sqlite3.SQLITE_BUSY: (
        base.Unavailable,
        "Another program holds the database; close it and try again.",
        "close database browsers that have the file open",
    ),
    sqlite3.SQLITE_INTERRUPT: (
        base.Unavailable,
        "Reading took too long and was stopped; ask for less at once.",
        "lower `limit`",
    ),
    sqlite3.SQLITE_CONSTRAINT: (
        base.Conflict,
        "The record is there already, or what it belongs to is not.",
        "",
    ),
    sqlite3.SQLITE_IOERR: (
        base.StoreError,
        "The disk of the database reports an error; check it before you go on.",
        "look at the system's log for disk errors",
    ),
}
_BY_ERRNO: dict[int, type[base.MufakatError]] = {
    errno.ENOSPC: base.StorageFull,
    errno.EDQUOT: base.StorageFull,
    errno.EROFS: base.StoreReadOnly,
    errno.EACCES: base.StoreReadOnly,
    errno.EPERM: base.StoreReadOnly,
}


def translate(error: BaseException) -> base.MufakatError:
    """Answer the error of our own that says the same as the driver's."""
    if isinstance(error, base.MufakatError):
        return error
    if isinstance(error, PendingRollbackError):
        return base.Unavailable(postgres_errors.LOST, fix=postgres_errors.AGAIN)
    cause = error.orig if isinstance(error, DBAPIError) and error.orig else error
    if hasattr(cause, "sqlstate"):
        return postgres_errors.translate(cause)
    code = getattr(cause, "sqlite_errorcode", None)
    if code is None:
        if "decode to UTF-8" in str(cause):
            return base.StoreCorrupt(fix="mufakat restore <newest backup>")
        return base.StoreError(str(cause))
    kind, message, fix = _BY_CODE.get(code & 0xFF, (base.StoreError, "", ""))
    name = getattr(cause, "sqlite_errorname", "")
    if kind is base.StoreError and not message:
        message = f"The database refused: {cause}"
    return kind(message, fix=fix, sqlite=name)


@contextmanager
def translated() -> Iterator[None]:
    """Turn every driver error inside into one of ours."""
    try:
        yield
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise translate(error) from error


@contextmanager
def files() -> Iterator[None]:
    """Turn what the file system refuses inside into one of our errors."""
    try:
        yield
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        raise _BY_ERRNO.get(error.errno or 0, base.Unavailable)(
            f"{where}{error.strerror or error}.", fix="check the disk, the owner and the mode"
        ) from error
