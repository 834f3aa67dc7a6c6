"""An engine's own session, and the rule that decides whether a turn may resume it."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.base import AgentId
from mufakat.core.talk.usage import Usage


@dataclass(frozen=True, slots=True)
class Place:
    """Where a session works; git's words, empty outside a repository."""

    cwd: str
    branch: str = ""
    head: str = ""


@dataclass(frozen=True, slots=True)
class Session:
    """What must be known together to resume: id, place, and what was told so far."""

    agent: AgentId
    engine: str
    id: str
    model: str
    place: Place
    told: frozenset[str] = frozenset()
    """Keys `item/digest/measure` of everything the session was told or said itself."""
    system: str = ""
    """SHA-256 of the text in the system slot, which engines keep from the first turn."""
    running_total: Usage = Usage()


@dataclass(frozen=True, slots=True)
class Resume:
    """The turn goes on in the stored session."""

    session: Session


@dataclass(frozen=True, slots=True)
class Fresh:
    """The turn starts a new session with a full pack."""

    why: str


def decide(
    session: Session | None,
    here: Place,
    *,
    engine: str,
    model: str,
    can_resume: bool,
    wanted: bool = True,
    head_is_ancestor: bool = True,
) -> Resume | Fresh:
    """Resume only a session that belongs exactly here; every refusal says why.

    `head_is_ancestor` tells whether the session's commit is still part of the history, so that
    new commits on top are fine while a reset or a rebase is not.
    """
    if session is None or not session.id:
        return Fresh("first turn of this agent")
    if not wanted:
        return Fresh("a fresh session was asked for")
    if not can_resume:
        return Fresh(f"{engine} cannot resume sessions")
    for name, was, now in (
        ("engine", session.engine, engine),
        ("model", session.model, model),
        ("folder", session.place.cwd, here.cwd),
        ("branch", session.place.branch, here.branch),
    ):
        if was != now:
            return Fresh(f"{name} was {was or 'none'}, is {now or 'none'}")
    if session.place.head != here.head and not head_is_ancestor:
        return Fresh(f"commit {session.place.head[:12]} is no longer in this branch's history")
    return Resume(session)
