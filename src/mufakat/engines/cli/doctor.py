"""What `doctor` shows of a command-line agent; no secret is read, only whether one is there."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from mufakat.engines.cli import program
from mufakat.ports.engine import Options, Probe


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of an engine beforehand."""

    name: str
    usual: str
    """The program's usual name."""
    package: str
    """What installs it, as a command for the person."""
    login: str
    """How a person logs in."""
    key_variables: tuple[str, ...]
    models: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    keychain: bool = False
    """On macOS its login stands in the system's keychain, which is not asked."""


async def probe(
    facts: Facts,
    options: Options,
    asker: program.Asker,
    *,
    environ: Mapping[str, str],
    env: Mapping[str, str],
    credentials: Iterable[Path],
) -> Probe:
    """Look for the program, its version and its login."""
    path = await asyncio.to_thread(program.find, options.command, facts.usual, environ)
    if not path:
        wanted = options.command or facts.usual
        return Probe(
            facts.name,
            False,
            problem=f"{wanted} is not on PATH.",
            fix=f"Install it with `{facts.package}`, or set `engines.{facts.name}.command`.",
            notes=facts.notes,
        )
    about = await asker.about(path, env)
    login = await asyncio.to_thread(_login, facts, options, env, tuple(credentials))
    problem, fix = about.problem, "Run it by hand and reinstall it if it fails."
    if not problem and login == "missing":
        problem, fix = f"{facts.name} is not logged in.", facts.login
    return Probe(
        facts.name,
        not about.problem,
        path=path,
        version=about.version,
        login=login,
        models=(options.model,) if options.model else facts.models,
        problem=problem,
        fix=fix if problem else "",
        notes=facts.notes,
    )


def _login(
    facts: Facts, options: Options, env: Mapping[str, str], credentials: tuple[Path, ...]
) -> str:
    """`ok` when a key or a credential file is there; both stay unread."""
    if any(env.get(name) for name in facts.key_variables):
        return "ok"
    if any(path.exists() for path in credentials):
        return "ok"
    hidden = facts.keychain and sys.platform == "darwin"
    return "unknown" if hidden or options.config or options.args else "missing"


def loaded(cwd: Path, names: Iterable[str], *, beside: Iterable[Path] = ()) -> tuple[str, ...]:
    """The native instruction files an engine finds: from `cwd` up to the repository's root.

    `beside` are further folders, such as the engine's own.
    """
    tried = tuple(names)
    folders = [*_up_to_root(cwd), *beside]
    return tuple(str(at / name) for at in folders for name in tried if (at / name).is_file())


def _up_to_root(cwd: Path) -> list[Path]:
    climbed: list[Path] = []
    for folder in (cwd, *cwd.parents):
        climbed.append(folder)
        if (folder / ".git").exists():
            return climbed
    return [cwd]
