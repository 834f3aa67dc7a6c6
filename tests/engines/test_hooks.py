"""Hooks of a run: in each engine's own settings, with the token in the environment alone."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from engines import running
from mufakat.core.coordination import hooks, opencode_plugin
from mufakat.core.pack.deliver import Delivery
from mufakat.core.talk.agent import Permission
from mufakat.engines.claude import command as claude
from mufakat.engines.cli.invocation import Invocation
from mufakat.engines.codex import command as codex
from mufakat.engines.gemini import command as gemini
from mufakat.engines.opencode import command as opencode
from mufakat.ports.engine import Access, Options, Run

TOKEN = "mf_a-secret-of-this-run"
HOOK = ("/a b/python", "-I", "-S", "/a b/mufakat/sdk/hook.py")
ACCESS = Access("http://127.0.0.1:7", TOKEN, HOOK, "/home of it")
ENVIRON = {"HOME": "/home/u", "PATH": "/bin", "MUFAKAT_TOKEN": "the-persons", "OTHER": "x"}
MINE = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}

BUILD: dict[str, Callable[[Run, Options], Invocation]] = {
    "claude": lambda run, options: claude.build(
        run, options, program="/claude", flags=frozenset(), environ=ENVIRON
    ),
    "codex": lambda run, options: codex.build(run, options, program="/codex", environ=ENVIRON),
    "gemini": lambda run, options: gemini.build(
        run, options, program="/gemini", login="gemini-api-key", environ=ENVIRON
    ),
    "opencode": lambda run, options: opencode.build(
        run, options, program="/opencode", instructions=(), environ=ENVIRON
    ),
}


def build(
    name: str, tmp_path: Path, access: Access | None = ACCESS, options: Options | None = None
) -> Invocation:
    run = Run(
        id="run",
        delivery=Delivery("", "Hello.", "inline"),
        cwd=tmp_path,
        permission=Permission.READ,
        workspace=tmp_path,
        access=access,
    )
    return BUILD[name](run, options or Options())


def everything(made: Invocation) -> str:
    return "\n".join(
        [*made.argv, *made.files.values(), made.env.get("OPENCODE_CONFIG_CONTENT", "")]
    )


@pytest.mark.parametrize("cli", running.CLIS)
def test_the_token_is_in_the_environment_and_nowhere_else(cli: str, tmp_path: Path) -> None:
    made = build(cli, tmp_path)
    assert made.env["MUFAKAT_TOKEN"] == TOKEN
    assert made.env["MUFAKAT_URL"] == ACCESS.url
    assert TOKEN not in everything(made)
    assert TOKEN not in repr(ACCESS)
    assert "mufakat/sdk/hook.py" in everything(made)


@pytest.mark.parametrize("cli", running.CLIS)
@pytest.mark.parametrize("access", [None, dataclasses.replace(ACCESS, hook=())])
def test_without_access_there_are_no_hooks(cli: str, access: Access | None, tmp_path: Path) -> None:
    made = build(cli, tmp_path, access)
    assert "hook.py" not in everything(made)
    assert ("MUFAKAT_TOKEN" in made.env) is (access is not None)


@pytest.mark.parametrize("cli", running.CLIS)
def test_a_token_of_the_person_is_never_handed_on(cli: str, tmp_path: Path) -> None:
    assert "the-persons" not in build(cli, tmp_path, None).env.values()


@pytest.mark.parametrize(
    ("cli", "file"), [("claude", claude.SETTINGS), ("gemini", gemini.SETTINGS)]
)
def test_hooks_of_the_persons_configuration_stay(cli: str, file: str, tmp_path: Path) -> None:
    event = "Stop" if cli == "claude" else "AfterAgent"
    mine = {"hooks": {event: MINE["hooks"]["Stop"]}, "model": {"x": 1}}
    made = json.loads(build(cli, tmp_path, options=Options(config=mine)).files[file])
    first, second = made["hooks"][event]
    assert first == MINE["hooks"]["Stop"][0]
    assert second == hooks.settings(cli, HOOK, home=ACCESS.home)[event][0]
    assert made["model"] == {"x": 1} or made["model"]["x"] == 1


def test_gemini_hooks_are_switched_on(tmp_path: Path) -> None:
    made = build("gemini", tmp_path, options=Options(config={"hooksConfig": {"enabled": False}}))
    assert json.loads(made.files[gemini.SETTINGS])["hooksConfig"] == {"enabled": True}


def test_codex_trusts_our_hooks_one_by_one(tmp_path: Path) -> None:
    argv = build("codex", tmp_path).argv
    assert not any("dangerously" in word or "bypass" in word for word in argv)
    given = dict(word.split("=", 1) for word in argv if word.startswith("hooks."))
    state = tomllib.loads(f"x={given['hooks.state']}")["x"]
    events = {name.removeprefix("hooks.") for name in given} - {"state"}
    told = hooks.DIALECTS["codex"].events.items()
    assert events == {event for event, moment in told if moment in hooks.IN_A_RUN}
    assert set(state) == {
        f"/<session-flags>/config.toml:{name}:0:0"
        for name in ("pre_tool_use", "post_tool_use", "permission_request", "stop")
    }


def test_codex_names_a_hook_by_this_hash() -> None:
    """As Codex 0.171.0 itself answered for this hook."""
    group = {"hooks": [{"type": "command", "command": "echo hi", "timeout": 10}]}
    expected = "sha256:2a05b889a7ae70a6cb043aabb2bcfb6ce36c120c3e60d0fd65e4d297c36f1e00"
    assert codex._hash("stop", group) == expected


def test_opencode_loads_our_plugin_beside_the_persons(tmp_path: Path) -> None:
    made = build("opencode", tmp_path, options=Options(config={"plugin": ["mine"]}))
    plugins = json.loads(made.env["OPENCODE_CONFIG_CONTENT"])["plugin"]
    assert plugins == ["mine", (tmp_path / opencode.PLUGIN).as_uri()]
    source = made.files[opencode.PLUGIN]
    assert source == opencode_plugin.source(HOOK, home=ACCESS.home, words=False)
    assert "const WORDS = false;" in source
    assert json.dumps(list(HOOK)) in source


def test_a_command_line_is_quoted_for_the_shell() -> None:
    words = ("/a b/python", "it's", "$(x)", "plain-1.0/x")
    assert hooks.shell(words) == """'/a b/python' 'it'"'"'s' '$(x)' plain-1.0/x"""
