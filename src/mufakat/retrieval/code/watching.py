"""Tells in which folders of a project something changed, so that a search need not look at all."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from watchfiles._rust_notify import RustNotify

MOST_PROJECTS = 8
"""Watched at once; the one that was asked for least lately gives way."""
MOST_FOLDERS = 8_192
"""Of one project; the system's own limit may be lower. More are not watched at all."""
MOST_CHANGED = 64
"""Changed folders above which all files are looked at: so many may be more than were told of."""
TRUST_SECONDS = 60.0
"""So long nothing told means nothing changed: a network drive tells nothing of other machines."""
IDLE_SECONDS = 900.0
"""A project that nobody asked for in so long is watched no more."""
AGAIN_SECONDS = 300.0
"""After a failure a project is not watched for so long."""
RULES = ".gitignore"
_TICK_MS = 1

Start = Callable[[list[str]], RustNotify]
"""Begins to watch folders, each for itself, not what lies below."""


def start(folders: list[str]) -> RustNotify:
    """Ask the system to watch folders; raises OSError or RuntimeError where it does not."""
    return RustNotify(
        folders,
        debug=False,
        force_polling=False,
        poll_delay_ms=300,
        recursive=False,
        ignore_permission_denied=True,
    )


@dataclass(slots=True)
class Watch:
    """One project's folders, watched."""

    notify: RustNotify
    folders: frozenset[str]
    """Relative to the root, with `/`; the root itself is empty."""
    begun: float
    asked: float
    looked: float = float("-inf")
    """When the last look at all files began that found no other folders; before it, no trust."""


class Watches:
    """The watched projects of a server. Its methods may block for milliseconds."""

    def __init__(
        self, start: Start = start, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._start = start
        self._clock = clock
        self._lock = threading.Lock()
        self._watches: OrderedDict[Path, Watch] = OrderedDict()
        self._failed: dict[Path, float] = {}

    def changed(self, root: Path) -> frozenset[str] | None:
        """Folders of files that changed since this was last asked; None: look at all files.

        What is told is told once: who cannot look at it says `doubt`.
        """
        with self._lock:
            watch = self._watches.get(root)
            if watch is None:
                return None
            watch.asked = self._clock()
            self._watches.move_to_end(root)
            try:
                paths = _paths(watch.notify)
            except (OSError, RuntimeError):
                self._fail(root)
                return None
            if watch.asked - watch.looked > TRUST_SECONDS:
                return None
            return _folders(root, watch.folders, paths)

    def looked(self, root: Path, folders: Collection[str], *, began: float) -> None:
        """All files were looked at, and these folders were found; watches them from now on.

        A watch is trusted only after a look that began when it was there already.
        """
        found = frozenset(folders)
        with self._lock:
            self._rest()
            watch = self._watches.get(root)
            if watch is not None and found <= watch.folders:
                if began >= watch.begun:
                    watch.looked = began
            elif len(found) > MOST_FOLDERS:
                self._end(root)
            elif self._failed.get(root, float("-inf")) <= self._clock():
                self._watch(root, found)

    def doubt(self, root: Path) -> None:
        """What was told could not be looked at: nothing is trusted until all files were."""
        with self._lock:
            if (watch := self._watches.get(root)) is not None:
                watch.looked = float("-inf")

    def folders(self, root: Path) -> frozenset[str]:
        """The folders of a project that are watched; none where it is not."""
        with self._lock:
            watch = self._watches.get(root)
            return watch.folders if watch is not None else frozenset()

    def rest(self) -> None:
        """Stop watching what nobody asked for lately."""
        with self._lock:
            self._rest()

    def close(self) -> None:
        """Stop watching everything."""
        with self._lock:
            for root in list(self._watches):
                self._end(root)

    def _watch(self, root: Path, folders: frozenset[str]) -> None:
        self._end(root)
        while len(self._watches) >= MOST_PROJECTS:
            self._end(next(iter(self._watches)))
        now = self._clock()
        try:
            notify = self._start([str(root / folder) for folder in sorted(folders)])
        except (OSError, RuntimeError):
            self._fail(root)
            return
        self._watches[root] = Watch(notify, folders, begun=self._clock(), asked=now)

    def _rest(self) -> None:
        now = self._clock()
        for root, watch in list(self._watches.items()):
            if now - watch.asked > IDLE_SECONDS:
                self._end(root)
        for root, until in list(self._failed.items()):
            if until <= now:
                del self._failed[root]

    def _fail(self, root: Path) -> None:
        self._end(root)
        self._failed[root] = self._clock() + AGAIN_SECONDS

    def _end(self, root: Path) -> None:
        watch = self._watches.pop(root, None)
        if watch is not None:
            watch.notify.close()


def _paths(notify: RustNotify) -> list[str]:
    told = notify.watch(_TICK_MS, _TICK_MS, _TICK_MS, None)
    # Otherwise a word: that nothing came in time.
    return [path for _, path in told] if isinstance(told, set) else []


def _folders(root: Path, watched: frozenset[str], paths: Collection[str]) -> frozenset[str] | None:
    """The folders of changed files; None where folders or their rules changed themselves."""
    folders = set()
    for each in map(Path, paths):
        if not each.is_relative_to(root):
            return None
        below = str(each.relative_to(root))
        folder, _, name = below.rpartition("/")
        if below == "." or below in watched or name == RULES or folder not in watched:
            return None
        folders.add(folder)
    return frozenset(folders) if len(folders) <= MOST_CHANGED else None
