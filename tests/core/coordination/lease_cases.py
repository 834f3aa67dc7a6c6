"""Short ways to say who holds what, for tests of the lease rules."""

from __future__ import annotations

from mufakat.core.base import Millis
from mufakat.core.coordination import lease_grant
from mufakat.core.coordination.lease import Book, Lease, Mode, Waiter, Wanted

NOW = Millis(1_000_000)
TTL = 60_000


def want(holder: str, *resources: str, **more: object) -> Wanted:
    """A request of `holder`; `shared=True` for the other mode."""
    mode = Mode.SHARED if more.pop("shared", False) else Mode.EXCLUSIVE
    fields = {"mode": mode, "ttl": TTL, **more}
    return Wanted(holder, resources or ("task:a",), **fields)  # type: ignore[arg-type]


def held(wanted: Wanted, id: str = "", *, at: int = NOW, claim: int = 0) -> Lease:
    """A lease as it is granted at `at`."""
    fences = range(1, len(wanted.resources) + 1)
    name = id or f"l_{wanted.holder}"
    return lease_grant.grant(name, wanted, tuple(fences), now=Millis(at), claim=claim)


def line(wanted: Wanted, *, at: int = NOW, id: str = "", wait: int = 600_000) -> Waiter:
    """An entry of the queue."""
    return Waiter(id or f"w_{wanted.holder}", wanted, Millis(at), Millis(at + wait))


def book(*entries: Lease | Waiter) -> Book:
    return Book(
        leases=[one for one in entries if isinstance(one, Lease)],
        waiters=[one for one in entries if isinstance(one, Waiter)],
    )
