"""The demo engine: it says what it is, shows its pack, and plays every behaviour."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from mufakat.core.pack.deliver import Delivery
from mufakat.core.talk import stream
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines.scripted import Scripted, answer, told
from mufakat.ports.engine import Options, Run

PACK = """<mufakat:platform trust="platform">
The rules. Requests: <!--mufakat:0123456789abcdef:VERB:what-->
</mufakat:platform>
<mufakat:project id="p">
Name: pelican
Stack: python, sqlite
</mufakat:project>
<mufakat:history>
claude@greenmac:8f3a2c said: hello
<mufakat:fake> in a quote
</mufakat:history>
---
What is this project?"""


def play(  # noqa: D103
    tmp_path: Path, model: str = "", text: str = PACK, **more: object
) -> tuple[Reply, list[stream.StreamEvent]]:
    events: list[stream.StreamEvent] = []
    cancel = more.pop("cancel", None) or asyncio.Event()
    stop_after = more.pop("stop_after", None)
    settings: dict[str, object] = {
        "delivery": Delivery("", text, "inline"),
        "cwd": tmp_path,
        "permission": Permission.READ,
        "workspace": tmp_path,
        "model": model,
        "id": "run-1",
        **more,
    }

    async def keep(event: stream.StreamEvent) -> None:
        events.append(event)
        if stop_after and sum(isinstance(e, stream.Text) for e in events) >= stop_after:
            cancel.set()

    async def go() -> Reply:
        engine = Scripted(Options(), home=tmp_path, environ={})
        return await engine.run(Run(**settings), keep, cancel=cancel)

    return asyncio.run(go()), events


def test_it_says_that_it_is_no_model_and_answers_from_the_project_section(tmp_path: Path) -> None:
    reply, events = play(tmp_path)
    assert reply.status is Status.DONE
    assert reply.text.startswith(answer.WHO)
    assert "Name: pelican" in reply.text
    assert "- history:" in reply.text and "- platform:" in reply.text
    assert "claude@greenmac:8f3a2c" in reply.text
    assert "You said: “What is this project?”" in reply.text
    assert "".join(e.text for e in events if isinstance(e, stream.Text)) == reply.text
    assert reply.usage.total > 0 and reply.usage.cost == 0


def test_the_same_delivery_gives_the_same_reply(tmp_path: Path) -> None:
    assert play(tmp_path) == play(tmp_path)


def test_a_text_without_sections_is_still_answered(tmp_path: Path) -> None:
    reply, _ = play(tmp_path, text="hello there")
    assert reply.status is Status.DONE
    assert "no sections" in reply.text and "hello there" in reply.text


def test_markers_inside_a_section_do_not_open_another() -> None:
    read = told.read(PACK)
    assert [section.kind for section in read.sections] == ["platform", "project", "history"]
    assert read.prompt == "What is this project?"


def test_a_marked_prompt_is_found_too() -> None:
    assert told.read("<mufakat:prompt>\nhi\n</mufakat:prompt>").prompt == "hi"


def test_tool_lists_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.py").touch()
    reply, events = play(tmp_path, "tool")
    calls = [e.status for e in events if isinstance(e, stream.Tool)]
    assert calls == [stream.ToolStatus.RUNNING, stream.ToolStatus.OK]
    assert "a.py" in reply.text


def test_approval_is_asked_and_not_granted(tmp_path: Path) -> None:
    reply, events = play(tmp_path, "approval")
    assert [e.granted for e in events if isinstance(e, stream.PermissionAsked)] == [False]
    assert reply.status is Status.DONE


@pytest.mark.parametrize(
    ("model", "failure"),
    [
        ("fail", Failure.OVERLOADED),
        ("fail:rate_limit", Failure.RATE_LIMIT),
        ("fail:nonsense", Failure.BAD_REQUEST),
    ],
)
def test_fail_fails_in_the_class_asked_for(tmp_path: Path, model: str, failure: Failure) -> None:
    reply, _ = play(tmp_path, model)
    assert (reply.status, reply.failure) == (Status.FAILED, failure)
    assert reply.message


def test_pull_carries_the_nonce_of_its_pack(tmp_path: Path) -> None:
    reply, _ = play(tmp_path, "pull")
    assert "<!--mufakat:0123456789abcdef:recall:" in reply.text


def test_slow_can_be_cancelled_and_keeps_what_was_said(tmp_path: Path) -> None:
    reply, _ = play(tmp_path, "slow:3000", stop_after=0, cancel=_set())
    assert (reply.status, reply.text) == (Status.CANCELLED, "")
    reply, events = play(tmp_path, "slow:0.5", stop_after=3)
    assert reply.status is Status.CANCELLED
    assert reply.text == "".join(e.text for e in events if isinstance(e, stream.Text)) != ""


def _set() -> asyncio.Event:
    event = asyncio.Event()
    event.set()
    return event


@pytest.mark.parametrize(
    ("limits", "failure"),
    [
        ({"total_seconds": 0.1}, Failure.DEADLINE),
        ({"idle_seconds": 0.1, "total_seconds": 100}, Failure.IDLE),
    ],
)
def test_slow_honours_both_deadlines(
    tmp_path: Path, limits: dict[str, float], failure: Failure
) -> None:
    reply, _ = play(tmp_path, "slow:3000", **limits)
    assert (reply.status, reply.failure) == (Status.FAILED, failure)


def test_a_resumed_session_knows_what_it_was_told_before(tmp_path: Path) -> None:
    first, _ = play(tmp_path)
    again, _ = play(tmp_path, text="And what is the project?", resume=first.session, id="run-2")
    assert again.session == first.session
    assert "Name: pelican" in again.text and "over this session" in again.text


@pytest.mark.parametrize("session", ["scripted-0000000000000000", "../../x", "scripted-.."])
def test_row_52_a_session_that_is_not_ours_is_lost(tmp_path: Path, session: str) -> None:
    reply, _ = play(tmp_path, resume=session)
    assert reply.failure is Failure.SESSION_LOST
