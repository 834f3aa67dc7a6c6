"""The composition root: introduces everybody; the only file that names adapters."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mufakat.core import secrets
from mufakat.engines import registry
from mufakat.engines.cli import one_shot
from mufakat.engines.process import support, sweep
from mufakat.engines.process.support import Support
from mufakat.ports.engine import Options
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Health, Store
from mufakat.retrieval.library import LocalLibrary
from mufakat.services import ids, talk
from mufakat.services.acceptance import Acceptance
from mufakat.services.feed import Feed
from mufakat.services.packing import Packing
from mufakat.services.packs import Packs
from mufakat.services.roster import Roster
from mufakat.services.runner import Limits, Runner
from mufakat.services.talk import Talk
from mufakat.services.turns import Turns
from mufakat.settings import EngineSettings, Settings
from mufakat.storage import restore as restoring
from mufakat.storage import store as storage

DATABASE = "mufakat.db"
TOKEN = "token"
INSTANCE = "instance"
"""File with the random instance id of the person at this home."""


@dataclass(frozen=True, slots=True)
class App:
    """A running Mufakat: its services, and the store beneath them."""

    settings: Settings
    store: Store
    talk: Talk
    turns: Turns
    packs: Packs
    roster: Roster
    feed: Feed
    scrub: Scrub
    platform_support: Support
    """What this machine offers to keep hold of processes."""

    async def close(self) -> None:
        """End what runs, then close the store."""
        await self.turns.close()
        await self.store.close()


async def build(settings: Settings, *, address: str = "") -> App:
    """Open the store, mend what a killed server left, and put everything together.

    Raises MufakatError where the home, the store or an engine's settings cannot be used.
    """
    home = settings.home
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    store = await open_store(settings, address=address)
    try:
        app = _assemble(settings, store)
        # Only the holder of the store's lock may take other runs for dead.
        support.become_subreaper()
        await sweep.end_orphans(one_shot.home_mark(home), ())
        await app.turns.recover()
    except BaseException:
        await store.close()
        raise
    return app


def _assemble(settings: Settings, store: Store) -> App:
    home = settings.home
    known = (home / TOKEN).read_text("ascii").strip() if (home / TOKEN).exists() else ""
    scrub: Scrub = partial(secrets.scrub, known=(known,) if known else ())
    host = socket.gethostname()
    person = talk.person_identity(host, _instance(home))
    library = LocalLibrary(home)
    roster = _roster(settings)
    packing = Packing(
        store,
        library,
        scrub,
        budget=settings.budget,
        gather_seconds=settings.gather_seconds,
    )
    runner = Runner(
        store,
        library,
        packing,
        scrub,
        workspaces=home / "agents",
        limits=Limits(settings.turn_seconds, settings.idle_seconds),
    )
    return App(
        settings=settings,
        store=store,
        talk=Talk(store, scrub, person=person),
        turns=Turns(store, roster, packing, runner, Acceptance(scrub, host, person)),
        packs=Packs(store),
        roster=roster,
        feed=Feed(store),
        scrub=scrub,
        platform_support=support.platform_support(),
    )


def _roster(settings: Settings) -> Roster:
    options = {name: _options(one) for name, one in settings.engines.items()}
    found = registry.load(options, home=settings.home, environ=os.environ)
    broken = {name: one.problem for name, one in found.broken.items()}
    return Roster(found.engines, broken=broken, default=settings.default_engine)


def _options(settings: EngineSettings) -> Options:
    return Options(
        command=settings.command,
        model=settings.model,
        args=settings.args,
        env=settings.env,
        config=settings.config,
        base_url=settings.base_url,
        api_key_env=settings.api_key_env,
        window_tokens=settings.window_tokens,
    )


def _instance(home: Path) -> str:
    """The person's instance id, made once a home."""
    path = home / INSTANCE
    if not path.exists():
        path.touch(mode=0o600)
    # A crash may have left it empty.
    if not path.stat().st_size:
        path.write_text(ids.instance(), "ascii")
    return path.read_text("ascii").strip()


async def open_store(settings: Settings, *, address: str = "") -> storage.SqliteStore:
    """Open the home's database; raises InUse while a server has it."""
    return await storage.open_store(
        settings.home / DATABASE,
        force=settings.store_force,
        accept_rollback=settings.accept_rollback,
        address=address,
    )


async def check(settings: Settings, *, deep: bool = False) -> Health:
    """Check the home's database while no server runs."""
    store = await open_store(settings)
    try:
        return await store.check(deep=deep)
    finally:
        await store.close()


async def backup(settings: Settings, target: Path) -> Path:
    """Back the home's database up while no server runs."""
    store = await open_store(settings)
    try:
        return await store.backup(target)
    finally:
        await store.close()


def restore(settings: Settings, source: Path) -> Path | None:
    """Put a backup in place; answers where the database before it now lies."""
    return restoring.restore(source, settings.home / DATABASE, force=settings.store_force).aside
