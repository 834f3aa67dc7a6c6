"""An agent of your own in the room: identity, history, state, leases and inbox as methods."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from mufakat.sdk import clock, discovery, errors, home
from mufakat.sdk.client import Client, Endpoint, new_key
from mufakat.sdk.lease import Lease
from mufakat.sdk.outbox import Outbox
from mufakat.sdk.presence import Presence

UNREAD = frozenset({"queued", "offered"})
"""Statuses of messages that no output has shown yet."""


class NoServer(errors.Unreachable):
    """No Mufakat server was found; start it with `mufakat up`, or name it with `url`."""


class Agent:
    """One instance that has joined; every call is made as this instance.

    Safe for several threads. Failures are `ServerError`s with `code`, `fix` and `retryable`.
    """

    def __init__(
        self,
        client: Client,
        record: Mapping[str, Any],
        *,
        outbox: Outbox | None = None,
        now: clock.Clock = clock.elapsed,
    ) -> None:
        self._client = client
        self._now = now
        self._outbox = outbox
        self._ordinal = 0
        self.record = dict(record)
        """What the server answered when it joined."""
        self.run = str(record["run"])
        """Names this life of the instance in its reports."""

    @classmethod
    def join(
        cls,
        engine: str,
        *,
        role: str = "",
        alias: str = "",
        project: str | Path = "",
        session: str = "",
        threads: Sequence[str] = (),
        url: str = "",
        token: str = "",
        place: Path | None = None,
        outbox: Path | None = None,
    ) -> Agent:
        """Join the server at `url` with a join token, or the one of the home `place`.

        The same `engine` and `session` from the same host join as the same instance again.
        Raises NoServer.
        """
        folder = place or home.default_home(os.environ)
        client = Client(_door(folder, url=url, token=token))
        wanted: dict[str, Any] = {
            "engine": engine,
            "host": socket.gethostname(),
            "role": role,
            "alias": alias,
            "project": str(Path(project).absolute()) if project else "",
            "session": session,
            "threads": list(threads),
            "pid": os.getpid(),
            "cwd": str(Path.cwd()),
        }
        record = client.post("/agents", wanted)
        own = Endpoint(client.endpoint.url, record["token"])
        find = None if url else _finder(folder, own.token)
        kept = Outbox(outbox) if outbox else None
        return cls(Client(own, find=find), record, outbox=kept)

    @property
    def identity(self) -> str:
        """`engine@host:inst`, given by the server."""
        return str(self.record["identity"])

    def context(self, *, budget: int = 8_000) -> str:
        """What is new for this agent, to be put before its next prompt; empty for nothing new."""
        found = self._client.get("/context", {"budget": budget})
        if found["text"]:
            told = {name: found[name] for name in ("shown", "begun", "cursors", "revision")}
            self._client.post("/context/shown", told)
        return str(found["text"])

    def working(self, detail: str = "") -> None:
        """Report that it works."""
        self._report("working", detail=detail)

    def blocked(self, on: str, detail: str = "") -> None:
        """Report what it waits for: approval, lease, agent, person, tool or error."""
        self._report("blocked", on=on, detail=detail)

    def idle(self, detail: str = "") -> None:
        """Report that it is done for now; whoever waits for that starts."""
        self._report("idle", detail=detail)

    def presence(self) -> Presence:
        """A connection to hold in a `with` block: cut, the agent is lost 20 seconds later.

        Its leases stay until their time is over; any call brings it back.
        """
        return Presence(self._client, self.identity)

    def lease(
        self,
        *resources: str,
        shared: bool = False,
        slots: int = 1,
        ttl: float = 900,
        wait: float = 0,
        reason: str = "",
        next_step: str = "",
        deputy: str = "",
    ) -> Lease:
        """A lease on all of the resources, to be used in a `with` block; times in seconds."""
        wanted = {
            "resources": list(resources),
            "mode": "shared" if shared else "exclusive",
            "slots": slots,
            "ttl": ttl,
            "wait": wait,
            "reason": reason,
            "next_step": next_step,
            "deputy": deputy,
        }
        return Lease(self._client, wanted, now=self._now)

    def send(
        self,
        *to: str,
        body: str,
        intent: str = "inform",
        thread: str = "",
        reply_to: str = "",
        deadline: float | None = None,
        urgent: bool = False,
        key: str = "",
    ) -> dict[str, Any]:
        """Send a message; with an outbox it is kept on disk while no server answers."""
        message: dict[str, Any] = {
            "to": list(to),
            "body": body,
            "intent": intent,
            "thread": thread,
            "reply_to": reply_to,
            "priority": 3 if urgent else 1,
        }
        if deadline is not None:
            message["deadline"] = deadline
        key = key or new_key()
        try:
            self.flush()
            sent: dict[str, Any] = self._client.post("/messages", message, key=key)
        except errors.Unreachable:
            if self._outbox is None:
                raise
            self._outbox.keep(key, message)
            return {"message": "", "kept": True}
        return sent

    def flush(self) -> int:
        """Send what the outbox keeps; answers how many are left, raises what the server refuses."""
        return self._outbox.replay(self._replay) if self._outbox else 0

    def inbox(self, *, wait: float = 0, limit: int = 50) -> Sequence[dict[str, Any]]:
        """Messages that are new, or that still need an answer, oldest first.

        Where there are none it waits `wait` seconds for one. What it answers counts as read.
        """
        found = self._due(limit) or self._claim(limit, wait)
        fresh = [one["number"] for one in found if one["status"] in UNREAD]
        if fresh:
            self._client.post("/inbox/shown", {"numbers": fresh})
        return found

    def _due(self, limit: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._client.get("/inbox", {"due": 1, "limit": limit})[
            "items"
        ]
        return found

    def _claim(self, limit: int, wait: float) -> list[dict[str, Any]]:
        body = {"limit": limit, "wait": wait}
        found = self._client.post("/inbox/claim", body, seconds=wait + 30, again=False)
        items: list[dict[str, Any]] = found["items"]
        return items

    def ack(self, *numbers: int) -> None:
        """Say that messages of the inbox are done with."""
        self._client.post("/inbox/ack", {"numbers": list(numbers)})

    def decline(self, *numbers: int, why: str) -> None:
        """Say that they will not be done, and why."""
        self._client.post("/inbox/ack", {"numbers": list(numbers), "decline": why})

    def may_stop(self, turn: str = "") -> str:
        """The stop gate: empty where it may end its turn, else what there is to do first."""
        answer = self._client.post(
            "/gate", {"session": self.run, "turn": turn or self.run}, again=False
        )
        return str(answer.get("reason", "")) if answer["decision"] == "block" else ""

    def wait(self, *conditions: str, every: bool = True, seconds: float = 60) -> bool:
        """Wait until agents are in a state: `role:tester=idle`; answers whether it came to be."""
        asked = [condition(text) for text in conditions]
        body = {"conditions": asked, "every": every, "seconds": seconds}
        return bool(self._client.post("/wait", body, seconds=seconds + 30)["met"])

    def leave(self) -> None:
        """Go offline: leases are released and the token ends."""
        self._client.delete("/agents/me")

    def __enter__(self) -> Agent:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.leave()

    def _report(self, state: str, *, on: str = "", detail: str = "") -> None:
        self._ordinal += 1
        report: dict[str, Any] = {
            "state": state,
            "run": self.run,
            "ordinal": self._ordinal,
            "detail": detail,
        }
        self._client.put("/agents/me/state", report | ({"on": on} if on else {}))

    def _replay(self, key: str, body: dict[str, Any]) -> bool:
        self._client.post("/messages", body, key=key)
        return True


def condition(text: str) -> dict[str, Any]:
    """Read `who=state|state` or `who=state for 2s`; raises ValueError."""
    who, equals, wanted = text.partition("=")
    states, _, seconds = wanted.partition(" for ")
    if not equals or not who.strip() or not states.strip():
        raise ValueError(f"{text!r} is not a condition; write it like `role:tester=idle`.")
    lasting = float(seconds.strip().removesuffix("s") or 0)
    return {"who": who.strip(), "states": states.strip().split("|"), "seconds": lasting}


def _door(folder: Path, *, url: str, token: str) -> Endpoint:
    given = discovery.given(os.environ, folder)
    if url:
        return Endpoint(url.rstrip("/"), token or (given.token if given else ""))
    if given is not None:
        return given
    found = discovery.find(folder)
    if found is None:
        raise NoServer(f"No Mufakat server runs in {folder}.", fix=(NoServer.__doc__ or "").strip())
    return Endpoint(found.url, token or _join_token(folder) or found.token)


def _join_token(folder: Path) -> str:
    path = folder / home.JOIN_TOKEN
    return path.read_text(encoding="ascii").strip() if path.is_file() else ""


def _finder(folder: Path, token: str) -> Callable[[], Endpoint | None]:
    def find() -> Endpoint | None:
        found = discovery.find(folder)
        return None if found is None else Endpoint(found.url, token)

    return find
