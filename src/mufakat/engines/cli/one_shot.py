"""Running one turn of a command-line agent as one process; what all adapters have in common."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines import failure
from mufakat.engines.cli import doctor, invocation, program, verdict
from mufakat.engines.process import command, json_line, supervise
from mufakat.ports.engine import McpServer, OnEvent, Options, Run

SERVER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")
RAW = "raw"
KEPT_RAW = 8
"""Raw outputs of earlier runs that stay in an agent's workspace, for looking into faults."""
UNSAFE = re.compile(r"dangerously|danger-full-access|bypassPermissions|yolo|^-y$|^--auto$")
"""Arguments that let an agent do more than its role, in any engine."""
ROLE = re.compile(
    r"full-auto|workspace-write|sandbox_mode|approval_policy"
    r"|^--(?:agent|permission-mode|approval-mode)(?:=|$)"
)
"""Arguments of the person that would take the place of what the role decides."""


class Parser(Protocol):
    """Turns one engine's stream into events; holds what the reply needs."""

    def feed(self, event: Mapping[str, object]) -> list[stream.StreamEvent]:
        """Take the next object of the stream; never raises."""
        ...

    def stray(self, line: str) -> list[stream.StreamEvent]:
        """Take a line of stdout that is no JSON object."""
        ...

    def said(self, exit_code: int | None) -> verdict.Said:
        """What it all came to."""
        ...


async def find(options: Options, usual: str, environ: Mapping[str, str]) -> str:
    """The engine's program; empty when it is not there."""
    return await asyncio.to_thread(program.find, options.command, usual, environ)


def refused(
    path: str, run: Run, facts: doctor.Facts, pattern: re.Pattern[str], options: Options
) -> Reply | None:
    """Why a run cannot be started at all, if so; nothing foreign reaches a command line."""
    if not path:
        message = f"The program {facts.usual} is not there. Install it with `{facts.package}`."
        return Reply(Status.FAILED, failure=Failure.MISSING, message=message)
    if run.resume and not pattern.fullmatch(run.resume):
        message = failure.shown(f"{run.resume[:80]!r} is no session of {facts.name}.")
        return Reply(Status.FAILED, failure=Failure.SESSION_LOST, message=message)
    odd = next((one for one in run.mcp if not _usable(one)), None)
    if odd:
        message = failure.shown(f"MCP server {odd.name[:80]!r} needs a plain name and a command.")
        return Reply(Status.FAILED, failure=Failure.BAD_REQUEST, message=message)
    return _widening(facts, options)


def cannot_fork(facts: doctor.Facts) -> Reply:
    """The answer to a request for a copy of a session that this version cannot make."""
    message = f"This {facts.usual} cannot copy a session."
    return Reply(Status.FAILED, failure=Failure.SESSION_LOST, message=message)


def _widening(facts: doctor.Facts, options: Options) -> Reply | None:
    """Refuse arguments that would let an agent do more than its role."""
    for arg in options.args:
        if UNSAFE.search(arg):
            what = "switches off the engine's own safety"
        elif ROLE.search(arg):
            what = "sets what the role decides"
        else:
            continue
        message = f"`engines.{facts.name}.args` {what}: {arg}"
        return Reply(Status.FAILED, failure=Failure.REFUSED, message=message)
    return None


def _usable(server: McpServer) -> bool:
    """Whether its name can be part of a setting's key, and there is something to start or call."""
    return bool(SERVER_NAME.fullmatch(server.name)) and bool(server.command) != bool(server.url)


def home_mark(home: Path) -> str:
    """The mark by which processes of this data folder are found after a crash."""
    return str(home)


async def execute(
    run: Run,
    prepared: invocation.Invocation,
    parser: Parser,
    on_event: OnEvent,
    *,
    home: Path,
    cancel: asyncio.Event,
) -> Reply:
    """Start the engine, pass its events on, and judge its end; never raises for its faults."""
    try:
        await asyncio.to_thread(invocation.write, prepared.files, run.workspace)
        await asyncio.to_thread(invocation.prune, run.workspace / RAW, KEPT_RAW)
    except OSError as error:
        return Reply(Status.FAILED, failure=Failure.INTERNAL, message=f"Cannot write: {error}")

    async def on_line(line: command.Line) -> None:
        for event in events_of(parser, line):
            await on_event(event)

    outcome = await supervise.run(
        command.Command(
            argv=prepared.argv,
            cwd=run.cwd,
            env=prepared.env,
            run_id=run.id,
            home_id=home_mark(home),
            spool=run.workspace / RAW / f"{run.id}.out",
            stdin=prepared.stdin,
            first_signal=prepared.first_signal,
        ),
        limits=command.Limits(idle=run.idle_seconds, total=run.total_seconds, grace=prepared.grace),
        cancel=cancel,
        on_line=on_line,
    )
    return verdict.reply(parser.said(outcome.exit_code), outcome)


def events_of(parser: Parser, line: command.Line) -> Iterator[stream.StreamEvent]:
    """The events of one line of either pipe."""
    if line.oversize is not None:
        yield _oversize(line.oversize, line.text)
        return
    if line.stderr or not line.text.strip():
        return
    decoded = json_line.decode(line.text)
    if isinstance(decoded, json_line.NotJson):
        documents = _array(line.text)
        if documents is None:
            yield from parser.stray(line.text)
            return
    else:
        documents = [decoded]
    for document in documents:
        yield from parser.feed(document)


def _array(line: str) -> list[Mapping[str, object]] | None:
    """The objects of a line that holds an array, as some versions print their output."""
    if not line.lstrip("\ufeff \t").startswith("["):
        return None
    wrapped = json_line.decode('{"items":' + line.lstrip("\ufeff") + "}")
    if isinstance(wrapped, json_line.NotJson):
        return None
    items = wrapped["items"]
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        return None
    return items


def _oversize(oversize: command.Oversize, beginning: str) -> stream.Unknown:
    return stream.Unknown(
        "oversize_line",
        {"size": oversize.size, "sha256": oversize.sha256, "beginning": beginning},
    )
