"""The command line and the private settings of one turn of Gemini CLI.

Gemini has no per-invocation settings for ordinary users, so every agent gets its own
GEMINI_CLI_HOME; sessions live there too.
"""

from __future__ import annotations

from collections.abc import Mapping

from mufakat.core.talk.agent import Permission
from mufakat.engines.cli import invocation, session_id
from mufakat.engines.process.command import environment
from mufakat.ports.engine import McpServer, Options, Run

VARIABLES = (
    "GEMINI_API_KEY",
    "GEMINI_MODEL",
    "GOOGLE_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_LOCATION",
    "GOOGLE_CLOUD_PROJECT",
    "GOOGLE_GEMINI_BASE_URL",
    "GOOGLE_GENAI_USE_GCA",
    "GOOGLE_GENAI_USE_VERTEXAI",
    "GOOGLE_VERTEX_BASE_URL",
)
HOME = "gemini"
FOLDER = f"{HOME}/.gemini"
SETTINGS = f"{FOLDER}/settings.json"
POLICY = f"{HOME}/policy.toml"
EDIT = ("write_file", "replace")
RUN = ("run_shell_command",)
NEVER = ("web_fetch", "google_web_search")
ALLOW, DENY = 900, 950


def build(
    run: Run,
    options: Options,
    *,
    program: str,
    login: str,
    environ: Mapping[str, str],
) -> invocation.Invocation:
    """One turn; `login` is the value of Gemini's `security.auth.selectedType`."""
    argv = [program, "-o", "stream-json", "--approval-mode", "default", "--skip-trust"]
    argv += ["--policy", str(run.workspace / POLICY)]
    model = run.model or options.model
    argv += ["-m", model] if model else []
    if run.resume:
        argv += ["--resume", run.resume]
    else:
        argv += ["--session-id", session_id.named_for(run.id)]
    text = f"{run.delivery.system}\n\n---\n\n" if run.delivery.system else ""
    return invocation.Invocation(
        argv=(*argv, *options.args),
        env={
            **env(options, environ),
            **invocation.access(run),
            "GEMINI_CLI_HOME": str(run.workspace / HOME),
        },
        stdin=(text + run.delivery.user).encode("utf-8", "replace"),
        files={
            SETTINGS: invocation.compact(settings(run, options, login)),
            POLICY: policy(run.permission),
        },
    )


def settings(run: Run, options: Options, login: str) -> dict[str, object]:
    """The whole settings file; what keeps the run quiet and in bounds cannot be changed."""
    usual: dict[str, object] = {
        "security": {"auth": {"selectedType": login}},
        # Gemini's default of ten attempts makes a full quota take four minutes to be told.
        "general": {"maxAttempts": 4},
    }
    fixed: dict[str, object] = {
        "security": {"folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "advanced": {"ignoreLocalEnv": True},
        "mcpServers": {server.name: mcp(server) for server in run.mcp},
    }
    made = merged(merged(usual, options.config), fixed)
    if ours := invocation.hooks(run, "gemini"):
        theirs = made.get("hooks")
        made["hooks"] = invocation.beside(theirs if isinstance(theirs, Mapping) else {}, ours)
        made = merged(made, {"hooksConfig": {"enabled": True}})
    return made


def merged(under: Mapping[str, object], over: Mapping[str, object]) -> dict[str, object]:
    """Two settings documents as one; `over` wins, tables are joined."""
    made = dict(under)
    for key, value in over.items():
        old = made.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        made[key] = merged(old, value) if both else value  # type: ignore[arg-type]
    return made


def policy(level: Permission) -> str:
    """Rules for Gemini's policy engine: without one, a tool that would ask does not exist."""
    edits = level in (Permission.WRITE, Permission.DEVELOP)
    runs = level in (Permission.RUN, Permission.DEVELOP)
    allowed = (*(EDIT if edits else ()), *(RUN if runs else ()))
    denied = tuple(tool for tool in (*EDIT, *RUN, *NEVER) if tool not in allowed)
    rules = [_rule(denied, "deny", DENY)]
    rules += [_rule(allowed, "allow", ALLOW)] if allowed else []
    return "\n".join(rules)


def _rule(tools: tuple[str, ...], decision: str, priority: int) -> str:
    # Without `allowRedirection` a command with `>` in it would ask, and so be refused.
    redirect = "allowRedirection = true\n" if decision == "allow" else ""
    names = ", ".join(f'"{tool}"' for tool in tools)
    return (
        f'[[rule]]\ntoolName = [{names}]\ndecision = "{decision}"\n'
        f"priority = {priority}\n{redirect}"
    )


def mcp(server: McpServer) -> dict[str, object]:
    """One server in Gemini's words; trusted, or its tools would be hidden."""
    if server.url:
        return {"httpUrl": server.url, "headers": dict(server.headers), "trust": True}
    return {
        "command": server.command[0],
        "args": list(server.command[1:]),
        "env": dict(server.env),
        "trust": True,
    }


def env(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment but for the private home."""
    made = {"GEMINI_CLI_NO_RELAUNCH": "true"}
    if options.base_url:
        made["GOOGLE_GEMINI_BASE_URL"] = options.base_url
    if options.api_key_env in environ:
        made["GEMINI_API_KEY"] = environ[options.api_key_env]
    return environment(environ, (*invocation.BASE, *VARIABLES), {**made, **options.env})
