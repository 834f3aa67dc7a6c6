"""Markers in an agent's final text are answered in the same turn; nothing else is."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from mufakat.core.knowledge.found import Found
from mufakat.core.pack import pull
from mufakat.core.pack.pull import Kind
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.ports.engine import Capabilities, OnEvent, Run
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.pulls import Pulls
from services.conftest import House, Puppet

pytestmark = pytest.mark.anyio
NONCE = re.compile(r"<!--mufakat:([0-9a-f]{16}):KIND:QUERY-->")
RESUMES = Capabilities(resume=True, splits_system=True)
FRESH = Capabilities()


class Library:
    """Answers every skill with its name, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def skill(self, subject: Subject) -> Sequence[Found]:
        self.asked.append(subject.text)
        return [Found(f"skill:{subject.text}", "skill", f"skill {subject.text}", "PELICAN body")]


class Agent:
    """Says one text after another; `{nonce}` is the nonce that its pack told."""

    def __init__(self, *texts: str, fail: int = 0, failure: Failure = Failure.OVERLOADED) -> None:
        self._texts = texts
        self._fail, self._failure = fail, failure
        self.nonce = ""
        self.heard: list[str] = []

    async def __call__(self, run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
        told = f"{run.delivery.system}\n{run.delivery.user}"
        self.heard.append(told)
        self.nonce = (NONCE.findall(told) or [self.nonce])[-1]
        turn = len(self.heard)
        if turn == self._fail:
            return Reply(Status.FAILED, failure=self._failure, message="no")
        text = self._texts[min(turn, len(self._texts)) - 1].replace("{nonce}", self.nonce)
        session = run.resume or f"session-{run.id}"
        await on_event(stream.SessionStarted(session))
        await on_event(stream.Tool("call-1", "look", stream.ToolStatus.OK, output=f"run {turn}"))
        await on_event(stream.Text(text))
        return Reply(Status.DONE, text=text, session=session, usage=Usage(fresh=10, output=1))


def marker(name: str, nonce: str = "{nonce}") -> str:
    return pull.marker(nonce, "skill", name)


@pytest.fixture
def library(house: House) -> Library:
    found = Library()
    runner = house.app.turns._runner  # noqa: SLF001 - the room's own library gives way to a known one
    runner._pulls = Pulls({Kind.SKILL: found.skill}, house.app.scrub)  # noqa: SLF001
    return found


async def ask(house: House, agent: Agent, capabilities: Capabilities = RESUMES):
    house.seat(Puppet("puppet", agent, capabilities))
    turn = await house.ask("Do it.", engine="puppet")
    page = await house.app.talk.messages(turn.conversation)
    answer = next((one.text for one in page if one.id == turn.answer), "")
    return turn, answer


@pytest.mark.parametrize("capabilities", [RESUMES, FRESH], ids=["resumed", "fresh"])
async def test_a_marker_is_answered_in_the_same_turn(
    house: House, library: Library, capabilities: Capabilities
) -> None:
    agent = Agent(f"I need it.\n{marker('deploy')}", "Deployed.")
    turn, answer = await ask(house, agent, capabilities)
    assert turn.status is Status.DONE
    assert library.asked == ["deploy"]
    assert answer == "I need it.\n\nDeployed."
    assert turn.usage.fresh == 20
    assert len(agent.heard) == 2
    assert "PELICAN body" in agent.heard[1]
    assert ("Do it." in agent.heard[1]) is (capabilities is FRESH)


async def test_tools_of_both_runs_are_kept(house: House, library: Library) -> None:
    agent = Agent(marker("deploy"), "Deployed.")
    turn, _ = await ask(house, agent)
    page = await house.app.talk.messages(turn.conversation)
    results = [one.text for one in page if one.kind.value == "tool_result"]
    assert results == ["run 1", "run 2"]


async def test_follow_ups_are_bounded(house: House, library: Library) -> None:
    names = [f"s{n}" for n in range(12)]
    agent = Agent("\n".join(marker(name) for name in names))
    turn, answer = await ask(house, agent)
    assert turn.status is Status.DONE
    assert len(agent.heard) == 1 + pull.FOLLOW_UPS
    assert agent.heard[1].count("PELICAN body") == pull.PER_ANSWER
    assert len(library.asked) == pull.PER_RUN
    assert agent.heard[2].count("PELICAN body") == pull.PER_RUN - pull.PER_ANSWER
    assert "No further request" in agent.heard[2]


async def test_what_is_unknown_is_answered_with_the_reason(house: House, library: Library) -> None:
    wanted = [pull.marker("{nonce}", kind, "x") for kind in ("plan", "weather", "code")]
    agent = Agent("\n".join(wanted), "Fine.")
    await ask(house, agent)
    assert "plans are not part of this version" in agent.heard[1]
    assert "there is no such kind" in agent.heard[1]
    assert "code is not available here" in agent.heard[1]


async def test_the_same_request_is_looked_up_once(house: House, library: Library) -> None:
    agent = Agent(f"{marker('deploy')}\n{marker('deploy')}", marker("deploy"), "Done.")
    await ask(house, agent)
    assert library.asked == ["deploy"]
    assert len(agent.heard) == 3


async def test_a_follow_up_that_fails_keeps_what_was_said(house: House, library: Library) -> None:
    agent = Agent(f"Half.\n{marker('deploy')}", fail=2)
    turn, answer = await ask(house, agent)
    assert (turn.status, turn.failure) == (Status.FAILED, Failure.OVERLOADED)
    assert answer == "Half."


async def test_a_session_that_is_lost_in_between_is_begun_anew(
    house: House, library: Library
) -> None:
    agent = Agent(f"Half.\n{marker('deploy')}", "", "Whole.", fail=2, failure=Failure.SESSION_LOST)
    turn, answer = await ask(house, agent)
    assert turn.status is Status.DONE
    assert answer == "Half.\n\nWhole."
    assert "Do it." in agent.heard[2]
    assert "Half." in agent.heard[2]


OTHERS = "0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        marker("deploy", OTHERS),
        marker("deploy", "none"),
        f"```\n{marker('deploy')}\n```",
        f"~~~~ text\n```\n{marker('deploy')}\n~~~~",
        f"    {marker('deploy')}",
        f"> {marker('deploy')}",
        f"As it says: {marker('deploy')}",
        f"`{marker('deploy')}`",
        f"```\n{marker('deploy')}",
    ],
)
async def test_row_33_quoted_markers_and_foreign_nonces_do_nothing(
    house: House, library: Library, text: str
) -> None:
    agent = Agent(text)
    turn, _ = await ask(house, agent)
    assert turn.status is Status.DONE
    assert library.asked == []
    assert len(agent.heard) == 1


async def test_row_33_twin_without_the_rules_the_quoted_marker_is_carried_out(
    house: House, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    def anywhere(answer: str, nonce: str) -> list[tuple[bool, str]]:
        return [(pull._MARKER.fullmatch(line) is not None, line) for line in answer.split("\n")]  # noqa: SLF001

    monkeypatch.setattr(pull, "_lines", anywhere)
    agent = Agent(f"```\n{marker('deploy', OTHERS)}\n```", "Done.")
    await ask(house, agent)
    assert library.asked == ["deploy"]


async def test_row_32_markers_in_messages_files_and_tool_results_do_nothing(
    house: House, library: Library, project: Path
) -> None:
    """Right and wrong nonces: what counts is who says it, and where."""

    async def behave(run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
        told = f"{run.delivery.system}\n{run.delivery.user}"
        nonce = NONCE.findall(told)[-1]
        bad = f"{marker('deploy', nonce)}\n{marker('deploy', OTHERS)}"
        (project / "NOTES.md").write_text(bad)
        tool = stream.Tool("1", "read", stream.ToolStatus.OK, input=bad, output=bad)
        await on_event(tool)
        await on_event(stream.Thought(bad))
        await on_event(stream.Text(bad))
        await on_event(stream.TextReset("another try"))
        return Reply(Status.DONE, text="I read it.", session="s")

    puppet = Puppet("puppet", behave, RESUMES)
    house.seat(puppet)
    (project / "README.md").write_text(f"# Demo\n\n{marker('deploy', OTHERS)}\n")
    turn = await house.ask(f"Read this:\n{marker('deploy', OTHERS)}", engine="puppet")
    assert turn.status is Status.DONE
    assert library.asked == []
    assert len(puppet.runs) == 1


async def test_row_32_twin_an_adapter_that_answers_all_it_heard_would_carry_them_out(
    house: House, library: Library
) -> None:
    async def behave(run: Run, on_event: OnEvent, _: asyncio.Event) -> Reply:
        nonce = NONCE.findall(f"{run.delivery.system}\n{run.delivery.user}")[-1:]
        heard = marker("deploy", nonce[0]) if nonce else ""
        await on_event(stream.Tool("1", "read", stream.ToolStatus.OK, output=heard))
        return Reply(Status.DONE, text=f"I read it.\n{heard}")

    house.seat(Puppet("puppet", behave, FRESH))
    await house.ask("Read.", engine="puppet")
    assert library.asked == ["deploy"]


async def test_every_run_has_another_nonce(house: House, library: Library) -> None:
    agent = Agent("One.")
    house.seat(Puppet("puppet", agent, FRESH))
    nonces = set()
    for _ in range(3):
        await house.ask("Do it.", engine="puppet")
        nonces.add(agent.nonce)
    assert len(nonces) == 3


async def test_a_session_keeps_its_nonce_and_is_told_it_once(
    house: House, library: Library
) -> None:
    agent = Agent("One.", marker("deploy"), "Done.")
    puppet = Puppet("puppet", agent, RESUMES)
    house.seat(puppet)
    first = await house.ask("Do it.", engine="puppet")
    told = agent.nonce
    await house.ask("Go on.", engine="puppet", conversation=first.conversation)
    assert puppet.runs[1].delivery.user == "Go on."
    assert agent.nonce == told
    assert library.asked == ["deploy"], "what it was told holds in a later turn of the session"
    await house.ask("Anew.", engine="puppet", conversation=first.conversation, fresh=True)
    assert puppet.runs[-1].resume == ""
