"""One contender in a process of its own: prepares a case, then packs it when told to.

Usage: python -m bench.contenders.serve NAME CASE. Each line of standard input is a command, `run`
or `show`; each answer is one line of JSON. The peers run with an interpreter that has no Mufakat,
so this file imports nothing of it.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any, Protocol

from bench import case
from bench.case import Case


class Contender(Protocol):
    """What a contender's module calls `Contender`."""

    version: str

    def prepare(self, given: Case) -> None:
        """Take the conversation in, as an application would have it when a request comes."""

    def run(self) -> str:
        """Pack one request: the whole text that a model would be told."""


def timed(contender: Contender) -> dict[str, Any]:
    """Pack once; milliseconds of wall time, and of the processor in all threads."""
    cpu, wall = time.process_time(), time.perf_counter()
    text = contender.run()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"ms": 1000 * wall, "cpu_ms": 1000 * cpu, "chars": len(text)}


def main(name: str, path: str) -> None:
    """Serve until standard input ends."""
    contender: Contender = importlib.import_module(f"bench.contenders.{name}").Contender()
    given = case.load(Path(path))
    began = time.perf_counter()
    contender.prepare(given)
    ready = {"seconds": time.perf_counter() - began, "version": contender.version}
    print(json.dumps(ready), flush=True)
    for line in sys.stdin:
        answer = {"text": contender.run()} if line.strip() == "show" else timed(contender)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
