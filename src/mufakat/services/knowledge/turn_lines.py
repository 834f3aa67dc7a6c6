"""Turns as they are told, read and cleaned only once somebody looks at them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from mufakat.core import quote
from mufakat.core.base import ConversationId
from mufakat.core.knowledge import passage
from mufakat.core.knowledge.indexing import IndexedTurn
from mufakat.core.knowledge.passage import Line
from mufakat.core.talk.conversation import Conversation
from mufakat.core.talk.message import Message
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Transaction


class TurnLines(Mapping[int, Line]):
    """Lines of ranked turns and of those beside them, without what is told anyway, or to nobody."""

    def __init__(
        self,
        tx: Transaction,
        order: Sequence[int],
        known: Mapping[int, IndexedTurn],
        *,
        shown: Mapping[ConversationId, int],
        bounds: Mapping[ConversationId, int],
        scrub: Scrub,
        step: int,
        chars: int,
    ) -> None:
        """`step` turns of the `order` are read at a time; a line has about `chars` characters.

        `shown` is the first message of a conversation that is told anyway, `bounds` the last that
        may be told at all.
        """
        self._tx = tx
        self._place = {turn: at for at, turn in enumerate(order)}
        self._order = order
        self._known = dict(known)
        self._shown = shown
        self._bounds = bounds
        self._scrub = scrub
        self._step = step
        self._chars = chars
        self._said: dict[int, Message | None] = {}
        self._lines: dict[int, Line] = {}
        self._threads: dict[ConversationId, tuple[Conversation, str]] = {}

    def __contains__(self, turn: object) -> bool:
        return isinstance(turn, int) and self._message(turn) is not None

    def __getitem__(self, turn: int) -> Line:
        if turn not in self._lines:
            message = self._message(turn)
            if message is None:
                raise KeyError(turn)
            self._lines[turn] = self._line(turn, message)
        return self._lines[turn]

    def __iter__(self) -> Iterator[int]:
        return iter([turn for turn, message in self._said.items() if message])

    def __len__(self) -> int:
        return len(list(iter(self)))

    def _line(self, turn: int, message: Message) -> Line:
        thread, title = self._thread(message.conversation)
        body = self._scrub(quote.inert(message.text, thread.fence)).text
        return passage.line(turn, message, body, title=title, limit=self._chars)

    def _thread(self, id: ConversationId) -> tuple[Conversation, str]:
        if id not in self._threads:
            found = self._tx.conversations.get(id)
            assert found is not None
            self._threads[id] = (found, self._title(found))
        return self._threads[id]

    def _title(self, thread: Conversation) -> str:
        """How a conversation is named beside what was said in it; a branch says that it is one."""
        title = self._scrub(thread.title).text
        branch = self._tx.branches.get(thread.id)
        return f"branch, {branch.status.value}: {title}" if branch else title

    def _message(self, turn: int) -> Message | None:
        if turn not in self._said:
            at = self._place.get(turn)
            self._read([turn] if at is None else self._order[at : at + self._step])
        return self._said[turn]

    def _read(self, turns: Sequence[int]) -> None:
        """Read turns and those beside them at once."""
        wanted = {turn + step for turn in turns for step in (0, -1, 1)} - self._said.keys()
        self._known |= self._tx.recall.turns(sorted(wanted - self._known.keys()))
        ids = {turn: self._known[turn].message for turn in wanted if turn in self._known}
        said = self._tx.messages.some(sorted(set(ids.values())))
        for turn in wanted:
            message = said.get(ids[turn]) if turn in ids else None
            self._said[turn] = message if message and self._told_here(message) else None

    def _told_here(self, message: Message) -> bool:
        first = self._shown.get(message.conversation)
        last = self._bounds.get(message.conversation, message.number)
        return message.number <= last and (first is None or message.number < first)
