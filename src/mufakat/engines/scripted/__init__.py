"""A deterministic engine without a model: for the first run, for demos and for tests."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from mufakat.core import tokens
from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.core.talk.usage import Usage
from mufakat.engines.scripted import answer, behaviour, told
from mufakat.ports.engine import Capabilities, OnEvent, Options, Probe, Run

SESSION = re.compile(r"scripted-[0-9a-f]{16}")
MODELS = ("answer", "tool", "approval", "fail", "pull", "slow")


class Scripted:
    """Answers from its pack; the model's name picks a behaviour.

    `answer` (default), `tool`, `approval`, `fail` or `fail:CLASS`, `pull`, `slow` or
    `slow:SECONDS`.
    """

    name = "scripted"

    def __init__(self, options: Options, *, home: Path, environ: Mapping[str, str]) -> None:
        self._options = options
        self.capabilities = Capabilities(
            resume=True,
            system_on_resume=True,
            cost=True,
            window_tokens=options.window_tokens,
            is_model=False,
        )

    async def run(self, run: Run, on_event: OnEvent, *, cancel: asyncio.Event) -> Reply:
        """Play the behaviour; cancelling and both deadlines work between any two pieces."""
        before = await asyncio.to_thread(_remembered, run)
        if before is None:
            return Reply(
                Status.FAILED,
                failure=Failure.SESSION_LOST,
                message=f"There is no session {run.resume!r}.",
            )
        session = run.resume or _new_session(run.id)
        model = run.model or self._options.model or MODELS[0]
        handed = f"{run.delivery.system}\n{run.delivery.user}" if run.delivery.system else ""
        heard = before + (handed or run.delivery.user)
        await on_event(stream.SessionStarted(session, model))
        play = behaviour.Play(run, on_event, cancel, told.read(heard))
        ended = await play.perform(model, answer.compose(play.told, resumed=bool(run.resume)))
        await asyncio.to_thread(_remember, run.workspace, session, heard)
        usage = Usage(
            fresh=tokens.estimate(run.delivery.system + run.delivery.user),
            output=tokens.estimate(ended.text),
            cost=0.0,
        )
        await on_event(stream.UsageSeen(usage))
        return Reply(
            ended.status,
            text=ended.text,
            session=session,
            usage=usage,
            failure=ended.failure,
            message=ended.message,
        )

    def instructions(self, folder: Path) -> tuple[str, ...]:
        """It reads no files."""
        del folder
        return ()

    def present(self) -> bool:
        """It is built in."""
        return True

    async def probe(self) -> Probe:
        """It is always there."""
        return Probe(
            self.name,
            True,
            version="built in",
            login="not needed",
            models=MODELS,
            notes=("A demo without a model: it shows what an agent is told.",),
        )


def _new_session(run_id: str) -> str:
    return "scripted-" + hashlib.sha256(run_id.encode()).hexdigest()[:16]


def _remembered(run: Run) -> str | None:
    """What the resumed session was told before; None when there is no such session."""
    if not run.resume:
        return ""
    if not SESSION.fullmatch(run.resume):
        return None
    try:
        return (run.workspace / f"{run.resume}.txt").read_text(encoding="utf-8") + "\n"
    except OSError:
        return None


def _remember(workspace: Path, session: str, heard: str) -> None:
    path = workspace / f"{session}.txt"
    path.touch(mode=0o600)
    path.write_text(heard, encoding="utf-8", errors="replace")
