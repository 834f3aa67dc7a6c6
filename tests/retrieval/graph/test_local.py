"""The graph of a real folder under git: kept fresh, the same every time, nothing outside read."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from mufakat.core.base import InvalidInput, NotFound
from mufakat.ports.knowledge import Relation
from mufakat.retrieval.graph import history
from mufakat.retrieval.graph.local import LocalGraph

pytestmark = pytest.mark.anyio

LAMP = "def light(level):\n    return dim(level)\n\n\ndef dim(level):\n    return level - 1\n"
HOUSE = (
    "from app import lamp\n\n\nclass House:\n    def evening(self):\n        return lamp.light(3)\n"
)
TEST = "from app.lamp import light\n\n\ndef test_light():\n    assert light(2) == 1\n"


def run(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def put(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_py", ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(folder: Path) -> None:
    run(folder, "add", "-A")
    run(folder, "commit", "-qm", "x")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    put(folder, app__lamp_py=LAMP, app__house_py=HOUSE, tests__test_lamp_py=TEST)
    (folder / "app" / "__init__.py").write_text("")
    (folder / "app" / "odd.py").write_text("x = 1\n")
    commit(folder)
    return folder


@pytest.fixture
def graph(tmp_path: Path) -> LocalGraph:
    return LocalGraph(tmp_path / "home", fresh=0)


async def places(graph: LocalGraph, root: Path, relation: Relation, symbol: str) -> list[str]:
    return [f"{n.path}:{n.line} {n.symbol}" for n in await graph.ask(root, relation, symbol)]


async def test_who_stands_in_which_relation(project: Path, graph: LocalGraph) -> None:
    assert await places(graph, project, Relation.DEFINITION, "light") == ["app/lamp.py:1 light"]
    assert await places(graph, project, Relation.DEFINITION, "House.evening") == [
        "app/house.py:5 House.evening"
    ]
    assert await places(graph, project, Relation.DEFINITION, "Hut.evening") == []
    assert await places(graph, project, Relation.CALLERS, "dim") == ["app/lamp.py:2 light"]
    assert "app/house.py:6 House.evening" in await places(graph, project, Relation.CALLERS, "light")
    assert await places(graph, project, Relation.CALLEES, "light") == ["app/lamp.py:5 dim"]
    importers = await places(graph, project, Relation.IMPORTERS, "app/lamp.py")
    assert {one.split(":")[0] for one in importers} == {"app/house.py", "tests/test_lamp.py"}
    tests = await places(graph, project, Relation.TESTS, "light")
    assert {one.split(":")[0] for one in tests} == {"tests/test_lamp.py"}
    tests = await places(graph, project, Relation.TESTS, "app/lamp.py")
    assert [one.split(":")[0] for one in tests] == ["tests/test_lamp.py"]
    (found,) = await graph.ask(project, Relation.DEFINITION, "dim")
    assert found.text == "def dim(level):"


async def test_the_next_answer_sees_what_was_changed(project: Path, graph: LocalGraph) -> None:
    await graph.refresh(project)
    put(project, app__lamp_py=LAMP.replace("def dim", "def darken"))
    (project / "app" / "house.py").unlink()
    assert await places(graph, project, Relation.DEFINITION, "dim") == []
    assert await places(graph, project, Relation.DEFINITION, "House") == []
    again = await graph.refresh(project)
    assert (again.files, again.changed) == (4, 0)


async def test_files_that_change_together_are_reached_and_follow_a_rename(
    project: Path, graph: LocalGraph
) -> None:
    for number in range(3):
        put(project, app__lamp_py=f"{LAMP}\nN = {number}\n", app__odd_py=f"x = {number}0\n")
        commit(project)
    why = {one.path: one.why for one in await graph.blast(project, ["app/lamp.py"])}
    assert "changed together 4 times" in why["app/odd.py"]
    run(project, "mv", "app/odd.py", "app/strange.py")
    commit(project)
    why = {one.path: one.why for one in await graph.blast(project, ["app/lamp.py"])}
    assert "app/odd.py" not in why
    assert "changed together 4 times" in why["app/strange.py"]


async def test_a_history_that_was_rewritten_is_read_anew(project: Path, graph: LocalGraph) -> None:
    put(project, app__lamp_py=LAMP + "\n", app__odd_py="x = 2\n")
    commit(project)
    assert (
        "2 times"
        in {r.path: r.why for r in await graph.blast(project, ["app/lamp.py"])}["app/odd.py"]
    )
    run(project, "reset", "-q", "--soft", "HEAD~1")
    put(project, app__odd_py="x = 1\n")
    commit(project)
    assert (
        "1 time"
        in {r.path: r.why for r in await graph.blast(project, ["app/lamp.py"])}["app/odd.py"]
    )


async def test_without_git_the_rest_still_holds(tmp_path: Path, graph: LocalGraph) -> None:
    folder = tmp_path / "plain"
    put(folder, app__lamp_py=LAMP, tests__test_lamp_py=TEST)
    (reached,) = await graph.blast(folder, ["app/lamp.py"])
    assert reached.path == "tests/test_lamp.py"


async def test_git_runs_nothing_of_a_hostile_repository(
    project: Path, graph: LocalGraph, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    names = ("core.fsmonitor", "core.pager", "diff.external", "gpg.program", "diff.evil.textconv")
    for name in names:
        run(project, "config", name, str(trap))
    run(project, "config", "log.showSignature", "true")
    (project / ".gitattributes").write_text("* diff=evil filter=evil\n")
    put(project, app__lamp_py=LAMP + "\n", app__odd_py="x = 3\n")
    await graph.refresh(project)
    assert await graph.blast(project, ["app/lamp.py"])
    assert not (tmp_path / "sprung").exists()


async def test_links_and_fifos_are_not_read(
    project: Path, graph: LocalGraph, tmp_path: Path
) -> None:
    (tmp_path / "outside.py").write_text("def outside_secret():\n    pass\n")
    (project / "link.py").symlink_to(tmp_path / "outside.py")
    (project / "loop").symlink_to(project)
    os.mkfifo(project / "pipe.py")
    (project / "binary.py").write_bytes(b"\0" * 5_000)
    (project / "nested.py").write_text("(" * 100_000)
    with (project / "sparse.py").open("wb") as file:
        file.truncate(5 * 1024**3)
    done = await graph.refresh(project)
    assert done.complete
    assert await graph.ask(project, Relation.DEFINITION, "outside_secret") == []


async def test_a_path_outside_is_refused(project: Path, graph: LocalGraph) -> None:
    for path in ("../x.py", "/etc/passwd", "a\0b", "", ".git/config"):
        with pytest.raises(InvalidInput):
            await graph.blast(project, [path])
    with pytest.raises(NotFound):
        await graph.blast(project, ["app/none.py"])
    with pytest.raises(InvalidInput):
        await graph.ask(project, Relation.CALLERS, " ")
    with pytest.raises(InvalidInput):
        await graph.ask(project / "none", Relation.CALLERS, "x")


async def test_a_damaged_file_is_made_anew(
    project: Path, graph: LocalGraph, tmp_path: Path
) -> None:
    await graph.refresh(project)
    (kept,) = (tmp_path / "home" / "index" / "graph").glob("*.db")
    kept.write_bytes(b"no database at all" * 1_000)
    assert await places(graph, project, Relation.DEFINITION, "dim") == ["app/lamp.py:5 dim"]


async def test_a_deadline_ends_it_and_the_next_one_goes_on(project: Path, tmp_path: Path) -> None:
    ticks = iter(range(10_000))
    hasty = LocalGraph(tmp_path / "home", seconds=-1, fresh=0, clock=lambda: float(next(ticks)))
    assert not (await hasty.refresh(project)).complete
    patient = LocalGraph(tmp_path / "home", fresh=0)
    assert (await patient.refresh(project)).complete


PROGRAM = """
import asyncio, sys
from pathlib import Path
from mufakat.ports.knowledge import Relation
from mufakat.retrieval.graph.local import LocalGraph

async def main():
    graph, root = LocalGraph(Path(sys.argv[1])), Path(sys.argv[2])
    print(await graph.blast(root, ["app/lamp.py"], limit=50))
    for relation in Relation:
        print(await graph.ask(root, relation, "light"))

asyncio.run(main())
"""


def test_the_same_project_gives_the_same_bytes(project: Path, tmp_path: Path) -> None:
    said = set()
    for seed in ("0", "1", "77"):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(tmp_path / f"home{seed}"), str(project)],
            env=os.environ | {"PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        )
        said.add(done.stdout)
    assert len(said) == 1


def test_a_log_that_was_cut_short_loses_its_last_commit_alone() -> None:
    row = ":100644 100644 aaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbb M\0{}.py\0"
    text = (
        f"\x01{'1' * 40}\0{row.format('a')}{row.format('b')}\0\x01{'2' * 40}\0{row.format('a')}:100"
    )
    assert [one.changed for one in history.parse(text)] == [("a.py", "b.py")]


def test_a_database_of_another_format_is_made_anew(tmp_path: Path) -> None:
    from mufakat.retrieval.graph.database import Database

    path = tmp_path / "x.db"
    db = sqlite3.connect(path)
    db.execute("CREATE TABLE files(a)")
    db.execute("PRAGMA user_version=99")
    db.close()
    opened = Database(path)
    assert opened.marks() == {}
    opened.close()
