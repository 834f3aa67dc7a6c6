"""Follows one turn to its end: the answer to the terminal, everything else to stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click

from mufakat.cli import complaint, exit_codes, output
from mufakat.cli.session import Session
from mufakat.core import terminal_text
from mufakat.sdk import events
from mufakat.sdk.client import Client
from mufakat.sdk.errors import ServerError

Turn = dict[str, Any]
FINAL = frozenset({"done", "failed", "cancelled", "interrupted"})
ENDS = frozenset({"turn.ended", "reset"})
"""After `reset` the log has another past; the turn itself says how it stands."""
WAIT_SECONDS = 20


@dataclass(slots=True)
class Show:
    """What of a turn has been shown so far."""

    session: Session
    streamed: str = ""
    held: str = ""

    def event(self, event: events.Event) -> None:
        """Show one event, in the way of its kind."""
        data = event.data
        match event.kind:
            case "turn.text":
                self.text(str(data.get("text", "")))
            case "turn.text_reset":
                self.reset(str(data.get("why", "")))
            case kind:
                self.progress(kind, data)

    def progress(self, kind: str, data: Mapping[str, Any]) -> None:
        """Tell what happens beside the answer; kinds that say nothing to a person are passed."""
        match kind:
            case "turn.packed":
                used, budget = (output.number(data.get(name)) for name in ("used", "budget"))
                self.note("pack", f"{data.get('mode')}, {used} of {budget} characters")
            case "turn.running":
                self.note("agent", str(data.get("identity") or data.get("engine") or ""))
            case "turn.tool":
                words = (data.get("name"), data.get("input"), f"[{data.get('status')}]")
                self.note("tool", " ".join(str(word) for word in words if word))
            case "turn.permission":
                granted = "granted" if data.get("granted") else "not granted"
                self.note("asks", f"{data.get('request')} ({granted})")
            case "turn.compacted":
                sizes = [
                    output.number(data[name]) for name in ("before", "after") if data.get(name)
                ]
                what = "the engine shortened its own memory; the next turn tells it all again"
                self.note("memory", f"{what} ({' to '.join(sizes)} tokens)" if sizes else what)
            case "turn.notice":
                self.note(str(data.get("level", "note")), str(data.get("text", "")))

    def text(self, piece: str) -> None:
        """Show a piece of the answer where a person watches."""
        self.streamed += piece
        if self.session.json:
            return
        shown, self.held = terminal_text.clean_piece(self.held, piece)
        sys.stdout.write(shown)
        sys.stdout.flush()

    def reset(self, why: str) -> None:
        """The answer begins again; what was shown is void."""
        if self.streamed and not self.session.json:
            click.echo()
        self.streamed = self.held = ""
        self.note("again", f"the agent began its answer anew: {why}")

    def note(self, what: str, text: str) -> None:
        """Tell about progress on stderr, where a person can see it."""
        if not self.session.json_errors:
            click.echo(f"{what:>6}  {output.fit(output.line(text), 160)}", err=True)

    def finish(self, text: str) -> None:
        """Show what of the whole answer was not streamed."""
        if self.session.json:
            return
        rest = terminal_text.clean(self.held)
        if text.startswith(self.streamed):
            rest = terminal_text.clean(self.held + text[len(self.streamed) :])
        elif text:
            self.note("again", "the stream had gaps; this is the whole answer")
            rest = "\n" + terminal_text.clean(text)
        ended = (rest or self.streamed).endswith("\n") or not (rest or self.streamed)
        click.echo(rest, nl=not ended)


def to_end(
    session: Session, client: Client, turn: Turn, *, after: str, seconds: float
) -> tuple[Turn, int]:
    """Follow a turn until it is final or `seconds` are over; answers it and the exit code.

    Ctrl-C cancels it on the server.
    """
    show = Show(session)
    try:
        final = _watch(show, client, turn, after=after, seconds=seconds)
        code = exit_codes.of_turn(final["status"], final.get("failure"))
    except KeyboardInterrupt:
        final = cancel(client, turn["id"])
        code = exit_codes.INTERRUPTED
    show.finish(final.get("text") or "")
    return final, code


def cancel(client: Client, turn: str) -> Turn:
    """Cancel a turn and wait for its end, which takes the engine's grace time at most."""
    path = f"/turns/{turn}"
    client.post(f"{path}/cancel")
    found: Turn = client.get(path, {"wait": WAIT_SECONDS}, seconds=WAIT_SECONDS + 10)
    return found


def cursor(client: Client) -> str:
    """The head of the event log, to follow it from here on."""
    return str(client.get("/events", {"limit": 1})["head"])


def _watch(show: Show, client: Client, turn: Turn, *, after: str, seconds: float) -> Turn:
    limit = time.monotonic() + seconds
    stream = events.follow(client, after=after, subject=turn["id"], seconds=seconds)
    try:
        for event in stream:
            show.event(event)
            if event.kind in ENDS:
                break
    except ServerError as problem:
        show.note("note", f"{problem} The turn goes on; waiting for its end.")
    finally:
        stream.close()
    path = f"/turns/{turn['id']}"
    while True:
        left = min(limit - time.monotonic(), WAIT_SECONDS)
        query = {"wait": int(left)} if left >= 1 else {}
        found: Turn = client.get(path, query, seconds=WAIT_SECONDS + 10)
        if found["status"] in FINAL or left < 1:
            return found


def result(turn: Turn) -> Mapping[str, Any]:
    """A turn as the one object that `ask --json` prints."""
    answer: dict[str, Any] = {
        "conversation": turn["conversation"],
        "message": turn.get("answer"),
        "pack": turn.get("pack"),
        "engine": turn["engine"],
        "agent": turn["agent"],
        "text": turn.get("text") or "",
        "usage": turn.get("usage"),
        "status": turn["status"],
        "turn": turn["id"],
    }
    if turn["status"] not in ("done", "queued", "running"):
        answer |= {"failure": turn.get("failure"), "error": turn.get("message") or ""}
        answer["fix"] = turn.get("fix") or ""
    return answer


def conclude(session: Session, turn: Turn, code: int) -> int:
    """Print the outcome of a turn; answers the exit code."""
    if session.json:
        click.echo(output.json_line(result(turn)))
    if code == exit_codes.OK:
        return code
    fault, words, fix = _words(turn)
    complaint.show(session, fault, words, fix=fix)
    return code


def _words(turn: Turn) -> tuple[str, str, str]:
    """Why a turn gave no answer: code, message, fix."""
    id, fix = turn["id"], turn.get("fix") or ""
    match turn["status"]:
        case "cancelled":
            return "cancelled", "The turn was cancelled.", f"Ask again: mufakat turns retry {id}"
        case "interrupted":
            again = f"See what it did, then: mufakat turns retry {id}"
            return "interrupted", "The server stopped while the agent worked.", fix or again
        case "queued" | "running":
            look = f"It goes on without you. Look at it: mufakat turns show {id}"
            return "unavailable", "The turn has not ended yet.", look
    failure = str(turn.get("failure") or "failed")
    message = str(turn.get("message") or "The agent gave no answer.")
    return failure, f"{turn['engine']} failed ({failure}): {message}", fix
