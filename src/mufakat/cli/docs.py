"""`mufakat docs`: documents of the project and of its packages, with notes."""

from __future__ import annotations

from urllib.parse import quote

import click

from mufakat.cli import attach, output, resources
from mufakat.cli.session import Group, Session, use
from mufakat.core.terminal_text import clean
from mufakat.sdk.client import Query


@click.group("docs", cls=Group)
def command() -> None:
    """Documents of this project and of its packages, with the notes on them.

    \b
    Examples:
      mufakat docs search "stream server-sent events"
      mufakat docs get fastapi
    """


@command.command("search")
@click.argument("query")
@click.option(
    "--limit", type=click.IntRange(1, 50), default=5, metavar="N", help="At most so many."
)
@use
def search(session: Session, /, query: str, limit: int) -> int:
    """Find the documents that answer a question, each with its best section.

    \b
    Example:
      mufakat docs search "retry a failed request"
    """
    with attach.attached(session) as client:
        asked: Query = {"q": query, "limit": limit, "project": resources.register(client)}
        found = client.get("/docs/search", asked)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    for one in found["items"]:
        title = output.paint(session, output.line(one["document"]), output.INDIGO)
        click.echo(f"{title}  {output.line(one['section'])}  {output.dim(session, one['source'])}")
        click.echo(f"  {output.line(one['text'][:400])}\n")
    if found["why"]:
        click.echo(output.line(found["why"]), err=True)
    return 0


@command.command("get")
@click.argument("name")
@click.option("--section", default="", metavar="HEADING", help="A heading, or words of one.")
@use
def get(session: Session, /, name: str, section: str) -> int:
    """Show a section of a document, or its beginning and all its headings.

    \b
    Example:
      mufakat docs get fastapi --section fastapi.sse
    """
    with attach.attached(session) as client:
        asked = {"section": section, "project": resources.register(client)}
        found = client.get(f"/docs/page/{quote(name)}", asked)
    if session.json:
        click.echo(output.json_text(found))
        return 0
    click.echo(clean(found["text"]))
    for note in found["notes"]:
        by = output.dim(session, f"{output.line(note['author'])} {output.moment(note['at'])}")
        click.echo(f"\nNote by {by}\n{clean(note['text'])}")
    return 0


@command.command("note")
@click.argument("name")
@click.argument("text")
@use
def note(session: Session, /, name: str, text: str) -> int:
    """Leave a note on a document for whoever reads it next in this project.

    \b
    Example:
      mufakat docs note fastapi "Our routes answer Json, not models."
    """
    with attach.attached(session) as client:
        body = {"text": text, "project": resources.register(client)}
        left = client.post(f"/docs/notes/{quote(name)}", body)
    click.echo(
        output.json_text(left) if session.json else f"Noted on {output.line(left['document'])}."
    )
    return 0
