"""Consumers of the log over cuts and a killed server: nothing missed, nothing twice, in order."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from equipment import books, busy_agent, live_server
from equipment.busy_agent import Ledger
from equipment.follower import Follower, among, faults
from equipment.live_server import Workers
from mufakat.app import DATABASE

pytestmark = pytest.mark.timeout(300)
FILTERS: Sequence[tuple[str, ...]] = (
    (),
    ("message.added", "inbox.acked"),
    ("lease.granted", "lease.released", "agent.state"),
)
SMALL = (6, 5)
FULL = pytest.param((16, 25), marks=[pytest.mark.slow, pytest.mark.timeout(900)])


def followed(
    folder: Path, size: tuple[int, int], *changes: str, polls: bool = True, patience: float = 120.0
) -> list[dict[str, int]]:
    """Follow agents at work over cuts and one kill; answers what was wrong with each consumer."""
    consumers, cuts = size
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    project, ledger, working, watching = folder / "project", Ledger(), Workers(), Workers()
    project.mkdir()
    working.over = ledger.over
    with live_server.serving(folder / "home", *changes) as server:
        token = server.secret("token")
        followers = [
            Follower(
                server,
                token,
                watching.over,
                random.Random(dice.random()),
                poll=polls and number % 2 == 1,
                kinds=FILTERS[number % len(FILTERS)],
                cuts_wanted=cuts,
                seconds=patience,
            )
            for number in range(consumers)
        ]
        agents = busy_agent.crowd(server, ledger, 4, dice, project=str(project), pause=0.02)
        try:
            for work in (*agents, *followers):
                (working if work in agents else watching).add(work.run)
            _until(followers, cuts // 2, ledger)
            server.kill()
            server.start()
            _until(followers, cuts, ledger)
            working.join()
        finally:
            ledger.over.set()
            with books.opened(folder / "home" / DATABASE) as found:
                log = found.events()
            for one in followers:
                one.until = max(row[0] for row in log if not one.kinds or row[1] in one.kinds)
                # No more events come, and so no more cuts.
                one.cuts_wanted = min(one.cuts_wanted, one.cuts)
            watching.join()
            # The server itself may have gone on meanwhile: it condenses what the agents said.
            with books.opened(folder / "home" / DATABASE) as found:
                log = found.events()
    print([one.cuts for one in followers], "cuts", len(log), "events")
    assert min(one.cuts for one in followers) >= cuts
    return [faults(one, among(one, log)) for one in followers]


def _until(followers: Sequence[Follower], cuts: int, ledger: Ledger) -> None:
    end = time.monotonic() + 120
    while min(one.cuts for one in followers) < cuts:
        assert time.monotonic() < end and not ledger.over.is_set()
        time.sleep(0.05)


@pytest.mark.parametrize("size", [SMALL, FULL])
def test_q6_consumers_miss_nothing_over_cuts_and_a_killed_server(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    assert followed(tmp_path, size) == [{}] * size[0]


def test_q6_twin_replaying_and_then_joining_a_queue_misses_events(tmp_path: Path) -> None:
    found = followed(tmp_path, SMALL, "hand_over", polls=False, patience=3.0)
    assert sum(one.get("missed", 0) for one in found) > 0
