"""What is taken back from a memory is gone, and what it replaced is back."""

from __future__ import annotations

import pytest

from mufakat.core.base import InvalidInput, NotFound
from mufakat.core.talk.turn import Reply, Status
from mufakat.ports.engine import Run
from mufakat.services.knowledge import condensing, memory
from services.conftest import INLINE, House, Puppet, house, project
from services.knowledge.remembering import FACTS, filler, lines, more, talk

__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio


async def test_asi06_revoking_a_line_restores_what_it_replaced(house: House) -> None:
    id = await talk(house, *FACTS, *filler(6))
    await more(house, id, "The staging port is 6666 now.", *filler(12, 6))
    old, poison = [line for line in await lines(house, id) if "staging" in line.text]
    done = await house.app.knowledge.memory.revoke(id, poison.id, by="human@h:1")
    assert (done.ids, done.restored) == ((poison.id,), (old.id,))
    after = {line.id: line for line in await lines(house, id)}
    assert (after[poison.id].revoked, after[poison.id].speaker) == ("human@h:1", poison.speaker)
    assert after[old.id].live
    found = await house.app.knowledge.memory.search(id, "staging")
    assert [line.id for line in found] == [old.id]
    # Nothing brings it back, though its message stays.
    await more(house, id, *filler(12, 40))
    assert "6666" not in " ".join(line.text for line in await lines(house, id) if line.live)


async def test_asi06_twin_a_build_that_only_hides_the_line_leaves_the_truth_dead(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "_restore", lambda *_: [])
    id = await talk(house, *FACTS, *filler(6))
    await more(house, id, "The staging port is 6666 now.", *filler(12, 6))
    _, poison = [line for line in await lines(house, id) if "staging" in line.text]
    await house.app.knowledge.memory.revoke(id, poison.id, by="human@h:1")
    assert not [line for line in await lines(house, id) if "staging" in line.text and line.live]


async def poisoned(house: House) -> list[str]:
    """Live lines after a line was taken back and an agent has repeated it."""

    async def parrot(run: Run, on_event, cancel) -> Reply:
        return Reply(Status.DONE, text="As noted, the staging port is 6666.")

    house.seat(Puppet("one", parrot, INLINE))
    id = await talk(house, "The staging port is 6666.", *FACTS[1:], *filler(6))
    await house.app.knowledge.memory.revoke(id, "1.1", by="human@h:1")
    await house.ask("Which port?", engine="one", conversation=id)
    await more(house, id, *filler(14, 6))
    return [line.text for line in await lines(house, id) if line.live]


async def test_asi06_an_agent_does_not_bring_back_what_was_taken_back(house: House) -> None:
    assert not [text for text in await poisoned(house) if "6666" in text]


async def test_asi06_twin_a_build_that_forgets_what_was_taken_back_believes_it_again(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(condensing, "TAKEN", 0)
    assert [text for text in await poisoned(house) if "6666" in text]


async def test_a_topic_is_revoked_whole(house: House) -> None:
    id = await talk(house, *FACTS, *filler(6))
    done = await house.app.knowledge.memory.revoke(id, "memory:1", by="human@h:1")
    assert done.ids[0] == "1" and len(done.ids) == 6
    assert await house.app.knowledge.memory.search(id, "staging") == []
    await more(house, id, *filler(12, 6))
    numbers = [one.number for one in await house.app.knowledge.memory.topics(id)]
    assert numbers == [1, 2], "a revoked topic is not gone on with"


NO_ENTRIES = {
    "9": NotFound,
    "1.99": NotFound,
    "x": InvalidInput,
    "": InvalidInput,
    "1.": InvalidInput,
    "\uff11": InvalidInput,
}


@pytest.mark.parametrize(("entry", "error"), NO_ENTRIES.items())
async def test_an_entry_that_is_none_is_named(
    house: House, entry: str, error: type[Exception]
) -> None:
    id = await talk(house, *FACTS, *filler(6))
    with pytest.raises(error):
        await house.app.knowledge.memory.revoke(id, entry, by="human@h:1")
