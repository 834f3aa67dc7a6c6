"""Where a turn is measured: a project, the real CLI, a scripted model, a running server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from equipment import clis, process
from equipment.clis import CliSetup
from mufakat.sdk import discovery
from mufakat.sdk.client import Client, Endpoint

ANSWER = "It is a made project, and this answer is as long as a short one is. " * 20
SCRIPT = {"default": {"text": ANSWER}, "chunk": 40, "delay": 0.01}
START_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Place:
    """Where it happens: a project, a home, the CLI and the running server."""

    project: Path
    home: Path
    setup: CliSetup
    server: int
    client: Client

    @property
    def env(self) -> Mapping[str, str]:
        return {**process.base_env(), **self.setup.env}


@contextmanager
def opened(folder: Path) -> Iterator[Place]:
    """A project under git, a model server, and a server of Mufakat that points to both."""
    project, home = folder / "made", folder / "home"
    make_project(project)
    script = folder / "script.json"
    script.write_text(json.dumps(SCRIPT), "utf-8")
    words = [sys.executable, "-m", "equipment.model_server", "--script", str(script)]
    with running(words, folder) as (model, _):
        setup = clis.setup("claude", json.loads(model)["base"], folder / "cli")
        home.mkdir(mode=0o700)
        (home / "settings.toml").write_text(settings(setup), "utf-8")
        with running([sys.executable, "-m", "mufakat", "--home", str(home), "up"], folder) as up:
            found = wait_for(home)
            yield Place(project, home, setup, up[1], Client(found))


def make_project(folder: Path) -> None:
    """A small project with one commit."""
    folder.mkdir()
    (folder / "README.md").write_text("# Made\n\nA made project that only measures.\n", "utf-8")
    (folder / "pyproject.toml").write_text("[project]\nname = 'made'\n", "utf-8")
    user = ("-c", "user.name=bench", "-c", "user.email=bench@example.invalid")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*user, "commit", "-qm", "First")):
        subprocess.run(["git", *words], cwd=folder, check=True)


def settings(setup: CliSetup) -> str:
    """What a user would write to point Claude to the model server; JSON strings are TOML's."""
    lines = [f"command = {json.dumps(str(setup.command))}", f"model = {json.dumps(setup.model)}"]
    env = [f"{name} = {json.dumps(value)}" for name, value in setup.env.items()]
    return "\n".join(["[engines.claude]", *lines, "[engines.claude.env]", *env, ""])


@contextmanager
def running(argv: list[str], folder: Path) -> Iterator[tuple[str, int]]:
    """A process until the block ends: the first line of its output, and its id."""
    child = subprocess.Popen(argv, cwd=folder, env=dict(os.environ), stdout=subprocess.PIPE)
    assert child.stdout is not None
    try:
        yield child.stdout.readline().decode(), child.pid
    finally:
        child.terminate()
        child.wait(timeout=START_SECONDS)


def wait_for(home: Path) -> Endpoint:
    """The server of this home, once it answers."""
    limit = time.monotonic() + START_SECONDS
    while time.monotonic() < limit:
        found = discovery.find(home)
        if found is not None:
            return found
        time.sleep(0.1)
    raise SystemExit("bench: the server did not start")
