"""The thread that a message belongs to: the one it names, else the room of its project."""

from __future__ import annotations

from mufakat.core.base import ConversationId, InvalidInput, NotAllowed, ProjectId
from mufakat.core.coordination.instance import Instance
from mufakat.core.talk.conversation import Conversation, Project
from mufakat.ports.coordination import Member
from mufakat.ports.store import Transaction
from mufakat.services import branch_state, talk
from mufakat.services.coordination import held

TITLE = "Room"
BACK = 20
"""Messages before its joining that a follower of the room is told."""


def room(tx: Transaction, project: Project) -> ConversationId:
    """The room of a project, started on its first use."""
    known = tx.rooms.get(project.id)
    if known is None:
        known = talk.add(tx, project, TITLE).id
        tx.rooms.keep(project.id, known)
    return known


def follow(tx: Transaction, instance: Instance) -> None:
    """Let an instance follow the room of its project, if it has one."""
    project = project_of(tx, "", instance)
    if project is not None:
        thread = talk.resolve(tx, room(tx, project))
        cursor = max(0, thread.messages - BACK)
        held.follow(tx, Member(thread.id, instance.identity, cursor))


def project_of(tx: Transaction, name: str, *parties: Instance | None) -> Project | None:
    """The project of that id or path; without a name that of the first party which has one."""
    if name:
        named = tx.projects.get(ProjectId(name))
        found = named or next((one for one in tx.projects.list() if one.path == name), None)
        if found is None:
            raise InvalidInput(f"There is no project {name}.", fix="Give its folder or its id.")
        return found
    for party in parties:
        if party is not None and party.project is not None:
            return tx.projects.get(party.project)
    return None


def thread(tx: Transaction, name: str, *, sender: Instance | None) -> Conversation:
    """The thread of that id; raises NotAllowed where it is of another project than the sender."""
    project = sender.project if sender else None
    found = talk.resolve(tx, name, project=project)
    if project is not None and found.project != project:
        raise NotAllowed(
            f"Conversation {found.id} belongs to another project.",
            fix="Send it in your own project, or to an agent by name.",
        )
    branch_state.refuse_closed(tx, found.id)
    return found


def of(tx: Transaction, instance: Instance) -> ConversationId | None:
    """Where Mufakat itself speaks to an instance: its project's room, else a thread it follows."""
    project = project_of(tx, "", instance)
    if project is not None:
        return room(tx, project)
    followed = tx.members.threads(instance.identity)
    return followed[0].conversation if followed else None
