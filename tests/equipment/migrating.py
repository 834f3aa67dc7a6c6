"""Opens copies of a database one after the other, each in a process that dies at some statement.

Run as `python migrating.py FOLDER NUMBER …` in a folder with START.db, or without it for a new
database. The copy `FOLDER/NUMBER/mufakat.db` is opened by a process that kills itself before its
statement of that number, counting the commit; prints each number, and whether it was killed.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

from sqlalchemy import Engine, event

from mufakat.storage import store

START = "START.db"


def die_at(number: int) -> None:
    """Kill this process before a statement or a commit."""
    left = number

    def count(*_: object) -> None:
        nonlocal left
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

    event.listen(Engine, "before_cursor_execute", count)
    event.listen(Engine, "commit", count)


async def migrate(path: Path) -> None:
    await (await store.open_store(path, reserve_bytes=0)).close()


def killed(folder: Path, number: int) -> bool:
    """Open one copy in a child; answers whether it was killed."""
    path = folder / str(number) / "mufakat.db"
    path.parent.mkdir()
    if (folder / START).exists():
        shutil.copy(folder / START, path)
    child = os.fork()
    if not child:
        die_at(number)
        asyncio.run(migrate(path))
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    for text in sys.argv[2:]:
        print(text, int(killed(Path(sys.argv[1]), int(text))), flush=True)
