"""Puts guards in front of the hooks of a git repository, and takes them out again."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from mufakat.core.base import Conflict, InvalidInput
from mufakat.sdk import git_guard

KINDS = ("pre-commit", "pre-push")
MARK = "# mufakat git guard"
OWN = ".own"
"""Suffix of the user's hook while ours stands in its place."""
_SCRIPT = """#!/bin/sh
{mark}: asks whether another agent holds what is {done}.
# `mufakat hooks remove git` takes it out again; the hook that was here runs after it.
input=$({read})
printf '%s\\n' "$input" | {guard} {kind} "$@" || exit $?
[ -x "$0{own}" ] || exit 0
printf '%s\\n' "$input" | "$0{own}" "$@"
"""


def install(repository: Path) -> list[Path]:
    """Write both guards; a hook that is there runs after ours. Answers what was written."""
    folder = hooks_folder(repository)
    written = []
    for kind in KINDS:
        hook = folder / kind
        if is_ours(hook):
            continue
        own = hook.with_name(kind + OWN)
        if hook.exists() and own.exists():
            raise Conflict(f"{own} is in the way.", fix="Move it away, then install again.")
        if hook.exists():
            hook.rename(own)
        new = hook.with_name(kind + ".new")
        new.write_text(script(kind), "utf-8")
        new.chmod(0o755)
        new.rename(hook)
        written.append(hook)
    return written


def remove(repository: Path) -> list[Path]:
    """Take both guards out; the user's hooks are as they were. Answers what was removed."""
    folder = hooks_folder(repository)
    removed = []
    for kind in KINDS:
        hook = folder / kind
        if not is_ours(hook):
            continue
        own = hook.with_name(kind + OWN)
        if own.exists():
            own.rename(hook)
        else:
            hook.unlink()
        removed.append(hook)
    return removed


def installed(repository: Path) -> list[Path]:
    """The guards that are in place."""
    folder = hooks_folder(repository)
    return [folder / kind for kind in KINDS if is_ours(folder / kind)]


def hooks_folder(repository: Path) -> Path:
    """Where git looks for hooks; raises where that folder is part of the repository's files."""
    if "core.hookspath" in _git(repository, "config", "--list").lower():
        raise InvalidInput(
            "This repository sets core.hooksPath, so its hooks belong to another tool.",
            fix=f"Call this from its pre-commit and pre-push: {_command()} pre-commit",
        )
    folder = Path(_git(repository, "rev-parse", "--git-path", "hooks").strip())
    folder = folder if folder.is_absolute() else repository / folder
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def is_ours(hook: Path) -> bool:
    """Whether a hook is a guard of ours."""
    return hook.is_file() and MARK in hook.read_text("utf-8", errors="replace")


def script(kind: str) -> str:
    """The text of a guard; the same for every repository."""
    pushes = kind == "pre-push"
    return _SCRIPT.format(
        mark=MARK,
        done="pushed" if pushes else "committed",
        read="cat" if pushes else ":",
        guard=_command(),
        kind=kind,
        own=OWN,
    )


def _command() -> str:
    return shlex.join([sys.executable, "-I", "-S", git_guard.__file__])


def _git(repository: Path, *words: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(repository), *words], capture_output=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError) as problem:
        raise InvalidInput(
            f"{repository} is not a git repository.", fix="Go into one, or make it: git init"
        ) from problem
    return done.stdout.decode("utf-8", "surrogateescape")
