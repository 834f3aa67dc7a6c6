"""Finding engines: every package may bring one by an entry point; a broken one is listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module, metadata
from pathlib import Path
from types import MappingProxyType

from mufakat.core.base import EngineError, EngineUnknown
from mufakat.ports.engine import Engine, Options

GROUP = "mufakat.engines"
BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "claude": "mufakat.engines.claude:Claude",
        "codex": "mufakat.engines.codex:Codex",
        "gemini": "mufakat.engines.gemini:Gemini",
        "opencode": "mufakat.engines.opencode:OpenCode",
        "openai_compat": "mufakat.engines.openai_compat:OpenAICompatible",
        "scripted": "mufakat.engines.scripted:Scripted",
    }
)


@dataclass(frozen=True, slots=True)
class Found:
    """An engine by name: how to load it, and why it could not be loaded if so."""

    name: str
    target: str
    """`module:Class`."""
    problem: str = ""


def discover() -> dict[str, Found]:
    """Every engine there is, by name, without importing any; built-ins cannot be replaced."""
    found = {point.name: Found(point.name, point.value) for point in _entry_points()}
    return dict(sorted({**found, **{n: Found(n, t) for n, t in BUILT_IN.items()}}.items()))


def _entry_points() -> metadata.EntryPoints:
    return metadata.entry_points(group=GROUP)


def build(
    found: Found, options: Options, *, home: Path, environ: Mapping[str, str]
) -> Engine | Found:
    """Import and construct an engine; a `Found` with its problem when that fails."""
    module, _, name = found.target.partition(":")
    try:
        engine: Engine = getattr(import_module(module), name)(options, home=home, environ=environ)
    except Exception as error:  # noqa: BLE001 - foreign code: one broken engine must not break the others
        return Found(found.name, found.target, f"{type(error).__name__}: {error}")
    return engine


@dataclass(frozen=True, slots=True)
class Registry:
    """The engines of this process: built ones by name, and broken ones with the reason."""

    engines: Mapping[str, Engine]
    broken: Mapping[str, Found]

    def get(self, name: str) -> Engine:
        """The engine of that name; raises EngineUnknown, or EngineError when it is broken."""
        if name in self.engines:
            return self.engines[name]
        if name in self.broken:
            raise EngineError(
                f"Engine {name!r} cannot be loaded: {self.broken[name].problem}",
                fix="Reinstall the package that brings it.",
            )
        known = ", ".join(self.engines)
        raise EngineUnknown(f"There is no engine {name!r}.", fix=f"Choose one of: {known}.")


def load(options: Mapping[str, Options], *, home: Path, environ: Mapping[str, str]) -> Registry:
    """Build every engine there is with its own options."""
    engines: dict[str, Engine] = {}
    broken: dict[str, Found] = {}
    for name, found in discover().items():
        built = build(found, options.get(name, Options()), home=home, environ=environ)
        if isinstance(built, Found):
            broken[name] = built
        else:
            engines[name] = built
    return Registry(MappingProxyType(engines), MappingProxyType(broken))
