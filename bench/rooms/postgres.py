"""A PostgreSQL of its own on the disk, as a team would run it, for as long as the measure lasts."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from equipment.postgres import Cluster

SETTINGS = {"autovacuum": "on", "shared_buffers": "128MB", "jit": "on"}


@contextmanager
def running(folder: Path) -> Iterator[Cluster]:
    """A running cluster in the folder, which has to be reachable for everybody."""
    folder.mkdir()
    cluster = Cluster(folder, **SETTINGS)
    cluster.make()
    cluster.start()
    try:
        yield cluster
    finally:
        cluster.stop(signal.SIGINT)
