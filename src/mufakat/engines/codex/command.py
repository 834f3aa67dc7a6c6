"""The command line of one turn of Codex: `-c` settings of this one start, everything by stdin.

The user's Codex folder is only where Codex finds its login and keeps its sessions; its
configuration file is not read, so that nothing in it can widen what a role may do.
"""

from __future__ import annotations

import hashlib
import json
import re
import signal
from collections.abc import Mapping

from mufakat.core.talk.agent import Permission
from mufakat.engines.cli import invocation
from mufakat.engines.process.command import environment
from mufakat.ports.engine import McpServer, Options, Run

VARIABLES = (
    "CODEX_API_KEY",
    "CODEX_CA_CERTIFICATE",
    "CODEX_HOME",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION",
    "OPENAI_PROJECT",
)
SANDBOX = {
    Permission.READ: "read-only",
    # Codex's sandbox cannot tell running from editing: both are writing below the project.
    Permission.RUN: "workspace-write",
    Permission.WRITE: "workspace-write",
    Permission.DEVELOP: "workspace-write",
}
PROVIDER = "mufakat"
FLAGS = "/<session-flags>/config.toml"
"""Codex's name for the file that its `-c` arguments would be."""


def build(
    run: Run, options: Options, *, program: str, environ: Mapping[str, str]
) -> invocation.Invocation:
    """One turn."""
    argv = [program, "exec", *(["resume"] if run.resume else [])]
    argv += ["--json", "--skip-git-repo-check", "--ignore-user-config", "--disable", "plugins"]
    for key, value in settings(run, options).items():
        argv += ["-c", f"{key}={toml(value)}"]
    model = run.model or options.model
    argv += ["-m", model] if model else []
    argv += [*options.args, *([run.resume] if run.resume else []), "-"]
    text = f"{run.delivery.system}\n\n---\n\n" if run.delivery.system else ""
    return invocation.Invocation(
        argv=tuple(argv),
        env={**env(options, environ, run.mcp), **invocation.access(run)},
        stdin=(text + run.delivery.user).encode("utf-8", "replace"),
        first_signal=signal.SIGINT,
    )


def settings(run: Run, options: Options) -> dict[str, object]:
    """The `-c` settings; those that keep a role in its bounds come last and win."""
    made: dict[str, object] = {"check_for_update_on_startup": False, "analytics.enabled": False}
    if options.base_url:
        provider = {"name": PROVIDER, "base_url": options.base_url, "wire_api": "responses"}
        if options.api_key_env:
            provider["env_key"] = options.api_key_env
        made |= {"model_provider": PROVIDER, f"model_providers.{PROVIDER}": provider}
    made |= dict(options.config)
    made |= hooks(run)
    made |= {f"mcp_servers.{server.name}": mcp(server) for server in run.mcp}
    return made | {"approval_policy": "never", "sandbox_mode": SANDBOX[run.permission]}


def hooks(run: Run) -> dict[str, object]:
    """Our hooks, each trusted by its hash.

    Codex runs a hook only when its very text is trusted. The switch that trusts all of them
    would also run what stands in a `hooks.json` and nobody has looked at.
    """
    ours = invocation.hooks(run, "codex")
    if not ours:
        return {}
    made: dict[str, object] = {f"hooks.{event}": groups for event, groups in ours.items()}
    state = {
        f"{FLAGS}:{_snake(event)}:{index}:0": {"trusted_hash": _hash(_snake(event), group)}
        for event, groups in ours.items()
        for index, group in enumerate(groups)
    }
    return made | {"hooks.state": state}


def _hash(event: str, group: object) -> str:
    """How Codex names the text of a group with one command."""
    assert isinstance(group, Mapping)
    known = {"async": False}
    handlers = [known | hook for hook in group["hooks"]]
    identity = {**group, "event_name": event, "hooks": handlers}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"sha256:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _snake(event: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", event).lower()


def mcp(server: McpServer) -> dict[str, object]:
    """One server in Codex's words: waited for, and its tools approved, as nobody can be asked."""
    rules = {"required": True, "default_tools_approval_mode": "approve"}
    if server.url:
        headers = {name: header_variable(server, name) for name in server.headers}
        return {"url": server.url, "env_http_headers": headers, **rules}
    names = {name: name for name in server.env}
    return {
        "command": server.command[0],
        "args": list(server.command[1:]),
        "env_vars": list(names),
        **rules,
    }


def header_variable(server: McpServer, header: str) -> str:
    """The variable that carries a header's value, which must not stand on a command line."""
    name = "".join(char if char.isalnum() else "_" for char in f"{server.name}_{header}")
    return f"MUFAKAT_MCP_{name.upper()}"


def env(
    options: Options, environ: Mapping[str, str], servers: tuple[McpServer, ...] = ()
) -> dict[str, str]:
    """The complete environment; servers' secrets travel in it, as arguments are public."""
    names = (*invocation.BASE, *VARIABLES, *([options.api_key_env] if options.api_key_env else []))
    made: dict[str, str] = {}
    for server in servers:
        made |= server.env
        made |= {header_variable(server, key): value for key, value in server.headers.items()}
    return environment(environ, names, {**made, **options.env})


def toml(value: object) -> str:
    """Inline TOML of plain data."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case Mapping():
            pairs = (f"{json.dumps(str(k))}={toml(v)}" for k, v in value.items())
            return "{" + ",".join(pairs) + "}"
        case list() | tuple():
            return "[" + ",".join(toml(item) for item in value) + "]"
        case _:
            # JSON's escapes are TOML's, but for DEL, which TOML forbids.
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
