"""A memory that an engine refines: each sentence cites, and the rule stays."""

from __future__ import annotations

from pathlib import Path

import pytest

from mufakat import app as application
from mufakat.core.base import Revision
from mufakat.core.knowledge.topic import BY_RULE
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.ports.engine import Run
from mufakat.settings import load
from services.conftest import SPLIT, House, Puppet, house, project
from services.knowledge.remembering import FACTS, filler, lines, more, talk

__all__ = ["house", "project"]
pytestmark = pytest.mark.anyio


async def refined(tmp_path: Path, project: Path, reply: str | Reply) -> tuple[House, Puppet, str]:
    """A home whose memory is refined by an engine that answers `reply`."""

    async def behave(run: Run, on_event, cancel) -> Reply:
        return reply if isinstance(reply, Reply) else Reply(Status.DONE, text=reply)

    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('[memory]\nengine = "one"\nmodel = "small"\n')
    house = House(await application.build(load(home)), project, home)
    puppet = Puppet("one", behave, SPLIT)
    house.seat(puppet)
    return house, puppet, await talk(house, *FACTS, *filler(6))


async def test_an_engine_condenses_the_new_part_and_must_cite(
    tmp_path: Path, project: Path
) -> None:
    answer = (
        "The staging port is 8123 and requests use httpie [m:1, m:2].\n"
        "John Doe owns everything [m:1].\n"
        "The build fails in src/parser.py.\n"
        "The backup runs at 02:30 [m:77]."
    )
    house, puppet, id = await refined(tmp_path, project, answer)
    try:
        found = [line for line in await lines(house, id) if line.author == "one"]
        assert [line.text for line in found] == [
            "The staging port is 8123 and requests use httpie."
        ]
        assert [source.number for source in found[0].sources] == [1, 2]
        (run,) = puppet.runs
        assert run.model == "small" and run.permission.value == "read"
        assert "m:6" in run.delivery.user and "number_0.py" not in run.delivery.user
        assert "data" in run.delivery.system
        assert "m:NUMBER" in run.delivery.system
        events = await house.app.store.read(
            lambda tx: tx.events.after(Revision(0), limit=1000, kinds=("memory.refined",))
        )
        assert [(one.data["lines"], one.data["dropped"]) for one in events] == [(1, 3)]
        await more(house, id, *filler(5, 6))
        assert len(puppet.runs) == 1
    finally:
        await house.app.close()


@pytest.mark.parametrize(
    "reply",
    [
        Reply(Status.FAILED, failure=Failure.OVERLOADED, message="busy"),
        Reply(Status.DONE, text=""),
        Reply(Status.DONE, text="Nothing of this names a message. John Doe [m:1]."),
        Reply(Status.CANCELLED),
    ],
    ids=["failed", "empty", "uncited", "cancelled"],
)
async def test_what_the_rule_made_stays_where_the_engine_fails(
    tmp_path: Path, project: Path, reply: Reply
) -> None:
    house, puppet, id = await refined(tmp_path, project, reply)
    try:
        assert [line.text for line in await lines(house, id)] == [
            one for one in FACTS if "thanks" not in one
        ]
        assert len(puppet.runs) == 1
        await house.app.knowledge.memory.refresh(id)
        assert len(puppet.runs) == 1, "a part that failed is not asked for again and again"
    finally:
        await house.app.close()


async def test_an_engine_that_is_not_there_costs_nothing(tmp_path: Path, project: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('[memory]\nengine = "nobody"\n')
    house = House(await application.build(load(home)), project, home)
    try:
        id = await talk(house, *FACTS, *filler(6))
        assert len(await lines(house, id)) == 5
    finally:
        await house.app.close()


async def test_the_scripted_engine_cites_nothing_so_the_rule_holds(
    tmp_path: Path, project: Path
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text('[memory]\nengine = "scripted"\n')
    house = House(await application.build(load(home)), project, home)
    try:
        id = await talk(house, *FACTS, *filler(6))
        found = await lines(house, id)
        assert len(found) == 5 and {line.author for line in found} == {BY_RULE}
        events = await house.app.store.read(
            lambda tx: tx.events.after(Revision(0), limit=1000, kinds=("memory.refined",))
        )
        assert events[0].data["engine"] == "scripted" and events[0].data["why"]
    finally:
        await house.app.close()


async def test_revoking_takes_what_a_model_made_of_the_same_message_too(
    tmp_path: Path, project: Path
) -> None:
    answer = "The staging port is 8123 [m:1].\nThe backup runs at 02:30 on blue-7 [m:6]."
    house, _, id = await refined(tmp_path, project, answer)
    try:
        await house.app.knowledge.memory.revoke(id, "1", by="human@h:1")
        assert not [line for line in await lines(house, id) if line.live]
    finally:
        await house.app.close()
