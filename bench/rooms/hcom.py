"""hcom under measure: it has no server, so that every operation is a process of its command."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.rooms.load import Load, Steps
from bench.rooms.room import BODY, PEERS, READ, SEND, UNREAD, Room

PROGRAM = str(PEERS / "hcom" / "bin" / "hcom")


class Hcom(Room):
    """A folder, and one agent in it that everybody writes to."""

    name = "hcom"
    version = "0.7.31"
    knows = frozenset({SEND, READ})

    def open(self, folder: Path) -> None:
        self._env = {**os.environ, "HOME": str(folder), "HCOM_DIR": str(folder / ".hcom")}
        self._folder = folder
        found = re.search(r"\[hcom:([^\]]+)\]", self._run(PROGRAM, "start"))
        assert found, "hcom gave nobody a name"
        self._agent = found[1]
        for number in range(UNREAD):
            self._run(*self._argv(SEND, number))

    def _run(self, *argv: str) -> str:
        done = subprocess.run(
            argv,
            cwd=self._folder,
            env=self._env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def _argv(self, what: str, client: int) -> list[str]:
        if what == SEND:
            text = f"{self.number()} {BODY}"
            return [PROGRAM, "send", "--from", f"bench{client}", f"@{self._agent}", "--", text]
        last = ["--last", str(UNREAD), "--type", "message", "--mention", self._agent]
        return [PROGRAM, "events", *last]

    def run(self, what: str, clients: int, seconds: float) -> Load | None:
        """As many processes at a time as there are clients."""
        if what not in self.knows:
            return None
        load, began, before = Load(), time.perf_counter(), _spent()

        def work(client: int) -> None:
            while (at := time.perf_counter()) < began + seconds:
                try:
                    self._run(*self._argv(what, client))
                except subprocess.CalledProcessError as problem:
                    load.fail(f"{problem.returncode} {problem.stderr[:300]}")
                else:
                    load.took.append(1000 * (time.perf_counter() - at))

        threads = [threading.Thread(target=work, args=(client,)) for client in range(clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        load.seconds = time.perf_counter() - began
        load.server = _spent() - before
        return load

    def steps(self, what: str, client: int) -> Steps:
        raise NotImplementedError

    def unread(self, client: int) -> Sequence[Any]:
        return ()

    def listed(self) -> str:
        return ""


def _spent() -> float:
    """Processor of ended children, milliseconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (used.ru_utime + used.ru_stime)
