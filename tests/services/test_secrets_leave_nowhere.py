"""No kind of secret leaves the database: not in a pack, the log, an event or an export."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Iterator, Mapping

import pytest

from core import secret_samples as made
from mufakat.core import secrets
from mufakat.core.secrets import Scrubbed
from mufakat.core.talk import stream
from mufakat.core.talk.stream import ToolStatus
from mufakat.core.talk.turn import Reply, Status
from mufakat.server import log
from services.conftest import INLINE, House, Puppet

pytestmark = pytest.mark.anyio


def samples() -> tuple[int, Mapping[str, tuple[str, str]]]:
    seed = random.randrange(2**32)
    chance = random.Random(seed)
    return seed, {kind: made.samples(kind, chance) for kind in secrets.KINDS}


class Talkative:
    """An engine that says every secret, in pieces, in its answer and by a tool."""

    def __init__(self, texts: Mapping[str, tuple[str, str]]) -> None:
        self.whole = "\n\n".join(text for _, text in texts.values()) + "\n"

    async def run(self, run: object, on_event: object, cancel: object) -> Reply:
        for start in range(0, len(self.whole), 37):
            await on_event(stream.Text(self.whole[start : start + 37]))  # type: ignore[operator]
        call = stream.Tool("t1", "Bash", ToolStatus.RUNNING, input=self.whole[:3_000])
        await on_event(call)  # type: ignore[operator]
        ended = stream.Tool("t1", "Bash", ToolStatus.OK, output=self.whole)
        await on_event(ended)  # type: ignore[operator]
        return Reply(Status.DONE, text=self.whole)


async def told(house: House, texts: Mapping[str, tuple[str, str]]) -> dict[str, str]:
    """What leaves by each way, after a turn that asked, heard and used every secret."""
    puppet = Puppet("one", Talkative(texts).run, INLINE)
    house.seat(puppet)
    code = "\n".join(f"    {text}" for _, text in texts.values())
    asked = f"Look at this:\n```\n{code}\n```\n"
    first = await house.ask(asked, engine="one")
    await house.ask("Again?", engine="one", conversation=first.conversation)
    formatter = log.Formatter([])
    record = logging.LogRecord("x", logging.INFO, "f", 1, "%s", (asked,), None)
    page = await house.app.ledger.page(0)
    return {
        "pack": "".join(run.delivery.system + run.delivery.user for run in puppet.runs),
        "event": repr(await house.app.feed.after(0, limit=1_000)),
        "log": formatter.format(record),
        "export": "".join(one.data for one in page.events),
    }


def leaks(texts: Mapping[str, tuple[str, str]], way: str) -> Iterator[str]:
    """Kinds whose secret stands in a text, as it is or as JSON writes it."""
    for kind, (secret, _) in texts.items():
        written = json.dumps(secret)[1:-1]
        if secret in way or written in way or written.replace("\\", "\\\\") in way:
            yield kind


async def test_row_36_no_kind_is_in_pack_log_event_or_export(house: House) -> None:
    seed, texts = samples()
    ways = await told(house, texts)
    assert {name: [*leaks(texts, way)] for name, way in ways.items()} == dict.fromkeys(
        ("pack", "event", "log", "export"), []
    ), f"seed {seed}"
    assert all("[secret:" in way for way in ways.values())


async def test_row_36_twin_without_the_scrub_they_are_everywhere(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, texts = samples()

    def blind(text: str, known: object = ()) -> Scrubbed:
        return Scrubbed(text)

    monkeypatch.setattr(secrets, "scrub", blind)
    packing = house.app.turns._packing  # noqa: SLF001
    packing.scrub = blind
    for part in (packing.reading, house.app.turns._runner, house.app.ledger):  # noqa: SLF001
        part._scrub = blind  # noqa: SLF001
    ways = await told(house, texts)
    for way in ways.values():
        assert len([*leaks(texts, way)]) > 30
