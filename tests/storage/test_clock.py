"""The high-water clock, apart from any database and over one that is opened again."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipment.store_records import Readings
from mufakat.core.base import Event, Millis
from mufakat.storage import clock, store
from mufakat.storage.clock import HighWater, SystemReadings

HOUR = 3_600_000


def test_t1_the_wall_clock_is_read_once() -> None:
    readings = Readings(wall_ms=1_000_000)
    high = HighWater(0, readings)
    readings.wall_ms += HOUR
    readings.elapsed_ms += 5
    assert high.now() == 1_000_005
    assert high.drift() == HOUR - 5
    readings.wall_ms -= 2 * HOUR
    assert high.now() == 1_000_005


def test_t1_elapsed_time_that_steps_back_does_not_turn_it_back() -> None:
    readings = Readings(wall_ms=1_000_000, elapsed_ms=500)
    high = HighWater(0, readings)
    readings.elapsed_ms = 0
    assert high.now() == 1_000_000


@pytest.mark.parametrize(("mark", "gap"), [(0, 0), (400, 600), (5_000, -4_000)])
def test_t1_the_gap_at_start_is_known(mark: int, gap: int) -> None:
    high = HighWater(mark, Readings(wall_ms=1_000))
    assert high.gap == gap
    assert high.now() == max(mark, 1_000)


def test_the_real_clocks_move_forward() -> None:
    readings = SystemReadings()
    assert readings.wall() > 1_700_000_000_000
    first = readings.elapsed()
    assert readings.elapsed() >= first > 0


async def goes_on_after_a_restart(path: Path) -> None:
    """The check itself: with the wall clock an hour back, time is not."""
    times: list[Millis] = []
    for wall in (10 * HOUR, 9 * HOUR):
        opened = await store.open_store(path, readings=Readings(wall_ms=wall))
        times.append(await opened.read(lambda tx: tx.now()))
        await opened.write(lambda tx: tx.events.record(Event("x", "y")))
        times.append(await opened.read(lambda tx: tx.now()))
        await opened.close()
    assert times == sorted(times)


@pytest.mark.anyio
async def test_t1_time_goes_on_after_a_restart(path: Path) -> None:
    await goes_on_after_a_restart(path)


@pytest.mark.anyio
async def test_t1_twin_a_clock_without_its_mark_goes_back(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = clock.HighWater.__init__
    monkeypatch.setattr(
        clock.HighWater, "__init__", lambda self, mark, readings: original(self, 0, readings)
    )
    with pytest.raises(AssertionError):
        await goes_on_after_a_restart(path)
