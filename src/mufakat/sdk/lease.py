"""A lease as its holder uses it: renewed while it is needed, and given up before it is lost."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

from mufakat.sdk import clock, errors
from mufakat.sdk.client import Client

LEAST_MARGIN = 0.5
SHARE = 10
"""The margin is a tenth of the time to live, and half a second at least."""
RENEW_AT = 2 / 3
SLOW = 1.0
"""Seconds after which a grant is renewed at once."""


class LeaseLost(errors.ServerError):
    """The lease is no longer held; what it protects must not be touched."""

    def __init__(self, detail: str, *, reason: str = "") -> None:
        super().__init__(
            detail,
            code="lease_lost",
            fix="Stop, look what others have changed meanwhile, and acquire it again.",
            extra={"reason": reason},
        )


class Lease:
    """A context manager: acquires on entry, renews while the block runs, releases on exit.

    It counts its time from before the request was sent, so that it ends here no later than on
    the server. Raises `ServerError` with code `held` where somebody else has it.
    """

    def __init__(
        self, client: Client, wanted: Mapping[str, Any], *, now: clock.Clock = clock.elapsed
    ) -> None:
        self._client = client
        self._wanted = dict(wanted)
        self._now = now
        self._record: dict[str, Any] = {}
        self._until = 0.0
        self._lost = ""
        self._done = threading.Event()
        self._renewer: threading.Thread | None = None
        self._turn = threading.Lock()

    @property
    def id(self) -> str:
        """Id of the lease; empty before it is acquired."""
        return str(self._record.get("id", ""))

    @property
    def fences(self) -> dict[str, int]:
        """The fence of each resource: hand it to whatever guards the resource."""
        return {name: int(fence) for name, fence in self._record.get("fences", {}).items()}

    @property
    def valid(self) -> bool:
        """Whether it may still be relied on."""
        return bool(self._record) and not self._lost and self._now() < self._until

    def check(self) -> None:
        """Raise LeaseLost unless it is valid; call it right before touching the resource."""
        if not self.valid:
            why = self._lost or "its time is over and it could not be renewed"
            raise LeaseLost(f"The lease {self.id or '(none)'} is lost: {why}.", reason=self._lost)

    def acquire(self) -> Lease:
        """Ask for it, waiting as long as was asked for."""
        before = self._now()
        seconds = float(self._wanted.get("wait", 0)) + 30
        self._record = self._client.post("/leases", self._wanted, seconds=seconds)
        self._take(before)
        if self._now() - before > SLOW:
            # It may have waited in the queue: how much of its time is left is told by a new one.
            self.renew()
        return self

    def renew(self) -> None:
        """Ask for the whole time to live again; raises LeaseLost where it is gone."""
        with self._turn:
            before = self._now()
            try:
                self._record |= self._client.post(
                    f"/leases/{self.id}/renew",
                    {"fence": self._fence, "ttl": self._ttl},
                    again=False,
                )
            except errors.ServerError as problem:
                if problem.code != "lease_lost":
                    raise
                self._lost = str(problem.extra.get("reason", "")) or "lost"
                raise LeaseLost(str(problem), reason=self._lost) from problem
            self._take(before)

    def defer(self) -> None:
        """Put off, once, that it passes to somebody of a higher class.

        Raises `ServerError` with code `conflict` the second time, and where nobody takes it.
        """
        with self._turn:
            body = {"fence": self._fence}
            self._record |= self._client.post(f"/leases/{self.id}/defer", body)

    def release(self) -> None:
        """Give it back; harmless where it is gone already."""
        self._done.set()
        if self._record:
            self._client.post(f"/leases/{self.id}/release", {"fence": self._fence})

    def __enter__(self) -> Lease:
        self.acquire()
        self._renewer = threading.Thread(target=self._keep, name=f"lease {self.id}", daemon=True)
        self._renewer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        was_valid = self.valid
        self._done.set()
        # Out of reach it expires by itself.
        with suppress(errors.Unreachable):
            self.release()
        if error is None and not was_valid:
            self.check()

    def _keep(self) -> None:
        while not self._done.wait(max(0.05, self._ttl * RENEW_AT)):
            try:
                self.renew()
            except LeaseLost:
                return
            except errors.ServerError:
                if self._done.wait(min(1.0, self._ttl / SHARE)) or not self.valid:
                    return

    def _take(self, before: float) -> None:
        margin = max(self._ttl / SHARE, LEAST_MARGIN)
        self._until = before + float(self._record["expires_in"]) - margin

    @property
    def _ttl(self) -> float:
        return float(self._wanted.get("ttl", 900))

    @property
    def _fence(self) -> str:
        return str(next(iter(self._record["fences"].values())))
