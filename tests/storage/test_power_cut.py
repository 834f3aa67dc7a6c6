"""The power fails: what was acknowledged lies on the disk, and nothing there is torn.

A disk is a file under a loop device. When the writer is stopped, that file is copied: it holds what
had been handed to the disk by then, and nothing of what was still in memory.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from equipment import store_writer
from mufakat.storage import store

from .test_crash import lost

pytestmark = [pytest.mark.anyio, pytest.mark.slow, pytest.mark.timeout(1200)]
MEGABYTES = 256
CAREFUL = f"import runpy, sys; runpy.run_path({store_writer.__file__!r}, run_name='__main__')"
CARELESS = "from mufakat.storage import connect; connect.WRITER['synchronous'] = 1; "


def able() -> bool:
    """Whether disks can be made here."""
    tools = all(shutil.which(name) for name in ("mkfs.ext4", "mount", "umount"))
    return tools and os.geteuid() == 0 and Path("/dev/loop-control").exists()


@contextmanager
def mounted(disk: Path, at: Path) -> Iterator[Path]:
    at.mkdir(exist_ok=True)
    subprocess.run(["mount", "-o", "loop", str(disk), str(at)], check=True)
    try:
        yield at
    finally:
        subprocess.run(["umount", str(at)], check=True)


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    if not able():
        pytest.skip("a power cut needs root and loop devices")
    path = tmp_path / "disk"
    with path.open("wb") as file:
        file.truncate(MEGABYTES << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", str(path)], check=True)
    return path


def cut(disk: Path, copy: Path, name: str, program: str, *, seconds: float) -> dict[str, int]:
    """Write for a while, lose the power, and answer what was acknowledged; `copy` is the disk."""
    with mounted(disk, disk.with_name("live")) as live:
        process = subprocess.Popen(
            [sys.executable, "-c", program, str(live / "mufakat.db"), name],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        time.sleep(seconds)
        process.send_signal(signal.SIGSTOP)
        subprocess.run(["cp", "--sparse=always", str(disk), str(copy)], check=True)
        process.kill()
        rest = process.stdout.read()
        process.wait()
        process.stdout.close()
    lines = [line.split() for line in (first + rest).splitlines(keepends=True) if line[-1] == "\n"]
    return {id: int(revision) for id, revision in lines}


async def missing(disk: Path, folder: Path, cuts: int, program: str) -> int:
    """The check itself: acknowledged messages that are not on the disk after a cut."""
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    acknowledged: dict[str, int] = {}
    count = 0
    for number in range(cuts):
        copy = folder / "copy"
        acknowledged |= cut(disk, copy, f"{number:03d}", program, seconds=dice.random() / 2)
        # What the disk held is all that there is from now on.
        copy.replace(disk)
        with mounted(disk, folder / "after") as after:
            opened = await store.open_store(after / "mufakat.db")
            assert not (await opened.check(deep=True)).problems
            await opened.close()
            gone = lost(after / "mufakat.db", acknowledged)
        count += len(gone)
        acknowledged = {id: at for id, at in acknowledged.items() if id not in gone}
    print(len(acknowledged), "acknowledged", count, "lost")
    assert len(acknowledged) > cuts
    return count


async def test_q3_a_power_cut_loses_nothing_that_was_acknowledged(
    disk: Path, tmp_path: Path
) -> None:
    assert await missing(disk, tmp_path, 40, CAREFUL) == 0


async def test_d2_twin_synchronous_normal_loses_messages(disk: Path, tmp_path: Path) -> None:
    assert await missing(disk, tmp_path, 5, CARELESS + CAREFUL) > 0
