"""A server, and two agents of one project."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from equipment import command
from mufakat.sdk.agent import Agent


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[command.Mufakat]:
    """A home with a running server, for all tests of a module."""
    found = command.fresh(tmp_path_factory.mktemp("shared"))
    started = found.run("up", "--detach")
    assert started.code == 0, started.err
    yield found
    found.kill()


@pytest.fixture
def agents(shared: command.Mufakat) -> Iterator[tuple[Agent, Agent]]:
    """A developer and a reviewer."""
    pair = [
        Agent.join(name, role=role, project=shared.project, place=shared.home)
        for name, role in (("one", "developer"), ("two", "reviewer"))
    ]
    yield pair[0], pair[1]
    for one in pair:
        one.leave()
