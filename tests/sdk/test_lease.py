"""A lease ends here before it can end on the server, whatever happens to the connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from mufakat.sdk import errors
from mufakat.sdk.lease import Lease, LeaseLost


@dataclass
class Server:
    """Answers as a server does, at a time of its own; `away` breaks the connection."""

    time: float = 100.0
    away: bool = False
    lost: bool = False
    travel: float = 0.0
    """Seconds that an answer takes after the server has decided."""
    told: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    expires: float = 0.0

    def post(self, path: str, body: Mapping[str, Any], **_: object) -> dict[str, Any]:
        self.told.append((path, body))
        if self.away:
            raise errors.Unreachable("cut")
        if path.endswith("/release"):
            return {"result": "ok"}
        if path.endswith("/defer"):
            return {"id": "l_1", "fences": {"repo:/x": str(2**62)}, "expires_in": 10.0}
        if self.lost:
            raise errors.ServerError("lost", code="lease_lost", extra={"reason": "expired"})
        ttl = float(body["ttl"])
        self.expires = self.time + ttl
        self.time += self.travel
        return {"id": "l_1", "fences": {"repo:/x": str(2**62)}, "expires_in": ttl}

    def clock(self) -> float:
        return self.time


def lease(server: Server, ttl: float = 30) -> Lease:
    wanted = {"resources": ["repo:/x"], "ttl": ttl}
    return Lease(server, wanted, now=server.clock)  # type: ignore[arg-type]


def test_it_is_valid_after_it_was_granted_and_knows_its_fence() -> None:
    server = Server()
    held = lease(server).acquire()
    assert held.valid and held.fences == {"repo:/x": 2**62}
    held.check()


def test_putting_off_that_it_is_taken_gives_it_no_longer_life() -> None:
    server = Server()
    held = lease(server).acquire()
    server.time += 20
    held.defer()
    assert server.told[-1] == ("/leases/l_1/defer", {"fence": str(2**62)})
    server.time += 10
    assert not held.valid


@pytest.mark.parametrize("travel", [0.0, 0.4, 5.0])
def test_d8_it_ends_here_before_the_server_can_grant_it_again(travel: float) -> None:
    server = Server(travel=travel)
    held = lease(server).acquire()
    while held.valid:
        server.time += 0.1
    assert server.time < server.expires
    with pytest.raises(LeaseLost, match="could not be renewed"):
        held.check()


def test_d8_a_clock_that_starts_with_the_answer_would_be_too_late() -> None:
    """The twin: counting from the answer's arrival leaves a lease that the server gave away."""
    server = Server(travel=5.0)
    held = lease(server).acquire()
    from_the_answer = server.time + 30 - 3
    assert from_the_answer > server.expires
    server.time = server.expires
    assert not held.valid


def test_time_in_the_queue_is_not_time_of_the_lease() -> None:
    server = Server(travel=25.0)
    held = lease(server).acquire()
    server.travel = 0.0
    held.renew()
    assert [path for path, _ in server.told] == ["/leases", *["/leases/l_1/renew"] * 2]
    assert held.valid


def test_a_renewal_goes_on_from_before_it_was_sent() -> None:
    server = Server(travel=1.0)
    held = lease(server).acquire()
    server.time += 20
    held.renew()
    server.time += 20
    assert held.valid
    server.time = server.expires
    assert not held.valid


def test_what_the_server_calls_lost_is_lost_at_once() -> None:
    server = Server()
    held = lease(server).acquire()
    server.lost = True
    with pytest.raises(LeaseLost) as lost:
        held.renew()
    assert lost.value.extra["reason"] == "expired"
    assert not held.valid


def test_a_block_that_outlived_its_lease_does_not_end_quietly() -> None:
    server = Server()
    with pytest.raises(LeaseLost), lease(server):
        server.time += 31
    assert server.told[-1][0] == "/leases/l_1/release"


def test_a_server_that_is_away_at_the_end_is_no_error() -> None:
    server = Server()
    with lease(server) as held:
        server.away = True
        assert held.valid


def test_the_fence_goes_with_every_later_call() -> None:
    server = Server()
    with lease(server) as held:
        held.renew()
    assert [body["fence"] for _, body in server.told[1:]] == [str(2**62)] * 2
