"""The facts of one run of the command: its home, its output form and its terminal."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from mufakat.sdk.home import default_home


@dataclass(slots=True)
class Session:
    """What the shared options chose; None means the user left it open."""

    home_option: Path | None = None
    json_option: bool | None = None
    local: bool = False

    @property
    def home(self) -> Path:
        """The folder with database, token and settings."""
        return (self.home_option or default_home(os.environ)).expanduser().absolute()

    @property
    def json(self) -> bool:
        """Whether results are JSON: as asked, else wherever stdout is no terminal."""
        return not sys.stdout.isatty() if self.json_option is None else self.json_option

    @property
    def json_errors(self) -> bool:
        """Whether errors are JSON too: not while a person still sees them."""
        return self.json and (self.json_option is not None or not sys.stderr.isatty())

    @property
    def colour(self) -> bool:
        """Whether stdout takes colours."""
        plain = os.environ.get("NO_COLOR", "") or os.environ.get("TERM") == "dumb"
        return sys.stdout.isatty() and not plain


def _home(ctx: click.Context, _: click.Parameter, value: Path | None) -> None:
    if value is not None:
        ctx.ensure_object(Session).home_option = value


def _json(ctx: click.Context, _: click.Parameter, value: bool | None) -> None:
    if value is not None:
        ctx.ensure_object(Session).json_option = value


def _local(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        ctx.ensure_object(Session).local = True


def shared_options() -> list[click.Parameter]:
    """Options that stand before or after the name of any command."""
    return [
        click.Option(
            ["--home"],
            type=click.Path(path_type=Path, file_okay=False),
            callback=_home,
            expose_value=False,
            metavar="DIR",
            help="Folder with database, token and settings.",
        ),
        click.Option(
            ["--json/--no-json"],
            default=None,
            callback=_json,
            expose_value=False,
            help="Print JSON; the default where the output is not a terminal.",
        ),
        click.Option(
            ["--local"],
            is_flag=True,
            callback=_local,
            expose_value=False,
            help="Run the application inside this one command, without a server.",
        ),
    ]


class Command(click.Command):
    """A command that takes the shared options too."""

    def __init__(self, name: str | None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.params += shared_options()


class Group(click.Group):
    """A group whose commands take the shared options."""

    command_class = Command

    def __init__(self, name: str | None = None, **attributes: Any) -> None:
        super().__init__(name, **attributes)
        self.params += shared_options()


use = click.make_pass_decorator(Session, ensure=True)
