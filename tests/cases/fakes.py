"""Real adapters in front of programs that behave as a case says, inside the real application."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from engines.process import fake_engine, measured
from mufakat.core.base import LoggedEvent
from mufakat.core.talk.turn import Reply, Status
from mufakat.engines import registry
from mufakat.engines.cli import one_shot
from mufakat.engines.process.command import Line
from mufakat.ports.engine import Options, Run
from services.conftest import House

ECHO = Path(__file__).with_name("echo_engine.py")


def seat_program(house: House, cli: str, program: Path, *, locale: str = "C.UTF-8") -> None:
    """Let a program stand for an agent CLI; its environment is as poor as can be."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(house.home), "LANG": locale}
    options = Options(command=str(program))
    found = registry.discover()[cli]
    engine = registry.build(found, options, home=house.home, environ=environ)
    assert not isinstance(engine, registry.Found), engine
    house.seat(engine)  # type: ignore[arg-type]


def seat_behaviour(house: House, cli: str, behaviour: str, *, folder: Path) -> None:
    """Let the fake engine with one of its behaviours stand for an agent CLI."""
    seat_program(
        house, cli, fake_engine.install(folder, cli, behaviour=behaviour, dialect=cli, size=0)
    )


def seat_echo(house: House, cli: str, *, folder: Path, locale: str = "C.UTF-8") -> None:
    """Let a program stand for an agent CLI that answers with the end of what it was told."""
    path = folder / cli
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {ECHO} {cli} "$@"\n')
    path.chmod(0o755)
    seat_program(house, cli, path, locale=locale)


async def events(house: House, kind: str) -> list[LoggedEvent]:
    """All events of a kind, oldest first."""
    return list(await house.app.feed.after(0, limit=5_000, kinds=(kind,)))


def alive(run_id: str) -> list[int]:
    """Processes that still carry a turn's mark."""
    return measured.marked(run_id)


def replays(
    parser: Callable[[], one_shot.Parser], lines: list[str], *, text: str = "Done."
) -> Callable[..., Awaitable[Reply]]:
    """A puppet's behaviour: an engine's stream through its real parser, then an answer."""

    async def behave(run: Run, on_event: Callable[[Any], Awaitable[None]], _: object) -> Reply:
        made = parser()
        for line in lines:
            for event in one_shot.events_of(made, Line(line)):
                await on_event(event)
        return Reply(Status.DONE, text=text, session=run.resume or f"session-{run.id}")

    return behave


def crash_after_hello(folder: Path, cli: str) -> Path:
    """A program that names its session as a real one would, and dies."""
    path = folder / cli
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {ECHO} {cli} --crash "$@"\n')
    path.chmod(0o755)
    return path


def kill(pids: list[int]) -> None:
    """End processes that a faulty build left."""
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
