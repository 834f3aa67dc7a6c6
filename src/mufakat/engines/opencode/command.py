"""The command line and the inline configuration of one turn of OpenCode.

Login, sessions and the user's own configuration stay where they are. The project's own
configuration is left out: it can name plugins and servers, which would run whatever the role.
"""

from __future__ import annotations

import signal
from collections.abc import Mapping
from types import MappingProxyType

from mufakat.core.coordination import opencode_plugin
from mufakat.core.talk.agent import Permission
from mufakat.engines.cli import invocation
from mufakat.engines.process.command import environment
from mufakat.ports.engine import McpServer, Options, Run

VARIABLES = (
    "ANTHROPIC_API_KEY",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AZURE_API_KEY",
    "AZURE_RESOURCE_NAME",
    "CEREBRAS_API_KEY",
    "DEEPSEEK_API_KEY",
    "GEMINI_API_KEY",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_GENERATIVE_AI_API_KEY",
    "GROQ_API_KEY",
    "MISTRAL_API_KEY",
    "OPENAI_API_KEY",
    "OPENCODE_API_KEY",
    "OPENROUTER_API_KEY",
    "XAI_API_KEY",
)
QUIET: Mapping[str, str] = MappingProxyType(
    {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_DISABLE_PROJECT_CONFIG": "1",
        # Without it every start begins an installation of packages that is never finished.
        "npm_config_offline": "true",
    }
)
AGENT = "mufakat"
"""An agent of our own, so that what the user's agents may do does not count."""
PROVIDER = "mufakat"
PLUGIN = "opencode/mufakat.js"
LOOK = ("read", "grep", "glob", "list", "todowrite", "todoread")
EDIT = ("edit",)
RUN = ("bash",)
NEVER = (
    "codesearch",
    "doom_loop",
    "external_directory",
    "lsp",
    "plan_enter",
    "plan_exit",
    "question",
    "skill",
    "task",
    "webfetch",
    "websearch",
)

FORK = "--fork"


def build(
    run: Run,
    options: Options,
    *,
    program: str,
    instructions: tuple[str, ...],
    environ: Mapping[str, str],
) -> invocation.Invocation:
    """One turn; `instructions` are files that OpenCode adds to its system text."""
    argv = [program, "run", "--format", "json", "--agent", AGENT, "--dir", str(run.cwd)]
    model = run.model or options.model
    if options.base_url and model:
        model = f"{PROVIDER}/{model.removeprefix(PROVIDER + '/')}"
    argv += ["--model", model] if model else []
    # Without a title OpenCode asks a model for one, with every new session.
    argv += ["--session", run.resume] if run.resume else ["--title", f"mufakat {run.id[:12]}"]
    argv += [FORK] if run.fork else []
    text = f"{run.delivery.system}\n\n---\n\n" if run.delivery.system else ""
    config = invocation.compact(settings(run, options, instructions))
    return invocation.Invocation(
        argv=(*argv, *options.args),
        env={
            **env(options, environ),
            **invocation.access(run),
            "OPENCODE_CONFIG_CONTENT": config,
        },
        files=plugin(run),
        stdin=(text + run.delivery.user).encode("utf-8", "replace"),
        first_signal=signal.SIGTERM,
        # It ignores every signal but the last while a turn runs; waiting would be in vain.
        grace=1.0,
    )


def settings(run: Run, options: Options, instructions: tuple[str, ...]) -> dict[str, object]:
    """The inline configuration; what keeps the run quiet and in bounds cannot be changed."""
    made = {**own_provider(run, options), **options.config}
    providers = made.get("provider")
    if isinstance(providers, Mapping):
        # Otherwise a mistyped model could go to one of the free hosted ones.
        made.setdefault("enabled_providers", sorted(providers))
    theirs = made.get("plugin")
    ours = [(run.workspace / name).as_uri() for name in plugin(run)]
    made["plugin"] = [*(theirs if isinstance(theirs, list) else []), *ours]
    agents = made.get("agent")
    rules = permission(run.permission, run.mcp)
    own = {"mode": "primary", "description": "An agent of Mufakat.", "permission": rules}
    return {
        **made,
        "autoupdate": False,
        "share": "disabled",
        "snapshot": False,
        "compaction": {"auto": False},
        "permission": rules,
        "agent": {**(agents if isinstance(agents, Mapping) else {}), AGENT: own},
        "mcp": {server.name: mcp(server) for server in run.mcp},
        "instructions": list(instructions),
    }


def plugin(run: Run) -> dict[str, str]:
    """The file with our hooks, for a run that has hooks."""
    if not run.access or not run.access.hook:
        return {}
    return {PLUGIN: opencode_plugin.source(run.access.hook, home=run.access.home, words=False)}


def own_provider(run: Run, options: Options) -> dict[str, object]:
    """A provider for `base_url`, which speaks OpenAI's protocol."""
    if not options.base_url:
        return {}
    model = (run.model or options.model).removeprefix(PROVIDER + "/")
    settings = {"baseURL": options.base_url}
    if options.api_key_env:
        settings["apiKey"] = f"{{env:{options.api_key_env}}}"
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Mufakat",
        "options": settings,
        "models": {model: {"name": model, "tool_call": True}},
    }
    return {"provider": {PROVIDER: provider}, "small_model": f"{PROVIDER}/{model}"}


def permission(level: Permission, servers: tuple[McpServer, ...]) -> dict[str, str]:
    """The permission map; every tool is named, as a rule left out could be the user's own."""
    edits = level in (Permission.WRITE, Permission.DEVELOP)
    runs = level in (Permission.RUN, Permission.DEVELOP)
    allowed = (*LOOK, *(EDIT if edits else ()), *(RUN if runs else ()))
    rules = {"*": "deny", **dict.fromkeys((*LOOK, *EDIT, *RUN, *NEVER), "deny")}
    rules |= dict.fromkeys(allowed, "allow")
    return rules | {f"{server.name}_*": "allow" for server in servers}


def mcp(server: McpServer) -> dict[str, object]:
    """One server in OpenCode's words."""
    if server.url:
        return {
            "type": "remote",
            "url": server.url,
            "headers": dict(server.headers),
            "oauth": False,
            "enabled": True,
        }
    return {
        "type": "local",
        "command": list(server.command),
        "environment": dict(server.env),
        "enabled": True,
    }


def env(options: Options, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment but for the inline configuration."""
    names = (*invocation.BASE, *VARIABLES, *([options.api_key_env] if options.api_key_env else []))
    return environment(environ, names, {**QUIET, **options.env})
