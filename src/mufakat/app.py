"""The composition root: introduces everybody; the only file that names adapters."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from mufakat import knowledge
from mufakat.chat import webhook
from mufakat.chat.webhook import Webhook
from mufakat.core import secrets
from mufakat.core.base import InvalidInput
from mufakat.core.coordination.chat import Link
from mufakat.engines import registry
from mufakat.engines.cli import one_shot
from mufakat.engines.process import support, sweep
from mufakat.engines.process.support import Support
from mufakat.engines.process.watch import LocalProcesses
from mufakat.knowledge import Knowledge
from mufakat.ports.engine import Access, Options
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Health, Store
from mufakat.retrieval.library import LocalLibrary
from mufakat.sdk import hook_command
from mufakat.services import ids, talk
from mufakat.services.acceptance import Acceptance
from mufakat.services.branches import Branches
from mufakat.services.coordination import credentials
from mufakat.services.coordination import rulebook as rulebooks
from mufakat.services.coordination.act import Outside
from mufakat.services.coordination.chat import Bridge
from mufakat.services.coordination.context import Context
from mufakat.services.coordination.gate import Gate
from mufakat.services.coordination.joining import Agents
from mufakat.services.coordination.leases import Leases
from mufakat.services.coordination.mailbox import Inbox
from mufakat.services.coordination.notices import Notices
from mufakat.services.coordination.policy import Policy
from mufakat.services.coordination.presence import Presence
from mufakat.services.coordination.rulebook import Rulebook
from mufakat.services.coordination.sessions import Sessions
from mufakat.services.coordination.states import States
from mufakat.services.coordination.timer import Timer
from mufakat.services.coordination.waiting import Waiting
from mufakat.services.deliberation.roundtables import Roundtables
from mufakat.services.feed import Feed
from mufakat.services.knowledge import memory
from mufakat.services.ledger import Ledger
from mufakat.services.metrics import Metrics
from mufakat.services.packing import Packing
from mufakat.services.packs import Packs
from mufakat.services.roster import Roster
from mufakat.services.runner import Limits, Runner
from mufakat.services.talk import Talk
from mufakat.services.turns import Turns
from mufakat.settings import (
    ChannelSettings,
    ChatSecrets,
    EngineSettings,
    Settings,
    chat_secrets,
    embedding_key,
)
from mufakat.storage import postgres, postgres_address, transfer
from mufakat.storage import restore as restoring
from mufakat.storage import store as sqlite

DATABASE = "mufakat.db"
TOKEN = "token"
JOIN_TOKEN = "join-token"
INSTANCE = "instance"
"""File with the random instance id of the person at this home."""


@dataclass(frozen=True, slots=True)
class App:
    """A running Mufakat: its services, and the store beneath them."""

    settings: Settings
    store: Store
    talk: Talk
    branches: Branches
    turns: Turns
    roundtables: Roundtables
    packs: Packs
    roster: Roster
    feed: Feed
    scrub: Scrub
    agents: Agents
    states: States
    sessions: Sessions
    presence: Presence
    inbox: Inbox
    gate: Gate
    context: Context
    notices: Notices
    leases: Leases
    policy: Policy
    waiting: Waiting
    timer: Timer
    metrics: Metrics
    ledger: Ledger
    knowledge: Knowledge
    chat: Bridge
    chat_secrets: ChatSecrets
    platform_support: Support = field(default_factory=support.platform_support)
    """What this machine offers to keep hold of processes."""

    async def close(self) -> None:
        """End what runs, then close the store."""
        await self.chat.close()
        await self.timer.close()
        await self.knowledge.close()
        await self.roundtables.close()
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
        app = _assemble(settings, store, address=address)
        # Only the holder of the store's lock may take other runs for dead.
        support.become_subreaper()
        await sweep.end_orphans(one_shot.home_mark(home), ())
        await app.agents.prepare(alone=_alone(store))
        await app.presence.recover()
        await app.turns.recover(alone=_alone(store))
        await app.roundtables.recover(alone=_alone(store))
        await app.metrics.begin()
        app.timer.start()
        app.chat.start()
        app.knowledge.start()
    except BaseException:
        await store.close()
        raise
    return app


def _assemble(settings: Settings, store: Store, *, address: str) -> App:
    home, host = settings.home, socket.gethostname()
    scrub, roster, shared = _scrub(settings), _roster(settings), chat_secrets(settings.chat)
    person = talk.person_identity(host, _made_once(home / INSTANCE, ids.instance))
    looked_up = knowledge.build(settings, store, scrub, roster=roster, person=person, host=host)
    turns, roundtables = _turns(settings, store, roster, looked_up, person=person, address=address)
    processes, rulebook, metrics = LocalProcesses(), Rulebook(home / rulebooks.FILE), Metrics(store)
    presence, join = Presence(store, server=person), credentials.digest(_join_token(home))
    agents = Agents(store, processes, host=host, person=person, join_digest=join)
    return App(
        settings=settings,
        store=store,
        talk=Talk(store, scrub, person=person),
        branches=Branches(store, scrub, person=person),
        turns=turns,
        roundtables=roundtables,
        packs=Packs(store),
        roster=roster,
        feed=Feed(store),
        scrub=scrub,
        agents=agents,
        states=States(store),
        sessions=Sessions(store, agents, host=host),
        presence=presence,
        inbox=Inbox(store, scrub),
        gate=Gate(store, scrub, rules=lambda: rulebook.edition().policy.gates, person=person),
        context=Context(store, scrub, count=metrics.told),
        notices=Notices(store, scrub),
        leases=Leases(store, rulebook, scrub=scrub),
        policy=Policy(store, rulebook),
        waiting=Waiting(store, scrub),
        timer=_timer(settings, store, processes, turns=turns, rulebook=rulebook, presence=presence),
        metrics=metrics,
        ledger=Ledger(store, scrub),
        knowledge=looked_up,
        chat=_bridge(settings, store, scrub, shared),
        chat_secrets=shared,
    )


def _timer(
    settings: Settings,
    store: Store,
    processes: LocalProcesses,
    *,
    turns: Turns,
    rulebook: Rulebook,
    presence: Presence,
) -> Timer:
    return Timer(
        store,
        processes,
        host=socket.gethostname(),
        outside=Outside(lambda ask, key: turns.ask(ask, key=key), webhook.call),
        rules=rulebook.of,
        quiet_seconds=settings.turn_seconds,
        cut=presence.lost_at,
    )


def _reach(settings: Settings, address: str) -> Callable[[str], Access]:
    return partial(Access, address, hook=hook_command.words(), home=str(settings.home))


def _scrub(settings: Settings) -> Scrub:
    path = settings.home / TOKEN
    token = path.read_text("ascii").strip() if path.exists() else ""
    known = (
        token,
        _join_token(settings.home),
        store_password(settings),
        *chat_secrets(settings.chat),
        embedding_key(settings.embedding),
    )
    return partial(secrets.scrub, known=tuple(secret for secret in known if secret))


def _bridge(settings: Settings, store: Store, scrub: Scrub, shared: ChatSecrets) -> Bridge:
    chat = Webhook(shared.url, shared.token) if shared.url else None
    links = [_link(name, one) for name, one in settings.chat.channels.items()]
    return Bridge(store, scrub, links=links, chat=chat)


def _link(name: str, channel: ChannelSettings) -> Link:
    if bool(channel.conversation) == bool(channel.project):
        raise InvalidInput(
            f"The channel {name} is linked to no conversation, or to two.",
            fix=f"Give `conversation` or `project` in [chat.channels.{name}].",
        )
    folder = str(Path(channel.project).expanduser().resolve()) if channel.project else ""
    return Link(name, channel.channel or name, channel.conversation, folder, channel.thread)


def _turns(
    settings: Settings,
    store: Store,
    roster: Roster,
    looked_up: Knowledge,
    *,
    person: str,
    address: str,
) -> tuple[Turns, Roundtables]:
    library, scrub = LocalLibrary(settings.home), looked_up.scrub
    packing = Packing(
        store,
        library,
        scrub,
        budget=settings.budget,
        gather_seconds=settings.gather_seconds,
        gathering=looked_up.gathering,
        reviewing=looked_up.reviewing,
        topics=memory.facts,
        adaptive=settings.adaptive_tiering,
    )
    runner = Runner(
        store,
        library,
        packing,
        scrub,
        workspaces=settings.home / "agents",
        limits=Limits(settings.turn_seconds, settings.idle_seconds),
        reach=_reach(settings, address) if address else None,
        pulls=looked_up.pulls,
    )
    accepting = Acceptance(scrub, socket.gethostname(), person)
    turns = Turns(store, roster, packing, runner, accepting)
    return turns, Roundtables(store, roster, packing, turns, accepting)


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


def _join_token(home: Path) -> str:
    """The token by which sessions of this machine join."""
    return _made_once(home / JOIN_TOKEN, credentials.new)


def _made_once(path: Path, make: Callable[[], str]) -> str:
    """The content of a private file of the home, made on its first use."""
    if not path.exists():
        path.touch(mode=0o600)
    # A crash may have left it empty.
    if not path.stat().st_size:
        path.write_text(make(), "ascii")
    return path.read_text("ascii").strip()


async def open_store(
    settings: Settings, *, address: str = ""
) -> sqlite.SqliteStore | postgres.PostgresStore:
    """Open the home's database, or the PostgreSQL that the settings name.

    Raises InUse while a server of this home has it.
    """
    url = settings.store.get_secret_value()
    if url:
        return await postgres.open_store(
            url,
            home=settings.home,
            accept_rollback=settings.accept_rollback,
            address=address,
        )
    return await sqlite.open_store(
        settings.home / DATABASE,
        force=settings.store_force,
        accept_rollback=settings.accept_rollback,
        address=address,
    )


def _alone(store: Store) -> bool:
    """Whether no other server had the store when it was opened."""
    return not isinstance(store, postgres.PostgresStore) or store.opened.alone


def store_password(settings: Settings) -> str:
    """The password in the store's address, so that it can be scrubbed; empty where none is.

    Raises InvalidInput for an address that cannot be understood.
    """
    url = settings.store.get_secret_value()
    return postgres_address.parse(url).password if url else ""


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


async def export(settings: Settings, target: Path) -> int:
    """Write every record into the new archive `target`; answers how many there are."""
    store = await open_store(settings)
    try:
        return (await store.export(target)).rows
    finally:
        await store.close()


async def import_archive(settings: Settings, source: Path) -> int:
    """Fill the empty store from an archive; answers how many records it has.

    Raises InvalidInput for a damaged or hostile archive before the store is even opened, and
    Conflict where the store holds something.
    """
    await asyncio.to_thread(transfer.verify, source)
    store = await open_store(settings)
    try:
        return (await store.write(transfer.load(source))).rows
    finally:
        await store.close()


def restore(settings: Settings, source: Path) -> Path | None:
    """Put a backup in place; answers where the database before it now lies."""
    if settings.store.get_secret_value():
        raise InvalidInput(
            "`restore` puts a file in place; the store of this home is PostgreSQL.",
            fix="use pg_restore, then start with MUFAKAT_ACCEPT_ROLLBACK=true",
        )
    return restoring.restore(source, settings.home / DATABASE, force=settings.store_force).aside
