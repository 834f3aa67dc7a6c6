"""docs/cli.md tells the truth: every command, option, exit code and example."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from mufakat.cli import exit_codes, main
from mufakat.cli.session import shared_options

TEXT = (Path(__file__).parents[2] / "docs" / "cli.md").read_text("utf-8")
OPTION = re.compile(r"`(--?[a-z][a-z-]*)(?: [A-Z]+)?`")
SHARED = {name for option in shared_options() for name in (*option.opts, *option.secondary_opts)}
EVERYWHERE = SHARED | {"--help"}


def commands(
    group: click.Group = main.root, path: str = "mufakat"
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield f"{path} {name}", found
        if isinstance(found, click.Group):
            yield from commands(found, f"{path} {name}")


ALL = dict(commands())


def section(title: str) -> str:
    """The text below a command's heading, up to the next heading."""
    found = re.search(rf"^#+ `{title}`\n(.*?)(?=^#|\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"`{title}` has no heading"
    return found[1]


def rows(text: str) -> str:
    """The first column of the tables in a text."""
    return "\n".join(line.split("|")[1] for line in text.splitlines() if line.startswith("|"))


def names(command: click.Command) -> set[str]:
    options = [one for one in command.params if isinstance(one, click.Option)]
    return {name for one in options for name in (*one.opts, *one.secondary_opts)} - EVERYWHERE


@pytest.mark.parametrize("title", ALL)
def test_every_command_and_option_is_documented(title: str) -> None:
    assert set(OPTION.findall(rows(section(title)))) == names(ALL[title])


@pytest.mark.parametrize("title", ALL)
def test_every_command_takes_the_shared_options(title: str) -> None:
    options = {name for one in ALL[title].params for name in (*one.opts, *one.secondary_opts)}
    assert options >= SHARED


@pytest.mark.parametrize("title", ALL)
def test_every_help_has_an_example_and_a_short_line(title: str) -> None:
    command = ALL[title]
    assert command.help
    assert re.search(r"Examples?:\n +mufakat ", command.help), title
    assert len(command.help.splitlines()[0]) <= 80


def test_the_shared_options_are_documented() -> None:
    table = TEXT.split("## `mufakat ask`")[0]
    assert set(OPTION.findall(rows(table))) == EVERYWHERE


def test_the_short_help_is_the_commands_own_first_line() -> None:
    context = click.Context(main.root)
    for name, short in main.COMMANDS.items():
        command = main.root.get_command(context, name)
        assert command is not None and command.help is not None
        assert command.help.splitlines()[0] == short


def test_no_section_for_a_command_that_is_not_there() -> None:
    assert set(re.findall(r"^#+ `(mufakat [^`]+)`$", TEXT, re.MULTILINE)) == set(ALL)


def test_the_exit_codes_are_the_table() -> None:
    found = dict(re.findall(r"^\| (\d+) \| (.+) \|$", TEXT, re.MULTILINE))
    assert {int(code): text for code, text in found.items()} == dict(exit_codes.MEANING)


EXAMPLES = [
    line.rpartition("| ")[2]
    for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    for line in block.splitlines()
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_can_be_read(example: str) -> None:
    program, *words = shlex.split(example)
    assert program == "mufakat"
    group: click.Command = main.root
    context = group.make_context("mufakat", words, resilient_parsing=True)
    while isinstance(group, click.Group) and words:
        name, found, words = group.resolve_command(context, words)
        assert found is not None and name is not None
        group = found
        if not isinstance(group, click.Group):
            group.make_context(name, list(words), parent=context)
