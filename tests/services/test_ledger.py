"""The log as evidence: whoever changes one row is found, and the past can be told again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mufakat.core import audit, secrets
from mufakat.core.audit import Anchor, Chain, Sealed
from mufakat.core.base import Event, InvalidInput, Revision
from mufakat.ports.store import Store
from mufakat.services import ledger as ledgers
from mufakat.services.ledger import Ledger
from mufakat.storage import integrity
from mufakat.storage.store import open_store

pytestmark = pytest.mark.anyio
EVENTS = 12
Tamper = Callable[[sqlite3.Connection, int], None]


class WithoutChain(Chain):
    """The fault: every row is looked at by itself alone."""

    def follow(self, events: Iterable[Sealed]) -> Iterator[str]:
        for one in events:
            if one.seal != audit.seal(one):
                yield f"revision {one.revision} was changed"
            self.at = Anchor(one.revision, one.chain)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    """A database with a few events, closed."""
    at = tmp_path / "data" / "mufakat.db"
    store = await opened(at)
    for number in range(EVENTS):
        event = Event("lease.granted", f"l_{number}", {"holder": f"agent {number}"})
        await store.write(lambda tx, event=event: tx.events.record(event))
    await store.close()
    return at


async def opened(at: Path) -> Store:
    return await open_store(at, reserve_bytes=0)


async def verify(at: Path, expected: Anchor | None = None) -> tuple[str, ...]:
    store = await opened(at)
    try:
        return (await Ledger(store, secrets.scrub).verify(expected)).problems
    finally:
        await store.close()


def row(raw: sqlite3.Connection, revision: int) -> list[object]:
    found = raw.execute(
        "SELECT at, kind, subject, data FROM events WHERE revision = ?", (revision,)
    ).fetchone()
    return list(found)


def put(raw: sqlite3.Connection, revision: int, fields: list[object]) -> None:
    """Write a row with a seal that fits it."""
    seal = integrity.seal([revision, *fields])
    raw.execute(
        "UPDATE events SET at = ?, kind = ?, subject = ?, data = ?, seal = ? WHERE revision = ?",
        (*fields, seal, revision),
    )


def body(raw: sqlite3.Connection, revision: int) -> None:
    raw.execute("UPDATE events SET data = '{}' WHERE revision = ?", (revision,))


def body_and_seal(raw: sqlite3.Connection, revision: int) -> None:
    fields = row(raw, revision)
    put(raw, revision, [*fields[:3], json.dumps({"holder": "somebody else"})])


def time_and_seal(raw: sqlite3.Connection, revision: int) -> None:
    fields = row(raw, revision)
    put(raw, revision, [int(str(fields[0])) - 1, *fields[1:]])


def order(raw: sqlite3.Connection, revision: int) -> None:
    other = revision - 1 if revision > 1 else revision + 1
    one, two = row(raw, revision), row(raw, other)
    put(raw, revision, two)
    put(raw, other, one)


def deletion(raw: sqlite3.Connection, revision: int) -> None:
    raw.execute("DELETE FROM events WHERE revision = ?", (revision,))


def deletion_closed(raw: sqlite3.Connection, revision: int) -> None:
    """Delete a row and let the others move up, all with seals that fit."""
    deletion(raw, revision)
    for later in range(revision + 1, EVENTS + 1):
        raw.execute("UPDATE events SET revision = ? WHERE revision = ?", (later - 1, later))
        put(raw, later - 1, row(raw, later - 1))
    raw.execute("UPDATE head SET revision = revision - 1")


TAMPERS: dict[str, Tamper] = {
    "body": body,
    "body and seal": body_and_seal,
    "time and seal": time_and_seal,
    "order": order,
    "deletion": deletion,
    "deletion, closed": deletion_closed,
}


def tamper(at: Path, how: Tamper, revision: int) -> None:
    with closing(sqlite3.connect(at)) as raw:
        how(raw, revision)
        raw.commit()
    # Whoever can write the database can make its side file fit too.
    at.with_name(at.name + ".gen").unlink()


async def test_a_log_that_nobody_touched_is_whole(path: Path) -> None:
    assert await verify(path) == ()


@pytest.mark.parametrize("how", TAMPERS.values(), ids=TAMPERS)
@pytest.mark.parametrize("revision", [1, 2, 7, EVENTS - 1, EVENTS])
async def test_a_change_of_any_row_is_found(path: Path, how: Tamper, revision: int) -> None:
    tamper(path, how, revision)
    assert await verify(path)


@pytest.mark.parametrize("how", ["body and seal", "order", "deletion, closed"])
async def test_twin_without_the_chain_it_is_missed(
    path: Path, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledgers, "Chain", WithoutChain)
    monkeypatch.setattr(WithoutChain, "arrive", lambda self, head: iter(()))
    tamper(path, TAMPERS[how], 7)
    assert await verify(path) == ()


async def test_the_place_is_named(path: Path) -> None:
    tamper(path, body_and_seal, 7)
    (problem,) = await verify(path)
    assert problem.startswith("revision 7 ")


def rewrite(raw: sqlite3.Connection, revision: int) -> None:
    """Change a row, then its seal and every link after it: only an anchor elsewhere tells."""
    body_and_seal(raw, revision)
    chain = ""
    for number, seal in raw.execute("SELECT revision, seal FROM events ORDER BY 1").fetchall():
        chain = integrity.link(chain, seal)
        raw.execute("UPDATE events SET chain = ? WHERE revision = ?", (chain, number))
    raw.execute("UPDATE head SET chain = ?", (chain,))


async def test_an_anchor_kept_elsewhere_finds_a_log_that_was_rewritten(path: Path) -> None:
    store = await opened(path)
    kept = (await Ledger(store, secrets.scrub).verify()).anchor
    await store.close()
    tamper(path, rewrite, 3)
    assert await verify(path) == (), "by itself the log is whole again"
    (problem,) = await verify(path, kept)
    assert f"revision {EVENTS} is not what was kept elsewhere" in problem


async def test_a_log_cut_short_is_found_by_the_anchor(path: Path) -> None:
    store = await opened(path)
    kept = (await Ledger(store, secrets.scrub).verify()).anchor
    await store.close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DELETE FROM events WHERE revision > 10")
        raw.execute(
            "UPDATE head SET revision = 10, chain = (SELECT chain FROM events WHERE revision = 10)"
        )
        raw.commit()
    path.with_name(path.name + ".gen").unlink()
    assert await verify(path) == ()
    assert await verify(path, kept) == (
        f"the log ends before revision {EVENTS}, which is expected",
    )


async def test_pages_are_one_chain(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledgers, "PAGE", 5)
    assert await verify(path) == ()
    tamper(path, body_and_seal, 6)
    assert len(await verify(path)) == 1


@pytest.fixture
async def store(path: Path) -> AsyncIterator[Store]:
    found = await opened(path)
    yield found
    await found.close()


async def test_an_export_can_be_checked_without_us(store: Store) -> None:
    page = await Ledger(store, secrets.scrub).page(0)
    chain, previous = Chain(), ""
    rows = [json.loads(json.dumps(ledgers.plain(one, scrubbed=False))) for one in page.events]
    for one in rows:
        data = json.dumps(one["data"], ensure_ascii=True, separators=(",", ":"))
        fields = (one["revision"], one["at"], one["kind"], one["subject"], data)
        assert one["seal"] == integrity.seal(fields)
        previous = integrity.link(previous, one["seal"])
        assert one["chain"] == previous
    assert list(chain.follow(page.events)) == []


async def test_secrets_do_not_leave_with_an_export(store: Store) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    await store.write(lambda tx: tx.events.record(Event("x.y", "s", {"text": token})))
    page = await Ledger(store, secrets.scrub).page(EVENTS)
    assert token not in page.events[0].data
    assert page.scrubbed == {EVENTS + 1}


async def test_kinds_and_pages_of_an_export(store: Store) -> None:
    await store.write(lambda tx: tx.events.record(Event("x.y", "s")))
    ledger = Ledger(store, secrets.scrub)
    only = await ledger.page(0, kinds=["x.y"])
    assert [one.revision for one in only.events] == [EVENTS + 1]
    some = await ledger.page(0, limit=5)
    assert (some.reached, some.head) == (5, EVENTS + 1)


async def test_the_future_cannot_be_told(store: Store) -> None:
    with pytest.raises(InvalidInput):
        await Ledger(store, secrets.scrub).replay(EVENTS + 1)


def test_a_gap_is_named() -> None:
    one = Sealed(Revision(1), 1, "k", "s", "{}", seal="", chain="")  # type: ignore[arg-type]
    sealed = replace(one, seal=audit.seal(one), chain=audit.link("", audit.seal(one)))
    later = replace(sealed, revision=Revision(3))
    found = list(Chain().follow([sealed, later]))
    assert "revision 2 is missing; 3 follows" in found


async def test_a_deep_check_follows_the_chain_too(path: Path) -> None:
    tamper(path, body_and_seal, 7)
    store = await opened(path)
    health = await store.check(deep=True)
    await store.close()
    assert [one for one in health.problems if "revision 7 does not continue" in one]


async def test_a_check_compares_the_end_of_the_chain_with_the_head(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE head SET chain = 'x'")
        raw.commit()
    store = await opened(path)
    health = await store.check()
    await store.close()
    assert "the log does not come to what its head says" in " ".join(health.problems)
