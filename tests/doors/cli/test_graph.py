"""`mufakat graph`: places and reached files, as a table and as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from equipment.command import Mufakat


@pytest.fixture
def code(shared: Mufakat) -> Path:
    (shared.project / "lamp.py").write_text("def light(level):\n    return level\n")
    (shared.project / "test_lamp.py").write_text("from lamp import light\n\nassert light(1)\n")
    return shared.project


def test_each_relation_answers(shared: Mufakat, code: Path) -> None:
    for relation in ("definition", "callers", "callees", "importers", "tests"):
        found = shared.run("graph", relation, "light")
        assert found.code == 0, found.err
        assert isinstance(found.json["items"], list)
    found = shared.run("graph", "definition", "light", "--no-json")
    assert "lamp.py:1" in found.out


def test_blast_names_files_and_reasons(shared: Mufakat, code: Path) -> None:
    found = shared.run("graph", "blast", "lamp.py", "--no-json")
    assert found.code == 0, found.err
    assert "test_lamp.py" in found.out and "same name" in found.out
    assert shared.run("graph", "blast", "none.py").code != 0
