"""Pulls by agents and people from outside of a pack: who asks decides what is looked through."""

from __future__ import annotations

from pathlib import Path

from mufakat.core import text
from mufakat.core.base import Event, NotFound
from mufakat.core.coordination.principal import Principal
from mufakat.core.pack.pull import Answer, Want
from mufakat.core.talk.conversation import Conversation, Project
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import announce, ids, talk
from mufakat.services.knowledge import place
from mufakat.services.knowledge.gathering import Subject
from mufakat.services.knowledge.pulls import Asker, Pulls


class Asking:
    """The door's side of pulling: places the caller, then asks the one registry."""

    def __init__(self, store: Store, pulls: Pulls, scrub: Scrub) -> None:
        self._store = store
        self._pulls = pulls
        self._scrub = scrub

    async def pull(
        self, by: Principal, want: Want, *, project: str = "", conversation: str = ""
    ) -> Answer:
        """Answer a request in the caller's own right; what cannot be had says why.

        Raises NotAllowed for a project of others, NotFound for a conversation out of sight.
        """
        asker = await self._store.read(
            lambda tx: _asker(tx, by, project=project, conversation=conversation)
        )
        answer = await self._pulls.answer(asker, want)
        if asker.run:
            event = _event(asker, answer, self._scrub)
            await self._store.write(lambda tx: tx.events.record(event))
        return answer


def _asker(tx: Transaction, by: Principal, *, project: str, conversation: str) -> Asker:
    own = seated(tx, by)
    here = place.of(tx, by, project)
    asked = _within(tx, conversation, here) if conversation else own
    if asked is not None and asked.project != here.id:
        asked = None
    subject = Subject(Path(here.path), "", here.id, asked.id if asked else None, person=by.operator)
    return Asker(subject, asked.fence if asked else ids.fence(), run=by.run if own else "")


def seated(tx: Transaction, by: Principal) -> Conversation | None:
    """The conversation that an agent of ours sits in."""
    instance = tx.instances.get(by.identity) if by.identity else None
    agent = tx.agents.get(instance.agent) if instance and instance.agent else None
    return tx.conversations.get(agent.conversation) if agent else None


def _within(tx: Transaction, id: str, here: Project) -> Conversation:
    found = talk.resolve(tx, id)
    if found.project != here.id:
        raise NotFound(f"There is no conversation {id[:64]}.", fix="Ask for one of the project.")
    return found


def _event(asker: Asker, answer: Answer, scrub: Scrub) -> Event:
    want = {
        "kind": answer.want.kind,
        "query": text.one_line(answer.want.query, 200),
        "form": answer.want.form.value,
        "chars": len(answer.text),
        "why": answer.why,
    }
    data = {"conversation": asker.subject.conversation, "way": "tool", "wants": [want]}
    return Event("turn.pulled", asker.run, announce.clean({**data, "refused": 0}, scrub))
