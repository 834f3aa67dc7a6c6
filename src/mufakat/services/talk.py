"""Projects, conversations and what is said in them."""

from __future__ import annotations

from collections.abc import Sequence

from mufakat.core.base import (
    ConversationId,
    Event,
    InvalidInput,
    MessageId,
    NotFound,
    ProjectId,
)
from mufakat.core.coordination import identity
from mufakat.core.talk import message
from mufakat.core.talk.conversation import Conversation, Project, title_of
from mufakat.core.talk.message import Kind, Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import branch_state, idempotency, ids, request, resolving

LAST = "last"
"""Names the newest conversation."""


class Talk:
    """Reads and keeps conversations."""

    def __init__(self, store: Store, scrub: Scrub, *, person: str) -> None:
        self._store = store
        self._scrub = scrub
        self._person = person

    async def projects(self) -> Sequence[Project]:
        """Every project, oldest first."""
        return await self._store.read(lambda tx: tx.projects.list())

    async def project(self, id: str) -> Project:
        """One project; raises NotFound."""
        found = await self._store.read(lambda tx: tx.projects.get(ProjectId(id)))
        if found is None:
            raise NotFound(f"There is no project {id}.", fix="List them: mufakat conversations.")
        return found

    async def ensure_project(self, path: str) -> Project:
        """The project of a folder, kept where it is new."""
        folder = request.folder(path)
        return await self._store.write(lambda tx: ensure_project(tx, str(folder), folder.name))

    async def conversations(
        self, *, project: str = "", before: str = "", limit: int = 50
    ) -> Sequence[Conversation]:
        """Newest first."""
        return await self._store.read(
            lambda tx: tx.conversations.list(
                project=ProjectId(project) if project else None, before=before, limit=limit
            )
        )

    async def conversation(self, id: str) -> Conversation:
        """One conversation by its id or a unique prefix."""
        return await self._store.read(lambda tx: resolve(tx, id))

    async def start(self, path: str, title: str = "", key: str = "") -> Conversation:
        """Start an empty conversation in a folder."""
        folder = request.folder(path)
        digest = idempotency.digest("conversation", str(folder), title)

        def step(tx: Transaction) -> Conversation:
            known = idempotency.earlier(tx, key, digest)
            if known:
                return resolve(tx, known)
            project = ensure_project(tx, str(folder), folder.name)
            created = add(tx, project, title or "Untitled")
            idempotency.keep(tx, key, digest, created.id)
            return created

        return await self._store.write(step)

    async def messages(
        self, conversation: str, *, after: int = 0, limit: int = 60
    ) -> Sequence[Message]:
        """Whole messages numbered above `after`, oldest first."""
        return await self._store.read(
            lambda tx: tx.messages.page(resolve(tx, conversation).id, after=after, limit=limit)
        )

    async def newest(self, conversation: str, *, before: int, limit: int) -> Sequence[Message]:
        """Whole messages numbered below `before`, newest first."""
        whole = 2**31
        return await self._store.read(
            lambda tx: tx.messages.newest(
                resolve(tx, conversation).id, before=before, limit=limit, clip=whole
            )
        )

    async def message(self, id: str) -> Message:
        """One message; raises NotFound."""
        found = await self._store.read(lambda tx: tx.messages.get(MessageId(id)))
        if found is None:
            raise NotFound(f"There is no message {id}.", fix="Check the id.")
        return found

    async def say(self, conversation: str, text: str, *, key: str = "") -> Message:
        """Keep a person's message without asking an agent."""
        if not text.strip():
            raise InvalidInput("The message is empty.", fix="Give it a text.")
        draft = message.draft(Kind.PERSON, self._person, text=text, secrets=self._scrub(text).kinds)
        digest = idempotency.digest("message", conversation, text)

        def step(tx: Transaction) -> Message:
            known = tx.messages.get(MessageId(idempotency.earlier(tx, key, digest)))
            if known is not None:
                return known
            here = resolve(tx, conversation).id
            branch_state.refuse_closed(tx, here)
            said = append(tx, here, draft)
            idempotency.keep(tx, key, digest, said.id)
            return said

        return await self._store.write(step)


def ensure_project(tx: Transaction, path: str, name: str) -> Project:
    """The project of a path, announced where it is new."""
    fresh = ProjectId(ids.new("p", tx.now()))
    project = tx.projects.ensure(path, name or path, id=fresh)
    if project.id == fresh:
        tx.events.record(Event("project.added", project.id, {"path": path}))
    return project


def add(tx: Transaction, project: Project, prompt: str) -> Conversation:
    """Start a conversation, named after its first prompt."""
    now = tx.now()
    conversation = Conversation(
        ConversationId(ids.new("c", now)), project.id, title_of(prompt), ids.fence(), now, now
    )
    tx.events.record(
        Event(
            "conversation.added",
            conversation.id,
            {"conversation": conversation.id, "project": project.id},
        )
    )
    return tx.conversations.add(conversation)


def append(tx: Transaction, conversation: ConversationId, draft: message.Draft) -> Message:
    """Keep a message and announce it; the announcement carries no text."""
    said = tx.messages.append(conversation, draft, id=MessageId(ids.new("m", tx.now())))
    data = {
        "conversation": conversation,
        "id": said.id,
        "number": said.number,
        "kind": said.kind.value,
        "speaker": said.speaker,
    }
    tx.events.record(Event("message.added", conversation, data))
    return said


def resolve(tx: Transaction, id: str, *, project: ProjectId | None = None) -> Conversation:
    """A conversation by id, unique prefix or `last`; raises NotFound or InvalidInput.

    `last` is the newest conversation, that of `project` where it is given.
    """
    if id == LAST:
        newest = tx.conversations.list(project=project, limit=1)
        if newest:
            return newest[0]
        where = "in this project " if project else ""
        raise NotFound(f"There is no conversation {where}yet.", fix='Start one: mufakat ask "…"')
    exact = tx.conversations.get(ConversationId(id))
    if exact is not None:
        branch_state.refuse_gone(tx, exact.id)
        return exact
    found = tx.conversations.find(id) if id else ()
    return resolving.only(id, found, noun="conversation", fix="List them: mufakat conversations.")


def person_identity(host: str, instance: str) -> str:
    """The identity of the person at this server."""
    return str(identity.assign(identity.PERSON, host, instance=instance))
