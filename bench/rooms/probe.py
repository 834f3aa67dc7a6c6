"""What the disk does by itself: how long it takes to write a page for good."""

from __future__ import annotations

import os
import time
from pathlib import Path
from statistics import median

PAGE = os.urandom(4096)


def fsync(folder: Path, *, count: int = 200) -> float:
    """Median milliseconds to append a page to a file and have it on the disk."""
    took = []
    with (folder / "probe").open("wb", buffering=0) as file:
        for _ in range(count):
            began = time.perf_counter()
            file.write(PAGE)
            os.fdatasync(file.fileno())
            took.append(1000 * (time.perf_counter() - began))
    return median(took)
