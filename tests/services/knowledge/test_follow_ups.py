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
from mufakat.services import announce
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.pulls import Pulls
from services.conftest import House, Puppet

pytestmark = pytest.mark.anyio
OTHERS = "0123456789abcdef"
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


async def told_of(house: House, turn: str, kind: str) -> list[dict[str, object]]:
    found = await house.app.feed.after(0, limit=500, kinds=(kind,), subject=turn)
    return [event.data for event in found]


async def test_what_is_above_the_limits_is_named(house: House, library: Library) -> None:
    agent = Agent("\n".join(marker(f"s{n}") for n in range(12)), "Go on.", "Done.")
    turn, answer = await ask(house, agent)
    assert "skill s11: nothing (the 8 requests of this turn are used up)" in agent.heard[2]
    pulled = await told_of(house, turn.id, "turn.pulled")
    assert [one["query"] for one in pulled[-1]["wants"]] == ["s8", "s9", "s10", "s11"]
    assert {one["why"] for one in pulled[-1]["wants"]} == {
        "the 8 requests of this turn are used up"
    }
    (note,) = await told_of(house, turn.id, "turn.notice")
    assert note["level"] == "warning"
    assert note["text"] == turn.message
    assert turn.message == (
        "asked for skill s8, skill s9, skill s10, skill s11, not given: "
        "the 8 requests of this turn are used up"
    )


async def test_what_is_asked_after_the_last_follow_up_is_named(
    house: House, library: Library
) -> None:
    agent = Agent(marker("a"), marker("b"), f"Done without.\n{marker('c')}\n{marker('a')}")
    turn, answer = await ask(house, agent)
    assert (turn.status, answer) == (Status.DONE, "Done without.")
    assert library.asked == ["a", "b"]
    assert turn.message == "asked for skill c, not given: the 2 follow-ups of this turn are used up"
    (_, _, last) = await told_of(house, turn.id, "turn.pulled")
    assert [(one["query"], one["chars"]) for one in last["wants"]] == [("c", 0)]
    assert last["refused"] == 1


async def test_a_thousand_requests_in_vain_are_told_in_one_line(
    house: House, library: Library
) -> None:
    agent = Agent("", "", "\n".join(marker(f"n{n}") for n in range(1_000)))
    agent._texts = (marker("a"), marker("b"), agent._texts[2])  # noqa: SLF001
    turn, _ = await ask(house, agent)
    assert "and 980 more, not given" in turn.message
    assert len(turn.message) < 1_000
    last = (await told_of(house, turn.id, "turn.pulled"))[-1]
    assert (len(last["wants"]), last["refused"]) == (20, 1_000)


async def test_a_turn_that_got_all_says_nothing(house: House, library: Library) -> None:
    turn, _ = await ask(house, Agent(marker("deploy"), "Deployed."))
    assert turn.message in ("", None)
    assert await told_of(house, turn.id, "turn.notice") == []


class Pieces(Agent):
    """Says its texts in pieces of a few characters."""

    def __init__(self, *texts: str, size: int) -> None:
        super().__init__(*texts)
        self._size = size

    async def __call__(self, run: Run, on_event: OnEvent, cancel: asyncio.Event) -> Reply:
        async def pieces(event: stream.StreamEvent) -> None:
            text = event.text if isinstance(event, stream.Text) else ""
            for start in range(0, len(text), self._size):
                await on_event(stream.Text(text[start : start + self._size]))
                await on_event(stream.UsageSeen(Usage(fresh=1)))
            if not text:
                await on_event(event)

        return await super().__call__(run, pieces, cancel)


async def streamed(house: House, turn: str) -> str:
    return "".join(str(one["text"]) for one in await told_of(house, turn, "turn.text"))


@pytest.mark.parametrize("size", [1, 7, 1_000])
async def test_no_part_of_a_marker_is_seen_in_the_stream(
    house: House, library: Library, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announce, "PIECE_SECONDS", 0.0)
    first = f"I need it.\n\n{marker('deploy')}\n{marker('test')}"
    agent = Pieces(first, f"Half way.\n{marker('more')}\nStill.", "Deployed.\n", size=size)
    turn, answer = await ask(house, agent)
    assert library.asked == ["deploy", "test", "more"]
    shown = await streamed(house, turn.id)
    assert shown == "I need it.\n\nHalf way.\nStill.\n\nDeployed.\n"
    assert answer == shown


async def test_twin_without_holding_back_the_marker_is_seen(
    house: House, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announce.Unmarked, "take", lambda self, piece, *, begins=False: piece)
    turn, _ = await ask(house, Pieces(f"I need it.\n{marker('deploy')}", "Done.", size=7))
    assert "<!--mufakat:" in await streamed(house, turn.id)


async def test_what_only_looks_like_a_marker_is_streamed_as_it_is(
    house: House, library: Library
) -> None:
    text = f"<!-- note -->\n<!--mufakat:{OTHERS}:skill:x-->\n```\n{marker('x')}\n```\n<!--mufakat:"
    agent = Pieces(text, size=3)
    turn, answer = await ask(house, agent)
    assert await streamed(house, turn.id) == answer == text.replace("{nonce}", agent.nonce)


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
