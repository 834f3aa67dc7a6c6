"""Resuming: only a session that belongs exactly here goes on; every refusal says why."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from cases import fakes
from mufakat.core.talk import session as sessions
from mufakat.core.talk import stream
from mufakat.core.talk.session import Resume
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.ports.engine import Capabilities
from mufakat.services import turn_record
from services.conftest import SPLIT, House, Puppet, answers

pytestmark = pytest.mark.anyio


def git(folder: Path, *arguments: str) -> None:
    """Run git as nobody in particular."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME",)},
        **{f"GIT_{who}_EMAIL": "x@example.org" for who in ("AUTHOR", "COMMITTER")},
    }
    subprocess.run(["git", *arguments], cwd=folder, env=env, check=True, capture_output=True)


def commit(folder: Path, text: str) -> None:
    (folder / "note.txt").write_text(text)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", text)


@pytest.fixture
def repository(house: House) -> Path:
    git(house.project, "init", "-q", "--initial-branch=main")
    commit(house.project, "one")
    commit(house.project, "two")
    return house.project


async def second_turn(house: House, change) -> tuple[Puppet, str]:
    """Two turns with something happening between them; answers why the second is as it is."""
    puppet = Puppet("one", answers, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    change()
    second = await house.ask("Second.", engine="one", conversation=first.conversation)
    assert second.status is Status.DONE
    return puppet, (await house.app.packs.get(second.pack)).resume_why


def checkout(folder: Path) -> None:
    git(folder, "checkout", "-q", "-b", "other")


def reset(folder: Path) -> None:
    git(folder, "reset", "-q", "--hard", "HEAD~1")


CHANGES = {"checkout": (checkout, "branch was main, is other"), "reset": (reset, "no longer in")}


@pytest.mark.parametrize("name", CHANGES)
async def test_case_056_on_another_branch_a_fresh_session_is_told_everything(
    house: House, repository: Path, name: str
) -> None:
    change, why = CHANGES[name]
    puppet, said = await second_turn(house, lambda: change(repository))
    assert why in said
    assert puppet.runs[1].resume == ""
    assert "First." in puppet.runs[1].delivery.system


@pytest.mark.parametrize("name", CHANGES)
async def test_case_056_twin_a_build_that_looks_at_the_id_alone_resumes_there(
    house: House, repository: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def careless(session, here, **_):
        return Resume(session) if session else sessions.Fresh("first turn of this agent")

    monkeypatch.setattr(sessions, "decide", careless)
    puppet, _ = await second_turn(house, lambda: CHANGES[name][0](repository))
    assert puppet.runs[1].resume != ""


async def test_case_056_new_commits_on_top_are_no_other_branch(
    house: House, repository: Path
) -> None:
    puppet, why = await second_turn(house, lambda: commit(repository, "three"))
    assert why == "resumed"
    assert puppet.runs[1].resume != ""


async def test_case_054_a_session_of_one_worktree_is_not_resumed_in_another(
    house: House, repository: Path, tmp_path: Path
) -> None:
    puppet = Puppet("one", answers, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    git(repository, "worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    elsewhere = House(house.app, tmp_path / "side", house.home)
    second = await elsewhere.ask("Second.", engine="one")
    assert puppet.runs[1].resume == ""
    assert puppet.runs[1].cwd == tmp_path / "side"
    assert second.conversation != first.conversation


async def test_case_055_a_resumed_turn_stays_in_the_folder_that_was_asked_for(
    house: House, repository: Path
) -> None:
    puppet, why = await second_turn(house, lambda: None)
    assert why == "resumed"
    assert [run.cwd for run in puppet.runs] == [repository, repository]


@pytest.mark.parametrize("resume", [True, False])
async def test_case_057_an_engine_that_cannot_resume_gets_the_whole_pack(
    house: House, resume: bool
) -> None:
    puppet = Puppet("one", answers, Capabilities(splits_system=True, resume=resume))
    house.seat(puppet)
    first = await house.ask("First.", engine="one")
    await house.ask("Second.", engine="one", conversation=first.conversation)
    assert bool(puppet.runs[1].resume) is resume
    told = puppet.runs[1].delivery
    assert "<mufakat:platform" in told.system
    assert ("First." in told.system + told.user) is not resume


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini", "opencode"])
async def test_case_061_a_session_outlives_the_crash_of_its_engine(
    house: House, cli: str, tmp_path: Path
) -> None:
    program = fakes.crash_after_hello(tmp_path, cli)
    fakes.seat_program(house, cli, program)
    turn = await house.ask("Go.", engine=cli)
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.CRASHED)
    kept = await house.app.store.read(lambda tx: tx.agents.session(turn.agent))
    assert kept is not None
    assert kept.id
    assert kept.engine == cli
    assert kept.told == frozenset()


async def two_that_name_one(house: House) -> Puppet:
    """Two agents of one engine in one conversation; the second names the first one's session."""

    async def thief(run, on_event, cancel) -> Reply:
        await on_event(stream.SessionStarted("shared-session"))
        return Reply(Status.DONE, text="x", session="shared-session")

    puppet = Puppet("one", thief, SPLIT)
    house.seat(puppet)
    first = await house.ask("First.", engine="one", role="developer")
    for prompt in ("Second.", "Third."):
        await house.ask(prompt, engine="one", role="reviewer", conversation=first.conversation)
    await house.ask("Fourth.", engine="one", role="developer", conversation=first.conversation)
    return puppet


async def test_row_52_a_session_of_another_agent_is_not_resumed(house: House) -> None:
    puppet = await two_that_name_one(house)
    assert [run.resume for run in puppet.runs] == ["", "", "", "shared-session"]


async def test_row_52_twin_a_build_that_believes_the_stream_crosses_the_sessions(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn_record, "_taken", lambda tx, wanted: False)
    puppet = await two_that_name_one(house)
    assert puppet.runs[2].resume == "shared-session"
