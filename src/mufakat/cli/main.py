"""The command `mufakat`: finds the commands, loads only the one that is asked for."""

from __future__ import annotations

import keyword
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from types import MappingProxyType
from typing import Any

import click

import mufakat
from mufakat.cli import exit_codes
from mufakat.cli.session import Session, shared_options

COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "ask": "Ask an agent and show its answer.",
        "rt": "Put one question to several agents, in rounds, and see what they come to.",
        "up": "Start the server, or say where it runs.",
        "conversations": "List conversations and read them.",
        "branch": "Branches: a conversation that goes another way from one of its messages.",
        "pack": "See what an agent was told, or would be told.",
        "turns": "List, cancel and retry requests.",
        "agents": "List who takes part: identity, state, since when, open messages.",
        "state": "Report what an agent does now, or show it.",
        "lease": "Leases: exclusive use of a file, repository, task, port … for a time.",
        "inbox": "Messages to you, or to the agent whose token is in MUFAKAT_TOKEN.",
        "send": "Send a message to agents, a role or a topic.",
        "wait": "Wait until agents are in a state.",
        "on": "Reactions: when an agent comes into a state, do something.",
        "notice": "Shared facts of a project that expire by themselves.",
        "memory": "What older messages of a conversation came to: topics with their sources.",
        "recall": "Find what was said in this project, best first, with the turns beside it.",
        "search": "Find places in the code of this project, best first.",
        "index": "Bring the index of this project up to date, and say what is in it.",
        "graph": "Who uses a symbol of this project, and what a change may touch.",
        "skills": "Skills of this project and of yours, and your consent to them.",
        "docs": "Documents of this project and of its packages, with the notes on them.",
        "sessions": "Sessions that Claude Code, Codex, Gemini CLI and OpenCode keep themselves.",
        "context": "Print what is new for an agent: messages, states, leases, notices.",
        "pull": "Print more of something: a skill, what was said, a piece of code, a document.",
        "policy": "The policy file of this home, and what it would decide.",
        "guard": "Run a command only while a lease is held.",
        "mcp": "Serve the room's MCP tools on stdin and stdout.",
        "hooks": "Install, remove and list the hooks of agents that you start by hand.",
        "engines": "List the engines that can be asked.",
        "doctor": "Check engines, store and home; say how to mend what is wrong.",
        "events": "Print the event log, or follow it.",
        "audit": "Check that the event log is whole, export it, see what was so before.",
        "backup": "Write a verified copy of the database and print its path.",
        "export": "Write every record into the new archive FILE, to be moved elsewhere.",
        "import": "Fill the empty store of this home from the archive FILE.",
        "restore": "Put the backup FILE in the place of the database.",
        "check": "Check the database for damage; exit code 1 where there is some.",
    }
)


class LazyGroup(click.Group):
    """Imports a command's module when it is called; its help line comes from the table."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = f"{cmd_name}_" if keyword.iskeyword(cmd_name) else cmd_name
        command: click.Command = import_module(f"mufakat.cli.{module}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


def _version(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"mufakat {mufakat.__version__}")
        ctx.exit()


@click.group(cls=LazyGroup, invoke_without_command=True, no_args_is_help=False)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version.",
)
@click.pass_context
def root(ctx: click.Context) -> None:
    """The room where CLI coding agents work together.

    Each agent is told what it needs for one request. Results go to stdout, everything else to
    stderr; the output is JSON with --json or where it is not a terminal.

    \b
    Example:
      mufakat ask "What is this project?"
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


root.params += shared_options()


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; answers its exit code and never lets a traceback out."""
    _tolerate_any_text()
    session = Session()
    try:
        result: Any = root.main(
            args=None if argv is None else list(argv),
            prog_name="mufakat",
            standalone_mode=False,
            obj=session,
        )
    except click.exceptions.Abort:
        return exit_codes.INTERRUPTED
    except Exception as problem:  # noqa: BLE001 - the door's edge: every error becomes one message
        from mufakat.cli import complaint

        return complaint.report(session, problem)
    return result if isinstance(result, int) else exit_codes.OK


def _tolerate_any_text() -> None:
    """An old locale must not turn an answer into an encoding error."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure:
            reconfigure(errors="replace")
