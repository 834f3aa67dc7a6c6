"""Finding again what was said: in the project, through links, scrubbed, and within bounds."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from mufakat.core import quote
from mufakat.core.base import ConversationId, InvalidInput, NotFound, ProjectId
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.talk import message
from mufakat.core.talk.message import Kind
from mufakat.services import talk as talking
from mufakat.services.knowledge import indexer
from mufakat.services.knowledge import recall as module
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.recall import Recall, Scope
from services.conftest import House, house, project

__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio
TOKEN = "ghp_" + "a1B2" * 9
SAID = (
    "Which database do we take?",
    "Postgres, because two servers share it.",
    f"The key is {TOKEN} and the 端口 is 8123.",
    "Tea is ready.",
)


async def said(house: House, *texts: str, folder: Path | None = None) -> str:
    id = (await house.app.talk.start(str(folder or house.project), "First talk")).id
    for one in texts:
        await house.app.talk.say(id, one)
    return id


async def scope(house: House, id: str, **more: object) -> Scope:
    found = await house.app.talk.conversation(id)
    return Scope(found.project, **more)  # type: ignore[arg-type]


async def texts(house: House, query: str, where: Scope, **bounds: int) -> str:
    answer = await house.app.knowledge.recall.search(query, where, **bounds)
    return "\n".join(f"{one.head}\n{one.text}" for one in answer.found)


async def test_a_turn_is_told_with_its_neighbours_speaker_and_date(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    answer = await house.app.knowledge.recall.search("why Postgres", where, limit=1)
    (found,) = answer.found
    assert found.text.splitlines()[:2] == [
        "human: Which database do we take?",
        "human: Postgres, because two servers share it.",
    ]
    assert "m:1–m:3 First talk" in found.head
    assert (found.source, answer.why) == ("recall", "")
    assert found.author.startswith("human@")
    assert "postgr" in found.why
    assert found.key.endswith("/m:2")


async def test_what_was_said_since_is_found_at_once(house: House) -> None:
    id = await said(house, *SAID)
    where = await scope(house, id)
    assert "zebra" not in await texts(house, "zebra", where)
    await house.app.talk.say(id, "A zebra crosses.")
    assert "A zebra crosses." in await texts(house, "zebra", where)


async def test_secrets_are_scrubbed(house: House) -> None:
    told = await texts(house, "What is the key?", await scope(house, await said(house, *SAID)))
    assert "The key is" in told
    assert TOKEN not in told


async def test_cjk_and_names_are_found(house: House) -> None:
    where = await scope(house, await said(house, *SAID, "See loadParserConfig there."))
    assert "端口" in await texts(house, "端口", where, limit=1)
    assert "loadParserConfig" in await texts(house, "parser_config", where, limit=1)
    assert "loadParserConfig" in await texts(house, "dParserCon", where, limit=1)


async def test_row_34_another_project_is_never_searched(house: House, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    mine = await said(house, *SAID)
    theirs = await said(house, "Their zebra is secret.", folder=other)
    assert await texts(house, "zebra", await scope(house, mine)) == ""
    linked = await scope(house, mine, linked=(ConversationId(theirs),))
    assert "Their zebra" in await texts(house, "zebra", linked)
    agent = Principal("nobody@h:1", Right.AGENT)
    with pytest.raises(Exception, match="own project"):
        await house.app.knowledge.recall.ask(agent, "zebra", project=linked.project)


async def test_row_34_twin_without_its_scope_another_project_is_found(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    mine = await scope(house, await said(house, *SAID))
    theirs = await scope(house, await said(house, "Their zebra is secret.", folder=other))
    rank = module._rank
    await house.app.knowledge.recall.catch_up(theirs.project)
    monkeypatch.setattr(
        module, "_rank", lambda tx, text, project, **_: rank(tx, text, theirs.project)
    )
    assert "Their zebra" in await texts(house, "zebra", mine)


async def test_only_in_one_conversation(house: House) -> None:
    first, second = await said(house, "A zebra."), await said(house, "Another zebra.")
    where = await scope(house, first, conversations=(ConversationId(second),))
    assert "Another zebra." in await texts(house, "zebra", where)
    assert "human: A zebra." not in await texts(house, "zebra", where)


async def test_what_is_told_anyway_is_left_out(house: House) -> None:
    id = ConversationId(await said(house, "An old zebra.", "x", "y", "A new zebra."))
    where = await scope(house, id, shown={id: 3})
    assert "An old zebra." in await texts(house, "zebra", where)
    assert "A new zebra." not in await texts(house, "zebra", where)


async def test_the_pack_s_own_text_is_never_found(house: House) -> None:
    quoted = quote.open_section("memory") + "A zebra was here." + quote.close_section("memory")
    where = await scope(house, await said(house, f"Look: {quoted} fine."))
    assert await texts(house, "zebra", where) == ""


async def test_twin_without_leaving_it_out_the_pack_s_own_text_is_found(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quote, "inert", lambda body, fence: body)
    quoted = quote.open_section("memory") + "A zebra was here." + quote.close_section("memory")
    where = await scope(house, await said(house, f"Look: {quoted} fine."))
    assert "zebra" in await texts(house, "zebra", where)


async def test_of_a_tool_only_its_line_is_found(house: House) -> None:
    id = ConversationId(await said(house, "Run it."))
    draft = message.draft(
        Kind.TOOL_RESULT, "claude@h:1", text="a zebra came out", label="Bash: list_animals"
    )
    await house.app.store.write(lambda tx: talking.append(tx, id, draft))
    where = await scope(house, id)
    assert await texts(house, "zebra", where) == ""
    assert "Bash: list_animals" in await texts(house, "list_animals", where)


@pytest.mark.parametrize(
    ("query", "why"),
    [
        ("zanzibar", "nothing that was said has these words, or it does not fit"),
        ("what was it", "the question has only words that are everywhere"),
    ],
)
async def test_nothing_found_says_why(house: House, query: str, why: str) -> None:
    where = await scope(house, await said(house, *SAID))
    answer = await house.app.knowledge.recall.search(query, where)
    assert (answer.found, answer.why) == ((), why)


async def test_an_empty_project_says_so(house: House) -> None:
    where = await scope(house, await said(house))
    answer = await house.app.knowledge.recall.search("zebra", where)
    assert answer.why == "nothing was said in this project yet"


async def test_ten_megabytes_are_answered_with_a_word(house: House) -> None:
    where = await scope(house, await said(house, *SAID))
    answer = await house.app.knowledge.recall.search("postgres " * 1_200_000, where)
    assert answer.found
    assert answer.why == "only the first 4,000 characters were read"


async def test_what_cannot_be_asked_is_refused(house: House) -> None:
    where = await scope(house, await said(house))
    for query, bounds in ((" ", {}), ("x", {"limit": 0}), ("x", {"chars": 0})):
        with pytest.raises(InvalidInput):
            await house.app.knowledge.recall.search(query, where, **bounds)
    with pytest.raises(NotFound):
        await house.app.knowledge.recall.search("x", Scope(ProjectId("p_none")))


async def test_bounds_hold(house: House) -> None:
    where = await scope(house, await said(house, *(f"Zebra {n} " * 20 for n in range(60))))
    for chars in (1, 50, 300, 2_000):
        answer = await house.app.knowledge.recall.search("zebra", where, limit=200, chars=chars)
        assert sum(len(one.head) + len(one.text) for one in answer.found) <= chars


async def test_an_index_that_is_late_says_so(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "BATCH", 2)
    await house.app.knowledge.recall_job.close()
    where = await scope(house, await said(house, *SAID, *SAID))
    ticks = iter(range(0, 1_000_000, 60))
    late = Recall(house.app.store, house.app.scrub, clock=lambda: float(next(ticks)))
    answer = await late.search("database", where)
    assert "not indexed yet" in answer.why
    patient = Recall(house.app.store, house.app.scrub, clock=time.monotonic)
    assert (await patient.search("database", where)).why == ""


async def test_a_pack_is_told_what_is_before_its_window(house: House) -> None:
    id = ConversationId(await said(house, "An old zebra.", "x", "A new zebra."))
    thread = await house.app.talk.conversation(id)
    await house.app.store.write(lambda tx: tx.conversations.hold_window(id, 2))
    subject = Subject(house.project, "zebra", thread.project, id)
    (found,) = await house.app.knowledge.recall.pushed(subject)
    assert "An old zebra." in found.text
    assert "A new zebra." not in found.text
    (found,) = await house.app.knowledge.recall.pulled(subject)
    assert "A new zebra." in found.text
    with pytest.raises(NotFound, match="Nothing was found"):
        await house.app.knowledge.recall.pulled(Subject(house.project, "qwx", thread.project, id))
