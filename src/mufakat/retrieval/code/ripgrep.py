"""ripgrep where it is on PATH: it names files that may have a text, which are then read here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from mufakat.retrieval import program
from mufakat.retrieval.code import reading

NAME = "rg"
SECONDS = 2.0
FOUND, NOTHING = 0, 1
"""Its exit codes for an answer."""
KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR")
"""Neither its settings file nor the person's rules for git: the answer is the project's alone."""
# It may name more than the index knows, which is left out; but it must not hide anything of that.
SWITCHES = (
    "--no-config", "--no-messages", "--no-ignore-messages", "--color=never", "--threads=2",
    "--no-follow", "--hidden", "--no-ignore-dot", "--no-ignore-parent", "--no-ignore-global",
    "--no-require-git", "--text", "--encoding=none", f"--max-filesize={reading.LARGEST}",
    "--fixed-strings", "--case-sensitive", "--files-with-matches", "--null",
)  # fmt: skip


class Ripgrep:
    """One installed ripgrep, or none."""

    def __init__(self, environ: Mapping[str, str], *, seconds: float = SECONDS) -> None:
        self._environ = {name: environ[name] for name in KEPT if name in environ}
        self._program = shutil.which(NAME, path=environ.get("PATH", ""))
        self._seconds = seconds

    async def files(self, root: Path, text: str) -> frozenset[str] | None:
        """Paths of the files that have a text; None where it is not there or does not answer."""
        if self._program is None or "\n" in text:
            return None
        words = (self._program, *SWITCHES, "-e", text, "--", "./")
        try:
            out = await program.output(
                words,
                folder=root,
                environ=self._environ,
                seconds=self._seconds,
                codes=(FOUND, NOTHING),
            )
        except program.ProgramFailed:
            return None
        return frozenset(os.fsdecode(name).removeprefix("./") for name in out.split(b"\0") if name)
