"""A real CLI beside the scripted model server, for every test in this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engines import running
from equipment import clis, wire
from equipment.model_server import server

Real = Callable[..., running.Bench]


@pytest.fixture
def model() -> Iterator[server.ModelServer]:
    """A model server that says yes until it gets its script."""
    if reason := clis.skip_reason():
        pytest.skip(reason)
    with server.ModelServer({"default": {"text": "Yes."}}) as made:
        yield made


@pytest.fixture
def real(model: server.ModelServer, tmp_path: Path) -> Real:
    """Makes the bench of a CLI by name."""

    def make(name: str, **more: Any) -> running.Bench:
        return running.real(name, tmp_path, model, **more)

    return make


@pytest.fixture
def heard(model: server.ModelServer) -> Callable[[], str]:
    """Everything the model was sent in its last request."""
    return lambda: wire.all_text(model.bodies()[-1])
