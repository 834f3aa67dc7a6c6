"""Clients that ask one after the other, all of them in one loop over their connections."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from bench.rooms.wire import SECONDS, Answer, Line

Steps = Generator[bytes, Answer, bool]
"""One operation: requests out, answers in; what it returns is whether it was granted."""
Source = Callable[[], Steps | None]
"""Gives a client its next operation; None when it has no more."""


class Refused(Exception):
    """An answer that is none of those an operation may get."""

    @classmethod
    def unless(cls, right: bool, answer: Answer) -> None:
        """Raise it where something is not as it should be."""
        if not right:
            raise cls(f"{answer.status} {answer.body[:300].decode('utf-8', 'replace')}")


@dataclass(slots=True)
class Load:
    """What came of some seconds of one operation."""

    took: list[float] = field(default_factory=list)
    """Milliseconds of each."""
    seconds: float = 0.0
    granted: int = 0
    failed: int = 0
    why: str = ""
    """Of the first that failed."""
    client: float = 0.0
    """Processor of the clients, milliseconds."""
    server: float = 0.0
    """Processor of the server, milliseconds; of the processes where there is no server."""

    @property
    def rate(self) -> float:
        """Operations a second."""
        return len(self.took) / self.seconds if self.seconds else 0.0

    def fail(self, why: str) -> None:
        self.failed += 1
        self.why = self.why or why


class _Begun(NamedTuple):
    steps: Steps
    at: float


def drive(lines: Sequence[Line], sources: Sequence[Source], *, seconds: float) -> Load:
    """Let every client ask until the time is over, and wait for the last answers."""
    return _Driving(lines, sources, seconds).run()


class _Driving:
    def __init__(self, lines: Sequence[Line], sources: Sequence[Source], seconds: float) -> None:
        self._lines, self._sources = lines, sources
        self._waiting = selectors.DefaultSelector()
        self._load = Load()
        self._under_way: dict[int, _Begun] = {}
        self._until = time.perf_counter() + seconds

    def run(self) -> Load:
        load, began, spent = self._load, time.perf_counter(), time.process_time()
        for number, line in enumerate(self._lines):
            line.refresh()
            self._waiting.register(line.socket, selectors.EVENT_READ, number)
            self._next(number)
        while self._under_way:
            ready = self._waiting.select(SECONDS)
            if not ready:
                raise SystemExit(f"bench: no answer within {SECONDS:.0f} s")
            for key, _ in ready:
                answer = self._lines[key.data].take()
                if answer is not None:
                    self._step(key.data, answer)
        load.seconds = time.perf_counter() - began
        load.client = 1000 * (time.process_time() - spent)
        self._waiting.close()
        return load

    def _next(self, number: int) -> None:
        self._under_way.pop(number, None)
        steps = self._sources[number]() if time.perf_counter() < self._until else None
        if steps is None:
            self._waiting.unregister(self._lines[number].socket)
            return
        asked = next(steps)
        self._under_way[number] = _Begun(steps, time.perf_counter())
        self._lines[number].send(asked)

    def _step(self, number: int, answer: Answer) -> None:
        steps, at = self._under_way[number]
        try:
            self._lines[number].send(steps.send(answer))
        except StopIteration as done:
            self._load.took.append(1000 * (time.perf_counter() - at))
            self._load.granted += bool(done.value)
            self._next(number)
        except Refused as problem:
            self._load.fail(str(problem))
            self._next(number)
