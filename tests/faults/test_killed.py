"""kill -9 of the server, and of PostgreSQL under it, while agents work: no promise is broken."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from equipment import books, busy_agent, live_server, postgres, start_server
from equipment.busy_agent import BusyAgent, Ledger
from equipment.follower import Follower, among, faults
from equipment.live_server import LiveServer, Workers
from mufakat.app import DATABASE

AGENTS = 8
BETWEEN = 0.8
"""Seconds of work between two kills, on the average."""


class Scene:
    """Eight agents at work, and four consumers of the log."""

    def __init__(self, server: LiveServer, project: Path, place: Path | str) -> None:
        self.seed = random.randrange(1 << 32)
        print("seed", self.seed)
        self.dice = random.Random(self.seed)
        self.server = server
        self.place = place
        self.ledger = Ledger()
        project.mkdir(exist_ok=True)
        self.agents: Sequence[BusyAgent] = busy_agent.crowd(
            server, self.ledger, AGENTS, self.dice, project=str(project)
        )
        self.workers = Workers()
        self.workers.over = self.ledger.over
        self.watching = Workers()
        token = server.secret("token")
        self.followers = [
            Follower(server, token, self.watching.over, random.Random(n), poll=n % 2 == 1)
            for n in range(4)
        ]

    def __enter__(self) -> Scene:
        for agent in self.agents:
            self.workers.add(agent.run)
        for follower in self.followers:
            self.watching.add(follower.run)
        return self

    def __exit__(self, *_: object) -> None:
        for follower in self.followers:
            follower.seconds = 0.0
        self.watching.over.set()
        self.ledger.over.set()

    def work(self) -> None:
        """Let them work until new promises were made."""
        before, end = self.ledger.promises, time.monotonic() + 60
        time.sleep(self.dice.random() * 2 * BETWEEN)
        while self.ledger.promises < before + 10 and not self.ledger.over.is_set():
            assert time.monotonic() < end, "nothing goes on"
            time.sleep(0.05)

    def broken(self) -> list[str]:
        with books.opened(self.place) as found:
            return books.broken(found, self.ledger.copy())

    def lost_leases(self) -> list[str]:
        """Leases that the server no longer knows, now that it is there again."""
        held, operator = self.ledger.copy().held, self.server.operator()
        try:
            found = [
                (id, operator.insist("POST", "/leases/check", {"resource": name, "fence": fence}))
                for id, (name, fence) in held.items()
            ]
        finally:
            operator.hang_up()
        return [id for id, (_, said) in found if not said["valid"] and id in self.ledger.held]

    def end(self) -> None:
        """Everything once more, when nobody works any longer."""
        self.workers.join()
        with books.opened(self.place) as found:
            head = found.events()[-1][0]
        for follower in self.followers:
            follower.until = head
        self.watching.join()
        # The server itself may have gone on meanwhile: it condenses what the workers said.
        with books.opened(self.place) as found:
            log = found.events()
            assert [faults(one, among(one, log)) for one in self.followers] == [{}] * 4
            assert not found.problems(deep=True)
            assert not books.broken(found, self.ledger)
        print(self.ledger.promises, "promises", len(log), "events")


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kills", [3, pytest.param(200, marks=pytest.mark.slow)])
def test_q3_kill_9_of_the_server_breaks_no_promise(tmp_path: Path, kills: int) -> None:
    home = tmp_path / "home"
    with (
        live_server.serving(home) as server,
        Scene(server, tmp_path / "project", home / DATABASE) as scene,
    ):
        for _ in range(kills):
            scene.work()
            server.kill()
            assert not scene.broken()
            server.start()
            assert not scene.lost_leases()
        scene.end()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("lives", [6, pytest.param(140, marks=pytest.mark.slow)])
def test_q3_a_server_that_dies_at_a_named_point_breaks_no_promise(
    tmp_path: Path, lives: int
) -> None:
    home = tmp_path / "home"
    with (
        live_server.serving(home) as server,
        Scene(server, tmp_path / "project", home / DATABASE) as scene,
    ):
        points = scene.dice.sample(sorted(start_server.POINTS), len(start_server.POINTS))
        server.kill()
        for number in range(lives):
            server.die_at(points[number % len(points)], scene.dice.randint(1, 8))
            assert not scene.broken(), points[number % len(points)]
        server.start()
        assert not scene.lost_leases()
        scene.end()


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_q3_kill_9_of_postgresql_breaks_no_promise(tmp_path: Path, kills: int) -> None:
    with postgres.running() as cluster:
        cluster.execute("CREATE DATABASE mine")
        url = cluster.url("mine")
        with (
            live_server.serving(tmp_path / "home", MUFAKAT_STORE=url) as server,
            Scene(server, tmp_path / "project", url) as scene,
        ):
            for _ in range(kills):
                scene.work()
                cluster.stop(signal.SIGKILL)
                cluster.start()
                assert not scene.broken()
            scene.work()
            scene.end()


@pytest.mark.timeout(300)
def test_q3_twin_answering_before_the_commit_breaks_promises(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with live_server.serving(home, "early") as server:
        scene = Scene(server, tmp_path / "project", home / DATABASE)
        # Nobody may call before it is known that they joined.
        time.sleep(1)
        with scene:
            for _ in range(5):
                scene.work()
                assert not scene.ledger.over.is_set()
                server.kill()
                if scene.broken():
                    return
                server.start()
    raise AssertionError("nothing was lost")
