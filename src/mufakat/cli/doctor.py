"""`mufakat doctor`: what works, what does not, and how to mend it."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from mufakat.cli import attach, complaint, exit_codes, output
from mufakat.cli.hook_files import firing, place
from mufakat.cli.session import Command, Session, use
from mufakat.core.base import MufakatError
from mufakat.sdk import home
from mufakat.sdk.errors import ServerError

SECRET_FILES = (home.TOKEN, home.DATABASE, home.SERVER)


@click.command(cls=Command)
@use
def command(session: Session, /) -> int:
    """Check engines, store and home; say how to mend what is wrong.

    Exit code 1 when something is broken that was configured: an engine of the settings, the
    database, or the permissions of the home.

    \b
    Example:
      mufakat doctor
    """
    found = _server(session)
    found["home"] = {"path": str(session.home), "problems": _permissions(session.home)}
    found["hooks"] = _hooks(found)
    found["broken"] = _broken(found)
    if session.json:
        click.echo(output.json_text(found))
    else:
        click.echo(_render(session, found))
    return exit_codes.FAILED if found["broken"] else exit_codes.OK


def _server(session: Session) -> dict[str, Any]:
    """What the server knows; why there is none, where it cannot run."""
    try:
        with attach.attached(session) as client:
            found: dict[str, Any] = client.get("/doctor")
            return found | {"server": {"url": client.endpoint.url, "problem": "", "fix": ""}}
    except (MufakatError, ServerError) as problem:
        told = complaint.read(session, problem)
        server = {"url": "", "code": told.code, "problem": told.message, "fix": told.fix}
        return {"engines": [], "default": "", "server": server}


def _hooks(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What became of every hook that is installed here, where there is a server to hear it."""
    if found["server"]["problem"]:
        return []
    everywhere = [
        one
        for engine in place.ENGINES
        for one in place.places(engine, environ=os.environ, project=Path.cwd())
    ]
    return [
        {
            "engine": fired.place.engine,
            "scope": str(fired.place.scope),
            "path": str(fired.place.path),
            "events": list(fired.events),
            "problem": fired.problem,
            "fix": f"mufakat hooks install {fired.place.engine}" if fired.problem else "",
        }
        for fired in firing.fire(everywhere)
    ]


def _permissions(place: Path) -> list[dict[str, str]]:
    """Files of the home that others could read, each with the command that closes it."""
    problems = []
    for path, allowed in [(place, 0o700), *((place / name, 0o600) for name in SECRET_FILES)]:
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & ~allowed & 0o077:
            problem = f"{path} is open to other users (mode {mode:04o})."
            problems.append({"problem": problem, "fix": f"chmod {allowed:o} '{path}'"})
    return problems


def _broken(found: Mapping[str, Any]) -> list[dict[str, str]]:
    """What was configured and does not work: what, why, and how to mend it."""
    broken = []
    if found["server"]["problem"]:
        broken.append({"what": "server"} | _pick(found["server"]))
    store = found.get("store") or {}
    fix = "Restore the newest good backup: mufakat restore FILE"
    broken += [
        {"what": "store", "problem": str(p), "fix": fix} for p in store.get("problems") or ()
    ]
    broken += [{"what": "home"} | _pick(row) for row in found["home"]["problems"]]
    broken += [
        {"what": f"hooks of {row['engine']}"} | _pick(row)
        for row in found["hooks"]
        if row["problem"]
    ]
    embedding = found.get("embedding") or {}
    if embedding.get("problem"):
        fix = "Correct [embedding] in the settings; until then words alone find what was said."
        broken.append({"what": "embedding", "problem": embedding["problem"], "fix": fix})
    wanted = _configured(found)
    for engine in found["engines"]:
        if engine["name"] in wanted and not _usable(engine):
            broken.append({"what": f"engine {engine['name']}"} | _pick(engine))
    return broken


def _pick(row: Mapping[str, Any]) -> dict[str, str]:
    return {"problem": str(row.get("problem") or "not usable"), "fix": str(row.get("fix") or "")}


def _configured(found: Mapping[str, Any]) -> frozenset[str]:
    settings = found.get("settings") or {}
    chosen = settings.get("default_engine")
    return frozenset([*(settings.get("engines") or ()), *([chosen] if chosen else [])])


def _usable(engine: Mapping[str, Any]) -> bool:
    return bool(engine["available"]) and engine["login"] != "missing"


def _render(session: Session, found: Mapping[str, Any]) -> str:
    server, health = found["server"], found["home"]
    lines = [f"home      {output.line(health['path'])}"]
    lines.append(f"server    {output.line(server['url'] or server['problem'])}")
    store = found.get("store") or {}
    if store:
        state = "sound" if not store["problems"] else f"{len(store['problems'])} problems"
        path = output.line((store.get("facts") or {}).get("path", ""))
        lines.append(f"store     {state}  {output.dim(session, path)}".rstrip())
    support = found.get("platform_support") or {}
    missing = [output.line(name) for name, there in support.items() if not there]
    if support:
        lines.append(f"platform  {'without ' + ', '.join(missing) if missing else 'complete'}")
    embedding = found.get("embedding") or {}
    if embedding.get("model"):
        state = "not usable" if embedding["problem"] else "ready"
        lines.append(f"vectors   {output.line(embedding['model'])}: {state}")
    for row in found["hooks"]:
        state = "do not arrive" if row["problem"] else "arrive"
        lines.append(f"hooks     {row['engine']} ({row['scope']}): {state}")
    for engine in found["engines"]:
        lines += ["", *_engine(session, engine, default=engine["name"] == found["default"])]
    return "\n".join([*lines, "", *_verdict(found["broken"])])


def _engine(session: Session, engine: Mapping[str, Any], *, default: bool) -> list[str]:
    state = "ready" if _usable(engine) else "not usable"
    mark = " (default)" if default else ""
    colour = output.TEAL if _usable(engine) else output.AMBER
    lines = [f"{output.line(engine['name'])}{mark}: {output.paint(session, state, colour)}"]
    can = engine.get("capabilities") or {}
    able = [name.replace("_", " ") for name, value in can.items() if value is True]
    rows = [
        ("path", engine["path"]),
        ("version", engine["version"]),
        ("login", engine["login"]),
        ("models", ", ".join(engine["models"])),
        ("can", ", ".join(name for name in able if name != "is model")),
        *(("note", note) for note in engine["notes"]),
        ("problem", engine["problem"]),
        ("fix", engine["fix"]),
    ]
    return lines + [f"  {name:<8} {output.line(text)}" for name, text in rows if text]


def _verdict(broken: Sequence[Mapping[str, str]]) -> list[str]:
    if not broken:
        return ["Nothing that was configured is broken."]
    lines = []
    for row in broken:
        lines.append(f"broken: {row['what']}: {output.line(row['problem'])}")
        lines += [f"  fix: {output.line(row['fix'])}"] if row["fix"] else []
    return lines
