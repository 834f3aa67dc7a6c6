"""What the hook of each room costs the agent that waits for it: a process from start to end."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from bench import hook
from bench.rooms.agora import Agora
from bench.rooms.ours import Mufakat
from bench.rooms.room import Room
from bench.rooms.tables import Measured
from mufakat.sdk import hook_command


def measure(rooms: Sequence[Room], found: Measured) -> None:
    """Fire the hook of a turn's end, where a room has one, with nothing to say."""
    for one in rooms:
        call = {"session_id": "bench", "hook_event_name": "Stop", "cwd": "/"}
        if isinstance(one, Mufakat):
            argv = [*hook_command.words(), "claude", "stop"]
            env = {"MUFAKAT_HOME": str(one.home)}
            call["cwd"] = str(one.project)
        elif isinstance(one, Agora):
            one.seat("s1")
            url = f"http://127.0.0.1:{one.port}"
            argv = [one.program("agora"), "hook", "Stop", "--as", "s1", "--url", url]
            env = one.env
        else:
            continue
        data = json.dumps(call).encode()
        found.hooks[one.name] = hook.measured(argv, {**os.environ, **env}, data)
