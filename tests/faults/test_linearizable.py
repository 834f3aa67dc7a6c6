"""Leases over HTTP are linearizable, also while the server is killed; a build that looks first and
takes afterwards is not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from equipment import lease_history, live_server
from equipment.contender import Arena, fight
from equipment.postgres import Cluster
from mufakat.storage.leases import GENERATION_BITS

pytestmark = pytest.mark.timeout(300)
SMALL = (8, 4, 4.0, 0)
FULL = pytest.param((32, 8, 5.0, 10_000), marks=[pytest.mark.slow, pytest.mark.timeout(900)])
TTLS = (5, 10, 15)


def refused(path: Path, *, before: int) -> Sequence[str]:
    """The check itself: resources whose history no single lease could have had."""
    parts = lease_history.read(path)
    assert len(parts) > 1
    return [
        name
        for name, part in parts.items()
        if not lease_history.checker(part, before=before).linearizable(part)
    ]


def fought(
    home: Path, size: tuple[int, int, float, int], *changes: str, **environ: str
) -> Sequence[str]:
    """Fight in a fresh home, keep the history, and check it."""
    contenders, resources, seconds, operations = size
    arena = Arena([f"task:t{number}" for number in range(resources)], TTLS)
    with live_server.serving(home, "tenth", *changes, **environ) as server:
        fight(server, arena, contenders, seconds=seconds, operations=operations)
    path = home / "history.jsonl"
    lease_history.write(path, arena.history)
    print(path, len(arena.history), "operations", sum(one.open for _, one in arena.history), "open")
    assert len(arena.history) >= max(operations, 50)
    return refused(path, before=1 << GENERATION_BITS)


@pytest.mark.parametrize("size", [SMALL, FULL])
def test_q2_every_history_is_linearizable(
    tmp_path: Path, size: tuple[int, int, float, int]
) -> None:
    assert not fought(tmp_path, size)


@pytest.mark.xdist_group("postgres-faults")
@pytest.mark.parametrize("size", [SMALL, FULL])
def test_q2_on_postgresql_too(
    tmp_path: Path, cluster: Cluster, database: str, size: tuple[int, int, float, int]
) -> None:
    assert not fought(tmp_path, size, MUFAKAT_STORE=cluster.url(database))


def test_q2_twin_looking_first_and_taking_afterwards_is_refused(tmp_path: Path) -> None:
    assert fought(tmp_path, SMALL, "check_then_act")
