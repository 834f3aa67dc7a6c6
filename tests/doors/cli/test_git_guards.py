"""Git guards: a commit or push of what somebody else holds is refused, and nothing else."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipment.command import Mufakat
from mufakat.cli import git_guards
from mufakat.sdk.agent import Agent

AUTHOR = {
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
}
OWN = '#!/bin/sh\necho own "$@" >> own.log\ncat >> own.log\n'


@pytest.fixture
def repository(own: Mufakat) -> Iterator[Mufakat]:
    """A repository with a remote, guards in it, and a running server."""
    git(own, "init", "-q", "-b", "main")
    git(own, "init", "-q", "--bare", "remote.git")
    git(own, "remote", "add", "origin", "remote.git")
    assert own.run("up", "--detach").code == 0
    yield own


def git(home: Mufakat, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", *words],
        cwd=home.project,
        env=home.environment(MUFAKAT_HOME=str(home.home), **AUTHOR, **environ),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def commit(home: Mufakat, name: str, **environ: str) -> subprocess.CompletedProcess[str]:
    (home.project / name).write_text("x")
    git(home, "add", name)
    return git(home, "commit", "-q", "-m", name, **environ)


def join(home: Mufakat) -> Agent:
    return Agent.join("holder", project=home.project, place=home.home)


def test_a_commit_of_what_somebody_holds_is_refused(repository: Mufakat) -> None:
    assert repository.run("hooks", "install", "git").code == 0
    assert commit(repository, "free.txt").returncode == 0
    with join(repository) as agent, agent.lease("file:held*", ttl=60, reason="refactoring"):
        refused = commit(repository, "held.txt")
        assert refused.returncode == 1
        assert agent.identity in refused.stderr and "refactoring" in refused.stderr
        assert "--no-verify" in refused.stderr
        token = str(agent.record["token"])
        assert git(repository, "commit", "-q", "-m", "x", MUFAKAT_TOKEN=token).returncode == 0
        git(repository, "rm", "-q", "--cached", "held.txt")
    assert git(repository, "commit", "-q", "-m", "removed").returncode == 0


def test_a_push_to_a_branch_that_somebody_holds_is_refused(repository: Mufakat) -> None:
    commit(repository, "free.txt")
    assert repository.run("hooks", "install", "git").code == 0
    with join(repository) as agent, agent.lease("branch:main", ttl=60):
        refused = git(repository, "push", "-q", "origin", "main")
        assert refused.returncode != 0 and agent.identity in refused.stderr
        assert git(repository, "push", "-q", "origin", "main:other").returncode == 0
    assert git(repository, "push", "-q", "origin", "main").returncode == 0


def test_a_commit_under_a_lost_guard_is_refused(repository: Mufakat) -> None:
    assert repository.run("hooks", "install", "git").code == 0
    with join(repository) as agent, agent.lease("task:x", ttl=60) as lease:
        fence = str(lease.fences["task:x"])
        under = {"MUFAKAT_RESOURCE": "task:x", "MUFAKAT_FENCE": fence}
        assert commit(repository, "a.txt", **under).returncode == 0
    lost = commit(repository, "b.txt", **under)
    assert lost.returncode == 1 and "task:x is lost" in lost.stderr


def test_nobody_is_stopped_where_no_server_answers(repository: Mufakat) -> None:
    assert repository.run("hooks", "install", "git").code == 0
    with join(repository) as agent:
        agent.lease("file:**", ttl=60).acquire()
        repository.kill()
        assert commit(repository, "held.txt").returncode == 0
        repository.run("up", "--detach")


def test_the_hooks_that_are_there_run_too_and_come_back(repository: Mufakat) -> None:
    folder = repository.project / ".git" / "hooks"
    for kind in git_guards.KINDS:
        (folder / kind).write_text(OWN)
        (folder / kind).chmod(0o755)
    before = {path.name: (path.read_bytes(), path.stat().st_mode) for path in folder.iterdir()}
    assert repository.run("hooks", "install", "git").code == 0
    assert repository.run("hooks", "install", "git").code == 0, "twice is once"
    assert commit(repository, "a.txt").returncode == 0
    assert git(repository, "push", "-q", "origin", "main").returncode == 0
    told = (repository.project / "own.log").read_text()
    assert "own origin remote.git" in told and "refs/heads/main" in told
    assert len(git_guards.installed(repository.project)) == 2
    assert repository.run("hooks", "remove", "git").code == 0
    after = {path.name: (path.read_bytes(), path.stat().st_mode) for path in folder.iterdir()}
    assert after == before


def test_a_hook_that_refuses_still_refuses(repository: Mufakat) -> None:
    hook = repository.project / ".git" / "hooks" / "pre-commit"
    hook.write_text("#!/bin/sh\nexit 7\n")
    hook.chmod(0o755)
    assert repository.run("hooks", "install", "git").code == 0
    assert commit(repository, "a.txt").returncode != 0


def test_hooks_of_another_tool_are_left_alone(repository: Mufakat) -> None:
    git(repository, "config", "core.hooksPath", ".husky")
    refused = repository.run("hooks", "install", "git")
    assert (refused.code, refused.error["code"]) == (2, "invalid_input")
    assert "pre-commit" in refused.error["fix"]
    assert not (repository.project / ".husky").exists()


def test_outside_of_a_repository(own: Mufakat, tmp_path: Path) -> None:
    refused = own.run("hooks", "install", "git", cwd=tmp_path)
    assert (refused.code, refused.error["code"]) == (2, "invalid_input")
