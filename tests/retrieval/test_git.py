"""Git is asked without letting a hostile repository run anything."""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from pathlib import Path

import pytest

from mufakat.retrieval import git, project

pytestmark = pytest.mark.anyio


def run(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@t.invalid")
    done = subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    run(folder, "init", "-q", "-b", "trunk")
    (folder / "a.txt").write_text("one\n")
    run(folder, "add", ".")
    run(folder, "commit", "-qm", "First")
    return folder


@pytest.fixture
def hostile(repository: Path, tmp_path: Path) -> Path:
    """A repository whose own configuration starts a program wherever git allows it."""
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\ncat\n")
    trap.chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "diff.external", "filter.evil.clean",
                 "filter.evil.process", "core.sshCommand", "alias.status"):  # fmt: skip
        run(repository, "config", name, str(trap))
    run(repository, "config", "diff.evil.textconv", str(trap))
    hooks = repository / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / name).symlink_to(trap)
    (repository / ".gitattributes").write_text("* filter=evil diff=evil\n")
    (repository / "a.txt").write_text("changed\n")
    return repository


async def test_branch_and_commit(repository: Path) -> None:
    assert await project.position(repository) == project.Position(
        "trunk", run(repository, "rev-parse", "HEAD")
    )


async def test_outside_a_repository_there_is_no_position(tmp_path: Path) -> None:
    assert await project.position(tmp_path) == project.Position()


async def test_before_the_first_commit_and_on_a_detached_head(
    tmp_path: Path, repository: Path
) -> None:
    run(tmp_path, "init", "-q", "-b", "new")
    assert await project.position(tmp_path) == project.Position("new", "")
    run(repository, "checkout", "-q", "--detach")
    assert (await project.position(repository)).branch == ""


async def test_row_46_nothing_of_a_hostile_repository_is_run(hostile: Path, tmp_path: Path) -> None:
    sprung = tmp_path / "sprung"
    assert (await project.position(hostile)).branch == "trunk"
    assert await project.is_ancestor(hostile, run(hostile, "rev-parse", "HEAD"))
    assert not sprung.exists()


async def test_twin_plain_git_springs_the_trap(hostile: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "status"], cwd=hostile, check=False, capture_output=True)
    assert (tmp_path / "sprung").exists()


@pytest.mark.parametrize("commit", ["--output=stolen", "-h", "HEAD; touch stolen", "no such", ""])
async def test_a_commit_is_never_an_option(repository: Path, commit: str) -> None:
    assert not await project.is_ancestor(repository, commit)
    assert {path.name for path in repository.iterdir()} == {".git", "a.txt"}


async def test_rewritten_history_is_noticed(repository: Path) -> None:
    before = run(repository, "rev-parse", "HEAD")
    run(repository, "commit", "-q", "--allow-empty", "-m", "On top")
    assert await project.is_ancestor(repository, before)
    run(repository, "commit", "-q", "--amend", "--allow-empty", "-m", "Rewritten")
    on_top = run(repository, "rev-parse", "HEAD@{1}")
    assert not await project.is_ancestor(repository, on_top)


def test_row_47_only_named_variables_reach_git() -> None:
    kept = git.environment({**os.environ, "GIT_DIR": "/x", "LD_PRELOAD": "/y", "PATH": "/bin"})
    assert "GIT_DIR" not in kept
    assert "LD_PRELOAD" not in kept
    assert kept["GIT_TERMINAL_PROMPT"] == "0"


def stand_in(tmp_path: Path, script: str) -> dict[str, str]:
    program = tmp_path / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"PATH": f"{program.parent}:{os.defpath}"}


async def test_an_output_without_an_end_is_cut(tmp_path: Path) -> None:
    environ = stand_in(tmp_path, "yes")
    began = time.monotonic()
    assert await git.ask(tmp_path, "log", environ=environ, most=9) == "y\ny\ny\ny\ny"
    assert len(await git.ask(tmp_path, "log", environ=environ)) == git.LONGEST
    assert time.monotonic() - began < 15


@pytest.mark.parametrize("script", ["sleep 60", "sleep 60 &\nwait", "sleep 60 >&1 &", "yes >&2"])
async def test_a_git_without_an_end_costs_its_time_limit(tmp_path: Path, script: str) -> None:
    began = time.monotonic()
    with pytest.raises(git.GitFailed, match="longer than"):
        await git.ask(tmp_path, "log", environ=stand_in(tmp_path, script), seconds=0.5)
    assert time.monotonic() - began < 6


async def test_a_question_that_is_called_off_at_any_moment_ends(repository: Path) -> None:
    for steps in range(40):
        asked = asyncio.create_task(git.ask(repository, "status"))
        for _ in range(steps):
            await asyncio.sleep(0)
        asked.cancel()
        _, pending = await asyncio.wait([asked], timeout=15)
        assert not pending, steps


async def test_many_words_of_complaint_are_no_trouble(tmp_path: Path) -> None:
    script = "head -c 3000000 /dev/zero | tr '\\0' x >&2\necho out"
    assert await git.ask(tmp_path, "log", environ=stand_in(tmp_path, script)) == "out\n"
    (tmp_path / "bin/git").write_text("#!/bin/sh\necho why >&2\nexit 1\n")
    with pytest.raises(git.GitFailed, match="^why$"):
        await git.ask(tmp_path, "log", environ={"PATH": f"{tmp_path}/bin:{os.defpath}"})


async def test_git_that_is_not_installed_is_a_reason_and_no_crash(repository: Path) -> None:
    with pytest.raises(git.GitFailed, match="not installed"):
        await git.ask(repository, "status", environ={"PATH": "/nonexistent"})
