"""code-review-graph by its real keys, as a stand-in program: slow, broken, huge, hostile ones."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import pytest

from mufakat.core.base import Unavailable
from mufakat.ports.knowledge import Node
from mufakat.retrieval.graph.reviewer import KEPT_GRAPH, NAME, CodeReviewGraph

pytestmark = pytest.mark.anyio


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / KEPT_GRAPH).mkdir(parents=True)
    return folder


def stand_in(tmp_path: Path, program: str, *, seconds: float = 10) -> CodeReviewGraph:
    """A program of that name that does what a test says."""
    folder = tmp_path / "bin"
    folder.mkdir()
    path = folder / NAME
    path.write_text(f"#!{sys.executable}\nimport sys, time\n{program}\n")
    path.chmod(0o755)
    return CodeReviewGraph({"PATH": str(folder)}, seconds=seconds)


def answer(root: Path) -> str:
    light = {
        "name": "light",
        "file_path": f"{root}/app/lamp.py",
        "line_start": 1,
        "risk_score": 0.6,
    }
    return json.dumps(
        {
            "summary": "Analyzed 1 changed file(s)",
            "risk_score": 0.595,
            "changed_functions": [light, "odd", {"name": "x", "file_path": "/etc/passwd"}],
            "affected_flows": [],
            "test_gaps": [{"name": "light", "file": f"{root}/app/lamp.py", "line_start": 1}],
            "review_priorities": [light],
            "context_savings": {},
        }
    )


async def test_its_keys_are_read(root: Path, tmp_path: Path) -> None:
    said = f"assert sys.argv[1:] == ['detect-changes', '--base=HEAD', '--repo', {str(root)!r}]\n"
    reviewer = stand_in(tmp_path, f"{said}print({answer(root)!r})")
    found = await reviewer.review(root)
    assert found is not None
    light = Node("app/lamp.py", 1, "light", "")
    assert (found.summary, found.risk) == ("Analyzed 1 changed file(s)", 0.595)
    assert (found.changed, found.gaps, found.priorities) == ((light,), (light,), (light,))


async def test_where_it_is_not_there_nothing_is_said(root: Path, tmp_path: Path) -> None:
    assert await CodeReviewGraph({"PATH": str(tmp_path / "none")}).review(root) is None
    (root / KEPT_GRAPH).rmdir()
    assert await stand_in(tmp_path, "raise SystemExit(1)").review(root) is None


@pytest.mark.parametrize(
    "program",
    ["print('no json')", "print('[1]')", "raise SystemExit(1)", "print('[' * 100_000)",
     "sys.stdout.write('x' * 10_000_000)"],
)  # fmt: skip
async def test_a_broken_one_is_unavailable(root: Path, tmp_path: Path, program: str) -> None:
    with pytest.raises(Unavailable):
        await stand_in(tmp_path, program).review(root)


async def test_odd_values_are_left_out(root: Path, tmp_path: Path) -> None:
    odd = json.dumps({"summary": 1, "risk_score": "high", "test_gaps": {"a": 1}})
    found = await stand_in(tmp_path, f"print({odd!r})").review(root)
    assert found is not None
    assert (found.summary, found.risk, found.gaps) == ("1", 0.0, ())


async def test_a_slow_one_is_ended(root: Path, tmp_path: Path) -> None:
    reviewer = stand_in(tmp_path, "time.sleep(60)", seconds=0.5)
    began = time.monotonic()
    with pytest.raises(Unavailable, match="took longer"):
        await reviewer.review(root)
    assert time.monotonic() - began < 10
