"""What the system tells saves a search its look at all files, and hides nothing."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from equipment.code_index import paths
from mufakat.retrieval.code import index as indexes
from mufakat.retrieval.code import refresh, walk, watching
from mufakat.retrieval.code.index import LocalCodeIndex
from mufakat.retrieval.code.watching import Watches

pytestmark = pytest.mark.anyio


class Looks:
    """Counts looks at all files, and at single folders."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.whole = 0
        self.folders: list[str] = []
        files, inside = walk.Walk.files, walk.Walk.inside

        def all_files(found: walk.Walk) -> object:
            self.whole += 1
            return files(found)

        def of_one(found: walk.Walk, path: str, known: frozenset[str]) -> object:
            self.folders.append(path)
            return inside(found, path, known)

        monkeypatch.setattr(refresh.Walk, "files", all_files)
        monkeypatch.setattr(refresh.Walk, "inside", of_one)

    def taken(self) -> tuple[int, list[str]]:
        """What there was since this was last asked."""
        found = (self.whole, self.folders)
        self.whole, self.folders = 0, []
        return found


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> Looks:
    monkeypatch.setattr(indexes, "FRESH_SECONDS", 0.0)
    monkeypatch.setattr(indexes, "PATIENCE_SECONDS", 60.0)
    return Looks(monkeypatch)


@pytest.fixture
async def watched(root: Path, home: Path, looks: Looks) -> AsyncIterator[LocalCodeIndex]:
    """An index whose project is watched and trusted."""
    made = LocalCodeIndex(home / "index" / "code", home=home)
    await made.refresh(root)
    await made.refresh(root)
    looks.taken()
    yield made
    await made.close()


async def until(index: LocalCodeIndex, root: Path, query: str, wanted: list[str]) -> None:
    """Search until that is found: the system may tell a moment later."""
    found: list[str] = []
    for _ in range(200):
        found = paths(await index.search(root, query))
        if found == wanted:
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"{found} instead of {wanted}")


async def test_nothing_changed_and_nothing_is_looked_at(
    watched: LocalCodeIndex, root: Path, looks: Looks
) -> None:
    for _ in range(3):
        assert paths(await watched.search(root, "parse_cookie")) == ["cookie.py"]
    assert looks.taken() == (0, [])


async def test_of_a_changed_file_only_its_folder_is_looked_at(
    watched: LocalCodeIndex, root: Path, looks: Looks
) -> None:
    (root / "tests" / "test_store.py").write_text("def test_brand_new():\n    pass\n")
    await until(watched, root, "brand_new", ["tests/test_store.py"])
    whole, folders = looks.taken()
    assert (whole, set(folders)) == (0, {"tests"})
    (root / "tests" / "test_store.py").unlink()
    (root / "other.py").write_text("def another_thing():\n    pass\n")
    await until(watched, root, "another_thing", ["other.py"])
    await until(watched, root, "brand_new", [])
    assert looks.taken()[0] == 0
    assert {skip.path for skip in (await watched.standing(root)).last.skipped} == set()  # type: ignore[union-attr]


def new_folder(root: Path) -> None:
    (root / "more").mkdir()
    (root / "more" / "found.py").write_text("def zanzibar():\n    pass\n")


def moved_folder(root: Path) -> None:
    (root / "tests" / "test_store.py").write_text("def zanzibar():\n    pass\n")
    (root / "tests").rename(root / "more")
    (root / "more" / "test_store.py").rename(root / "more" / "found.py")


def other_rules(root: Path) -> None:
    new_folder(root)
    (root / ".gitignore").write_text("cookie.py\n")


@pytest.mark.parametrize("change", [new_folder, moved_folder, other_rules])
async def test_changes_of_folders_and_of_rules_are_looked_at_as_a_whole(
    watched: LocalCodeIndex, root: Path, looks: Looks, change: Callable[[Path], None]
) -> None:
    change(root)
    await until(watched, root, "zanzibar", ["more/found.py"])
    assert looks.taken()[0] > 0
    (root / "more" / "found.py").write_text("def madagascar():\n    pass\n")
    await until(watched, root, "madagascar", ["more/found.py"])
    hidden = change is other_rules
    assert paths(await watched.search(root, "header")) == ([] if hidden else ["cookie.py"])


async def test_a_link_to_the_outside_is_neither_watched_nor_read(
    watched: LocalCodeIndex, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("def hidden_treasure():\n    pass\n")
    (root / "link").symlink_to(outside)
    (root / "plain.py").write_text("def plain_thing():\n    pass\n")
    await until(watched, root, "plain_thing", ["plain.py"])
    await watched.refresh(root)
    assert watched._watches.folders(root) == {"", "tests"}
    (root / "tests").rename(root / "gone")
    (root / "tests").symlink_to(outside)
    await until(watched, root, "open_session", ["store.py", "gone/test_store.py"])
    assert paths(await watched.search(root, "hidden_treasure")) == []


async def test_ignored_folders_are_not_watched(root: Path, home: Path, looks: Looks) -> None:
    (root / "node_modules" / "x").mkdir(parents=True)
    (root / "build").mkdir()
    (root / ".gitignore").write_text("build/\n")
    index = LocalCodeIndex(home / "index" / "code", home=home)
    await index.refresh(root)
    assert index._watches.folders(root) == {"", "tests"}
    await index.close()
    assert index._watches.folders(root) == frozenset()


class Told:
    """A system that tells what a test says."""

    def __init__(self) -> None:
        self.answer: set[tuple[int, str]] | Exception = set()
        self.closed = False

    def watch(self, *_: object) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        told, self.answer = self.answer, set()
        return told or "timeout"

    def close(self) -> None:
        self.closed = True


class System:
    """Watches of a system, and its clock."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.started: list[Told] = []
        self.fails = False
        self.watches = Watches(self.start, clock=lambda: self.now)

    def start(self, folders: list[str]) -> Told:
        if self.fails:
            raise OSError(28, "no more watches")
        self.started.append(Told())
        return self.started[-1]

    def trusted(self, root: Path, folders: set[str]) -> Told:
        """A watch that is trusted."""
        for _ in range(2):
            self.watches.looked(root, folders, began=self.now)
            self.now += 1
        return self.started[-1]


ROOT = Path("/project")


def test_a_watch_is_trusted_only_after_a_look_that_began_later() -> None:
    system = System()
    assert system.watches.changed(ROOT) is None
    system.watches.looked(ROOT, {""}, began=system.now - 1)
    assert system.watches.changed(ROOT) is None
    system.watches.looked(ROOT, {""}, began=system.now)
    assert system.watches.changed(ROOT) == frozenset()
    system.watches.doubt(ROOT)
    assert system.watches.changed(ROOT) is None


def test_nothing_is_trusted_for_long() -> None:
    system = System()
    system.trusted(ROOT, {""})
    system.now += watching.TRUST_SECONDS + 1
    assert system.watches.changed(ROOT) is None
    system.watches.looked(ROOT, {""}, began=system.now)
    assert system.watches.changed(ROOT) == frozenset()


@pytest.mark.parametrize(
    ("path", "folders"),
    [
        ("/project/a.py", {""}),
        ("/project/src/a.py", {"src"}),
        ("/project/src", None),
        ("/project/src/.gitignore", None),
        ("/project/more/a.py", None),
        ("/elsewhere/a.py", None),
        ("/project", None),
    ],
)
def test_what_is_told_is_a_folder_or_everything(path: str, folders: set[str] | None) -> None:
    system = System()
    told = system.trusted(ROOT, {"", "src"})
    told.answer = {(2, path)}
    assert system.watches.changed(ROOT) == folders
    assert system.watches.changed(ROOT) == frozenset()


def test_very_many_changes_are_looked_at_as_a_whole() -> None:
    system = System()
    known = {f"d{number}" for number in range(200)}
    told = system.trusted(ROOT, {"", *known})
    told.answer = {(2, f"/project/{name}/a.py") for name in known}
    assert system.watches.changed(ROOT) is None


@pytest.mark.parametrize("problem", [OSError(5, "no"), RuntimeError("a name that is no text")])
def test_after_a_failure_all_files_are_looked_at_for_a_while(problem: Exception) -> None:
    system = System()
    told = system.trusted(ROOT, {""})
    told.answer = problem
    assert system.watches.changed(ROOT) is None
    assert told.closed
    system.watches.looked(ROOT, {""}, began=system.now)
    assert len(system.started) == 1
    system.now += watching.AGAIN_SECONDS + 1
    system.trusted(ROOT, {""})
    assert system.watches.changed(ROOT) == frozenset()


def test_a_system_that_watches_no_more_folders() -> None:
    system = System()
    system.fails = True
    system.watches.looked(ROOT, {""}, began=system.now)
    assert system.watches.changed(ROOT) is None


def test_few_projects_are_watched_and_each_not_for_ever() -> None:
    system = System()
    roots = [Path(f"/p{number}") for number in range(watching.MOST_PROJECTS + 2)]
    for root in roots:
        system.trusted(root, {""})
    assert [told.closed for told in system.started] == [True] * 2 + [False] * 8
    assert system.watches.changed(roots[0]) is None
    assert system.watches.changed(roots[-1]) == frozenset()
    system.now += watching.IDLE_SECONDS + 1
    system.watches.rest()
    assert all(told.closed for told in system.started)


def test_too_many_folders_are_not_watched() -> None:
    system = System()
    folders = {f"d{number}" for number in range(watching.MOST_FOLDERS + 1)}
    system.watches.looked(ROOT, folders, began=system.now)
    assert system.started == []


async def test_twin_a_watch_that_is_trusted_at_once_misses_what_came_before_it(
    root: Path, home: Path, looks: Looks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that is written between the look and the watch is not told of."""

    async def missed(watches: Watches) -> bool:
        index = LocalCodeIndex(home / "index" / "code", home=home, watches=watches)
        real = watches._start

        def late(folders: list[str]) -> object:
            (root / "between.py").write_text("def written_between():\n    pass\n")
            return real(folders)

        monkeypatch.setattr(watches, "_start", late)
        await index.refresh(root)
        found = paths(await index.search(root, "written_between"))
        await index.close()
        (root / "between.py").unlink()
        return not found

    class Trusting(Watches):
        def looked(self, root: Path, folders: object, *, began: float) -> None:
            super().looked(root, folders, began=began)  # type: ignore[arg-type]
            self._watches[root].looked = self._clock()

    assert not await missed(Watches())
    assert await missed(Trusting())
