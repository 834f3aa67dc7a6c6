"""The earlier changes of a project from git: messages, and the files that they touched."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path

from mufakat.core.knowledge import code_past, code_query
from mufakat.core.knowledge.code_past import Past
from mufakat.retrieval import git

_MARK = "\x01"
LOG = (
    "log", "--no-merges", "--no-renames", "--name-only", "-z", "--no-show-signature",
    "--no-ext-diff", "--no-textconv", "--no-color", f"--format={_MARK}%B{_MARK}",
)  # fmt: skip
SECONDS = 10.0
KEPT = 8
"""Projects whose changes are kept in memory."""


class Changes:
    """Reads them once a commit; what git cannot tell is no change at all."""

    def __init__(self, *, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._known: OrderedDict[Path, tuple[str, Past]] = OrderedDict()

    async def of(self, root: Path) -> Past:
        """The newest changes below a folder."""
        try:
            async with asyncio.timeout(self._seconds):
                return await self._read(root)
        except (git.GitFailed, OSError, TimeoutError):
            return code_past.NONE

    async def _read(self, root: Path) -> Past:
        head = (await git.ask(root, "rev-parse", "--verify", "--end-of-options", "HEAD")).strip()
        known = self._known.get(root)
        if known is None or known[0] != head:
            limits = (f"--max-count={code_past.WINDOW}", "--relative", "--end-of-options")
            log = await git.ask(root, *LOG, *limits, head, "--", ".")
            known = head, await asyncio.to_thread(parse, log)
            self._known[root] = known
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        self._known.move_to_end(root)
        return known[1]


def parse(log: str) -> Past:
    """Read what `LOG` prints, the newest first; a last change that was cut short is left out."""
    return code_past.of(
        ([term for term, _ in code_query.parse(message).terms], paths)
        for message, paths in _each(log)
        if 0 < len(paths) <= code_past.LARGEST
    )


def _each(log: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    fields = log.split(_MARK)[1:]
    for message, paths in zip(fields[::2], fields[1::2], strict=False):
        yield message, tuple(path for path in paths.strip("\n\0").split("\0") if path)
