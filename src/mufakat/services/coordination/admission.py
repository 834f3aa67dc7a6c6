"""Taking a session in: what it may be called, whether it was here before, whose it is not."""

from __future__ import annotations

import dataclasses
import re

from mufakat.core.base import Conflict, Event, InvalidInput, ProjectId
from mufakat.core.coordination import identity, state
from mufakat.core.coordination.instance import Binding, Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.coordination.state import State
from mufakat.ports.coordination import Life, Member
from mufakat.ports.store import Transaction
from mufakat.services import ids, talk
from mufakat.services.coordination import agents, credentials, held, pause, states
from mufakat.services.coordination.agents import Joined, Joining

ENGINE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,23}")
HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]{0,252}")
OURS = frozenset({identity.PERSON, "mufakat"})
"""Engines that nobody joins as."""
LINE = re.compile(r"[^\x00-\x1f\x7f\ud800-\udfff]{0,4096}")
THREADS = 32


def join(tx: Transaction, by: Principal, joining: Joining) -> Joined | Conflict:
    """Take a session in; a name that is another's is a refusal, so that its event is kept."""
    pause.refuse(tx, by)
    place = _project(tx, joining)
    if by.right is Right.AGENT:
        return Joined(_bind(tx, agents.known(tx, by.identity), joining), "", resumed=True)
    known = _known(tx, joining)
    refusal = _refusal(tx, joining, known, place=place)
    if refusal is not None:
        data = {"alias": joining.alias, "session": joining.session, "engine": joining.engine}
        tx.events.record(Event("identity.conflict", str(refusal.detail["holder"]), data))
        return refusal
    taken_in = _resume(tx, known, joining) if known else _new(tx, joining, place)
    begun = states.begin(tx, taken_in, ids.new(agents.RUN.rstrip("_"), tx.now()))
    for name in joining.threads:
        held.follow(tx, Member(talk.resolve(tx, name, project=place).id, begun.identity, cursor=0))
    held.arrived(tx, begun)
    token = credentials.issue(tx, begun)
    if by.operator and joining.role:
        credentials.grant_role(tx, begun)
    return Joined(tx.instances.get(begun.identity) or begun, token, resumed=known is not None)


def _project(tx: Transaction, joining: Joining) -> ProjectId | None:
    if not joining.project:
        return None
    path = joining.project
    return talk.ensure_project(tx, path, path.rpartition("/")[2]).id


def _known(tx: Transaction, joining: Joining) -> Instance | None:
    if not joining.session:
        return None
    return tx.instances.by_session(
        identity.label(joining.engine, 24),
        identity.host_label(joining.host),
        session=joining.session,
    )


def _refusal(
    tx: Transaction, joining: Joining, known: Instance | None, *, place: ProjectId | None
) -> Conflict | None:
    """Why a session may not have the name it wants, if so."""
    own = known.identity if known else ""
    busy = known is not None and known.standing.state not in {State.IDLE, State.OFFLINE}
    if known and busy and agents.ours(known):
        return Conflict(
            "Mufakat itself is running this session just now.",
            fix="Wait for the turn to end, or cancel it.",
            holder=own,
        )
    if not joining.alias:
        return None
    there = [one for one in tx.instances.list(project=place, online=True) if one.alias]
    names = {one.alias: one.identity for one in there if one.identity != own}
    alike = identity.look_alike(joining.alias, names)
    if joining.alias in names:
        return Conflict(
            f"An agent named {joining.alias} is there.",
            fix="Choose another alias.",
            holder=names[joining.alias],
        )
    if alike:
        raise InvalidInput(
            f"{joining.alias} looks like {alike}, which is there.", fix="Choose another alias."
        )
    return None


def _new(tx: Transaction, joining: Joining, place: ProjectId | None) -> Instance:
    name, instance = agents.allot(tx, joining.engine, joining.host)
    return agents.register(
        tx,
        name,
        instance=instance,
        standing=state.Standing(State.STARTING, tx.now()),
        role=joining.role,
        alias=joining.alias,
        project=place,
        parent=_parent(tx, joining),
        binding=_binding(joining),
    )


def _parent(tx: Transaction, joining: Joining) -> str:
    """Identity of whom it was forked from; nobody where that is not known here."""
    if tx.instances.get(joining.parent) is not None:
        return joining.parent
    forked = dataclasses.replace(joining, session=joining.parent)
    found = _known(tx, forked)
    return found.identity if found else ""


def _resume(tx: Transaction, known: Instance, joining: Joining) -> Instance:
    tx.credentials.end(known.identity, Life.SUPERSEDED)
    again = dataclasses.replace(
        _bind(tx, known, joining),
        epoch=known.epoch + 1,
        role=joining.role or known.role,
        alias=joining.alias or known.alias,
    )
    tx.instances.keep(again)
    agents.announce(tx, again, resumed=True)
    return again


def _bind(tx: Transaction, known: Instance, joining: Joining) -> Instance:
    """Keep what a session runs as now."""
    bound = dataclasses.replace(
        known, binding=_binding(joining, session=known.binding.session), seen=tx.now()
    )
    tx.instances.keep(bound)
    return bound


def _binding(joining: Joining, *, session: str = "") -> Binding:
    return Binding(
        session=joining.session or session,
        pid=joining.pid,
        pid_start=joining.pid_start,
        boot=joining.boot,
        cwd=joining.cwd,
        repository=joining.repository,
    )


def check(joining: Joining) -> None:
    """Raise InvalidInput for what no honest session says of itself."""
    if not ENGINE.fullmatch(joining.engine) or joining.engine.lower() in OURS:
        raise InvalidInput(
            f"{joining.engine[:40]!r} is no engine to join as.",
            fix="Give its name: up to 24 letters, digits and hyphens.",
        )
    if joining.host and not HOST.fullmatch(joining.host):
        raise InvalidInput("`host` is no host name.")
    for name, value in (("alias", joining.alias), ("role", joining.role)):
        problem = identity.unfit(value) if value else ""
        if problem:
            raise InvalidInput(f"`{name}` cannot be used: {problem}.", fix="Choose a plain name.")
    lines = (joining.session, joining.boot, joining.cwd, joining.repository, joining.parent)
    if not all(LINE.fullmatch(line) for line in lines):
        raise InvalidInput("A line of what describes the session is too long or not plain text.")
    if len(joining.threads) > THREADS:
        raise InvalidInput(f"A session follows at most {THREADS} threads when it joins.")
