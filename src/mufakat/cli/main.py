"""The command `mufakat`: finds the commands, loads only the one that is asked for."""

from __future__ import annotations

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
        "up": "Start the server, or say where it runs.",
        "conversations": "List conversations and read them.",
        "pack": "See what an agent was told, or would be told.",
        "turns": "List, cancel and retry requests.",
        "engines": "List the engines that can be asked.",
        "doctor": "Check engines, store and home; say how to mend what is wrong.",
        "events": "Print the event log, or follow it.",
        "backup": "Write a verified copy of the database and print its path.",
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
        command: click.Command = import_module(f"mufakat.cli.{cmd_name}").command
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
