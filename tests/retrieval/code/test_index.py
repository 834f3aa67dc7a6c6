"""The index follows the files, answers while it is made, and heals by being made again."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from equipment.code_index import SESSION, fresh, paths
from mufakat.retrieval.code import index as indexes
from mufakat.retrieval.code import reading, refresh, store
from mufakat.retrieval.code.index import LocalCodeIndex

pytestmark = pytest.mark.anyio


def file_of(home: Path) -> Path:
    return next((home / "index" / "code").glob("*.db"))


async def test_a_hit_names_lines_symbol_score_and_reason(index: LocalCodeIndex, root: Path) -> None:
    found = await index.search(root, "SessionStore")
    hit = found.hits[0]
    assert (hit.path, hit.start, hit.end) == ("store.py", 1, 6)
    assert hit.symbol == "SessionStore"
    assert hit.why.startswith("defines it")
    assert hit.text == SESSION.rstrip("\n")
    assert hit.size == len(hit.text)
    assert hit.score > 0


async def test_the_projects_own_code_before_its_tests(index: LocalCodeIndex, root: Path) -> None:
    assert paths(await index.search(root, "open session")) == ["store.py", "tests/test_store.py"]


async def test_it_follows_what_is_written_moved_and_deleted(
    index: LocalCodeIndex, root: Path
) -> None:
    first = await index.refresh(root)
    assert (first.files, first.changed, first.complete) == (3, 3, True)
    assert (await index.refresh(root)).changed == 0
    (root / "store.py").write_text("class Warehouse:\n    pass\n")
    (root / "cookie.py").rename(root / "biscuit.py")
    (root / "tests" / "test_store.py").unlink()
    second = await index.refresh(root)
    assert (second.files, second.changed) == (2, 2)
    assert await fresh(index, root, "Warehouse") == ["store.py"]
    assert await fresh(index, root, "table") == []
    assert await fresh(index, root, "parse_cookie") == ["biscuit.py"]


async def test_a_search_looks_at_the_files_again_by_itself(
    index: LocalCodeIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index.refresh(root)
    (root / "new.py").write_text("def brand_new_thing():\n    pass\n")
    monkeypatch.setattr(indexes, "FRESH_SECONDS", 0.0)
    assert paths(await index.search(root, "brand_new_thing")) == ["new.py"]


async def test_many_refreshes_are_joined_and_nothing_is_lost(
    index: LocalCodeIndex, root: Path, home: Path
) -> None:
    for number in range(refresh.JOIN_AT + 3):
        (root / "store.py").write_text(f"def generation_{number}():\n    pass\n")
        await index.refresh(root)
    kept = store.Store(file_of(home))
    try:
        assert kept.segments() <= refresh.JOIN_AT
    finally:
        kept.close()
    assert await fresh(index, root, f"generation_{number}") == ["store.py"]
    assert await fresh(index, root, "parse_cookie") == ["cookie.py"]


async def test_the_commit_that_it_stands_on(index: LocalCodeIndex, root: Path) -> None:
    assert (await index.refresh(root)).commit == ""
    words = ["git", "-c", "user.name=t", "-c", "user.email=t@t.invalid"]
    for more in (["init", "-q"], ["add", "."], ["commit", "-qm", "First"]):
        subprocess.run([*words, *more], cwd=root, check=True)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=root, check=True, capture_output=True, text=True
    )
    assert (await index.refresh(root)).commit == head.stdout.strip()


async def test_what_is_left_out_is_told_each_time(index: LocalCodeIndex, root: Path) -> None:
    (root / "data.txt").write_bytes(b"a\0b")
    (root / "bundle.js").write_text("x" * 9_000)
    (root / "link.py").symlink_to(root / "store.py")
    for _ in range(2):
        skips = {skip.path: skip.why for skip in (await index.refresh(root)).skipped}
        assert skips == {
            "link.py": "a link",
            "data.txt": "binary",
            "bundle.js": "its lines are too long for a person's code",
        }


async def test_a_search_while_the_first_index_is_made_says_so(
    index: LocalCodeIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go = threading.Event()
    real = reading.read

    def slow(folder: int, path: str, *, largest: int) -> reading.Content:
        go.wait(20)
        return real(folder, path, largest=largest)

    monkeypatch.setattr(refresh.reading, "read", slow)
    early = await index.search(root, "SessionStore")
    assert early.hits == ()
    assert early.why == "the index is being made: 0 of 3 files are read"
    assert (await index.standing(root)).running
    go.set()
    await index.refresh(root)
    monkeypatch.undo()
    assert paths(await index.search(root, "SessionStore"))[0] == "store.py"


async def test_progress_is_told(index: LocalCodeIndex, root: Path) -> None:
    told: list[tuple[int, int]] = []
    await index.refresh(root, lambda done, of: told.append((done, of)))
    assert told[0] == (0, 3)
    assert told[-1] == (3, 3)
    assert (await index.standing(root)).files == 3


@pytest.mark.parametrize("damage", [b"", b"no database at all" * 100])
async def test_a_broken_index_is_made_again(
    index: LocalCodeIndex, root: Path, home: Path, damage: bytes
) -> None:
    await index.refresh(root)
    await index.close()
    file = file_of(home)
    store.discard(file)
    file.write_bytes(damage)
    again = LocalCodeIndex(home / "index" / "code", home=home)
    assert paths(await again.search(root, "parse_cookie")) == ["cookie.py"]
    await again.close()


async def test_an_index_that_breaks_while_it_is_searched_is_made_again(
    index: LocalCodeIndex, root: Path, home: Path
) -> None:
    await index.search(root, "parse_cookie")
    with sqlite3.connect(file_of(home)) as db:
        db.execute("UPDATE files SET pieces = 'no json'")
    db.close()
    assert paths(await index.search(root, "parse_cookie")) == ["cookie.py"]


async def test_an_index_of_another_format_is_made_again(
    index: LocalCodeIndex, root: Path, home: Path
) -> None:
    await index.refresh(root)
    await index.close()
    with sqlite3.connect(file_of(home)) as db:
        db.execute("UPDATE meta SET value = '0' WHERE key = 'format'")
    db.close()
    again = LocalCodeIndex(home / "index" / "code", home=home)
    assert (await again.refresh(root)).changed == 3
    await again.close()


KILLED = """
import asyncio, sys
from pathlib import Path
from mufakat.retrieval.code import making
from mufakat.retrieval.code.index import LocalCodeIndex
making.PACKED = 50
async def run():
    index = LocalCodeIndex(Path(sys.argv[2]) / "index" / "code", home=Path(sys.argv[2]))
    await index.refresh(Path(sys.argv[1]), lambda done, of: print(done, flush=True))
asyncio.run(run())
"""


async def test_killed_while_it_is_made_it_goes_on_from_there(root: Path, home: Path) -> None:
    for number in range(3_000):
        (root / f"f{number}.py").write_text(f"def function_{number}(a, b):\n    return a + b\n")
    words = [sys.executable, "-c", KILLED, str(root), str(home)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE)
    assert child.stdout is not None
    for line in child.stdout:
        if int(line) >= 500:
            os.kill(child.pid, signal.SIGKILL)
            break
    child.wait(timeout=30)
    child.stdout.close()
    index = LocalCodeIndex(home / "index" / "code", home=home)
    found = await index.refresh(root)
    assert found.files == 3_003
    assert 0 < found.changed < 3_003
    for number in (0, 1_500, 2_999):
        assert paths(await index.search(root, f"function_{number}"))[0] == f"f{number}.py"
    await index.close()


def many(root: Path, number: int) -> None:
    for one in range(number):
        (root / f"f{one}.py").write_text(f"def function_{one}(a, b):\n    return a + b\n")


async def test_cancelled_it_keeps_what_it_has_and_goes_on_from_there(
    index: LocalCodeIndex, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many(root, 600)
    reached = threading.Event()
    real = reading.read

    def told(folder: int, path: str, *, largest: int) -> reading.Content:
        if path == "f300.py":
            reached.set()
            time.sleep(0.3)
        return real(folder, path, largest=largest)

    monkeypatch.setattr(refresh.reading, "read", told)
    state = await index.begin(root)
    assert (state.running, state.complete) == (True, False)
    await asyncio.to_thread(reached.wait, 30)
    state = await index.cancel(root)
    assert (state.running, state.complete, state.error) == (False, False, "")
    assert 0 < state.files < 603
    again = await index.refresh(root)
    assert (again.files, again.changed) == (603, 603 - state.files)
    assert (await index.standing(root)).complete
    assert (await index.cancel(root)).complete


async def test_made_anew_every_file_is_read_again(index: LocalCodeIndex, root: Path) -> None:
    await index.refresh(root)
    assert paths(await index.search(root, "parse_cookie")) == ["cookie.py"]
    state = await index.begin(root, anew=True)
    assert (state.files, state.complete) == (0, False)
    found = await index.refresh(root)
    assert (found.files, found.changed) == (3, 3)
    assert paths(await index.search(root, "parse_cookie")) == ["cookie.py"]


async def test_made_anew_while_it_is_made(index: LocalCodeIndex, root: Path) -> None:
    many(root, 400)
    await index.begin(root)
    await index.begin(root, anew=True)
    assert (await index.refresh(root)).changed == 403


async def test_an_index_that_somebody_deletes_is_made_again(
    index: LocalCodeIndex, root: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexes, "FRESH_SECONDS", 0.0)
    for _ in range(3):
        assert paths(await index.search(root, "parse_cookie")) == ["cookie.py"]
    store.discard(file_of(home))
    assert paths(await index.search(root, "parse_cookie")) == ["cookie.py"]
    assert file_of(home).exists()


async def test_another_run_of_the_server_knows_whether_all_was_read(
    index: LocalCodeIndex, root: Path, home: Path
) -> None:
    await index.refresh(root)
    await index.close()
    again = LocalCodeIndex(home / "index" / "code", home=home)
    state = await again.standing(root)
    assert (state.files, state.complete, state.running) == (3, True, False)
    await again.close()


async def test_closing_stops_a_refresh(root: Path, home: Path) -> None:
    for number in range(500):
        (root / f"f{number}.py").write_text("x = 1\n")
    index = LocalCodeIndex(home / "index" / "code", home=home)
    await index.begin(root)
    await asyncio.sleep(0)
    began = time.monotonic()
    await index.close()
    assert time.monotonic() - began < 10


async def test_its_own_home_is_not_indexed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "token.py").write_text("zanzibar = 1\n")
    (tmp_path / "a.py").write_text("kalimantan = 1\n")
    index = LocalCodeIndex(home / "index" / "code", home=home)
    assert await fresh(index, tmp_path, "zanzibar") == []
    assert await fresh(index, tmp_path, "kalimantan") == ["a.py"]
    await index.close()


async def test_twin_an_index_that_does_not_know_its_home_reads_it(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "token.py").write_text("zanzibar = 1\n")
    index = LocalCodeIndex(home / "index" / "code", home=tmp_path / "elsewhere")
    assert await fresh(index, tmp_path, "zanzibar") == ["home/token.py"]
    await index.close()


async def test_texts_share_one_budget(index: LocalCodeIndex, root: Path) -> None:
    for number in range(20):
        (root / f"many{number}.py").write_text("def shared_word():\n" + "    x = 1\n" * 50)
    found = await index.search(root, "shared_word", limit=20, chars=1_000)
    assert sum(hit.size for hit in found.hits) <= 1_000
    assert all(hit.size == len(hit.text) for hit in found.hits)
    assert 1 <= len(found.hits) < 20


async def test_two_searches_at_once(index: LocalCodeIndex, root: Path) -> None:
    found = await asyncio.gather(*(index.search(root, "parse_cookie") for _ in range(20)))
    assert {tuple(paths(one)) for one in found} == {("cookie.py",)}


async def test_many_projects_keep_few_indexes_open(index: LocalCodeIndex, tmp_path: Path) -> None:
    for number in range(indexes.OPEN + 4):
        folder = tmp_path / f"p{number}"
        folder.mkdir()
        (folder / "a.py").write_text(f"def only_here_{number}():\n    pass\n")
        assert await fresh(index, folder, f"only_here_{number}") == ["a.py"]
    assert len(index._projects) <= indexes.OPEN + 1
    assert await fresh(index, tmp_path / "p0", "only_here_0") == ["a.py"]


async def test_a_refresh_that_is_stopped_forgets_nothing(root: Path, tmp_path: Path) -> None:
    stop = threading.Event()
    made = store.open_store(tmp_path / "index.db")
    try:
        refresh.Refresh(root, made, frozenset(), stop=stop).run()
        stop.set()
        found = refresh.Refresh(root, made, frozenset(), stop=stop).run()
        assert (found.files, found.complete) == (3, False)
    finally:
        made.close()
