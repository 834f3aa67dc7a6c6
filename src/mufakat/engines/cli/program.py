"""Finding an engine's program and asking it who it is, without a model call."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import uuid
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from mufakat.engines.cli import invocation
from mufakat.engines.process import command, supervise

SECONDS = 5.0
VERSION = re.compile(r"\d+\.\d+\.\d+[0-9A-Za-z.-]*")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-zA-Z-]+")


@dataclass(frozen=True, slots=True)
class About:
    """What a program says of itself; empty where it gave no answer in time."""

    version: str = ""
    flags: frozenset[str] = frozenset()
    """Long options that its help names, where the help was asked for."""
    problem: str = ""


def find(wanted: str, usual: str, environ: Mapping[str, str]) -> str:
    """The absolute path of the program; empty when it is not there or not executable."""
    path = shutil.which(wanted or usual, path=environ.get("PATH", ""))
    return str(Path(path).absolute()) if path else ""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks programs once per file: answers are kept in `folder` by path, size and change time."""

    folder: Path
    home_mark: str
    help: tuple[str, ...] = ()
    """Arguments that print the help; empty when no option depends on the version."""

    async def about(
        self, program: str, env: Mapping[str, str], *, cancel: asyncio.Event | None = None
    ) -> About:
        """The version, and the options where `help` is set; empty when cancelled."""
        stop = cancel or asyncio.Event()
        stamp = await asyncio.to_thread(_stamp, program)
        kept = await asyncio.to_thread(self._kept, program, stamp)
        if kept is not None:
            return kept
        questions = [("--version",), *([self.help] if self.help else [])]
        # Some print their help where errors go.
        answers = await asyncio.gather(
            *(
                self._ask((program, *words), env, stop, both=at > 0)
                for at, words in enumerate(questions)
            )
        )
        said, why = answers[0]
        found = VERSION.search(said)
        if not found:
            silent = f"{program} --version named no version within {SECONDS:.0f} s."
            return About(problem=why or silent)
        about = About(found[0], frozenset(FLAG.findall(answers[-1][0])))
        if about.flags or not self.help:
            await asyncio.to_thread(self._keep, program, stamp, about)
        return about

    async def _ask(
        self, argv: tuple[str, ...], env: Mapping[str, str], cancel: asyncio.Event, *, both: bool
    ) -> tuple[str, str]:
        """What it printed, and why it could not be started if so."""
        lines: list[str] = []

        async def on_line(line: command.Line) -> None:
            if (both or not line.stderr) and len(lines) < 2000:
                lines.append(line.text)

        outcome = await supervise.run(
            command.Command(
                argv=argv,
                cwd=self.folder,
                env=env,
                # A run ends every process with its own mark, so no two may share one.
                run_id=f"probe-{uuid.uuid4().hex}",
                home_id=self.home_mark,
                spool=self.folder / f"{Path(argv[0]).name}{argv[1]}.out",
            ),
            limits=command.Limits(idle=SECONDS, total=SECONDS, grace=1.0),
            cancel=cancel,
            on_line=on_line,
        )
        return "\n".join(lines), outcome.why

    def _file(self, program: str) -> Path:
        return self.folder / f"{Path(program).name}.about.json"

    def _kept(self, program: str, stamp: str) -> About | None:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            data = json.loads(self._file(program).read_text(encoding="utf-8"))
            if data["stamp"] == stamp:
                return About(str(data["version"]), frozenset(map(str, data["flags"])))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return None

    def _keep(self, program: str, stamp: str, about: About) -> None:
        data = {"stamp": stamp, "version": about.version, "flags": sorted(about.flags)}
        # Without the file the program is asked again next time.
        with suppress(OSError):
            invocation.write({self._file(program).name: json.dumps(data)}, self.folder)


def _stamp(program: str) -> str:
    try:
        real = Path(program).resolve(strict=True)
        state = real.stat()
    except OSError:
        return ""
    return f"{real}:{state.st_size}:{state.st_mtime_ns}"
