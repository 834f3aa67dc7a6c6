"""The policy in force: read from its file when that changes; a wrong file changes nothing."""

from __future__ import annotations

import hashlib
import tomllib
from collections import deque
from dataclasses import dataclass
from pathlib import Path

from mufakat.core.base import Event, Millis
from mufakat.core.coordination import policy, policy_file
from mufakat.core.coordination.policy import Policy
from mufakat.ports.store import Transaction

FILE = "policy.toml"
BUILT_IN = "built-in"
"""Version of the policy where there is no file."""
WAITS = 200
"""Newest waits that high-traffic mode looks at."""
WINDOW = 600_000
"""Milliseconds after which a wait says nothing any more."""


@dataclass(frozen=True, slots=True)
class Edition:
    """A policy, which version of the file it is, and what is wrong with a newer one."""

    policy: Policy
    version: str
    problem: str = ""


class Rulebook:
    """Keeps the last good policy, and whether many wait."""

    def __init__(self, path: Path | None) -> None:
        """`path` of the policy file, which need not be there."""
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._edition = Edition(policy.DEFAULT, BUILT_IN)
        self._untold: list[Event] = []
        self._waits: deque[tuple[Millis, int]] = deque(maxlen=WAITS)
        self._busy = False
        if self._stamped() is not None:
            self.reload()

    def edition(self) -> Edition:
        """The policy in force, read again where its file has changed."""
        if self._stamped() != self._stamp:
            self.reload()
        return self._edition

    def reload(self) -> Edition:
        """Read the file now; where it is wrong, the last good policy stays in force."""
        self._stamp = self._stamped()
        read = self._read()
        self._edition = read
        kind = "policy.refused" if read.problem else "policy.loaded"
        data = {"version": read.version, "problem": read.problem}
        self._untold.append(Event(kind, self._path.name if self._path else BUILT_IN, data))
        return read

    def of(self, tx: Transaction) -> Policy:
        """The policy in force, for a step that writes: a change of it is announced there."""
        found = self.edition().policy
        untold, self._untold = self._untold, []
        for event in untold:
            tx.events.record(event)
        return found

    def waited(self, at: Millis, wait: int) -> None:
        """Remember how many milliseconds a grant took."""
        self._waits.append((at, wait))

    def high_traffic(self, tx: Transaction, depth: int) -> bool:
        """Whether high-traffic mode is on, now that so many wait; a change is announced."""
        now = tx.now()
        recent = sorted(wait for at, wait in self._waits if now - at <= WINDOW)
        p95 = recent[len(recent) * 95 // 100] if recent else 0
        before = self._busy
        self._busy = policy.busy(self._edition.policy, before=before, p95_wait=p95, depth=depth)
        if self._busy != before:
            data = {"on": self._busy, "p95_wait_ms": p95, "depth": depth}
            tx.events.record(Event("policy.high_traffic", "queue", data))
        return self._busy

    @property
    def busy(self) -> bool:
        """Whether high-traffic mode was on when somebody asked last."""
        return self._busy

    def _stamped(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat() if self._path else None
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size) if found else None

    def _read(self) -> Edition:
        if self._stamp is None or self._path is None:
            return Edition(policy.DEFAULT, BUILT_IN)
        last = self._edition
        try:
            raw = self._path.read_bytes()
            found = policy_file.parse(tomllib.loads(raw.decode("utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
            return Edition(last.policy, last.version, f"{self._path.name}: {problem}")
        if isinstance(found, policy_file.Wrong):
            return Edition(last.policy, last.version, f"{self._path.name}: {found}")
        return Edition(found, hashlib.sha256(raw).hexdigest()[:12])
