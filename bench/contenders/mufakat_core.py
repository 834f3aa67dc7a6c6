"""Mufakat, the rules alone: assemble a pack from facts that are loaded."""

from __future__ import annotations

import mufakat
from bench.case import Case
from bench.contenders import mufakat_request
from mufakat.core.pack import assemble, deliver
from mufakat.core.pack.assemble import Pack


class Contender:
    """Assembly without the store."""

    version = mufakat.__version__

    def prepare(self, given: Case) -> None:
        """Load once, from a store."""
        request = mufakat_request.Contender()
        request.prepare(given)
        self._facts, self._sections = request.facts(), request.sections

    def run(self) -> str:
        """The text as an engine without a system slot gets it."""
        made = assemble.assemble(self._facts, self._sections)
        assert isinstance(made, Pack)
        return deliver.fresh(made, splits_system=False, expands_at=False).user
