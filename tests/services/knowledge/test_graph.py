"""The graph for a review fits its budget, says where it comes from, and shows no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from mufakat.core.base import Unavailable
from mufakat.core.knowledge.found import Found
from mufakat.ports.knowledge import Node, Review
from mufakat.retrieval.graph.local import LocalGraph
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.graph import Graphs
from services.conftest import House

pytestmark = pytest.mark.anyio
TOKEN = "ghp_" + "aB3" * 12


@pytest.fixture
def graphs(house: House, project: Path, tmp_path: Path) -> Graphs:
    (project / "lamp.py").write_text("def light(level):\n    return level\n")
    for number in range(12):
        text = f"from lamp import light\n\n\ndef use():\n    return light('{TOKEN}', {number})\n"
        (project / f"room_{number}.py").write_text(text)
    (project / "test_lamp.py").write_text("from lamp import light\n\nassert light(1)\n")
    return Graphs(house.app.store, LocalGraph(tmp_path / "graphs"), house.app.scrub)


def size(found: list[Found]) -> int:
    return sum(len(one.head) + len(one.text) + 2 for one in found)


async def test_what_a_review_should_know(graphs: Graphs, project: Path) -> None:
    found = await graphs.facts(project, ["lamp.py"], ["light"], chars=100_000)
    assert found[0].id == "graph:reach:test_lamp.py"
    assert {one.source for one in found} == {"graph"}
    assert all(one.key.startswith("graph ") for one in found)
    assert any(one.head.startswith("tests of light: test_lamp.py") for one in found)
    assert TOKEN not in repr(found)
    assert "[secret:github-token:" in repr(found)


@pytest.mark.parametrize("chars", [0, 50, 120, 500, 2_000])
async def test_a_small_diff_gets_no_graph_larger_than_itself(
    graphs: Graphs, project: Path, chars: int
) -> None:
    whole = await graphs.facts(project, ["lamp.py"], ["light"], chars=100_000)
    assert size(whole) > 2_000
    found = await graphs.facts(project, ["lamp.py"], ["light"], chars=chars)
    assert size(found) <= chars
    assert found == whole[: len(found)]


async def test_without_a_budget_it_would_be_larger(
    graphs: Graphs, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Graphs, "_within", lambda self, found, chars: list(found))
    assert size(await graphs.facts(project, ["lamp.py"], ["light"], chars=50)) > 50


DIFF = """diff --git a/lamp.py b/lamp.py
--- a/lamp.py
+++ b/lamp.py
@@ -1,2 +1,2 @@
 def light(level):
-    return level
+    return level + 1
"""


async def test_a_diff_in_the_request_is_what_is_looked_at(graphs: Graphs, project: Path) -> None:
    async def named(subject: Subject) -> list[Found]:
        return [Found("x", "graph", subject.text, "")]

    source = graphs.source(named)
    found = list(await source(Subject(project, f"Review this:\n{DIFF}\nThank you for it.")))
    assert found[0].id == "graph:reach:test_lamp.py"
    assert size(found) <= len(DIFF) + 1
    (other,) = await source(Subject(project, "Who uses light?"))
    assert other.head == "Who uses light?"


class Reviewing:
    """A program that has something to say, or fails."""

    def __init__(self, said: Review | None) -> None:
        self.said = said

    async def review(self, root: Path, *, base: str = "HEAD") -> Review | None:
        if self.said is None:
            raise Unavailable("it took longer than 10 seconds.")
        return self.said


async def test_what_another_program_says_comes_with_it_and_its_failing_costs_nothing(
    house: House, graphs: Graphs, project: Path, tmp_path: Path
) -> None:
    graph = LocalGraph(tmp_path / "graphs")
    said = Review(f"Risky {TOKEN}", 0.6, gaps=(Node("lamp.py", 1, "light", ""),))
    with_it = Graphs(house.app.store, graph, house.app.scrub, Reviewing(said))
    first, *rest = await with_it.facts(project, ["lamp.py"], chars=10_000)
    assert first.head == "code-review-graph: risk 0.60"
    assert "without a test: lamp.py:1 light" in first.text and TOKEN not in first.text
    assert rest == await graphs.facts(project, ["lamp.py"], chars=10_000)
    failing = Graphs(house.app.store, graph, house.app.scrub, Reviewing(None))
    first, *rest = await failing.facts(project, ["lamp.py"], chars=10_000)
    assert "longer than 10 seconds" in first.text
    assert rest


async def test_nothing_named_is_nothing_told(graphs: Graphs, project: Path) -> None:
    assert await graphs.facts(project, [], chars=1_000) == []
