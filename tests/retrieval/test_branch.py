"""The changes of a branch: counted from where its work starts, bounded, and nothing is run."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

import pytest

from mufakat.core.base import Unavailable
from mufakat.ports.knowledge import Changed
from mufakat.retrieval import branch, git
from mufakat.retrieval.branch import LocalChanges
from retrieval.test_git import run

pytestmark = pytest.mark.anyio


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "main")
    for name in ("a.py", "b.py", "gone.py"):
        (folder / name).write_text(f"{name} = 1\n")
    (folder / ".gitignore").write_text("*.log\n")
    commit(folder, "First")
    return folder


def commit(folder: Path, message: str) -> str:
    run(folder, "add", ".")
    run(folder, "commit", "-qm", message)
    return run(folder, "rev-parse", "HEAD")


async def look(root: Path) -> Changed:
    found = await LocalChanges().look(root)
    assert found is not None
    return found


async def test_a_branch_has_its_commits_and_what_is_not_committed(repository: Path) -> None:
    base = run(repository, "rev-parse", "HEAD")
    run(repository, "checkout", "-qb", "feature-x")
    (repository / "b.py").write_text("b = 2\n")
    commit(repository, "Second")
    assert (await look(repository)).paths == ("b.py",)
    (repository / "a.py").write_text("a = 2\n")
    (repository / "gone.py").unlink()
    (repository / "new \n name.py").touch()
    (repository / "noise.log").touch()
    (repository / "staged.py").touch()
    run(repository, "add", "staged.py")
    found = await look(repository)
    assert (found.branch, found.base) == ("feature-x", f"main@{base[:7]}")
    assert found.paths == ("a.py", "b.py", "gone.py", "new \n name.py", "staged.py")
    assert found.complete and found.size > 5 * branch.FILE_CHARS
    assert await LocalChanges().branch(repository) == "feature-x"


async def test_what_the_trunk_did_meanwhile_is_no_change_of_the_branch(repository: Path) -> None:
    run(repository, "checkout", "-qb", "feature-x")
    (repository / "b.py").write_text("b = 2\n")
    commit(repository, "Mine")
    run(repository, "checkout", "-q", "main")
    (repository / "a.py").write_text("a = 2\n")
    commit(repository, "Theirs")
    run(repository, "checkout", "-q", "feature-x")
    assert (await look(repository)).paths == ("b.py",)


async def test_the_remotes_head_comes_before_main(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "clone", "-q", str(repository), "clone")
    clone = tmp_path / "clone"
    (clone / "a.py").write_text("a = 2\n")
    commit(clone, "Not pushed")
    found = await look(clone)
    assert found.base.startswith("origin/main@")
    assert found.paths == ("a.py",)


async def test_a_detached_head_has_changes_and_no_branch(repository: Path) -> None:
    run(repository, "checkout", "-q", "--detach")
    (repository / "a.py").write_text("a = 2\n")
    commit(repository, "Nowhere")
    found = await look(repository)
    assert (found.branch, found.paths) == ("", ("a.py",))
    assert found.base.startswith("main@")
    assert await LocalChanges().branch(repository) == ""


async def test_without_a_trunk_only_what_is_not_committed_counts(repository: Path) -> None:
    run(repository, "branch", "-qm", "main", "odd")
    (repository / "a.py").write_text("a = 2\n")
    head = commit(repository, "Second")
    (repository / "b.py").write_text("b = 2\n")
    found = await look(repository)
    assert (found.base, found.paths) == (f"HEAD@{head[:7]}", ("b.py",))


async def test_a_trunk_without_a_common_commit_is_no_base(repository: Path) -> None:
    run(repository, "checkout", "-q", "--orphan", "other")
    head = commit(repository, "Unrelated")
    assert (await look(repository)).base == f"HEAD@{head[:7]}"


async def test_only_the_projects_folder_counts(repository: Path) -> None:
    part = repository / "part"
    part.mkdir()
    (part / "c.py").write_text("c = 1\n")
    commit(repository, "Second")
    (repository / "a.py").write_text("a = 2\n")
    (part / "c.py").write_text("c = 2\n")
    (part / "d.py").touch()
    assert (await look(part)).paths == ("c.py", "d.py")


async def test_without_history_there_is_nothing_to_say(tmp_path: Path) -> None:
    plain, fresh = tmp_path / "plain", tmp_path / "fresh"
    plain.mkdir()
    fresh.mkdir()
    run(fresh, "init", "-q")
    assert await LocalChanges().look(plain) is None
    assert await LocalChanges().look(fresh) is None
    assert await LocalChanges().branch(plain) == ""


async def test_no_more_files_are_told_than_the_limit(repository: Path) -> None:
    for number in range(branch.MOST + 5):
        (repository / f"new_{number:04}.py").touch()
    found = await look(repository)
    assert len(found.paths) == branch.MOST
    assert not found.complete


async def test_an_endless_list_is_cut_and_names_no_half_file(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(150):
        (repository / f"new_{number:04}.py").touch()
    monkeypatch.setattr(branch, "BYTES", 1_000)
    found = await look(repository)
    assert not found.complete
    assert 0 < len(found.paths) < 150
    assert all((repository / path).exists() for path in found.paths)


@pytest.fixture
def hostile(repository: Path, tmp_path: Path) -> Path:
    """A repository whose configuration starts a program wherever a comparison of files would."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for name in ("evil", "ev=il", "e.v.il"):
        for key in ("clean", "smudge", "process"):
            run(repository, "config", f"filter.{name}.{key}", str(trap))
        run(repository, "config", f"filter.{name}.required", "true")
    for key in ("command", "textconv"):
        run(repository, "config", f"diff.evil.{key}", str(trap))
    for key in (
        "core.fsmonitor",
        "diff.external",
        "core.pager",
        "alias.diff",
        "interactive.diffFilter",
    ):
        run(repository, "config", key, str(trap))
    run(repository, "config", "diff.orderFile", "/dev/zero")
    (repository / ".git/info").mkdir(exist_ok=True)
    attributes = ("a.py filter=evil diff=evil", "b.py filter=ev=il", "gone.py filter=e.v.il")
    (repository / ".git/info/attributes").write_text("\n".join(attributes) + "\n")
    for name in ("a.py", "b.py", "gone.py"):
        (repository / name).write_text(f"{name} = 3\n")
    return repository


async def test_row_46_nothing_of_a_hostile_repository_is_run(hostile: Path, tmp_path: Path) -> None:
    assert (await look(hostile)).paths == ("a.py", "b.py", "gone.py")
    assert not (tmp_path / "sprung").exists()


async def test_twin_with_its_filters_on_the_trap_springs(
    hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(folder: Path) -> tuple[str, ...]:
        return ()

    monkeypatch.setattr(git, "without_filters", none)
    with contextlib.suppress(Unavailable):
        await LocalChanges(seconds=3).look(hostile)
    assert (tmp_path / "sprung").exists()


async def test_a_flood_of_filters_is_refused(repository: Path) -> None:
    with (repository / ".git/config").open("a") as config:
        config.writelines(f'[filter "f{n}"]\nclean = x\n' for n in range(git.MOST_FILTERS + 1))
    with pytest.raises(Unavailable, match="more than 100 filters"):
        await look(repository)


def promising(repository: Path, tmp_path: Path) -> Path:
    """A repository that lacks a file's content, and says that a program fetches it."""
    run(repository, "config", "extensions.partialClone", "origin")
    run(repository, "config", "core.repositoryFormatVersion", "1")
    run(repository, "config", "remote.origin.promisor", "true")
    run(repository, "config", "remote.origin.url", f"ext::sh -c touch% {tmp_path}/fetched")
    run(repository, "config", "protocol.ext.allow", "always")
    content = run(repository, "rev-parse", "HEAD:a.py")
    (repository / ".git/objects" / content[:2] / content[2:]).unlink()
    (repository / "a.py").write_text("a = 4\n")
    return tmp_path / "fetched"


async def test_row_46_nothing_is_fetched_by_a_program(repository: Path, tmp_path: Path) -> None:
    fetched = promising(repository, tmp_path)
    with pytest.raises(Unavailable):
        await look(repository)
    assert not fetched.exists()


async def test_twin_the_setting_alone_lets_it_be_fetched(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched, safe = promising(repository, tmp_path), git.environment

    def open_to_all(environ: dict[str, str]) -> dict[str, str]:
        return {name: text for name, text in safe(environ).items() if name != "GIT_ALLOW_PROTOCOL"}

    monkeypatch.setattr(git, "environment", open_to_all)
    with pytest.raises(Unavailable):
        await look(repository)
    assert fetched.exists()


async def test_a_git_that_hangs_costs_the_time_limit(repository: Path) -> None:
    (repository / ".git/config").unlink()
    os.mkfifo(repository / ".git/config")
    began = time.monotonic()
    with pytest.raises(Unavailable, match="longer than"):
        await LocalChanges(seconds=0.5).look(repository)
    with pytest.raises(Unavailable, match="longer than"):
        await LocalChanges(seconds=0.5).branch(repository)
    assert time.monotonic() - began < 6
