"""`mufakat pull`: more of what a pack only names."""

from __future__ import annotations

import os
from pathlib import Path

import click

from mufakat.cli import attach, output
from mufakat.cli.session import Command, Session, use
from mufakat.sdk import discovery

KINDS = (
    *("skill", "memory", "recall", "session", "docs", "code", "graph"),
    *("plan", "artifact", "message", "slice"),
)
FORMS = ("probe", "slice", "full")


@click.command(cls=Command)
@click.argument("kind", type=click.Choice(KINDS))
@click.argument("query", nargs=-1, required=True)
@click.option("--form", type=click.Choice(FORMS), default="slice", help="How much of it.")
@click.option("--project", type=click.Path(path_type=Path, file_okay=False), default=None)
@click.option("--conversation", default="", metavar="ID", help="From where it is asked.")
@use
def command(
    session: Session,
    /,
    *,
    kind: str,
    query: tuple[str, ...],
    form: str,
    project: Path | None,
    conversation: str,
) -> int:
    """Print more of something: a skill, what was said, a piece of code, a document.

    QUERY is a name (skill, session), a path with lines (slice), a message (m:12), or a question.
    Exit code 1 where there is nothing; the reason stands on stderr.

    \b
    Examples:
      mufakat pull skill deploy
      mufakat pull recall which port does the gateway use
      mufakat pull slice src/app.py:10-42
      mufakat pull docs fastapi#Middleware --form full
    """
    wanted = {
        "kind": kind,
        "query": " ".join(query),
        "form": form,
        "project": _project(session, project),
        "conversation": conversation,
    }
    with attach.attached(session) as client:
        found = client.post("/pull", wanted)
    if session.json:
        click.echo(output.json_text(found))
    elif found["text"]:
        click.echo(found["text"])
    if found["why"] and not session.json:
        click.echo(f"note: {found['why']}", err=True)
    return 0 if found["text"] else 1


def _project(session: Session, given: Path | None) -> str:
    """The folder that is meant; an agent asks in its own project, wherever it stands."""
    if given is None and discovery.given(os.environ, session.home) is not None:
        return ""
    return str((given or Path()).resolve())
