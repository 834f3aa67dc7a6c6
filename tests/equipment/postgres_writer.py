"""A server of its own on PostgreSQL that writes and says what was acknowledged, until killed.

Run as `python postgres_writer.py URL HOME NAME`; prints one line an acknowledged event.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mufakat.core.base import Event
from mufakat.storage import postgres

CLIENTS = 4


async def client(opened: postgres.PostgresStore, name: str) -> None:
    count = 0
    while True:
        count += 1
        subject = f"{name}_{count:06d}"
        revision = await opened.write(lambda tx, s=subject: tx.events.record(Event("said", s)))
        print(subject, revision, flush=True)


async def main(url: str, home: Path, name: str) -> None:
    opened = await postgres.open_store(url, home=home)
    await asyncio.gather(*(client(opened, f"{name}_{n}") for n in range(CLIENTS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3]))
