"""Sessions that a person starts, with hooks installed in the engine's own settings."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from equipment import clis, hook_door, wire
from equipment import room as rooms
from equipment.clis import CliSetup
from equipment.hook_door import Door
from equipment.model_server import server
from equipment.room import Room, acting
from mufakat.cli.hook_files import installing
from mufakat.cli.hook_files.place import Place, Scope, places
from mufakat.core.coordination.state import On, State
from mufakat.sdk import hook_command

pytestmark = [pytest.mark.anyio, pytest.mark.clis, pytest.mark.timeout(240)]


def argv(setup: CliSetup) -> list[str]:
    """How a person would start it for one request on stdin."""
    program, model = str(setup.command), setup.model
    match setup.name:
        case "claude":
            rights = ["--permission-mode", "acceptEdits", "--allowedTools", "Bash"]
            return [program, "-p", "--model", model, *rights]
        case "codex":
            rights = ["-c", 'approval_policy="never"', "-c", 'sandbox_mode="workspace-write"']
            # In the place of the person, who is asked once whether these hooks are trusted.
            trusted = ["--dangerously-bypass-hook-trust"]
            head = [program, "exec", "--skip-git-repo-check", *setup.args, *rights, *trusted]
            return [*head, "-m", model, "-"]
        case "gemini":
            return [program, "-m", model, "--approval-mode", "yolo", "--skip-trust"]
        case _:
            return [program, "run", "--title", "t"]


def settle(setup: CliSetup, home: Path) -> None:
    """Write the person's own settings, which the hooks join."""
    files = {
        "gemini": (".gemini/settings.json", setup.config),
        "opencode": (".config/opencode/opencode.json", {**setup.config, "permission": "allow"}),
    }
    name, data = files.get(setup.name, ("", {}))
    if name:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(json.dumps(data, indent=2))


@dataclass
class Person:
    """Somebody with a CLI, a project, and a room that the CLI's hooks find by the home."""

    setup: CliSetup
    room: Room
    door: Door
    home: Path
    project: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"PATH": os.environ["PATH"], **self.setup.env}

    def place(self, scope: Scope) -> Place:
        both = places(self.setup.name, environ=self.environ, project=self.project)
        return next(one for one in both if one.scope is scope)

    def install(self, scope: Scope) -> bool:
        told = str(self.home)
        words = hook_command.words()
        return installing.install(self.place(scope), words, home=self.home, told=told)

    async def start(self) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            *argv(self.setup),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.project,
            env=self.environ,
        )
        assert process.stdin
        process.stdin.write(b"Work.")
        process.stdin.close()
        return process


@pytest.fixture
async def person(
    request: pytest.FixtureRequest, tmp_path: Path, model: server.ModelServer
) -> AsyncIterator[Person]:
    if reason := clis.skip_reason():
        pytest.skip(reason)
    async with rooms.opened(tmp_path) as room:
        with hook_door.serving(room) as door:
            home = tmp_path / "mufakat-home"
            door.settle(home)
            setup = clis.setup(request.param, model.base, tmp_path / "home")
            settle(setup, tmp_path / "home")
            git = ["git", "init", "-q", str(room.project)]
            subprocess.run(git, check=True)
            yield Person(setup, room, door, home, room.project)


@pytest.mark.parametrize("person", clis.NAMES, indirect=True)
async def test_it_joins_is_kept_off_is_held_and_leaves(
    person: Person, model: server.ModelServer
) -> None:
    room, name = person.room, person.setup.name
    taken = person.project / "taken.txt"
    other = await room.join("scripted", session="other")
    await room.lease(acting(other.identity), taken, reason="rewriting it")
    call = {"name": "$write", "args": {"file_path": str(taken), "content": "x"}}
    wait = {"name": "$shell", "args": {"command": "sleep 1; echo slept"}}
    model.set_script(
        {
            "turns": [{"tools": [call]}, {"text": "Done."}, {"tools": [wait]}],
            "default": {"text": "All is answered."},
        }
    )
    before = person.place(Scope.USER).path
    assert person.install(Scope.USER)
    process = await person.start()
    await asyncio.to_thread(model.wait_for, 1, 60)
    who = (await room.one(name)).identity
    await room.send(who, "Which port does PELICAN use?", intent="request")
    await asyncio.to_thread(model.wait_for, 3, 60)
    await room.inbox.ack(acting(who), numbers=(1,))
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err
    assert b"All is answered." in out
    assert not taken.exists()
    bodies = [wire.all_text(body) for body in model.bodies()]
    assert other.identity in bodies[1], "why the edit was denied"
    assert "PELICAN" in bodies[2]
    one = await room.one(name)
    assert (one.standing.state, one.standing.on) == (State.OFFLINE, On.EXITED)
    assert one.binding.repository == str(person.project)
    assert installing.remove(person.place(Scope.USER), home=person.home)
    assert name not in {"claude", "codex", "opencode"} or not before.exists()


@pytest.mark.parametrize("person", clis.NAMES, indirect=True)
async def test_case_032_its_last_words_are_known_to_who_comes_next(
    person: Person, model: server.ModelServer
) -> None:
    room, name = person.room, person.setup.name
    look = {"name": "$shell", "args": {"command": "echo looked"}}
    turns = [{"text": "I will look.", "tools": [look]}, {"text": "The pelican is grey."}]
    model.set_script({"turns": turns, "default": {"text": "Nothing more."}})
    assert person.install(Scope.USER)
    process = await person.start()
    _, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err
    speaker = (await room.one(name)).identity
    told = await room.fire("claude", "session-start", source="startup", session_id="next")
    news = json.dumps(told, ensure_ascii=False)
    assert news.count("The pelican is grey.") == 1
    assert speaker in news
    # Gemini tells the whole of its answer, from its first word.
    assert name == "gemini" or "I will look." not in news, "that was on the way"


@pytest.mark.parametrize("person", ["claude", "gemini", "opencode"], indirect=True)
async def test_hooks_of_a_project_are_found(person: Person, model: server.ModelServer) -> None:
    assert person.install(Scope.PROJECT)
    process = await person.start()
    out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode == 0, err
    assert person.door.count("session-start") == 1
    assert person.door.count("stop") == 1
    assert out
