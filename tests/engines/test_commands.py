"""The command lines, environments and files that adapters make: by table, without a process."""

from __future__ import annotations

import json
import os
import signal
import stat
import tomllib
from pathlib import Path
from typing import Any

import pytest

from mufakat.core.pack.deliver import Delivery
from mufakat.core.talk.agent import Permission
from mufakat.core.talk.turn import Failure
from mufakat.engines.claude import command as claude
from mufakat.engines.cli import doctor, invocation, one_shot, session_id
from mufakat.engines.codex import command as codex
from mufakat.engines.gemini import command as gemini
from mufakat.engines.opencode import command as opencode
from mufakat.ports.engine import McpServer, Options, Run

SESSION = "8df2a63a-0000-4000-8000-000000000001"
SERVER = McpServer("tools", ("python3", "serve.py"), env={"TOKEN": "s3cret"})
REMOTE = McpServer("far", url="http://127.0.0.1:1/mcp", headers={"Authorization": "Bearer s3cret"})
HOSTILE = {
    "PATH": "/usr/bin",
    "HOME": "/home/u",
    "LANG": "C.UTF-8",
    "HTTPS_PROXY": "http://proxy:1",
    "LD_PRELOAD": "/evil.so",
    "NODE_OPTIONS": "--require /evil.js",
    "PYTHONPATH": "/evil",
    "GIT_SSH_COMMAND": "evil",
    "RIPGREP_CONFIG_PATH": "/evil",
    "MUFAKAT_TOKEN": "ours",
    "DATABASE_URL": "postgres://secret",
    "ANTHROPIC_API_KEY": "a",
    "CODEX_API_KEY": "c",
    "GEMINI_API_KEY": "g",
    "OPENAI_API_KEY": "o",
}
ALL_FLAGS = frozenset({"--tools", "--include-partial-messages"})
WRITING = {"Edit", "Write", "NotebookEdit", "Bash"}


def run(**more: Any) -> Run:
    settings: dict[str, Any] = {
        "id": "r1",
        "delivery": Delivery("", "Say hello.", "inline"),
        "cwd": Path("/p"),
        "permission": Permission.READ,
        "workspace": Path("/w"),
        **more,
    }
    return Run(**settings)


def build(cli: str, made: Run, options: Options = Options()) -> invocation.Invocation:  # noqa: B008
    match cli:
        case "claude":
            return claude.build(made, options, program="c", flags=ALL_FLAGS, environ=HOSTILE)
        case "codex":
            return codex.build(made, options, program="c", environ=HOSTILE)
        case "gemini":
            return gemini.build(made, options, program="c", login="x", environ=HOSTILE)
        case _:
            return opencode.build(made, options, program="c", instructions=(), environ=HOSTILE)


CLIS = ("claude", "codex", "gemini", "opencode")


def after(argv: tuple[str, ...], flag: str) -> str:
    return argv[argv.index(flag) + 1]


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize(
    "text", ["--dangerously-skip-permissions", "-p", "x" * 200_000, "-", "; touch /x", "é😀"]
)
def test_row_48_49_the_prompt_goes_by_stdin_and_never_by_argv(cli: str, text: str) -> None:
    made = build(cli, run(delivery=Delivery("", text, "inline")))
    assert made.stdin.decode() == text
    assert not any(text in arg for arg in made.argv if len(text) > 1 and text != "-p")
    assert sum(map(len, made.argv)) < 8000
    assert all(len(value) < 100_000 for value in made.env.values())


def test_claude_gets_its_pack_in_a_file_and_the_user_alone_by_stdin() -> None:
    made = build("claude", run(delivery=Delivery("PACK", "Say hello.", "split")))
    assert made.files[claude.PACK] == "PACK"
    assert after(made.argv, "--append-system-prompt-file") == "/w/claude/pack.md"
    assert made.stdin == b"Say hello."
    assert made.first_signal is signal.SIGINT
    assert after(made.argv, "--setting-sources") == ""


@pytest.mark.parametrize("cli", ["codex", "gemini", "opencode"])
def test_a_system_text_is_put_in_front_where_there_is_no_slot(cli: str) -> None:
    made = build(cli, run(delivery=Delivery("PACK", "Say hello.", "inline")))
    assert made.stdin == b"PACK\n\n---\n\nSay hello."


@pytest.mark.parametrize(
    ("text", "sent"), [("/compact", "\n/compact"), (" /x", "\n /x"), ("a /b", "a /b")]
)
def test_a_prompt_that_looks_like_a_command_is_only_text_to_claude(text: str, sent: str) -> None:
    made = build("claude", run(delivery=Delivery("", text, "inline")))
    assert made.stdin.decode() == sent


@pytest.mark.parametrize("cli", CLIS)
def test_row_47_only_named_variables_reach_an_engine(cli: str) -> None:
    env = build(cli, run(), Options(env={"MINE": "1"})).env
    for name in ("LD_PRELOAD", "NODE_OPTIONS", "PYTHONPATH", "GIT_SSH_COMMAND", "MUFAKAT_TOKEN"):
        assert name not in env
    assert "DATABASE_URL" not in env and "RIPGREP_CONFIG_PATH" not in env
    assert env["PATH"] == "/usr/bin" and env["HTTPS_PROXY"] and env["MINE"] == "1"


@pytest.mark.parametrize(
    ("cli", "own", "foreign"),
    [
        ("claude", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
        ("codex", "CODEX_API_KEY", "ANTHROPIC_API_KEY"),
        ("gemini", "GEMINI_API_KEY", "OPENAI_API_KEY"),
    ],
)
def test_an_engine_gets_its_own_keys_only(cli: str, own: str, foreign: str) -> None:
    env = build(cli, run()).env
    assert own in env and foreign not in env


@pytest.mark.parametrize("cli", CLIS)
@pytest.mark.parametrize("permission", list(Permission))
def test_nothing_dangerous_is_ever_passed(cli: str, permission: Permission) -> None:
    made = build(cli, run(permission=permission, mcp=(SERVER, REMOTE)))
    assert not [arg for arg in made.argv if one_shot.UNSAFE.search(arg)]


@pytest.mark.parametrize("cli", CLIS)
def test_resume_names_the_session_and_keeps_the_bounds(cli: str) -> None:
    session = "ses_dd30c6ddeffeT6dz7YFGHuBBnd" if cli == "opencode" else SESSION
    made = build(cli, run(resume=session))
    assert session in made.argv
    assert "--session-id" not in made.argv and "--title" not in made.argv


@pytest.mark.parametrize("cli", ["claude", "gemini"])
def test_a_fresh_session_gets_our_id(cli: str) -> None:
    made = build(cli, run(id="r7"))
    assert after(made.argv, "--session-id") == session_id.named_for("r7")
    assert session_id.UUID.fullmatch(session_id.named_for("r7"))


@pytest.mark.parametrize(
    ("permission", "mode", "has"),
    [
        (Permission.READ, "dontAsk", set()),
        (Permission.RUN, "dontAsk", {"Bash"}),
        (Permission.WRITE, "acceptEdits", {"Edit", "Write", "NotebookEdit"}),
        (Permission.DEVELOP, "acceptEdits", WRITING),
    ],
)
def test_claude_has_no_tool_beyond_its_role(
    permission: Permission, mode: str, has: set[str]
) -> None:
    argv = build("claude", run(permission=permission)).argv
    assert after(argv, "--permission-mode") == mode
    assert set(after(argv, "--tools").split(",")) & WRITING == has
    assert WRITING - has <= set(after(argv, "--disallowedTools").split(","))


def test_a_claude_without_the_tools_flag_still_denies_what_the_role_lacks() -> None:
    argv = claude.build(run(), Options(), program="c", flags=frozenset(), environ={}).argv
    assert "--tools" not in argv and "--include-partial-messages" not in argv
    assert set(after(argv, "--disallowedTools").split(",")) >= WRITING


def codex_settings(argv: tuple[str, ...]) -> dict[str, Any]:
    pairs = [argv[at + 1] for at, arg in enumerate(argv) if arg == "-c"]
    return tomllib.loads("\n".join(pairs))


def test_codex_settings_are_toml_and_cannot_loosen_the_sandbox() -> None:
    options = Options(config={"sandbox_mode": "danger-full-access", "a.b": ['x"\n\x7f', 1, True]})
    argv = build("codex", run(), options).argv
    made = codex_settings(argv)
    assert made["sandbox_mode"] == "read-only"
    assert made["a"] == {"b": ['x"\n\x7f', 1, True]}
    assert argv[-1] == "-"


@pytest.mark.parametrize("permission", list(Permission))
def test_codex_sandbox(permission: Permission) -> None:
    made = codex_settings(build("codex", run(permission=permission)).argv)
    wanted = "read-only" if permission is Permission.READ else "workspace-write"
    assert (made["sandbox_mode"], made["approval_policy"]) == (wanted, "never")


@pytest.mark.parametrize("permission", list(Permission))
def test_gemini_policy(permission: Permission) -> None:
    made = build("gemini", run(permission=permission))
    rules = {
        tool: rule["decision"]
        for rule in sorted(
            tomllib.loads(made.files[gemini.POLICY])["rule"], key=lambda rule: rule["priority"]
        )
        for tool in rule["toolName"]
    }
    edits = permission in (Permission.WRITE, Permission.DEVELOP)
    runs = permission in (Permission.RUN, Permission.DEVELOP)
    assert rules["write_file"] == rules["replace"] == ("allow" if edits else "deny")
    assert rules["run_shell_command"] == ("allow" if runs else "deny")
    assert after(made.argv, "--approval-mode") == "default"
    assert made.env["GEMINI_CLI_HOME"] == "/w/gemini"


def test_gemini_settings_join_the_users_and_keep_ours() -> None:
    options = Options(config={"general": {"maxAttempts": 1, "enableAutoUpdate": True}, "ui": {}})
    made = json.loads(build("gemini", run(), options).files[gemini.SETTINGS])
    assert made["general"]["maxAttempts"] == 1
    assert made["general"]["enableAutoUpdate"] is False
    assert made["security"]["auth"]["selectedType"] == "x"
    assert made["advanced"]["ignoreLocalEnv"] is True


@pytest.mark.parametrize("permission", list(Permission))
def test_opencode_names_every_tool(permission: Permission) -> None:
    options = Options(config={"permission": "allow", "agent": {"build": {}}})
    made = build("opencode", run(permission=permission), options)
    config = json.loads(made.env["OPENCODE_CONFIG_CONTENT"])
    rules = config["agent"]["mufakat"]["permission"]
    edits = permission in (Permission.WRITE, Permission.DEVELOP)
    runs = permission in (Permission.RUN, Permission.DEVELOP)
    assert rules == config["permission"]
    assert rules["*"] == "deny" and rules["read"] == "allow"
    assert rules["edit"] == ("allow" if edits else "deny")
    assert rules["bash"] == ("allow" if runs else "deny")
    assert rules["task"] == rules["webfetch"] == rules["external_directory"] == "deny"
    assert after(made.argv, "--agent") == "mufakat"
    assert made.env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"


def test_opencode_limits_providers_only_where_one_is_set() -> None:
    config = json.loads(build("opencode", run()).env["OPENCODE_CONFIG_CONTENT"])
    assert "enabled_providers" not in config
    assert (config["share"], config["autoupdate"]) == ("disabled", False)
    assert config["compaction"] == {"auto": False}
    own = Options(base_url="http://127.0.0.1:1/v1", model="m", api_key_env="K")
    made = build("opencode", run(), own)
    config = json.loads(made.env["OPENCODE_CONFIG_CONTENT"])
    assert config["enabled_providers"] == ["mufakat"]
    assert after(made.argv, "--model") == "mufakat/m"
    assert config["provider"]["mufakat"]["options"]["apiKey"] == "{env:K}"


@pytest.mark.parametrize("cli", ["claude", "codex", "gemini"])
def test_secrets_of_mcp_servers_never_stand_on_a_command_line(cli: str) -> None:
    made = build(cli, run(mcp=(SERVER, REMOTE)))
    assert not any("s3cret" in arg for arg in made.argv)
    told = [*made.files.values(), *made.env.values()]
    assert sum("s3cret" in text for text in told) >= 1


def test_mcp_servers_are_usable_at_once() -> None:
    mcp = (SERVER, REMOTE)
    files = build("claude", run(mcp=mcp)).files
    servers = json.loads(files[claude.MCP])["mcpServers"]
    assert servers["tools"]["alwaysLoad"] is True and servers["far"]["type"] == "http"
    assert "--strict-mcp-config" in build("claude", run()).argv
    table = codex_settings(build("codex", run(mcp=mcp)).argv)["mcp_servers"]
    assert table["tools"]["required"] is True
    assert table["tools"]["default_tools_approval_mode"] == "approve"
    made = json.loads(build("gemini", run(mcp=mcp)).files[gemini.SETTINGS])["mcpServers"]
    assert made["tools"]["trust"] is True and made["far"]["httpUrl"] == REMOTE.url
    config = json.loads(build("opencode", run(mcp=mcp)).env["OPENCODE_CONFIG_CONTENT"])
    assert config["mcp"]["tools"]["command"] == ["python3", "serve.py"]
    assert config["permission"]["tools_*"] == "allow"


def test_row_67_files_are_the_owners_alone_whatever_stood_there(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("kept")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "pack.md").symlink_to(outside)
    invocation.write({"a/pack.md": "text \ud800"}, tmp_path)
    path = tmp_path / "a" / "pack.md"
    assert outside.read_text() == "kept"
    assert not path.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_bytes() == b"text ?"


FACTS = doctor.Facts("x", "x", "install x", "log in", ())


@pytest.mark.parametrize(
    ("args", "refused"),
    [
        (("--dangerously-skip-permissions",), True),
        (("--permission-mode", "bypassPermissions"), True),
        (("--approval-mode=yolo",), True),
        (("-y",), True),
        (("-c", 'sandbox_mode="danger-full-access"'), True),
        (("--auto",), True),
        (("--autocompact", "auto"), False),
        (("--effort", "high"), False),
    ],
)
def test_arguments_that_switch_off_safety_are_refused(args: tuple[str, ...], refused: bool) -> None:
    reply = one_shot.refused("/x", run(), FACTS, session_id.UUID, Options(args=args))
    assert (reply is not None) is refused
    assert reply is None or reply.failure is Failure.REFUSED


@pytest.mark.parametrize("session", ["../../x", "--last", SESSION + "\n", SESSION.upper()])
def test_row_52_a_malformed_session_never_reaches_a_command_line(session: str) -> None:
    reply = one_shot.refused("/x", run(resume=session), FACTS, session_id.UUID, Options())
    assert reply is not None and reply.failure is Failure.SESSION_LOST


def test_instruction_files_are_found_up_to_the_repositorys_root(tmp_path: Path) -> None:
    below = tmp_path / "repo" / "a"
    below.mkdir(parents=True)
    (tmp_path / "AGENTS.md").touch()
    (tmp_path / "repo" / "AGENTS.md").touch()
    (below / "AGENTS.md").touch()
    assert doctor.loaded(below, ["AGENTS.md"]) == (str(below / "AGENTS.md"),)
    (tmp_path / "repo" / ".git").mkdir()
    assert len(doctor.loaded(below, ["AGENTS.md"])) == 2


def test_only_the_newest_raw_outputs_stay(tmp_path: Path) -> None:
    invocation.prune(tmp_path / "none", 3)
    for number in range(6):
        path = tmp_path / f"{9 - number}.out"
        path.touch()
        os.utime(path, (number, number))
    invocation.prune(tmp_path, 3)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["4.out", "5.out", "6.out"]


@pytest.mark.parametrize(
    "server",
    [
        McpServer('x={command="touch"}', ("a",)),
        McpServer("a.b", ("a",)),
        McpServer("", ("a",)),
        McpServer("x"),
        McpServer("x", ("a",), url="http://b"),
    ],
)
def test_a_server_whose_name_could_be_an_order_is_refused(server: McpServer) -> None:
    reply = one_shot.refused("/x", run(mcp=(server,)), FACTS, session_id.UUID, Options())
    assert reply is not None and reply.failure is Failure.BAD_REQUEST
    assert one_shot.refused("/x", run(mcp=(SERVER, REMOTE)), FACTS, session_id.UUID, Options()) is (
        None
    )
