"""Dumps by PostgreSQL's own tool, each read back before it gets its name."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from mufakat.core import base
from mufakat.storage import backup, errors, files, tables
from mufakat.storage.postgres_address import Address
from mufakat.storage.scope import Head

SECONDS = 3600
DUMP, LIST = "pg_dump", "pg_restore"


def into(address: Address, target: Path, *, now: base.Millis, head: Head) -> Path:
    """Dump into the new file `target`; a folder gets a file under a name of ours.

    Raises Unavailable where pg_dump is not there or fails, Conflict where the file exists.
    """
    programs = [shutil.which(name) for name in (DUMP, LIST)]
    if not all(programs):
        raise base.Unavailable(
            f"A backup of PostgreSQL needs its programs {DUMP} and {LIST} on this machine.",
            fix="install the client package of PostgreSQL, or use `mufakat export`",
        )
    target = target.absolute()
    if target.is_dir():
        target /= backup.free(target, now, note=f"r{head.revision}", suffix=".dump")
    if target.exists():
        raise base.Conflict(f"{target} exists already; choose another name for the backup.")
    part = target.with_name(target.name + ".part")
    with errors.files():
        files.private_folder(target.parent)
        files.private_file(part)
        try:
            _dump(str(programs[0]), address, part)
            _verify(str(programs[1]), part)
            files.sync(part)
            part.rename(target)
            files.sync(target.parent)
        finally:
            part.unlink(missing_ok=True)
    return target


def _dump(program: str, address: Address, part: Path) -> None:
    # Arguments are public; the password travels in the environment.
    url = address.url.set(drivername="postgresql", password=None)
    url = url.difference_update_query(["password", "options"])
    argv = [program, "--format=custom", f"--file={part}", "--no-password"]
    argv += ["--dbname", url.render_as_string(hide_password=False)]
    _run(argv, {"PGPASSWORD": address.password} if address.password else {})


def _verify(program: str, part: Path) -> None:
    listed = _run([program, "--list", str(part)], {})
    missing = [name for name in tables.metadata.tables if f" {name} " not in listed]
    if missing:
        raise base.StoreCorrupt(f"The dump holds no data of the table {missing[0]}.")


def _run(argv: list[str], secrets: dict[str, str]) -> str:
    try:
        done = subprocess.run(
            argv,
            env={**os.environ, **secrets},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise base.Unavailable(f"{DUMP} took longer than {SECONDS} seconds.") from None
    if done.returncode:
        told = done.stderr.strip().split("\n")[0]
        raise base.Unavailable(
            f"{Path(argv[0]).name} failed: {told}",
            fix="use programs at least as new as the server",
        )
    return done.stdout
