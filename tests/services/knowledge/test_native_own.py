"""Sessions that Mufakat itself started are in the person's home too: they are not taken over."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.core.base import Conflict
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Reply, Status
from mufakat.ports.engine import OnEvent, Run
from mufakat.services.knowledge import native_sessions
from mufakat.settings import load
from services.conftest import SPLIT, House, Puppet, project

__all__ = ["project"]
pytestmark = pytest.mark.anyio
PERSON = Principal(Right.OPERATOR)


@pytest.fixture
async def house(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[House]:
    person = tmp_path / "person"
    person.mkdir()
    monkeypatch.setenv("HOME", str(person))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    app = await application.build(load(tmp_path / "home"))
    try:
        yield House(app, project, tmp_path / "home")
    finally:
        await app.close()


def keep(person: Path, project: Path, id: str, *texts: str) -> None:
    """A session file as Claude Code writes it."""
    folder = person / ".claude/projects"
    folder /= "".join(char if char.isalnum() else "-" for char in str(project))
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{id}.jsonl").open("w") as file:
        for at, text in enumerate(texts):
            record = {
                "type": "assistant" if at % 2 else "user",
                "cwd": str(project),
                "message": {"content": text},
            }
            file.write(json.dumps(record) + "\n")


def writes(person: Path, project: Path, *ids: str) -> Puppet:
    """An engine that keeps a session file in the person's home, a new session each turn."""
    left = list(ids)

    async def behave(run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
        id = left.pop(0)
        keep(person, project, id, f"{run.delivery.system}{run.delivery.user}", "Done.")
        await on_event(stream.SessionStarted(id))
        return Reply(Status.DONE, text="Done.", session=id)

    return Puppet("claude", behave, SPLIT)


async def test_its_own_sessions_are_left_out_with_a_word(house: House, tmp_path: Path) -> None:
    person = tmp_path / "person"
    keep(person, house.project, "by-hand", "Why is the cart empty?", "It expired.")
    house.seat(writes(person, house.project, "own-1", "own-2"))
    turn = await house.ask("Do it.", engine="claude")
    await house.ask("Anew.", engine="claude", conversation=turn.conversation, fresh=True)
    native = house.app.knowledge.native
    listed = await native.list(PERSON, str(house.project))
    assert [one.session.id for one in listed.items] == ["by-hand"]
    (skip,) = listed.skips
    assert skip.path == "claude"
    assert skip.why.startswith("2 sessions that Mufakat itself started")
    for own in ("own-1", "own-2"):
        with pytest.raises(Conflict, match=turn.conversation):
            await native.take_over(PERSON, "claude", own, str(house.project))
    assert (await native.take_over(PERSON, "", "by-hand", str(house.project))).added == 2


async def test_it_is_known_after_a_restart_and_by_the_page(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = tmp_path / "person"
    ids = [f"own-{at}" for at in range(5)]
    house.seat(writes(person, house.project, *ids))
    for _ in ids:
        await house.ask("Do it.", engine="claude", fresh=True)
    monkeypatch.setattr(native_sessions, "PAGE", 2)
    await house.app.close()
    app = await application.build(load(house.home))
    try:
        listed = await app.knowledge.native.list(PERSON, str(house.project))
        assert (listed.items, len(listed.skips)) == ((), 1)
        again = await app.knowledge.native.list(PERSON, str(house.project))
        assert again.skips == listed.skips
    finally:
        await app.close()


async def test_the_same_id_of_another_engine_is_no_session_of_ours(
    house: House, tmp_path: Path
) -> None:
    async def behave(run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
        await on_event(stream.SessionStarted("by-hand"))
        return Reply(Status.DONE, text="Done.", session="by-hand")

    house.seat(Puppet("codex", behave, SPLIT))
    await house.ask("Do it.", engine="codex")
    keep(tmp_path / "person", house.project, "by-hand", "Mine.", "Yes.")
    assert (
        await house.app.knowledge.native.take_over(PERSON, "", "by-hand", str(house.project))
    ).added == 2


async def test_twin_without_the_log_its_own_words_are_taken_over_again(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.seat(writes(tmp_path / "person", house.project, "own-1"))
    await house.ask("Do it.", engine="claude")
    monkeypatch.setattr(native_sessions, "_named", lambda tx, after: [])
    assert (
        await house.app.knowledge.native.take_over(PERSON, "", "own-1", str(house.project))
    ).added == 2
