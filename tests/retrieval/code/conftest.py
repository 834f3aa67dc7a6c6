"""A project, a home, and an index between them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from equipment.code_index import SESSION
from mufakat.retrieval.code.index import LocalCodeIndex


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    (folder / "tests").mkdir(parents=True)
    (folder / "store.py").write_text(SESSION)
    (folder / "cookie.py").write_text("def parse_cookie(header):\n    return header.split(';')\n")
    (folder / "tests" / "test_store.py").write_text("def test_open_session():\n    pass\n")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
async def index(home: Path) -> AsyncIterator[LocalCodeIndex]:
    made = LocalCodeIndex(home / "index" / "code", home=home)
    yield made
    await made.close()
