"""The scene that began it all: a decision in the team chat, an answer, and who has seen both.

An agent posts a decision in the team chat, a person answers there, and a second agent speaks. It
must be impossible that the second agent has not seen the first two.
"""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from equipment import chat as slack
from equipment.chat import Workspace, signed
from mufakat.sdk import home as homes
from mufakat.sdk.agent import Agent
from mufakat.sdk.client import Client, Endpoint
from mufakat.server import main
from mufakat.services.coordination import chat_hearing, context
from mufakat.services.coordination.chat_hearing import Taken
from mufakat.settings import ChannelSettings, ChatSettings, Settings

CHANNEL = "C0TEAM"
DECISION = "We deploy the new schema on Friday."
OBJECTION = "Not on Friday: the restore test must be green first."
QUESTION = "@tess what do you say?"
MUTED = ["history", "earlier", "participants", "coordination"]


@dataclass
class Scene:
    """A server, its chat, and ways to act in both."""

    workspace: Workspace
    url: str
    join_token: str
    operator: Client
    project: Path

    @property
    def room(self) -> str:
        """The conversation that the channel is."""
        (found,) = self.operator.get("/conversations")["items"]
        return str(found["id"])

    def join(self, engine: str, **more: Any) -> Agent:
        """An agent of somebody else's, by the SDK."""
        return Agent.join(engine, project=self.project, url=self.url, token=self.join_token, **more)

    def deliver(self, event: dict[str, Any]) -> dict[str, Any]:
        """Let the chat call our door."""
        body, headers = signed(event)
        request = urllib.request.Request(f"{self.url}/api/v1/chat/team", body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            told: dict[str, Any] = json.loads(answer.read())
        return told

    def posted(self, words: str) -> dict[str, Any]:
        """The post that holds some words, once it stands in the channel."""
        until(lambda: any(words in text for text in self.workspace.texts()))
        post = self.workspace.find(words)
        # The chat tells its own apps of every message, ours too.
        assert self.deliver(self.workspace.echo(post)) == {
            "taken": False,
            "message": "",
            "duplicate": False,
        }
        return post

    def ask(self, prompt: str, **more: Any) -> dict[str, Any]:
        """Ask an agent that Mufakat runs; answers its turn."""
        wanted = {
            "prompt": prompt,
            "project": str(self.project),
            "conversation": self.room,
            "engine": "scripted",
            **more,
        }
        turn = self.operator.post("/turns", wanted)
        found: dict[str, Any] = self.operator.get(f"/turns/{turn['id']}", {"wait": 30})
        assert found["status"] == "done", found
        return found

    def told(self, turn: dict[str, Any]) -> str:
        """Everything that the engine was handed for a turn."""
        texts = self.operator.get(f"/packs/{turn['pack']}/texts")
        return f"{texts['system']}\n{texts['user']}"


def until(true: Callable[[], object], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    project = tmp_path / "shop"
    project.mkdir()
    (project / "README.md").write_text("# Shop\n")
    with slack.running() as workspace:
        (tmp_path / "url").write_text(workspace.url)
        (tmp_path / "signing").write_text(slack.SIGNING)
        team = ChannelSettings(channel=CHANNEL, project=str(project))
        chat = ChatSettings(
            url_file=str(tmp_path / "url"),
            signing_file=str(tmp_path / "signing"),
            channels={"team": team},
        )
        settings = Settings(home=tmp_path / "home", default_engine="scripted", chat=chat)
        with main.in_thread(settings) as ready:
            client = Client(Endpoint(ready.url, ready.token))
            until(lambda: client.get("/conversations")["items"])
            token = (settings.home / homes.JOIN_TOKEN).read_text("ascii").strip()
            yield Scene(workspace, ready.url, token, client, project)


def decide_and_object(scene: Scene) -> None:
    """The first two acts: an agent decides, and a person answers in the thread of it."""
    first = scene.join("claude", alias="cara")
    first.send(body=DECISION, thread=scene.room)
    post = scene.posted(DECISION)
    assert first.identity in post["text"], "the chat shows who speaks"
    answer = scene.workspace.says(CHANNEL, "U1", f"{OBJECTION} {QUESTION}", thread_ts=post["ts"])
    scene.deliver(answer)


def saw_both(text: str) -> bool:
    return DECISION in text and OBJECTION in text


def test_the_opening_scene_with_an_agent_that_mufakat_runs(scene: Scene) -> None:
    decide_and_object(scene)
    turn = scene.ask("What do we do on Friday?")
    told = scene.told(turn)
    assert saw_both(told)
    assert told.index(DECISION) < told.index(OBJECTION)
    speaker = scene.operator.get(f"/packs/{turn['pack']}")["identity"]
    post = scene.posted(f"*{speaker}*")
    assert post["channel"] == CHANNEL


def test_the_opening_scene_with_an_agent_that_runs_elsewhere(scene: Scene) -> None:
    second = scene.join("codex", alias="tess", threads=[scene.room])
    decide_and_object(scene)
    told = second.context()
    assert saw_both(told)
    asked = letter(second)
    second.send(body="Then on Monday, after the restore test.", reply_to=asked["message"])
    post = scene.posted("Then on Monday")
    root = scene.workspace.find(DECISION)["ts"]
    assert (post["thread_ts"], second.identity in post["text"]) == (root, True)


def test_the_person_holds_the_second_agent_until_it_has_read(scene: Scene) -> None:
    second = scene.join("codex", alias="tess", threads=[scene.room])
    decide_and_object(scene)
    reason = second.may_stop()
    assert OBJECTION in reason


def test_twin_without_injected_history_the_second_agent_cuts_in_blind(scene: Scene) -> None:
    decide_and_object(scene)
    assert not saw_both(scene.told(scene.ask("What do we do on Friday?", mute=MUTED)))


def test_twin_without_the_threads_of_the_digest_an_outside_agent_is_blind(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "_threads", lambda tx, told, scope, scrub: told)
    second = scene.join("codex", alias="tess", threads=[scene.room])
    decide_and_object(scene)
    assert not saw_both(second.context())


def test_twin_without_a_bridge_that_hears_nobody_has_seen_the_answer(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_hearing, "take", lambda *_, **__: Taken())
    decide_and_object(scene)
    assert not saw_both(scene.told(scene.ask("What do we do on Friday?")))


def letter(agent: Agent) -> dict[str, Any]:
    """The one open letter, whoever has claimed it."""
    found = agent._client.get("/inbox", {"open": 1})["items"]
    (one,) = found
    return dict(one)
