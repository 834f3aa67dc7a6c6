"""One registry of handlers: bounded, remembered within a run, scrubbed, and never silent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from mufakat.core import secrets
from mufakat.core.base import NotFound
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull
from mufakat.core.pack.pull import Form, Kind, Want
from mufakat.services.knowledge import handlers
from mufakat.services.knowledge import pulls as service
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.pulls import Asker, Pulls
from services.conftest import House

pytestmark = pytest.mark.anyio
HERE = Subject(Path("/"), "")
FENCE = "fEnCe"
KEY = "sk-ant-api03-" + "Ab1" * 31 + "AA"


class Library:
    def __init__(self) -> None:
        self.asked: list[Subject] = []
        self.found: list[Found] = [Found("a:1-2", "code", "a:1-2", "text " * 100)]

    async def look(self, subject: Subject) -> Sequence[Found]:
        self.asked.append(subject)
        return self.found


def pulls(library: Library, **more: object) -> Pulls:
    handlers = dict.fromkeys((Kind.CODE, Kind.SKILL, Kind.DOCS), library.look)
    return Pulls(handlers, secrets.scrub, **more)


async def test_forms_are_bounded() -> None:
    library = Library()
    library.found = [Found(f"f{n}:1-9", "code", f"f{n}", f"{n} " * 3_000) for n in range(20)]
    asking = pulls(library)
    for form in Form:
        answer = await asking.answer(Asker(HERE, FENCE), Want("code", "x", form))
        assert 0 < len(answer.text) <= pull.CHARS[form]
        assert answer.whole == sum(len(one.text) for one in library.found)
        assert answer.why


async def test_a_probe_names_and_does_not_tell() -> None:
    answer = await pulls(Library()).answer(Asker(HERE, FENCE), Want("code", "x", Form.PROBE))
    assert "a:1-2" in answer.text and "text text" not in answer.text


async def test_a_run_is_answered_from_its_cache_and_others_are_not() -> None:
    library = Library()
    asking = pulls(library)
    for run in ("t1", "t1", "t2", "", ""):
        await asking.answer(Asker(HERE, FENCE, run=run), Want("code", "x"))
    assert len(library.asked) == 4
    assert len(asking.of_run("t1")) == 1
    asking.forget("t1")
    assert asking.of_run("t1") == ()


async def test_a_run_that_asks_for_ever_is_ended() -> None:
    library = Library()
    asking, asker = pulls(library), Asker(HERE, FENCE, run="t1")
    for n in range(service.PER_RUN + 5):
        answer = await asking.answer(asker, Want("code", str(n)))
    assert len(library.asked) == service.PER_RUN
    assert "already" in answer.why


async def test_runs_that_were_never_forgotten_do_not_add_up() -> None:
    asking = pulls(Library())
    for n in range(service.RUNS + 50):
        await asking.answer(Asker(HERE, FENCE, run=f"t{n}"), Want("code", "x"))
    assert len(asking._runs) == service.RUNS  # noqa: SLF001


async def test_names_are_taken_whole_and_questions_are_searched() -> None:
    library = Library()
    asking = pulls(library)
    for want in (
        Want("skill", "deploy"),
        Want("code", "where is it"),
        Want("code", "it", Form.FULL),
        Want("docs", "fastapi"),
        Want("docs", "fastapi#Middleware"),
    ):
        await asking.answer(Asker(HERE, FENCE), want)
    assert [one.whole for one in library.asked] == [True, False, True, False, True]


async def test_secrets_do_not_leave() -> None:
    library = Library()
    library.found = [Found("a", "code", f"a {KEY}", f"key = {KEY}")]
    answer = await pulls(library).answer(Asker(HERE, FENCE), Want("code", "x"))
    assert KEY not in answer.text


async def test_what_goes_wrong_is_told() -> None:
    async def refuse(subject: Subject) -> Sequence[Found]:
        raise NotFound("There is no skill x.", fix="These are: y.")

    async def hang(subject: Subject) -> Sequence[Found]:
        await asyncio.sleep(60)
        return []

    async def nothing(subject: Subject) -> Sequence[Found]:
        return []

    handlers = {Kind.SKILL: refuse, Kind.CODE: hang, Kind.GRAPH: nothing}
    asking = Pulls(handlers, secrets.scrub, seconds=0.1)
    kinds = ("skill", "code", "graph", "plan", "artifact", "docs", "weather")
    answers = await asking.answer_all(Asker(HERE, FENCE), [Want(kind, "x") for kind in kinds])
    assert [one.text for one in answers] == [""] * 7
    whys = [one.why for one in answers]
    assert "These are: y." in whys[0]
    assert "timed out" in whys[1]
    assert whys[2] == "nothing was found"
    assert "plans" in whys[3] and "artifacts" in whys[4]
    assert "not available" in whys[5] and "no such kind" in whys[6]


OPERATOR = Principal(Right.OPERATOR, "human@web:000000")


async def test_messages_are_read_within_the_project_alone(house: House, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    here = await house.app.talk.start(str(house.project))
    there = await house.app.talk.start(str(other))
    await house.app.talk.say(here.id, "The port is TEAL-7.")
    await house.app.talk.say(there.id, "The code is PELICAN.")
    asking = house.app.knowledge.asking
    project = str(house.project)

    async def read(query: str) -> str:
        found = await asking.pull(
            OPERATOR, Want("message", query), project=project, conversation=here.id
        )
        return found.text or found.why

    assert "TEAL-7" in await read("m:1")
    assert "TEAL-7" in await read(f"{here.id}/m:1")
    assert "no message m:9" in await read("m:9")
    assert "no such conversation" in await read(f"{there.id}/m:1")
    assert "names no message" in await read("TEAL")


async def test_row_34_twin_a_build_that_does_not_compare_projects_tells_it(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    here = await house.app.talk.start(str(house.project))
    there = await house.app.talk.start(str(other))
    await house.app.talk.say(there.id, "The code is PELICAN.")
    monkeypatch.setattr(handlers, "_conversation", lambda tx, _, id: tx.conversations.get(id))
    found = await house.app.knowledge.asking.pull(
        OPERATOR,
        Want("message", f"{there.id}/m:1"),
        project=str(house.project),
        conversation=here.id,
    )
    assert "PELICAN" in found.text
