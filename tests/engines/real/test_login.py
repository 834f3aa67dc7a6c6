"""The user's own folders come out of a turn as they went in, but for the engine's sessions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engines import running
from engines.real.conftest import Real
from mufakat.core.talk.turn import Status

pytestmark = [pytest.mark.anyio, pytest.mark.clis]

FAR = 4_000_000_000_000
OAUTH = {"access_token": "fake", "refresh_token": "fake", "expiry_date": FAR}
FILES: dict[str, dict[str, object]] = {
    "claude": {
        ".claude/.credentials.json": {
            "claudeAiOauth": {"accessToken": "fake", "refreshToken": "fake", "expiresAt": FAR}
        },
        ".claude/settings.json": {"model": "no-such-model"},
    },
    "codex": {".codex/auth.json": {"OPENAI_API_KEY": "fake"}},
    "gemini": {
        ".gemini/oauth_creds.json": OAUTH,
        ".gemini/google_accounts.json": {"active": "me@example.org", "old": []},
        ".gemini/settings.json": {"model": {"name": "no-such-model"}},
    },
    "opencode": {
        ".local/share/opencode/auth.json": {"openai": {"type": "api", "key": "fake"}},
        # Without the schema OpenCode puts it there by itself, as every start of it does.
        ".config/opencode/opencode.json": {"$schema": "https://opencode.ai/config.json"},
    },
}


@pytest.mark.parametrize("cli", running.CLIS)
async def test_credentials_and_settings_are_left_as_they_are(cli: str, real: Real) -> None:
    bench = real(cli)
    home = bench.home.parent / "home"
    before: dict[Path, bytes] = {}
    for name, data in FILES[cli].items():
        path = home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(data), encoding="utf-8")
        before[path] = path.read_bytes()
    turn = await bench.turn()
    assert turn.reply.status is Status.DONE, turn.reply
    assert {path: path.read_bytes() for path in before} == before
    assert not any(path.is_symlink() for path in before)
    if cli == "gemini":
        lent = bench.workspace / "gemini" / ".gemini" / "oauth_creds.json"
        assert lent.resolve() == home / ".gemini" / "oauth_creds.json"
        assert {path.name for path in (home / ".gemini").iterdir()} == {p.name for p in before}
