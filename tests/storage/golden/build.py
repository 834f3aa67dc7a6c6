"""Builds the golden database of the newest schema: `python -m storage.golden.build` in tests/.

Run it once, when a schema is about to be released; the file is named after its revision.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from equipment import store_records as make
from equipment.store_records import TALK, number, say
from mufakat.core.audit import Chain
from mufakat.core.base import AgentId, Event, PackId, Revision, TurnId
from mufakat.core.pack import item
from mufakat.core.talk.message import Kind
from mufakat.core.talk.turn import Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.store import Transaction
from mufakat.storage import migrate, store

from . import branches, coordination, roundtables

SECTION = "what was said before"
AT = 1_800_000_000_000
CURSORS_SINCE = "0003"


def fill(tx: Transaction) -> None:
    """One record of every kind."""
    make.setup(tx)
    tx.agents.add(make.agent())
    tx.agents.keep_session(make.session())
    tx.messages.append(TALK, say("héllo 😀", secrets=("jwt",)), id=number(1))
    answer = say("an answer\n" * 30, kind=Kind.AGENT, speaker="claude@host:abcdef")
    tx.messages.append(TALK, answer, id=number(2))
    tx.turns.add(make.turn())
    tx.packs.add(make.pack(text=SECTION), [SECTION])
    tx.turns.move(TurnId("t_1"), Status.RUNNING, pack=PackId("k_1"), process="run-1")
    usage = Usage(1, 2, 3, 4, 0.25)
    tx.turns.move(TurnId("t_1"), Status.DONE, answer=number(2), usage=usage)
    tx.turns.add(make.turn("t_2"))
    tx.events.record(Event("turn.done", "t_1", {"text": "ü", "n": 1}))
    tx.keys.keep("key", "digest", "result")
    tx.conversations.hold_window(TALK, 2)
    tx.cursors.keep("reader", 7)
    coordination.fill(tx)
    roundtables.fill(tx)
    branches.fill(tx)


def contents(tx: Transaction) -> dict[str, Any]:
    """Everything that `fill` wrote, as the present version reads it."""
    done = tx.turns.get(TurnId("t_1"))
    talk = tx.conversations.get(TALK)
    assert done is not None and talk is not None
    return {
        "projects": [(p.id, p.name, p.path, p.created) for p in tx.projects.list()],
        "conversation": (talk.messages, talk.talk, talk.chars, talk.window_start, talk.updated),
        "messages": [
            (m.number, m.kind, m.text, m.at) for m in tx.messages.page(TALK, after=0, limit=9)
        ],
        "last": [m.number for m in tx.messages.last_by_speaker(TALK, clip=1000)],
        "agent": tx.agents.get(AgentId("a_1")),
        "session": tx.agents.session(AgentId("a_1")),
        "turn": (done.status, done.pack, done.answer, done.usage, done.process, done.ended),
        "unfinished": [turn.id for turn in tx.turns.unfinished()],
        "pack": tx.packs.get(PackId("k_1")),
        "text": tx.packs.text(item.digest(SECTION)),
        "events": [
            (e.revision, e.kind, e.data, e.at) for e in tx.events.after(Revision(0), limit=9)
        ],
        "key": tx.keys.find("key"),
        "cursor": tx.cursors.get("reader"),
        "chain": broken(tx),
        "coordination": coordination.contents(tx),
        "roundtables": roundtables.contents(tx),
        "branches": branches.contents(tx),
    }


def broken(tx: Transaction) -> list[str]:
    """What does not fit in the chain over the log."""
    chain = Chain()
    found = list(chain.follow(tx.events.sealed(Revision(0), limit=9)))
    return found + list(chain.arrive(tx.events.anchor()))


EXPECTED: dict[str, Any] = {
    "projects": [("p_1", "demo", "/srv/demo", AT)],
    "conversation": (2, 2, 307, 2, AT),
    "messages": [
        (1, Kind.PERSON, "héllo 😀", AT),
        (2, Kind.AGENT, "an answer\n" * 30, AT),
    ],
    "last": [2],
    "agent": make.agent(),
    "session": make.session(),
    "turn": (Status.DONE, "k_1", number(2), Usage(1, 2, 3, 4, 0.25), "run-1", AT),
    "unfinished": ["t_2"],
    "pack": make.pack(text=SECTION),
    "text": SECTION,
    "events": [(1, "turn.done", {"text": "ü", "n": 1}, AT)],
    "key": ("digest", "result"),
    "chain": [],
}


def expected(revision: str) -> dict[str, Any]:
    """What a golden database of that schema holds."""
    cursor = 7 if revision >= CURSORS_SINCE else None
    return {
        **EXPECTED,
        "coordination": coordination.expected(revision),
        "branches": branches.expected(revision),
        "roundtables": roundtables.expected(revision),
        "cursor": cursor,
    }


async def build(folder: Path) -> Path:
    """Write the file; refuses to replace one."""
    path = folder / f"{migrate.newest()}.db"
    if path.exists():
        raise FileExistsError(path)
    opened = await store.open_store(path, readings=make.Readings(wall_ms=AT), reserve_bytes=0)
    await opened.write(fill)
    await opened.close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA journal_mode=DELETE").fetchall()
        raw.execute("VACUUM")
    for end in (".gen", ".lock", ".reserve"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    return path


if __name__ == "__main__":
    print(asyncio.run(build(Path(__file__).parent)))
