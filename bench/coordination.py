"""Coordination, side by side: Mufakat on both stores and its peers, every operation in turns."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from bench.rooms import hooks, listeners, postgres, probe, tables
from bench.rooms.agora import Agora
from bench.rooms.hcom import Hcom
from bench.rooms.mail import Mail
from bench.rooms.ours import Mufakat
from bench.rooms.room import CLIENTS, CONTEND, TIMED, Room
from bench.rooms.tables import POSTGRES, SQLITE, Measured, Standing
from equipment.postgres import Cluster


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is measured."""

    rounds: int = 5
    seconds: float = 1.0
    """Of one operation in one round."""
    messages: int = 100_000
    leases: int = 500
    listeners: int = 200
    said: int = 30


SMALL = Sizes(rounds=1, seconds=0.3, messages=300, leases=20, listeners=20, said=3)
"""With BENCH_SMALL in the environment, to try the script itself."""


def sizes_of(environ: Mapping[str, str]) -> Sizes:
    """As usual; BENCH_MESSAGES and BENCH_ROUNDS make a slow machine's run shorter."""
    usual = SMALL if environ.get("BENCH_SMALL") else Sizes()
    messages = int(environ.get("BENCH_MESSAGES", usual.messages))
    return replace(usual, messages=messages, rounds=int(environ.get("BENCH_ROUNDS", usual.rounds)))


def main() -> str:
    """Run the whole measurement; answers the tables as Markdown."""
    if sys.platform != "linux":
        raise SystemExit("bench: only Linux shows the processor time of a server from outside")
    sizes = sizes_of(os.environ)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        place = Path(folder)
        # PostgreSQL runs as another user.
        place.chmod(0o755)
        found = Measured(sizes.messages, sizes.leases, sizes.listeners)
        found.disk.append(probe.fsync(place))
        with postgres.running(place / "postgres") as cluster:
            say("beside the peers")
            ours = [Mufakat(SQLITE), Mufakat(POSTGRES, store=_database(cluster))]
            with opened(place, [*ours, Agora(), Mail(), Hcom()]) as rooms:
                side_by_side(rooms, found, sizes)
                hooks.measure(rooms, found)
            for name, store in ((SQLITE, ""), (POSTGRES, cluster)):
                say(f"{name}, filled")
                urls = [_database(store) if isinstance(store, Cluster) else "" for _ in range(2)]
                found.standing[name] = filled(place, urls, sizes)
        found.disk.append(probe.fsync(place))
    return tables.whole(found)


def _database(cluster: Cluster) -> str:
    return cluster.url(cluster.create())


@contextmanager
def opened(place: Path, rooms: Sequence[Room]) -> Iterator[Sequence[Room]]:
    """All of them, each in a folder of its own, until the block ends."""
    try:
        for one in rooms:
            one.open(Path(tempfile.mkdtemp(dir=place)))
        yield rooms
    finally:
        for one in rooms:
            one.close()


def side_by_side(rooms: Sequence[Room], found: Measured, sizes: Sizes) -> None:
    """Every operation in every room, in turns; every round begins with another one."""
    for turn in range(sizes.rounds):
        say(f"round {turn + 1} of {sizes.rounds}")
        for what in TIMED:
            for clients in (1, CLIENTS):
                for one in _turned(rooms, turn):
                    found.keep(one.name, what, clients, one.run(what, clients, sizes.seconds))
    for one in rooms:
        if CONTEND in one.knows:
            one.contend()
        found.rooms[one.name] = one.version
        found.memory[one.name] = one.memory if one.pid else None
        found.tools[one.name] = one.listed()
        found.contended[one.name] = one.contended if CONTEND in one.knows else None


def _turned(rooms: Sequence[Room], turn: int) -> Sequence[Room]:
    at = turn % len(rooms)
    return (*rooms[at:], *rooms[:at])


def filled(place: Path, stores: Sequence[str], sizes: Sizes) -> Standing:
    """A room that holds much beside one that holds little, in turns; then the listeners."""
    little, much = (Mufakat(name, store=store) for name, store in zip("lm", stores, strict=True))
    standing = Standing()
    with opened(place, [little, much]):
        standing.fill = much.fill(sizes.messages)
        much.hold(sizes.leases)
        for turn in range(sizes.rounds):
            for what in TIMED:
                for one in _turned((little, much), turn):
                    load = one.run(what, CLIENTS, sizes.seconds)
                    (standing.much if one is much else standing.little).keep(what, load)
        standing.heard = listeners.measure(much, listeners=sizes.listeners, said=sizes.said)
        standing.memory = much.memory
    return standing


def say(what: str) -> None:
    """Tell whoever waits how far it is."""
    print(f"bench: {what}", file=sys.stderr, flush=True)
