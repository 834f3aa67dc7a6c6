"""`mufakat hooks`: let the agents that a person starts by hand take part, and let them go again."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from mufakat.cli import output
from mufakat.cli.hook_files import installing, place
from mufakat.cli.hook_files.place import Place, Scope
from mufakat.cli.session import Group, Session, use
from mufakat.core.base import NotFound
from mufakat.sdk import home, hook_command

GIT = "git"
"""Not an engine: the guards of a repository, which look at leases before a commit or a push."""
ENGINE = click.argument("engine", required=False, type=click.Choice((*place.ENGINES, GIT)))
SCOPE = (
    click.option("--user", "scope", flag_value=Scope.USER.value, help="Your own settings."),
    click.option(
        "--project",
        "scope",
        flag_value=Scope.PROJECT.value,
        help="Settings of the project in the current folder.",
    ),
)


@click.group(cls=Group)
def command() -> None:
    """Install, remove and list the hooks of agents that you start by hand.

    Agents that Mufakat starts itself need none. Everything else in a settings file keeps its
    bytes. `git` stands for guards in the repository of the current folder: they refuse a commit
    or a push that touches what somebody else has leased.

    \b
    Example:
      mufakat hooks install claude
    """


@command.command()
@ENGINE
@SCOPE[0]
@SCOPE[1]
@use
def install(session: Session, /, engine: str | None, scope: str | None) -> int:
    """Install the hooks of ENGINE, or of every engine that is on PATH.

    \b
    Example:
      mufakat hooks install codex --project
    """
    if engine == GIT:
        return _show(session, _guards("installed", git_guards().install(Path.cwd())))
    names = [engine] if engine else [name for name in place.ENGINES if shutil.which(name)]
    if not names:
        fix = f"Name one of {', '.join(place.ENGINES)}."
        raise NotFound("None of the engines that take hooks is on PATH.", fix=fix)
    done = []
    for one in _places(names, scope or Scope.USER):
        told = _told(session)
        changed = installing.install(one, hook_command.words(), home=session.home, told=told)
        done.append(_row(one, "installed" if changed else "unchanged"))
    return _show(session, done)


@command.command()
@ENGINE
@SCOPE[0]
@SCOPE[1]
@use
def remove(session: Session, /, engine: str | None, scope: str | None) -> int:
    """Remove the hooks of ENGINE, or of all; user and project where neither is named.

    \b
    Example:
      mufakat hooks remove
    """
    if engine == GIT:
        return _show(session, _guards("removed", git_guards().remove(Path.cwd())))
    done = [
        _row(one, "removed" if installing.remove(one, home=session.home) else "absent")
        for one in _places([engine] if engine else place.ENGINES, scope)
    ]
    return _show(session, done)


@command.command("list")
@ENGINE
@SCOPE[0]
@SCOPE[1]
@use
def listing(session: Session, /, engine: str | None, scope: str | None) -> int:
    """List where hooks stand, and what each of them starts.

    \b
    Example:
      mufakat hooks list --json
    """
    if engine == GIT:
        return _show(session, _guards("installed", git_guards().installed(Path.cwd())))
    found = [
        _row(one, "installed" if events else "absent", events)
        for one in _places([engine] if engine else place.ENGINES, scope)
        for events in (installing.installed(one),)
    ]
    return _show(session, found)


def git_guards() -> ModuleType:
    """The module that edits a repository's hooks, loaded where it is asked for."""
    from mufakat.cli import git_guards as guards

    return guards


def _guards(state: str, paths: Sequence[Path]) -> list[dict[str, Any]]:
    row = {"engine": GIT, "scope": Scope.PROJECT.value, "state": state, "note": ""}
    return [{**row, "path": str(path), "events": [path.name]} for path in paths]


def _told(session: Session) -> str:
    """The home, where the hook client would not find it by itself."""
    plain = {name: value for name, value in os.environ.items() if name != "MUFAKAT_HOME"}
    return "" if session.home == home.default_home(plain) else str(session.home)


def _places(engines: Sequence[str], scope: str | None) -> list[Place]:
    folder = Path.cwd()
    found = [
        one for name in engines for one in place.places(name, environ=os.environ, project=folder)
    ]
    return [one for one in found if scope is None or one.scope == scope]


def _row(
    one: Place, state: str, events: Mapping[str, Sequence[str]] | None = None
) -> dict[str, Any]:
    row: dict[str, Any] = {
        "engine": one.engine,
        "scope": str(one.scope),
        "state": state,
        "path": str(one.path),
        "note": one.note if state == "installed" else "",
    }
    if events is not None:
        row["events"] = sorted(events)
    return row


def _show(session: Session, rows: Sequence[Mapping[str, Any]]) -> int:
    if session.json:
        click.echo(output.json_text({"items": rows}))
        return 0
    cells = [
        [output.line(row[name]) for name in ("engine", "scope", "state", "path")] for row in rows
    ]
    click.echo(output.table(("ENGINE", "SCOPE", "STATE", "FILE"), cells))
    for row in rows:
        if row["note"]:
            click.echo(f"{row['engine']}: {row['note']}", err=True)
    return 0
