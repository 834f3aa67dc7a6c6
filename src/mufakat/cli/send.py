"""`mufakat send`: a message to an agent, a role or a topic."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from mufakat.cli import attach, duration, output, request
from mufakat.cli.session import Command, Session, use
from mufakat.core.base import InvalidInput

TIME = duration.Duration()
INTENTS = ("request", "decision", "alert", "handoff", "inform", "ack")


@click.command(cls=Command)
@click.argument("to", nargs=-1, metavar="[TO]...")
@click.option("-m", "--message", default=None, metavar="TEXT", help="The text; stdin by default.")
@click.option(
    "--intent", default="inform", type=click.Choice(INTENTS), help="What you want of them."
)
@click.option("--thread", default="", metavar="ID", help="Conversation that it belongs to.")
@click.option("--reply-to", default="", metavar="ID", help="Message that it answers.")
@click.option("--deadline", default=None, type=TIME, help="When you want to know that none came.")
@click.option("--ttl", default=None, type=TIME, help="After so long it is not delivered any more.")
@click.option("--urgent", is_flag=True, help="Priority 3.")
@click.option("--hold", is_flag=True, help="Keep it for somebody who has not joined yet.")
@click.option("--project", default="", metavar="DIR", help="Folder; the current one by default.")
@use
def command(session: Session, /, to: tuple[str, ...], message: str | None, **options: Any) -> int:
    """Send a message to agents, a role or a topic.

    TO is an identity, the beginning of one, an alias, `role:x` or `topic:x`.

    \b
    Examples:
      mufakat send claude@greenmac -m "Which port did you choose?" --intent request
      git diff | mufakat send role:reviewer --intent request
    """
    if not to and not options["thread"] and not options["reply_to"]:
        raise click.UsageError("To whom? Name a recipient, or a --thread.")
    body: dict[str, Any] = {
        "to": list(to),
        "body": _text(message),
        "intent": options["intent"],
        "thread": options["thread"],
        "reply_to": options["reply_to"],
        "priority": 3 if options["urgent"] else 1,
        "hold": options["hold"],
        "project": str(Path(options["project"] or ".").absolute()),
    }
    for name in ("deadline", "ttl"):
        if options[name] is not None:
            body[name] = options[name]
    with attach.attached(session) as client:
        found = client.post("/messages", body)
    if session.json:
        click.echo(output.json_text(found))
    else:
        names = ", ".join(output.line(one) for one in found["recipients"]) or "the thread"
        click.echo(f"{output.line(found['message'])}  to {names}")
    return 0


def _text(given: str | None) -> str:
    if given is not None and given != "-":
        return request.readable(os.fsencode(given))
    if given is None and (sys.stdin is None or sys.stdin.isatty()):
        raise InvalidInput("There is no text.", fix='Give one: mufakat send … -m "…"')
    return request.readable(sys.stdin.buffer.read(request.READ_BYTES))
