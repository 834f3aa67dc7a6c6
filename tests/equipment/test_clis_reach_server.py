"""Each real CLI once, by its plain command line, against the model server.

When these fail, the equipment or the CLI has changed, not Mufakat.
"""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from equipment import clis, plain, wire
from equipment.model_server import server

pytestmark = pytest.mark.clis

MARK = "MARK-QUESTION"
ANSWER = "MARK-ANSWER"


@pytest.fixture(autouse=True)
def installed() -> None:
    if reason := clis.skip_reason():
        pytest.skip(reason)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "README.md").write_text("The secret word is PELICAN.\n")
    return folder


@pytest.mark.parametrize("name", clis.NAMES)
def test_a_real_cli_asks_the_server_and_prints_its_answer(
    name: str, project: Path, tmp_path: Path
) -> None:
    look = {"name": "$shell", "args": {"command": "cat README.md"}}
    turns = [{"tools": [look]}, {"text": ANSWER + " {{LAST_TOOL_RESULT}}"}]
    with server.ModelServer({"turns": turns}) as model:
        setup = clis.setup(name, model.base, tmp_path / "home")
        turn = plain.Turn(prompt=MARK, session=str(uuid.uuid4()))
        finished = plain.run(setup, turn, project, timeout=90.0)
        bodies = model.bodies()
    assert finished.exit_code == 0, finished.stderr
    assert ANSWER in finished.stdout
    assert "PELICAN" in finished.stdout
    assert len(bodies) == 2
    assert wire.find_text(bodies[0], MARK)
    assert "PELICAN" in wire.all_text(bodies[1])
