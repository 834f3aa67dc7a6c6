"""The log of a turn's stream: no secret in pieces, no piece lost."""

from __future__ import annotations

import pytest

from mufakat.core.base import ConversationId, StorageFull, TurnId
from mufakat.core.talk import stream
from mufakat.core.talk.usage import Usage
from mufakat.services.announce import Announcer
from services.conftest import House

pytestmark = pytest.mark.anyio
KEY = "ghp_" + "a1B2c3D4e5F6" * 3


def announcer(house: House, store=None) -> Announcer:
    return Announcer(
        store or house.app.store,
        house.app.scrub,
        turn=TurnId("t_1"),
        conversation=ConversationId("c_1"),
    )


async def logged(house: House, kind: str) -> str:
    found = await house.app.feed.after(0, limit=100, kinds=(kind,))
    return "".join(event.data["text"] for event in found)


@pytest.mark.parametrize("piece", [stream.Text, stream.Thought])
async def test_a_secret_that_comes_in_two_pieces_is_not_in_the_log(house: House, piece) -> None:
    say = announcer(house)
    await say.take(piece(f"The token is {KEY[:20]}"))
    await say.take(stream.UsageSeen(Usage(fresh=1)))
    await say.take(piece(f"{KEY[20:]} and that is all."))
    await say.flush()
    told = await logged(house, "turn.text" if piece is stream.Text else "turn.thought")
    assert "[secret:github-token:" in told
    assert KEY[:20] not in told
    assert told.endswith("and that is all.")


async def test_thought_and_answer_keep_their_order(house: House) -> None:
    say = announcer(house)
    for event in (stream.Thought("Hm, so"), stream.Text("Yes"), stream.Thought("done")):
        await say.take(event)
    await say.flush()
    found = await house.app.feed.after(0, limit=100, kinds=("turn.text", "turn.thought"))
    joined: list[list[str]] = []
    for event in found:
        if joined and joined[-1][0] == event.kind:
            joined[-1][1] += event.data["text"]
        else:
            joined.append([event.kind, event.data["text"]])
    assert joined == [["turn.thought", "Hm, so"], ["turn.text", "Yes"], ["turn.thought", "done"]]


class FullOnce:
    """A store whose disk is full at the first write."""

    def __init__(self, store) -> None:
        self._store, self._full = store, True

    async def write(self, step):
        if self._full:
            self._full = False
            raise StorageFull
        return await self._store.write(step)


async def test_a_piece_that_could_not_be_written_is_written_at_the_next_try(house: House) -> None:
    say = announcer(house, FullOnce(house.app.store))
    with pytest.raises(StorageFull):
        await say.take(stream.Text("The answer is 42. "))
    await say.flush()
    assert await logged(house, "turn.text") == "The answer is 42. "
