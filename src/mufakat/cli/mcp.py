"""`mufakat mcp`: what an agent CLI starts to get the room's tools over its pipes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from mufakat.cli import launch
from mufakat.cli.session import Command, Session, use
from mufakat.sdk import discovery
from mufakat.sdk.agent import Agent
from mufakat.sdk.client import Endpoint

SESSION_VARIABLES = ("CLAUDE_CODE_SESSION_ID", "CODEX_THREAD_ID", "GEMINI_SESSION_ID")
"""Where engines tell the programs they start which session it is."""


@click.command(cls=Command)
@click.option("--engine", default="mcp", metavar="NAME", help="Joins under this name.")
@click.option("--role", default="", metavar="NAME", help="Role, for example reviewer.")
@use
def command(session: Session, /, engine: str, role: str) -> int:
    """Serve the room's MCP tools on stdin and stdout.

    Name it in the settings of an agent CLI as its MCP server. With MUFAKAT_TOKEN it speaks for
    that agent; else it joins as one of its own and leaves at the end.

    \b
    Example:
      mufakat mcp --engine claude
    """
    from mufakat.sdk.mcp_relay import Relay

    place = session.home
    own = discovery.given(os.environ, place)
    if own is not None:
        Relay(lambda: own, sys.stdout.buffer).run(sys.stdin.buffer)
        return 0
    if discovery.find(place) is None:
        launch.start(place)
    name = next((os.environ[one] for one in SESSION_VARIABLES if os.environ.get(one)), "")
    with Agent.join(engine, role=role, project=Path.cwd(), session=name, place=place) as agent:
        Relay(lambda: _now(place, agent), sys.stdout.buffer).run(sys.stdin.buffer)
    return 0


def _now(place: Path, agent: Agent) -> Endpoint:
    """The home's server of this moment, which may have been started anew."""
    token = str(agent.record["token"])
    found = discovery.read(place)
    return Endpoint(found.url if found else "", token)
