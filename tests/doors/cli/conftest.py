"""A server of its own for each module, and fresh homes for tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from equipment import command


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[command.Mufakat]:
    """A home with a running server, for all tests of a module."""
    found = command.fresh(tmp_path_factory.mktemp("shared"))
    started = found.run("up", "--detach")
    assert started.code == 0, started.err
    yield found
    found.kill()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[command.Mufakat]:
    """A home for one test; no server runs yet."""
    found = command.fresh(tmp_path)
    yield found
    found.kill()
