"""Branches: begun at a message, listed as a tree, renamed, adopted, put away, deleted."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from mufakat.core import text
from mufakat.core.base import Conflict, ConversationId, Event, InvalidInput, MessageId, NotFound
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import branch_summary
from mufakat.core.talk import branch, message
from mufakat.core.talk.branch import Act, Branch, Refused, Status
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import TALK, Kind, Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services import branch_state, idempotency, talk
from mufakat.services.coordination import pause

LOOKED_AT = 400
"""Messages at the end of a branch in which decisions are looked for."""
CLIP = 8_000
TITLE_CHARS = 60
"""Of the parent's title in the name of a branch that was given none."""
WORDS_CHARS = 20_000
"""Of a person's own words on what a branch came to."""
_NUMBER = re.compile(r"(?:m:)?(\d{1,12})")


@dataclass(frozen=True, slots=True)
class Shown:
    """A branch, and the conversation that it is."""

    branch: Branch
    conversation: Conversation


class Branches:
    """Load, decide, save, announce."""

    def __init__(self, store: Store, scrub: Scrub, *, person: str) -> None:
        self._store = store
        self._scrub = scrub
        self._person = person

    async def add(
        self, by: Principal, conversation: str, *, at: str = "", title: str = "", key: str = ""
    ) -> Shown:
        """Branch a conversation from a message: its id, its number or `m:NUMBER`; else the newest.

        Raises NotFound for a message that is not the conversation's, Conflict where it is refused.
        """
        digest = idempotency.digest("branch", conversation, at, title)

        def step(tx: Transaction) -> Shown:
            if known := idempotency.earlier(tx, key, digest):
                return _shown(tx, resolve(tx, known))
            pause.refuse(tx, by)
            parent = talk.resolve(tx, conversation)
            made = self._begin(tx, parent, _message(tx, parent, at), title)
            idempotency.keep(tx, key, digest, made.conversation.id)
            return made

        return await self._store.write(step)

    def _begin(self, tx: Transaction, parent: Conversation, at: Message, title: str) -> Shown:
        project = tx.projects.get(parent.project)
        if project is None:
            raise NotFound(f"The project of {parent.id} is not there.")
        first = text.one_line(parent.title, TITLE_CHARS)
        named = _title(title) if title.strip() else f"{first} (from m:{at.number})"
        own = replace(talk.add(tx, project, named), title=named)
        tx.conversations.rename(own.id, named)
        made = branch.begin(
            own,
            at,
            above=tx.branches.get(parent.id),
            author=self._person,
            now=tx.now(),
            branches=_living(tx, parent.id),
        )
        if isinstance(made, Refused):
            raise Conflict(made.why, fix=made.fix)
        tx.branches.keep(made)
        data = {"checkpoint": made.checkpoint, "number": made.number, "depth": made.depth}
        _announce(tx, "branch.added", made, **data)
        return Shown(made, own)

    async def get(self, id: str) -> Shown:
        """One branch by the id of its conversation or a unique prefix; raises NotFound."""
        return await self._store.read(lambda tx: _shown(tx, resolve(tx, id)))

    async def tree(
        self, *, conversation: str = "", project: str = "", archived: bool = False
    ) -> Sequence[Shown]:
        """Branches in the order of a tree: each after what it came from, oldest first.

        All those below a conversation, else those of a project, else all.
        """

        def query(tx: Transaction) -> Sequence[Shown]:
            top = talk.resolve(tx, conversation) if conversation else None
            of = top.project if top else project
            projects = [one.id for one in tx.projects.list() if not of or one.id == of]
            known = [one for id in projects for one in tx.branches.every(id).values()]
            wanted = branch.tree(known, top=top.id if top else None, archived=archived)
            threads = [(one, tx.conversations.get(one.conversation)) for one in wanted]
            return [Shown(one, thread) for one, thread in threads if thread is not None]

        return await self._store.read(query)

    async def adopt(self, by: Principal, id: str, *, words: str = "", key: str = "") -> Shown:
        """Tell the parent what the branch came to: by rule, or in a person's own words.

        Only that text comes back, with the way to the rest; the branch takes no more requests.
        """
        if len(words) > WORDS_CHARS:
            raise InvalidInput(
                f"The text has {len(words):,} characters.",
                fix=f"Give at most {WORDS_CHARS:,}; the branch itself can be read.",
            )
        digest = idempotency.digest("adopt", id, words)

        def step(tx: Transaction) -> Shown:
            if known := idempotency.earlier(tx, key, digest):
                return _shown(tx, resolve(tx, known))
            pause.refuse(tx, by)
            shown = _shown(tx, resolve(tx, id))
            branch_state.check(
                branch.may(
                    shown.branch,
                    Act.ADOPT,
                    above=tx.branches.get(shown.branch.parent),
                    busy=branch_state.busy(tx, shown.conversation.id),
                )
            )
            adopted = self._adopt(tx, shown, words)
            idempotency.keep(tx, key, digest, adopted.conversation.id)
            return adopted

        return await self._store.write(step)

    def _adopt(self, tx: Transaction, shown: Shown, words: str) -> Shown:
        told = self._summary(tx, shown, words)
        draft = message.draft(Kind.PERSON, self._person, text=told, secrets=self._scrub(told).kinds)
        said = talk.append(tx, shown.branch.parent, draft)
        now = branch.adopted(shown.branch, said, now=tx.now())
        tx.branches.keep(now)
        _announce(tx, "branch.adopted", now, summary=said.id, number=said.number)
        return Shown(now, shown.conversation)

    def _summary(self, tx: Transaction, shown: Shown, words: str) -> str:
        one, name = shown.branch, self._scrub(shown.conversation.title).text
        if words.strip():
            return branch_summary.told(one, name, words.strip())
        if not shown.conversation.talk:
            raise Conflict(
                "Nothing was said in the branch yet.", fix="say yourself what it came to: --text"
            )
        newest = tx.messages.newest(
            one.conversation, before=shown.conversation.messages + 1, limit=LOOKED_AT, clip=CLIP
        )
        said = [self._scrubbed(each) for each in newest if each.kind in TALK]
        last = tx.messages.last_by_speaker(one.conversation, clip=CLIP)
        return branch_summary.of(one, name, said, [self._scrubbed(each) for each in last])

    def _scrubbed(self, said: Message) -> Message:
        return replace(said, text=self._scrub(said.text).text) if said.secrets else said

    async def archive(self, by: Principal, id: str) -> Shown:
        """Put a branch away: lists leave it out, nothing of it is lost."""
        return await self._store.write(lambda tx: _move(tx, by, id, Act.ARCHIVE))

    async def delete(self, by: Principal, id: str) -> Shown:
        """Take a branch out of lists, packs, recall and search; what was said stays stored."""
        return await self._store.write(lambda tx: _move(tx, by, id, Act.DELETE))

    async def rename(self, by: Principal, id: str, title: str) -> Shown:
        """Give a branch another title."""
        named = _title(title)

        def step(tx: Transaction) -> Shown:
            pause.refuse(tx, by)
            shown = _shown(tx, resolve(tx, id))
            branch_state.check(branch.may(shown.branch, Act.RENAME))
            if shown.conversation.title == named:
                return shown
            tx.conversations.rename(shown.conversation.id, named)
            _announce(tx, "branch.renamed", shown.branch)
            return Shown(shown.branch, replace(shown.conversation, title=named))

        return await self._store.write(step)


def resolve(tx: Transaction, id: str) -> Branch:
    """The branch that is a conversation; raises NotFound for one that is none."""
    found = talk.resolve(tx, id)
    known = tx.branches.get(found.id)
    if known is None:
        raise NotFound(f"{found.id} is no branch.", fix="List them: mufakat branch list")
    return known


def _shown(tx: Transaction, one: Branch) -> Shown:
    return Shown(one, talk.resolve(tx, one.conversation))


def _title(text: str) -> str:
    named = branch.title(text)
    if isinstance(named, Refused):
        raise InvalidInput(named.why, fix=named.fix)
    return named


def _message(tx: Transaction, parent: Conversation, at: str) -> Message:
    """The message that is named: by its id, or by its number in the conversation."""
    named = _NUMBER.fullmatch(at.strip() or f"m:{parent.messages}")
    if named is None:
        found = tx.messages.get(MessageId(at.strip()))
    else:
        number = int(named[1])
        page = tx.messages.newest(parent.id, before=number + 1, limit=1, clip=1)
        found = page[0] if page and page[0].number == number else None
    if found is None or found.conversation != parent.id:
        what = f"message {at.strip()}" if at.strip() else "message yet"
        raise NotFound(
            f"There is no {what} in {parent.id}.",
            fix=f"Read it: mufakat conversations show {parent.id}",
        )
    return found


def _move(tx: Transaction, by: Principal, id: str, act: Act) -> Shown:
    pause.refuse(tx, by)
    shown = _shown(tx, resolve(tx, id))
    one = shown.branch
    to = Status.ARCHIVED if act is Act.ARCHIVE else Status.DELETED
    if one.status is to:
        return shown
    living = _living(tx, one.conversation)
    busy = branch_state.busy(tx, one.conversation)
    branch_state.check(branch.may(one, act, busy=busy, branches=living))
    moved = branch.moved(one, to, now=tx.now())
    tx.branches.keep(moved)
    if to is Status.DELETED:
        # Whoever followed it would be told of it as of any thread.
        for member in tx.members.of(one.conversation):
            tx.members.leave(one.conversation, member.identity)
    kind = "branch.archived" if to is Status.ARCHIVED else "branch.deleted"
    _announce(tx, kind, moved)
    return Shown(moved, shown.conversation)


def _living(tx: Transaction, id: ConversationId) -> int:
    """How many branches begin in a conversation, those that were deleted not counted."""
    return sum(one.status is not Status.DELETED for one in tx.branches.of(id))


def _announce(tx: Transaction, kind: str, one: Branch, **more: object) -> None:
    data = {"conversation": one.conversation, "project": one.project, "parent": one.parent}
    tx.events.record(Event(kind, one.conversation, {**data, **more}))
