"""The command line of one turn of Claude Code: every setting is an argument of this one start.

The user's own configuration folder is only where Claude finds its login and keeps its sessions;
`--setting-sources ""` keeps settings, hooks and memory files of user and project out.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from types import MappingProxyType

from mufakat.core.talk.agent import Permission
from mufakat.engines.cli import invocation, session_id
from mufakat.engines.process.command import environment
from mufakat.ports.engine import McpServer, Options, Run

VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_CONFIG_FILE",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_SHARED_CREDENTIALS_FILE",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CONFIG_DIR",
    "CLOUD_ML_REGION",
    "GOOGLE_APPLICATION_CREDENTIALS",
)
QUIET: Mapping[str, str] = MappingProxyType(
    {
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        # Claude's default of ten makes a dead login take three minutes to be told.
        "CLAUDE_CODE_MAX_RETRIES": "4",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }
)
LOOK = ("Read", "Grep", "Glob")
EDIT = ("Edit", "Write", "NotebookEdit")
RUN = ("Bash",)
NEVER = ("Task", "WebFetch", "WebSearch", "Workflow", "CronCreate", "EnterWorktree")
PACK = "claude/pack.md"
MCP = "claude/mcp.json"
SETTINGS = "claude/settings.json"
FORK = "--fork-session"


def build(
    run: Run,
    options: Options,
    *,
    program: str,
    flags: frozenset[str],
    environ: Mapping[str, str],
) -> invocation.Invocation:
    """One turn; `flags` are the options that this version's help names."""
    argv = [program, "-p", "--output-format", "stream-json", "--verbose"]
    argv += ["--include-partial-messages"] if "--include-partial-messages" in flags else []
    argv += ["--setting-sources", "", "--strict-mcp-config"]
    model = run.model or options.model
    argv += ["--model", model] if model else []
    argv += permission(run.permission, run.mcp, flags)
    files: dict[str, str] = {}
    if run.delivery.system:
        files[PACK] = run.delivery.system
        argv += ["--append-system-prompt-file", str(run.workspace / PACK)]
    if run.mcp:
        servers = {server.name: mcp(server) for server in run.mcp}
        files[MCP] = invocation.compact({"mcpServers": servers})
        argv += ["--mcp-config", str(run.workspace / MCP)]
    if config := settings(run, options):
        files[SETTINGS] = invocation.compact(config)
        argv += ["--settings", str(run.workspace / SETTINGS)]
    argv += ["--resume", run.resume] if run.resume else []
    argv += [FORK] if run.fork else []
    if run.fork or not run.resume:
        argv += ["--session-id", session_id.named_for(run.id)]
    return invocation.Invocation(
        argv=(*argv, *options.args),
        env={**env(options, environ), **invocation.access(run)},
        stdin=prompt(run.delivery.user).encode("utf-8", "replace"),
        files=files,
        first_signal=signal.SIGINT,
    )


def settings(run: Run, options: Options) -> dict[str, object]:
    """The settings file of this one start: the person's own, and our hooks beside theirs."""
    made = dict(options.config)
    if ours := invocation.hooks(run, "claude"):
        theirs = made.get("hooks")
        made["hooks"] = invocation.beside(theirs if isinstance(theirs, Mapping) else {}, ours)
    return made


def permission(
    level: Permission, servers: tuple[McpServer, ...], flags: frozenset[str]
) -> list[str]:
    """The flags of a permission; a tool that is not listed does not exist for the agent."""
    edits = level in (Permission.WRITE, Permission.DEVELOP)
    runs = level in (Permission.RUN, Permission.DEVELOP)
    tools = (*LOOK, *(EDIT if edits else ()), *(RUN if runs else ()))
    allowed = [*(RUN if runs else ()), *(f"mcp__{server.name}" for server in servers)]
    denied = [tool for tool in (*EDIT, *RUN, *NEVER) if tool not in tools]
    argv = ["--permission-mode", "acceptEdits" if edits else "dontAsk"]
    argv += ["--tools", ",".join(tools)] if "--tools" in flags else []
    argv += ["--allowedTools", ",".join(allowed)] if allowed else []
    return [*argv, "--disallowedTools", ",".join(denied)]


def mcp(server: McpServer) -> dict[str, object]:
    """One server in Claude's words; loaded at once, or its tools would have to be searched for."""
    if server.url:
        return {
            "type": "http",
            "url": server.url,
            "headers": dict(server.headers),
            "alwaysLoad": True,
        }
    return {
        "command": server.command[0],
        "args": list(server.command[1:]),
        "env": dict(server.env),
        "alwaysLoad": True,
    }


def prompt(user: str) -> str:
    """The user's text; a first line that begins with a slash would be run as a command."""
    return "\n" + user if user.lstrip().startswith("/") else user


def env(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """The complete environment: named variables of ours, quiet switches, the user's settings."""
    made = dict(QUIET)
    if options.base_url:
        made["ANTHROPIC_BASE_URL"] = options.base_url
    if options.api_key_env in environ:
        made["ANTHROPIC_API_KEY"] = environ[options.api_key_env]
    return environment(environ, (*invocation.BASE, *VARIABLES), {**made, **options.env})
