"""A review finds the changes of its branch: in the conditions, the graph and the receipt."""

from __future__ import annotations

import asyncio
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from mufakat.core import secrets
from mufakat.core.base import Unavailable
from mufakat.core.knowledge.found import Found
from mufakat.core.pack.receipt import Receipt
from mufakat.ports.knowledge import Changed
from mufakat.retrieval.branch import LocalChanges
from mufakat.retrieval.graph.local import LocalGraph
from mufakat.services.knowledge import sources
from mufakat.services.knowledge.gathering import Gathering, Subject
from mufakat.services.knowledge.graph import Graphs
from mufakat.services.knowledge.reviewing import Reviewing, Seen
from mufakat.services.request import Ask
from services.conftest import House

pytestmark = pytest.mark.anyio
ROOT = Path("project")
CHANGED = Changed("feature-x", "main@1a2b3c4", ("a.py", "b.py"), 1_000)


class Known:
    """A git that says what the test knows, and counts how often it is asked."""

    def __init__(self, changed: Changed | None = CHANGED, why: str = "") -> None:
        self.changed = changed
        self.why = why
        self.asked: list[str] = []

    async def branch(self, root: Path) -> str:
        self.asked.append("branch")
        return self.changed.branch if self.changed else ""

    async def look(self, root: Path) -> Changed | None:
        self.asked.append("look")
        if self.why:
            raise Unavailable(self.why)
        return self.changed


async def look(changes: Known, prompt: str, role: str = "") -> Seen:
    return await Reviewing(changes, seconds=5).look(ROOT, prompt, role=role)


@pytest.mark.parametrize(
    ("prompt", "role", "why"),
    [
        ("Review this branch.", "", "it says “Review”"),
        ("Go on.", "reviewer", "the role is reviewer"),
        ("Is feature-x ready?", "", "it names the branch feature-x, which touches 2 files"),
    ],
)
async def test_a_review_knows_its_changes(prompt: str, role: str, why: str) -> None:
    seen = await look(Known(), prompt, role)
    assert seen.conditions.review == why
    assert seen.conditions.changes == "2 files changed since main@1a2b3c4"
    assert seen.changed == CHANGED


@pytest.mark.parametrize(
    ("prompt", "asked"),
    [
        ("Write a poem about the sea.", []),
        ("Where is parse found?", []),
        ("Is feature-y ready?", ["branch"]),
    ],
)
async def test_other_turns_pay_nothing_or_a_short_look(prompt: str, asked: list[str]) -> None:
    changes = Known()
    seen = await look(changes, prompt)
    assert (changes.asked, seen.changed, seen.conditions.changes) == (asked, None, "")
    assert not seen.conditions.review


async def test_outside_of_a_repository_there_is_no_word() -> None:
    seen = await look(Known(None), "Review this.")
    assert seen.conditions.review and not seen.conditions.changes
    assert seen.gaps == ()


async def test_what_git_cannot_say_is_a_gap_and_the_review_goes_on() -> None:
    seen = await look(Known(why="git is not installed."), "Review this.")
    assert seen.conditions.review
    assert [(gap.source, gap.why) for gap in seen.gaps] == [("changes", "git is not installed.")]


def run(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def branch(project: Path) -> str:
    """A branch with a commit and a change on top; answers the base's commit."""
    (project / "lamp.py").write_text("def light(level):\n    return level\n")
    (project / "room.py").write_text("from lamp import light\n\n\ndef use():\n    light(1)\n")
    (project / "test_lamp.py").write_text("from lamp import light\n\nassert light(1)\n")
    run(project, "init", "-q", "-b", "main")
    run(project, "add", ".")
    run(project, "commit", "-qm", "First")
    run(project, "checkout", "-qb", "feature-x")
    (project / "lamp.py").write_text("def light(level):\n    return level + 1\n")
    run(project, "commit", "-qam", "Second")
    (project / "README.md").write_text("# Demo\n")
    return run(project, "rev-parse", "main")[:7]


@pytest.fixture
def patient(house: House, tmp_path: Path) -> House:
    """The application with more time for its sources than a machine under load needs."""
    graphs = Graphs(house.app.store, LocalGraph(tmp_path / "graphs"), house.app.scrub)
    packing = house.app.turns._packing  # noqa: SLF001
    known = {"graph": graphs.source(sources.graph(graphs))}
    packing._gathering = Gathering(known, secrets.scrub, seconds=30)  # noqa: SLF001
    packing._reviewing = Reviewing(LocalChanges(), seconds=30)  # noqa: SLF001
    return house


async def receipt(house: House, prompt: str) -> Receipt:
    ask = Ask(prompt, str(house.project), engine="scripted")
    return (await house.app.turns.preview(ask)).receipt


@pytest.mark.parametrize("prompt", ["Review this.", "Is feature-x ready to go?"])
async def test_the_receipt_names_base_and_count_and_the_graph_is_told(
    patient: House, branch: str, prompt: str
) -> None:
    told = await receipt(patient, prompt)
    assert f"review: 2 files changed since main@{branch}" in told.notes
    (graph,) = (row for row in told.sections if row.kind == "graph")
    ids = [item.id for item in graph.items]
    assert ids[0] == "graph:changed"
    assert "graph:reach:test_lamp.py" in ids
    assert told.unavailable == ()


async def test_another_request_has_no_word_of_the_branch(patient: House, branch: str) -> None:
    told = await receipt(patient, "Write a poem.")
    assert not [note for note in told.notes if note.startswith("review")]
    assert "graph" not in {row.kind for row in told.sections}


async def test_twin_a_build_that_does_not_look_at_the_branch_misses_it(
    patient: House, branch: str
) -> None:
    packing = patient.app.turns._packing  # noqa: SLF001
    packing._reviewing = Reviewing(seconds=30)  # noqa: SLF001
    assert not [
        note
        for note in (await receipt(patient, "Is feature-x ready to go?")).notes
        if note.startswith("review")
    ]


async def test_the_applications_own_packing_looks_at_git(house: House, branch: str) -> None:
    assert isinstance(house.app.knowledge.reviewing._changes, LocalChanges)  # noqa: SLF001
    packing = house.app.turns._packing  # noqa: SLF001
    assert packing._reviewing is house.app.knowledge.reviewing  # noqa: SLF001


async def test_a_hanging_git_costs_the_deadline(house: House) -> None:
    class Hanging(Known):
        async def look(self, root: Path) -> Changed | None:
            await asyncio.sleep(60)
            return None

    packing = house.app.turns._packing  # noqa: SLF001
    packing._reviewing = Reviewing(Hanging(), seconds=0.2)  # noqa: SLF001
    began = time.monotonic()
    told = await receipt(house, "Review this.")
    assert time.monotonic() - began < 6
    assert ("changes", "timed out after 200 ms") in [(g.source, g.why) for g in told.unavailable]


async def test_changes_in_documents_alone_are_told_without_a_reach(
    house: House, project: Path, tmp_path: Path
) -> None:
    (project / "lamp.py").write_text("x = 1\n")
    graphs = Graphs(house.app.store, LocalGraph(tmp_path / "graphs"), house.app.scrub)
    source = graphs.source(sources.graph(graphs))
    changed = Changed("", "HEAD@1a2b3c4", ("README.md",), 400)
    found: Sequence[Found] = await source(Subject(project, "Review this.", changed=changed))
    assert [(one.id, one.text) for one in found] == [("graph:changed", "README.md")]


async def test_a_diff_in_the_request_comes_before_the_branch(
    house: House, project: Path, tmp_path: Path
) -> None:
    (project / "lamp.py").write_text("def light():\n    return 1\n")
    (project / "test_lamp.py").write_text("from lamp import light\n")
    graphs = Graphs(house.app.store, LocalGraph(tmp_path / "graphs"), house.app.scrub)
    diff = "diff --git a/lamp.py b/lamp.py\n--- a/lamp.py\n+++ b/lamp.py\n@@ -1 +1 @@\n-x\n+y\n"
    subject = Subject(project, f"Review this:\n{diff * 4}", changed=CHANGED)
    found = await graphs.source(sources.graph(graphs))(subject)
    assert "graph:changed" not in {one.id for one in found}
    assert found[0].id == "graph:reach:test_lamp.py"
