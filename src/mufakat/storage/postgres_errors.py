"""What PostgreSQL refuses, by its SQLSTATE, in the words of our own error tree."""

from __future__ import annotations

from mufakat.core import base

LOST = "The connection to PostgreSQL was lost; what was being written may or may not be stored."
AGAIN = "Ask again with the same Idempotency-Key."
_FULL = (base.StorageFull, "", "free space on the disk of PostgreSQL")
_GONE = (base.Unavailable, LOST, AGAIN)
_BUSY = (base.Unavailable, "PostgreSQL is busy; try again.", "")
_DAMAGED = (base.StoreCorrupt, "", "restore a backup of PostgreSQL")
_INVALID = (base.InvalidInput, "A value cannot be stored.", "")
_BY_STATE: dict[str, tuple[type[base.MufakatError], str, str]] = {
    "53100": _FULL,
    "25006": (base.StoreReadOnly, "", "connect to the primary, not to a standby"),
    "57014": (
        base.Unavailable,
        "Reading took too long and was stopped; ask for less at once.",
        "lower `limit`",
    ),
    "55P03": _BUSY,
    "40001": _BUSY,
    "40P01": _BUSY,
    "53300": (base.Unavailable, "PostgreSQL takes no more connections.", "raise max_connections"),
    "28P01": (
        base.Unavailable,
        "PostgreSQL does not accept the password.",
        "set MUFAKAT_STORE, PGPASSWORD or a password file",
    ),
    "28000": (
        base.Unavailable,
        "PostgreSQL does not let this user in.",
        "look at pg_hba.conf and at the user's name",
    ),
    "3D000": (base.Unavailable, "There is no such database.", "createdb"),
    "42501": (
        base.StoreError,
        "The database user lacks a right.",
        "make it the owner of the database",
    ),
    "25P03": _GONE,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}
_BY_CLASS: dict[str, tuple[type[base.MufakatError], str, str]] = {
    "08": _GONE,
    "22": _INVALID,
    "23": (base.Conflict, "The record is there already, or what it belongs to is not.", ""),
    "53": _BUSY,
    "57": _GONE,
}


def translate(cause: BaseException) -> base.MufakatError:
    """Answer our error for one of psycopg's; its text never holds a value that was stored."""
    state: str | None = getattr(cause, "sqlstate", None)
    told = str(cause).strip()
    if state is None:
        return _of_the_driver(type(cause).__name__, told)
    kind, message, fix = (
        _BY_STATE.get(state) or _BY_CLASS.get(state[:2]) or (base.StoreError, "", "")
    )
    if not message and kind is base.StoreError:
        # Only the first line: what follows may quote a row.
        message = "PostgreSQL refused: " + told.partition("\n")[0]
    return kind(message, fix=fix, sqlstate=state)


def _of_the_driver(name: str, told: str) -> base.MufakatError:
    if name in ("OperationalError", "ConnectionTimeout", "InterfaceError"):
        reached = "connection to server" in told or "resolve" in told or name == "ConnectionTimeout"
        if reached or "connection failed" in told:
            return _refused(told)
        return base.Unavailable(LOST, fix=AGAIN)
    if name == "DataError":
        return base.InvalidInput("A value cannot be stored: " + told.partition("\n")[0])
    return base.StoreError("PostgreSQL's driver: " + told.partition("\n")[0])


def _refused(told: str) -> base.MufakatError:
    lines = [line.strip() for line in told.split("\n") if line.strip()]
    for state, words in (
        ("28P01", "password authentication failed"),
        ("28P01", "no password supplied"),
        ("28000", "pg_hba.conf"),
        ("3D000", "does not exist"),
    ):
        if words in told:
            kind, message, fix = _BY_STATE[state]
            return kind(f"{message} ({lines[-1]})", fix=fix)
    return base.Unavailable(
        f"PostgreSQL cannot be reached: {lines[0] if lines else 'no answer'}",
        fix="start PostgreSQL, or correct the store's address",
    )
