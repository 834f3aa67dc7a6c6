"""The scripted behaviours: what happens besides the answer, and how long it takes."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from mufakat.core.talk import stream
from mufakat.core.talk.turn import Failure, Reply, Status
from mufakat.engines.scripted.answer import shortened
from mufakat.engines.scripted.told import Told
from mufakat.ports.engine import OnEvent, Run

PIECE = 80
SLOW_SECONDS = 10.0
SLOW_PIECES = 40
LISTED = 12


@dataclass(slots=True)
class Play:
    """One performance; keeps what was said so far, so that a cut leaves its part."""

    run: Run
    on_event: OnEvent
    cancel: asyncio.Event
    told: Told
    started: float = field(default_factory=time.monotonic)
    said: str = ""

    async def perform(self, model: str, text: str) -> Reply:
        """Play what `model` names around the answer `text`."""
        behaviour, _, detail = model.partition(":")
        match behaviour:
            case "fail":
                return _failed(_failure(detail), "The scripted engine was asked to fail.")
            case "slow":
                await self.on_event(stream.Thought("Thinking slowly, as asked."))
                return await self.speak(text, seconds=_seconds(detail))
            case "tool":
                text = f"{await self.look_around()}\n\n{text}"
            case "approval":
                text = f"{await self.ask_leave()}\n\n{text}"
            case "pull":
                text = f"{text}\n\n{self.pull_request()}"
        return await self.speak(text, seconds=0)

    async def speak(self, text: str, *, seconds: float) -> Reply:
        """Stream the text over about `seconds`, until it ends or is cut."""
        size = PIECE if not seconds else max(1, -(-len(text) // SLOW_PIECES))
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        for piece in pieces:
            cut = await self._pause(seconds / len(pieces))
            if cut is not None:
                return cut
            self.said += piece
            await self.on_event(stream.Text(piece))
        return Reply(Status.DONE, text=self.said)

    async def look_around(self) -> str:
        """Use a tool: list the names in the project's folder."""
        call = stream.Tool("call-1", "list_folder", stream.ToolStatus.RUNNING, input=".")
        await self.on_event(call)
        names = await asyncio.to_thread(_names, self.run.cwd)
        status = stream.ToolStatus.OK if names else stream.ToolStatus.FAILED
        output = "\n".join(names)
        await self.on_event(stream.Tool("call-1", "list_folder", status, input=".", output=output))
        return f"I used a tool: the folder holds {shortened(', '.join(names)) or 'nothing'}."

    async def ask_leave(self) -> str:
        """Ask for something that no role allows by itself; nobody grants it in a turn."""
        request = "run: git push"
        await self.on_event(stream.PermissionAsked("ask-1", request, granted=False))
        return f"I asked for leave to {request!r}; nobody granted it, so I did not do it."

    def pull_request(self) -> str:
        """The marker with which an agent asks for more, with this run's nonce."""
        return f"<!--mufakat:{self.told.nonce()}:recall:the beginning of this conversation-->"

    async def _pause(self, seconds: float) -> Reply | None:
        """Wait for the next piece; what cut the turn off, if anything did."""
        left = self.run.total_seconds - (time.monotonic() - self.started)
        allowed = min(self.run.idle_seconds, left)
        if seconds:
            await _wait(self.cancel, min(seconds, max(0.0, allowed)))
        if self.cancel.is_set():
            return Reply(Status.CANCELLED, text=self.said)
        if seconds > allowed:
            failure = Failure.DEADLINE if left <= self.run.idle_seconds else Failure.IDLE
            return _failed(failure, "The scripted engine was too slow.", self.said)
        return None


async def _wait(cancel: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await cancel.wait()
    except TimeoutError:
        return


def _names(folder: Path) -> list[str]:
    try:
        names = sorted(path.name for path in folder.iterdir())
    except OSError:
        return []
    more = [f"… {len(names) - LISTED} more"] if len(names) > LISTED else []
    return [*names[:LISTED], *more]


def _failed(failure: Failure, message: str, text: str = "") -> Reply:
    return Reply(Status.FAILED, text=text, failure=failure, message=message)


def _failure(detail: str) -> Failure:
    try:
        return Failure(detail) if detail else Failure.OVERLOADED
    except ValueError:
        return Failure.BAD_REQUEST


def _seconds(detail: str) -> float:
    try:
        return min(3600.0, max(0.0, float(detail))) if detail else SLOW_SECONDS
    except ValueError:
        return SLOW_SECONDS
