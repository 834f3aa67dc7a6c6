"""A process of its own that writes to a store and says what was acknowledged, until it is killed.

Run as `python store_writer.py DATABASE ROUND [hold]`; prints one line an acknowledged message.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from mufakat.core.base import ConversationId, Event, MessageId, ProjectId
from mufakat.core.talk import message
from mufakat.core.talk.conversation import Conversation
from mufakat.ports.store import Transaction
from mufakat.storage import store

TALK = ConversationId("c_1")
CLIENTS = 8


def begin(tx: Transaction) -> None:
    if tx.conversations.get(TALK) is None:
        project = tx.projects.ensure("/srv/demo", "demo", id=ProjectId("p_1"))
        tx.conversations.add(Conversation(TALK, project.id, "t", "f", tx.now(), tx.now()))


async def client(opened: store.SqliteStore, name: str) -> None:
    count = 0
    while True:
        count += 1
        id = MessageId(f"m_{name}_{count:06d}")

        def say(tx: Transaction, id: MessageId = id) -> int:
            said = message.draft(message.Kind.PERSON, "human", text=f"text of {id} " * 20)
            tx.messages.append(TALK, said, id=id)
            return tx.events.record(Event("said", id))

        revision = await opened.write(say)
        print(id, revision, flush=True)


async def main(database: Path, name: str, *, hold: bool) -> None:
    opened = await store.open_store(database, address="http://127.0.0.1:1")
    await opened.write(begin)
    if hold:
        print("held", flush=True)
        await asyncio.sleep(60)
        return
    await asyncio.gather(*(client(opened, f"{name}_{n}") for n in range(CLIENTS)))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], hold="hold" in sys.argv[3:]))
