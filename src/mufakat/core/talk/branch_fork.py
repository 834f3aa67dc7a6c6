"""Whether the first turn of an agent in a branch may go on from a copy of its parent's session."""

from __future__ import annotations

from dataclasses import dataclass

from mufakat.core.talk import session
from mufakat.core.talk.session import Fresh, Place, Resume, Session


@dataclass(frozen=True, slots=True)
class Source:
    """The session of the same agent in the conversation that a branch came from."""

    session: Session | None
    """None where it has none."""
    checkpoint: int
    """Number of the message that the branch begins at."""
    ends_there: bool
    """Whether that message is the last thing the session saw: nothing later, nothing forgotten."""
    system: str = ""
    """Text of the session's system slot."""


@dataclass(frozen=True, slots=True)
class Fork:
    """The turn goes on in a copy; the session itself stays as it is."""

    session: Session
    why: str


def decide(
    source: Source,
    here: Place,
    *,
    engine: str,
    model: str,
    able: bool,
    head_is_ancestor: bool = True,
) -> Fork | Fresh:
    """Copy only a session that belongs here and ended exactly at the checkpoint.

    A session that has seen more would tell the branch what it must not know.
    """
    if not able:
        return _fresh(f"{engine} cannot fork sessions")
    if source.session is None:
        return _fresh("its engine has no session in the parent")
    if not source.ends_there:
        return _fresh(f"the parent's session does not end at m:{source.checkpoint}")
    judged = session.decide(
        source.session,
        here,
        engine=engine,
        model=model,
        can_resume=True,
        head_is_ancestor=head_is_ancestor,
    )
    match judged:
        case Resume():
            why = f"forked from the parent's session, which ends at m:{source.checkpoint}"
            return Fork(judged.session, why)
        case Fresh():
            return _fresh(judged.why)


def _fresh(why: str) -> Fresh:
    return Fresh(f"first turn of this agent in the branch; not forked: {why}")
