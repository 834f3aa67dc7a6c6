"""`mufakat up --store`: the same commands on PostgreSQL, and a password that nobody sees."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from equipment import command
from equipment.command import Mufakat
from equipment.postgres import Cluster

PASSWORD = "hunter2-never-shown"


@pytest.fixture
def url(cluster: Cluster, database: str) -> str:
    return cluster.url(database).replace("postgres@", f"postgres:{PASSWORD}@")


@pytest.fixture
def homes(tmp_path: Path) -> Iterator[list[Mufakat]]:
    found = [command.fresh(tmp_path / name) for name in ("one", "two")]
    yield found
    for one in found:
        one.kill()


def everything_written(home: Path) -> str:
    """All that lies in the logs and in the other files of a home."""
    files = [path for path in home.rglob("*") if path.is_file()]
    return "\n".join(path.read_text("utf-8", errors="replace") for path in files)


def test_two_homes_share_a_database_and_the_password_is_nowhere(
    homes: list[Mufakat], url: str
) -> None:
    one, two = homes
    started = one.run("up", "--detach", "--store", url)
    assert started.code == 0, started.err
    argv = Path(f"/proc/{one.pid}/cmdline")
    assert not argv.exists() or PASSWORD not in argv.read_text()
    asked = one.ask("hello from one")
    assert asked.code == 0, asked.err
    two.environ["MUFAKAT_STORE"] = url
    assert two.run("up", "--detach").code == 0
    listed = two.run("conversations")
    assert "hello from one" in listed.out
    shown = [started, asked, listed, one.run("doctor"), one.run("check", "--deep")]
    shown += [one.run("up", "--stop"), one.run("check", MUFAKAT_STORE=url)]
    assert shown[-1].code == 0, shown[-1].err
    assert json.loads(shown[-1].out)["facts"]["path"].startswith("postgresql://postgres@127.0.0.1:")
    for outcome in shown:
        assert PASSWORD not in outcome.out + outcome.err
    assert PASSWORD not in everything_written(one.home) + everything_written(two.home)
    assert not (one.home / "mufakat.db").exists()


@pytest.mark.parametrize(
    ("store", "code"),
    [
        (f"mysql://me:{PASSWORD}@host/x", "invalid_input"),
        (f"postgresql://me:{PASSWORD}@127.0.0.1:1/x", "unavailable"),
    ],
)
def test_an_address_that_does_not_work_is_not_repeated(
    homes: list[Mufakat], store: str, code: str
) -> None:
    one = homes[0]
    for outcome in (
        one.run("up", "--detach", "--store", store),
        one.run("up", MUFAKAT_STORE=store),
    ):
        assert outcome.error["code"] == code
        assert PASSWORD not in outcome.out + outcome.err
    assert PASSWORD not in everything_written(one.home)


def test_agents_do_not_get_the_address(homes: list[Mufakat], url: str) -> None:
    """What a child process of an engine may see of our environment has no place for it."""
    from mufakat.engines.process import command as process

    seen = process.environment({**os.environ, "MUFAKAT_STORE": url, "PGPASSWORD": PASSWORD}, (), {})
    assert PASSWORD not in json.dumps(dict(seen))


def test_restore_says_that_it_is_for_files(homes: list[Mufakat], url: str, tmp_path: Path) -> None:
    refused = homes[0].run("restore", str(tmp_path / "x.db"), MUFAKAT_STORE=url)
    assert refused.error["code"] == "invalid_input"
    assert "pg_restore" in refused.error["fix"]
