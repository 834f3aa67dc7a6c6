"""Runs `python -m mufakat` as a user would, in a home of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mufakat.sdk import discovery
from mufakat.sdk.client import Client

SECONDS = 90


@dataclass(slots=True)
class Outcome:
    """What one run of the command left."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out, f"exit code {self.code} and no output: {self.err}"
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """The JSON error on stderr."""
        lines = [line for line in self.err.splitlines() if line.startswith('{"error"')]
        return json.loads(lines[-1])["error"]


@dataclass(slots=True)
class Mufakat:
    """One home, and the command that works on it."""

    home: Path
    project: Path
    environ: dict[str, str] = field(default_factory=dict)

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "mufakat", "--home", str(self.home), *words]

    def environment(self, **more: str) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("MUFAKAT_", "XDG_"))}
        return kept | {"HOME": str(self.home.parent)} | self.environ | more

    def run(
        self, *words: str, data: bytes | None = None, cwd: Path | None = None, **environ: str
    ) -> Outcome:
        """Run a command to its end; stdin is closed where there are no `data`."""
        stdin: dict[str, Any] = {"stdin": subprocess.DEVNULL} if data is None else {"input": data}
        ended = subprocess.run(
            self.argv(*words),
            cwd=cwd or self.project,
            env=self.environment(**environ),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            **stdin,
        )
        return Outcome(
            ended.returncode,
            ended.stdout.decode("utf-8", "surrogateescape"),
            ended.stderr.decode("utf-8", "surrogateescape"),
        )

    def ask(self, *words: str, **environ: str) -> Outcome:
        """Ask the scripted engine."""
        return self.run("ask", "-a", "scripted", *words, **environ)

    def spawn(self, *words: str, **options: Any) -> subprocess.Popen[bytes]:
        """Start a command and leave it running."""
        settings: dict[str, Any] = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
        }
        return subprocess.Popen(
            self.argv(*words), cwd=self.project, env=self.environment(), **settings | options
        )

    @property
    def client(self) -> Client:
        """A client of this home's running server."""
        found = discovery.find(self.home)
        assert found is not None
        return Client(found)

    @property
    def pid(self) -> int:
        """The process of this home's server; 0 where none runs."""
        found = discovery.read(self.home)
        return found.pid if found and discovery.alive(found.pid) else 0

    def kill(self, number: signal.Signals = signal.SIGTERM) -> None:
        """End this home's server, and wait for its end."""
        pid = self.pid
        if not pid:
            return
        os.kill(pid, number)
        limit = time.monotonic() + 30
        while discovery.alive(pid) and time.monotonic() < limit:
            time.sleep(0.05)
        assert not discovery.alive(pid), f"server {pid} did not end"


def fresh(folder: Path) -> Mufakat:
    """A home that does not exist yet, and an empty project."""
    project = folder / "project"
    project.mkdir(parents=True)
    (project / "README.md").write_text("# Sample\n\nA sample project.\n")
    return Mufakat(folder / "home", project)
