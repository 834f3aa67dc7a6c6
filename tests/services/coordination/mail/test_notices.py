"""Notices: the newest word on a key, in one's own project, until its time is over."""

from __future__ import annotations

import pytest

from mufakat.core.base import InvalidInput, NotAllowed, NotFound
from services.coordination.mail.conftest import ANN, BOB, OPERATOR, Office, by

pytestmark = pytest.mark.anyio


async def test_the_newest_word_on_a_key_counts(office: Office) -> None:
    await office.notices.set(by(ANN), "staging", "down")
    await office.notices.set(by(BOB), "staging", "up again")
    assert [(one.text, one.author) for one in await office.notices.list()] == [("up again", BOB)]
    kinds = [event.subject for event in await office.events("notice.set")]
    assert kinds == ["staging", "staging"]


async def test_it_expires_by_itself_and_is_taken_back(office: Office) -> None:
    await office.notices.set(by(ANN), "staging", "down", ttl_seconds=60)
    await office.notices.set(by(ANN), "rollback", "running", ttl_seconds=600)
    await office.pass_time(61)
    assert [one.key for one in await office.notices.list(project=office.project)] == ["rollback"]
    await office.notices.drop(by(BOB), "rollback")
    assert await office.notices.list() == []
    with pytest.raises(NotFound):
        await office.notices.drop(by(BOB), "rollback")
    assert len(await office.events("notice.dropped")) == 1


async def test_a_notice_holds_no_secret(office: Office) -> None:
    said = await office.notices.set(by(ANN), "key", "ghp_" + "a1B2" * 9)
    assert "ghp_" not in said.text


async def test_an_agent_speaks_in_its_own_project(office: Office, tmp_path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    place = await office.store.write(lambda tx: _project(tx, str(other)))
    with pytest.raises(NotAllowed):
        await office.notices.set(by(ANN), "k", "x", project=place)
    await office.notices.set(OPERATOR, "k", "x", project=place)
    with pytest.raises(InvalidInput):
        await office.notices.set(OPERATOR, "k", "x")
    with pytest.raises(InvalidInput):
        await office.notices.set(OPERATOR, "k", "x", project="/nowhere")


def _project(tx, path: str) -> str:
    from mufakat.services import talk

    return talk.ensure_project(tx, path, "other").id
