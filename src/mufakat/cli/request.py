"""The options that `ask` and `pack preview` share, and the request they make."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from mufakat.core.base import InvalidInput

F = TypeVar("F", bound=Callable[..., Any])

OPTIONS = (
    click.argument("prompt", required=False),
    click.option("-a", "--engine", default="", metavar="NAME", help="Engine to ask."),
    click.option(
        "-c",
        "--conversation",
        default="",
        metavar="ID",
        help="Go on in this conversation: an id, the beginning of one, or `last`.",
    ),
    click.option("-m", "--model", default="", metavar="NAME", help="Model, in the engine's words."),
    click.option("--role", default="", metavar="NAME", help="Role, for example reviewer."),
    click.option("--persona", default="", metavar="NAME", help="Persona to speak in."),
    click.option("--mode", default="", metavar="MODE", help="lite, standard or full."),
    click.option("--budget", default=None, type=int, metavar="N", help="Characters of the pack."),
    click.option("--fresh", is_flag=True, help="Do not resume the engine's own session."),
    click.option("--mute", multiple=True, metavar="KIND", help="Leave a section out; repeatable."),
    click.option(
        "--project",
        default="",
        metavar="DIR",
        help="Folder of the project; the current folder by default.",
    ),
)
CHOICES = ("conversation", "engine", "model", "role", "persona", "mode", "budget", "fresh", "mute")
READ_BYTES = 8 * 1024 * 1024
"""More than any prompt may have; what is behind it is not read."""


def options(function: F) -> F:
    """Add the options to a command."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


def build(given: Mapping[str, Any]) -> dict[str, Any]:
    """Make the body of a request, refusing what can never work before anything is sent."""
    from mufakat.services import request

    prompt = prompt_of(given["prompt"])
    if given["budget"] is not None and given["budget"] <= 0:
        limits = f"{request.MIN_BUDGET:,} to {request.MAX_BUDGET:,} characters"
        raise InvalidInput(
            f"A budget of {given['budget']} characters is out of range.",
            fix=f"Give {limits}, or leave it out.",
        )
    project = folder_of(given["project"])
    asked = {name: given[name] for name in CHOICES if given[name]}
    request.validate(request.Ask(prompt, project, **asked))
    return {"prompt": prompt, "project": project} | asked


def folder_of(given: str) -> str:
    """The project's folder, by default the current one; raises InvalidInput."""
    from mufakat.services import request

    return str(request.folder(str(Path(given or ".").expanduser().absolute())))


def prompt_of(given: str | None) -> str:
    """The prompt from the command line, or from stdin where it is `-` or left out."""
    if given is not None and given != "-":
        return readable(os.fsencode(given))
    if given is None and (sys.stdin is None or sys.stdin.isatty()):
        raise InvalidInput("There is no prompt.", fix='Say what you want: mufakat ask "…"')
    return readable(sys.stdin.buffer.read(READ_BYTES))


def readable(data: bytes) -> str:
    """Text that can be stored, whatever the bytes are."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    return text.replace("\0", "\u2400")
