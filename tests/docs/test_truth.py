"""The docs tell the truth: tables are fresh, events and commands exist, links lead somewhere."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from docs import tables
from mufakat.cli import main as cli
from shape import sources

PAGES = sorted(
    page
    for page in (*tables.REPOSITORY.glob("*.md"), *tables.DOCS.rglob("*.md"))
    if "node_modules" not in page.parts
)
EVENT = re.compile(
    r"(turn|message|conversation|project|pack|store|server|inbox|gate|notice)\.[a-z_]+"
)
LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUNNERS = ("scripts/run", "mufakat")


@pytest.mark.parametrize("name", tables.MADE)
def test_made_tables_are_fresh(name: str) -> None:
    text = (tables.DOCS / name).read_text(encoding="utf-8")
    assert tables.rendered(text, tables.MADE[name]) == text, "stale: run scripts/docs"


def test_a_stale_table_is_noticed() -> None:
    text = (tables.DOCS / "pack.md").read_text(encoding="utf-8")
    stale = text.replace("| `platform` |", "| `platfrom` |")
    assert stale != text
    assert tables.rendered(stale, tables.MADE["pack.md"]) == text


def test_a_missing_mark_is_noticed() -> None:
    with pytest.raises(ValueError, match="sections"):
        tables.rendered("# Packs\n", tables.MADE["pack.md"])


def events_in_source() -> set[str]:
    """Every event kind that the services write."""
    rooms = ("services", "storage", "app")
    return {
        node.value
        for source in sources.package()
        if source.room in rooms
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and EVENT.fullmatch(node.value)
    }


def events_in_docs(text: str) -> set[str]:
    """Every kind that has a row."""
    return {found[1] for found in re.finditer(rf"^\| `({EVENT.pattern})`", text, re.MULTILINE)}


def test_every_event_kind_is_documented_and_no_other() -> None:
    text = (tables.DOCS / "events.md").read_text(encoding="utf-8")
    assert events_in_docs(text) == events_in_source()


def commands(text: str) -> Iterator[list[str]]:
    """Every call of ours in the shell examples of a page, without what stands around it."""
    for language, body in FENCE.findall(text):
        if language not in ("sh", "bash", "console"):
            continue
        for line in body.replace("\\\n", " ").split("\n"):
            words = shlex.split(line.removeprefix("$ "), comments=True)
            for at, word in enumerate(words):
                if word in RUNNERS or word.startswith("scripts/"):
                    yield words[at:]
                    break


def unknown(words: list[str]) -> str:
    """What of a call does not exist; empty when all of it does."""
    program, *arguments = words
    if program not in RUNNERS:
        return "" if (tables.REPOSITORY / program).is_file() else program
    command: click.Command = cli.root
    context = click.Context(cli.root)
    for word in arguments:
        if word in ("|", ">", "&&", "&", "--"):
            break
        if word.startswith("-") and word != "-":
            known = {option for param in command.params for option in param.opts}
            known |= {option for param in command.params for option in param.secondary_opts}
            known |= {option for param in cli.root.params for option in param.opts} | {"--help"}
            if word.split("=")[0] not in known:
                return word
        elif isinstance(command, click.Group):
            found = command.get_command(context, word)
            if found is None:
                return word
            command = found
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_command_in_an_example_exists(page: Path) -> None:
    calls = list(commands(page.read_text(encoding="utf-8")))
    assert [(call, unknown(call)) for call in calls if unknown(call)] == []


@pytest.mark.parametrize(
    "line",
    [
        "scripts/run frobnicate",
        "scripts/run ask --no-such-option x",
        "mufakat pack shew ID",
        "scripts/fly",
    ],
)
def test_a_wrong_command_is_noticed(line: str) -> None:
    (call,) = commands(f"```sh\n{line}\n```\n")
    assert unknown(call)


def test_the_readme_has_its_two_commands() -> None:
    text = (tables.REPOSITORY / "README.md").read_text(encoding="utf-8")
    programs = {call[0] for call in commands(text)}
    assert {"scripts/run", "scripts/test"} <= programs


def broken_links(page: Path, text: str) -> list[str]:
    """Relative links of a page that lead nowhere."""
    found = []
    for target in LINK.findall(FENCE.sub("", text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = page.parent / name if name else page
        known = anchors(file) if file.suffix == ".md" and file.exists() else set()
        if not file.exists() or (anchor and anchor not in known):
            found.append(target)
    return found


def anchors(page: Path) -> set[str]:
    """The anchors that a page's headings get."""
    text = page.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.+)$", FENCE.sub("", text), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading).strip().lower() for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_a_broken_link_is_noticed() -> None:
    page = tables.REPOSITORY / "README.md"
    assert broken_links(page, "[a](docs/nothing.md) [b](#nowhere) [c](docs/cli.md#nowhere)") == [
        "docs/nothing.md",
        "#nowhere",
        "docs/cli.md#nowhere",
    ]


FORBIDDEN = re.compile(r"(/home/|/Users/|/root/|/opt/)\w|pypi\.org|registry\.npmjs")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages_name_no_machine_and_no_registry(page: Path) -> None:
    assert FORBIDDEN.findall(page.read_text(encoding="utf-8")) == []
