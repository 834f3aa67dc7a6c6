"""Whole journeys: the application, the real agent CLIs, a scripted model behind them."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from equipment import clis
from equipment.model_server import server
from mufakat import app as application
from mufakat.app import App
from mufakat.settings import EngineSettings, Settings

ENGINES = clis.NAMES


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "README.md").write_text("# Demo\n\nA demo project about pelicans and nothing else.\n")
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-qm", "First"]):
        subprocess.run(
            ["git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", *words],
            cwd=folder,
            check=True,
        )
    return folder


@pytest.fixture
def model() -> Iterator[server.ModelServer]:
    script = {"default": {"text": "Answer number {{N}}."}}
    with server.ModelServer(script) as running:
        yield running


def engine_settings(name: str, base: str, home: Path) -> EngineSettings:
    """What a user would write into `[engines.NAME]` to point a CLI to the model server."""
    setup = clis.setup(name, base, home / name)
    return EngineSettings(
        command=str(setup.command),
        model=setup.model,
        args=setup.args,
        env=setup.env,
        config=setup.config,
    )


@pytest.fixture
async def app(tmp_path: Path, model: server.ModelServer) -> AsyncIterator[App]:
    """The application with all four CLIs pointed to the model server."""
    reason = clis.skip_reason()
    if reason:
        pytest.skip(reason)
    engines = {name: engine_settings(name, model.base, tmp_path / "homes") for name in ENGINES}
    async with AsyncExitStack() as stack:
        built = await application.build(Settings(home=tmp_path / "home", engines=engines))
        stack.push_async_callback(built.close)
        yield built
