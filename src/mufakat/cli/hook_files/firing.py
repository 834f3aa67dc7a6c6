"""Fires installed hooks as their engines would, and looks whether each arrives at the server."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from mufakat.cli.hook_files import edit, installing
from mufakat.cli.hook_files.place import Place
from mufakat.core.coordination.hooks import PROBE, Moment

SECONDS = 10
_PLUGIN_WORDS = re.compile(r"^const (?:HOOK|HOME) = (\[.*\]);$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fired:
    """One file with hooks of ours, and what came of them."""

    place: Place
    events: tuple[str, ...]
    problem: str = ""


def fire(places: Iterable[Place]) -> list[Fired]:
    """Fire all hooks that are installed in these places."""
    fired = []
    for place in places:
        try:
            found = installing.installed(place)
        except edit.Unreadable as unreadable:
            fired.append(Fired(place, (), str(unreadable)))
            continue
        lines = [line for commands in found.values() for line in _lines(place, commands)]
        if lines:
            problem = next((why for line in lines if (why := _lost(line))), "")
            fired.append(Fired(place, tuple(sorted(found)), problem))
    return fired


def _lines(place: Place, commands: Iterable[str]) -> list[str]:
    """The command lines; those of the plugin are in its text."""
    if place.engine != "opencode":
        return list(commands)
    made = []
    for text in commands:
        hook, home = (json.loads(words) for words in _PLUGIN_WORDS.findall(text))
        made += [shlex.join([*hook, place.engine, moment, *home]) for moment in Moment]
    return made


def _lost(line: str) -> str:
    """Why a hook did not arrive; empty where it did."""
    session = f"{PROBE}{uuid.uuid4().hex}"
    environ = {k: v for k, v in os.environ.items() if not k.startswith("MUFAKAT_")}
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
            input=json.dumps({"session_id": session}).encode(),
            env=environ,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        said = json.loads(done.stdout or b"{}")
    except (OSError, ValueError, subprocess.SubprocessError) as problem:
        return f"{line}: {problem}"
    if said == {"mufakat": session}:
        return ""
    why = done.stderr.decode("utf-8", "replace").strip() or f"exit code {done.returncode}"
    return f"{line}: {why}"
