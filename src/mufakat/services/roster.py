"""The engines there are, and which one answers when none is named."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from mufakat.core.base import EngineError, EngineMissing, EngineUnknown
from mufakat.ports.engine import Capabilities, Engine, Probe


class Roster:
    """Every engine by name; broken ones with the reason they could not be loaded."""

    def __init__(
        self, engines: Mapping[str, Engine], *, broken: Mapping[str, str], default: str = ""
    ) -> None:
        self._engines = engines
        self._broken = broken
        self._default = default

    def names(self) -> tuple[str, ...]:
        """Names of all engines that can be asked for."""
        return tuple(self._engines)

    def get(self, name: str) -> Engine:
        """The engine of that name; raises EngineUnknown or EngineError with the fix."""
        if name in self._broken:
            raise EngineError(
                f"The engine {name} cannot be loaded: {self._broken[name]}.",
                fix="Reinstall the package that brings it.",
            )
        if name not in self._engines:
            known = ", ".join(self._engines)
            raise EngineUnknown(f"There is no engine {name!r}.", fix=f"Choose one of: {known}.")
        return self._engines[name]

    def ready(self, name: str) -> Engine:
        """The engine of that name; raises EngineMissing where its program is not there."""
        engine = self.get(name)
        if not engine.present():
            there = ", ".join(n for n, other in self._engines.items() if other.present())
            raise EngineMissing(
                f"The engine {name} is not there: its program (or address) was not found.",
                fix=f"Install it or set its command in settings.toml; these are there: {there}.",
            )
        return engine

    def capabilities(self, name: str) -> Capabilities:
        """What an engine can do."""
        return self.get(name).capabilities

    def default(self) -> str:
        """The engine of the settings, else the first agent that is there, else the demo."""
        if self._default:
            self.get(self._default)
            return self._default
        models = {name: e for name, e in self._engines.items() if e.capabilities.is_model}
        present = next((name for name, engine in models.items() if engine.present()), "")
        return present or next(name for name in self._engines if name not in models)

    async def probes(self) -> Sequence[Probe]:
        """What `doctor` shows, all engines at once."""
        engines = self._engines.values()
        answers = await asyncio.gather(*(e.probe() for e in engines), return_exceptions=True)
        found: list[Probe] = []
        for engine, answer in zip(engines, answers, strict=True):
            if isinstance(answer, Probe):
                found.append(answer)
            elif isinstance(answer, Exception):
                # A package may bring any engine: a faulty one must not hide the others.
                found.append(_unusable(engine.name, f"{type(answer).__name__}: {answer}"))
            else:
                raise answer
        return [*found, *(_unusable(name, why) for name, why in self._broken.items())]


def _unusable(name: str, why: str) -> Probe:
    return Probe(name, False, problem=why, fix="Reinstall the package that brings it.")
