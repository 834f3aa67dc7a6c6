"""Mufakat, a whole request: read what the pack needs from the store, then assemble it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import mufakat
from bench.case import Case
from bench.contenders import store, tables
from mufakat.core.base import AgentId
from mufakat.core.pack import assemble, deliver
from mufakat.core.pack.assemble import Pack
from mufakat.core.pack.facts import Facts


class Contender:
    """Load and assemble; git is left out, which a running turn asks at the same time."""

    version = mufakat.__version__

    def prepare(self, given: Case) -> None:
        """Fill a store on disk, and pack once, as the turn before would have done."""
        # A Runner would render each answer for its signal handler, which takes milliseconds.
        self._loop = asyncio.new_event_loop()
        self._home = tempfile.TemporaryDirectory()
        home = Path(self._home.name)
        filling = store.filled(given, home)
        self._store, self._conversation = self._loop.run_until_complete(filling)
        self._packing = store.packing(self._store, home, budget=given.budget)
        self._given = given
        self.sections = tables.twenty(given)
        start = self.pack().receipt.window_start
        id = self._conversation.id
        self._loop.run_until_complete(
            self._store.write(lambda tx: tx.conversations.hold_window(id, start))
        )

    def facts(self) -> Facts:
        """All that a request needs, read from the store in one snapshot."""
        loading = self._store.read(
            lambda tx: self._packing.reading.load(
                tx, self._conversation, AgentId("a_claude"), asked=0
            )
        )
        memory = self._loop.run_until_complete(loading)
        return tables.facts(self._given, memory.history, memory.speakers)

    def pack(self) -> Pack:
        """Load and assemble."""
        made = assemble.assemble(self.facts(), self.sections)
        assert isinstance(made, Pack)
        return made

    def run(self) -> str:
        """The text as an engine without a system slot gets it."""
        return deliver.fresh(self.pack(), splits_system=False, expands_at=False).user
