"""A described change is answered with the files that it touches, by text, path and history."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from equipment.code_index import paths
from mufakat.core.knowledge import code_past
from mufakat.ports.knowledge import Way
from mufakat.retrieval.code import changes
from mufakat.retrieval.code.changes import Changes
from mufakat.retrieval.code.index import LocalCodeIndex

pytestmark = pytest.mark.anyio
WHO = ("-c", "user.name=ana", "-c", "user.email=ana@example.org", "-c", "commit.gpgsign=false")


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *WHO, *words], cwd=root, check=True, capture_output=True)


def commit(root: Path, message: str, **files: str) -> None:
    for name, text in files.items():
        (root / name.replace("_dot_", ".")).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", message)


@pytest.fixture
def repository(root: Path) -> Path:
    git(root, "init", "-q", "--initial-branch=main", ".")
    commit(root, "First")
    commit(root, "Raise the pinned release of widget", lock_dot_txt="one==1\n")
    return root


async def test_a_change_is_answered_with_its_files_and_a_listing(
    index: LocalCodeIndex, root: Path
) -> None:
    found = await index.search(root, "Fix how cookies are parsed", way=Way.FILES)
    assert paths(found)[0] == "cookie.py"
    assert found.hits[0].symbol == "parse_cookie"
    assert found.listing.split()[0] == "cookie.py"
    assert not any(hit.text for hit in found.hits)


async def test_a_file_is_found_by_what_was_said_when_it_changed(
    index: LocalCodeIndex, repository: Path
) -> None:
    found = await index.search(repository, "Raise the release of gadget", way=Way.FILES)
    assert paths(found)[0] == "lock.txt"
    # The same without its past: no word of the file says it.
    subprocess.run(["rm", "-r", ".git"], cwd=repository, check=True)
    assert "lock.txt" not in paths(
        await index.search(repository, "Raise the release of gadget", way=Way.FILES)
    )


async def test_a_named_path_comes_first(index: LocalCodeIndex, root: Path) -> None:
    found = await index.search(root, "Cookies: mend tests/test_store.py", way=Way.FILES)
    assert paths(found)[0] == "tests/test_store.py"


async def test_the_listing_keeps_to_its_room(index: LocalCodeIndex, root: Path) -> None:
    for number in range(60):
        (root / f"cookie_number_{number}.py").write_text("cookie = 1\n")
    found = await index.search(root, "cookie", way=Way.FILES, chars=200)
    assert 100 < len(found.listing) <= 200


async def test_an_empty_description_says_so(index: LocalCodeIndex, root: Path) -> None:
    found = await index.search(root, " -- ", way=Way.FILES)
    assert (found.hits, found.listing) == ((), "")
    assert found.why == "the query has no word to search for"


async def test_the_past_follows_new_commits(repository: Path) -> None:
    read = Changes()
    first = await read.of(repository)
    assert await read.of(repository) is first
    commit(repository, "Shorten it", cookie_dot_py="x = 1\n")
    second = await read.of(repository)
    assert second.files[0] == ("cookie.py",)
    assert second.files[1:] == first.files[:]


async def test_what_git_does_not_tell_is_no_past(tmp_path: Path, repository: Path) -> None:
    assert await Changes().of(tmp_path) is code_past.NONE
    assert await Changes(seconds=0.0).of(repository) is code_past.NONE


def test_a_log_that_was_cut_short_is_read_as_far_as_it_goes() -> None:
    log = "\x01One\n\x01\0\na.py\0b.py\0\0\x01Two\n\x01\0\nc.p"
    assert [*changes.parse(log).files] == [("a.py", "b.py"), ("c.p",)]
    assert changes.parse("\x01One").files == []
