"""The four real agent CLIs: where they are, and how each is pointed to the model server.

Every setup has a private HOME, a dummy key, a loopback address and every update and telemetry
switch off: a test never reads the developer's settings and never leaves the machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

NAMES = ("claude", "codex", "gemini", "opencode")
KEY = "dummy-key"
REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSetup:
    """The engine settings that point one CLI to a model server.

    `env` and `args` are added to what an adapter uses by itself; `config` is for the CLIs that
    take a document: the settings file of Gemini CLI, OPENCODE_CONFIG_CONTENT of OpenCode.
    """

    name: str
    command: Path
    env: dict[str, str]
    args: tuple[str, ...] = ()
    config: dict[str, Any] = field(default_factory=dict)
    model: str


def folder() -> Path:
    """Where the CLIs are looked for: MUFAKAT_TEST_CLIS, else what scripts/install-clis made."""
    given = os.environ.get("MUFAKAT_TEST_CLIS")
    return Path(given) if given else REPOSITORY / ".clis" / "node_modules" / ".bin"


def available() -> dict[str, Path]:
    """The CLIs that are installed, by name."""
    paths = {name: folder() / name for name in NAMES}
    return {name: path for name, path in paths.items() if path.exists()}


def skip_reason() -> str | None:
    """Why the tests with real CLIs cannot run, or None; in CI a missing CLI is an error.

    Ask in a fixture, not at import: a lane without real CLIs collects these tests, too.
    """
    missing = sorted(set(NAMES) - set(available()))
    if not missing:
        return None
    reason = f"no {', '.join(missing)} in {folder()}: run scripts/install-clis"
    if os.environ.get("CI") == "true":
        raise FileNotFoundError(reason)
    return reason


def setup(name: str, base: str, home: Path, *, retries: int = 1) -> CliSetup:
    """The setup of one CLI for the model server at `base`, with `home` as its fresh HOME."""
    home.mkdir(parents=True, exist_ok=True)
    return SETUPS[name](base, home, retries)


def _temporary(home: Path) -> Path:
    """A TMPDIR that is not above CODEX_HOME, else Codex leaves out its sandbox helpers."""
    folder = home / "tmp"
    folder.mkdir(exist_ok=True)
    return folder


def claude(base: str, home: Path, retries: int = 1) -> CliSetup:
    """Claude Code over the Anthropic protocol."""
    return CliSetup(
        name="claude",
        command=folder() / "claude",
        env={
            "HOME": str(home),
            "TMPDIR": str(_temporary(home)),
            "CLAUDE_CONFIG_DIR": str(home / ".claude"),
            "ANTHROPIC_BASE_URL": base,
            "ANTHROPIC_API_KEY": KEY,
            "CLAUDE_CODE_MAX_RETRIES": str(retries),
            "API_TIMEOUT_MS": "30000",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
        },
        model="claude-sonnet-4-5",
    )


def codex(base: str, home: Path, retries: int = 1) -> CliSetup:
    """Codex over the Responses protocol."""
    provider = {
        "name": "stub",
        "base_url": f"{base}/v1",
        "wire_api": "responses",
        "env_key": "STUB_KEY",
        "request_max_retries": retries,
        "stream_max_retries": retries,
        "stream_idle_timeout_ms": 30_000,
    }
    table = ",".join(f"{key}={json.dumps(value)}" for key, value in provider.items())
    (home / ".codex").mkdir(exist_ok=True)
    return CliSetup(
        name="codex",
        command=folder() / "codex",
        env={
            "HOME": str(home),
            "CODEX_HOME": str(home / ".codex"),
            "STUB_KEY": KEY,
            "TMPDIR": str(_temporary(home)),
        },
        args=("-c", 'model_provider="stub"', "-c", f"model_providers.stub={{{table}}}"),
        model="gpt-6.2-sol",
    )


def gemini(base: str, home: Path, retries: int = 1) -> CliSetup:
    """Gemini CLI over its own protocol."""
    return CliSetup(
        name="gemini",
        command=folder() / "gemini",
        env={
            "HOME": str(home),
            "TMPDIR": str(_temporary(home)),
            "GEMINI_API_KEY": KEY,
            "GOOGLE_GEMINI_BASE_URL": base,
        },
        config={
            "security": {
                "auth": {"selectedType": "gemini-api-key"},
                "folderTrust": {"enabled": False},
            },
            "general": {
                "enableAutoUpdate": False,
                "enableAutoUpdateNotification": False,
                "maxAttempts": retries + 1,
            },
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        },
        model="gemini-2.5-pro",
    )


def opencode(base: str, home: Path, retries: int = 1) -> CliSetup:
    """OpenCode over chat completions; it has no knob for its retries."""
    del retries
    folders = {"XDG_CONFIG_HOME": ".config", "XDG_DATA_HOME": ".local/share"}
    folders |= {"XDG_CACHE_HOME": ".cache", "XDG_STATE_HOME": ".local/state"}
    model = {
        "name": "Scripted",
        "tool_call": True,
        "limit": {"context": 200_000, "output": 8_000},
        "cost": {"input": 3, "output": 15},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Stub",
        "options": {"baseURL": f"{base}/v1", "apiKey": KEY},
        "models": {"stub-1": model},
    }
    return CliSetup(
        name="opencode",
        command=folder() / "opencode",
        env={
            "HOME": str(home),
            "TMPDIR": str(_temporary(home)),
            **{key: str(home / path) for key, path in folders.items()},
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
            "npm_config_offline": "true",
        },
        config={
            "autoupdate": False,
            "share": "disabled",
            "enabled_providers": ["stub"],
            "model": "stub/stub-1",
            "small_model": "stub/stub-1",
            "compaction": {"auto": False},
            "provider": {"stub": provider},
        },
        model="stub/stub-1",
    )


SETUPS: dict[str, Callable[[str, Path, int], CliSetup]] = {
    "claude": claude,
    "codex": codex,
    "gemini": gemini,
    "opencode": opencode,
}
