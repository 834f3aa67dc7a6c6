"""Consecutive packs of one conversation, through the store: the prefix is kept, the room used."""

from __future__ import annotations

import asyncio
import os

import pytest

from mufakat.core.talk.turn import Reply, Status
from mufakat.ports.engine import Capabilities
from services.conftest import House, Puppet

pytestmark = pytest.mark.anyio
BUDGET = 12_000
VOLATILE = ("participants", "retrieval", "pulling", "earlier", "prompt")


async def test_the_window_is_held_over_the_turns_of_a_conversation(house: House) -> None:
    async def talks(run, on_event, cancel: asyncio.Event) -> Reply:
        return Reply(Status.DONE, text=f"{run.id} answers. " + "word " * 60)

    house.seat(Puppet("one", talks, Capabilities()))
    conversation, before, shares, starts = "", "", [], []
    for number in range(60):
        turn = await house.ask(
            f"Question {number}? " + "more " * 10,
            engine="one",
            conversation=conversation,
            budget=BUDGET,
        )
        assert turn.status is Status.DONE
        conversation = turn.conversation
        pack = await house.app.packs.get(turn.pack)
        texts = [(kind, text) for kind, text in await house.app.packs.texts(pack)]
        stable = "\n".join(text for kind, text in texts if kind not in VOLATILE)
        assert pack.receipt.used <= BUDGET
        if pack.receipt.window_start > 1:
            # A message is told by its two ends only where that says enough.
            assert pack.receipt.used >= BUDGET - 600
        if before:
            shares.append(len(os.path.commonprefix([before, stable])) / len(before))
        before = stable
        starts.append(pack.receipt.window_start)
    assert starts == sorted(starts)
    assert 2 < len(set(starts)) < 12
    # Whatever else follows the history's end mark is not shared, hence not quite one.
    assert sorted(shares)[len(shares) // 2] > 0.97
    # When the memory is condensed depends on the machine's load, and each time the prefix breaks.
    assert sum(shares) / len(shares) > 0.8
