"""`mufakat ask`: one request to one agent, and its answer."""

from __future__ import annotations

import math
from typing import Any

import click

from mufakat.cli import attach, exit_codes, follow, output, request
from mufakat.cli.session import Command, Session, use
from mufakat.sdk.client import Client, new_key


@click.command(cls=Command)
@request.options
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=None,
    metavar="S",
    help="Wait so many seconds at most; the agent works on.",
)
@click.option("--no-wait", is_flag=True, help="Return at once; the agent works on.")
@use
def command(session: Session, /, timeout: float | None, no_wait: bool, **given: Any) -> int:
    """Ask an agent and show its answer.

    PROMPT is the question. With `-`, or with no PROMPT and a pipe, it is read from stdin. The
    answer appears as it comes; progress goes to stderr. Ctrl-C cancels the request.

    \b
    Examples:
      mufakat ask "What is this project?"
      git diff | mufakat ask - -a claude --role reviewer
      mufakat ask "And the tests?" -c last --json
    """
    body = request.build(given)
    with attach.attached(session) as client:
        after = follow.cursor(client)
        turn = _submit(client, body)
        if no_wait:
            return _accepted(session, turn)
        seconds = math.inf if timeout is None else timeout
        turn, code = follow.to_end(session, client, turn, after=after, seconds=seconds)
        return follow.conclude(session, turn, code)


def _submit(client: Client, body: dict[str, Any]) -> follow.Turn:
    """Send the request; Ctrl-C meanwhile cancels what the server may have accepted."""
    key = new_key()
    try:
        turn: follow.Turn = client.post("/turns", body, key=key)
    except KeyboardInterrupt:
        follow.cancel(client, client.post("/turns", body, key=key)["id"])
        raise
    return turn


def _accepted(session: Session, turn: follow.Turn) -> int:
    if session.json:
        click.echo(output.json_line(follow.result(turn)))
    else:
        click.echo(turn["id"])
    return exit_codes.OK
