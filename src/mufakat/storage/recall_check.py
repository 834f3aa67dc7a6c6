"""Whether the index of what was said agrees with the messages; it can be made again from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Connection, func, select

from mufakat.core.knowledge import indexing, posting
from mufakat.core.knowledge.indexing import Turn
from mufakat.storage import messages, tables
from mufakat.storage import recall_tables as own

BATCH = 500
INVARIANTS: tuple[tuple[str, str], ...] = (
    (
        "the index of what was said knows a message that is not there",
        "SELECT 1 FROM recall_turns t LEFT JOIN messages m ON m.id = t.message "
        "AND m.number = t.number WHERE m.id IS NULL",
    ),
    (
        "the index of what was said is ahead of a conversation",
        "SELECT 1 FROM recall_conversations r JOIN conversations c ON c.id = r.conversation "
        "WHERE r.number > c.messages OR r.project != c.project",
    ),
    (
        "the index of what was said has lost a message",
        "SELECT 1 FROM recall_conversations WHERE talk + tools != number",
    ),
    (
        "the index of what was said has lost a turn",
        "SELECT 1 WHERE (SELECT count(*) FROM recall_turns) != "
        "(SELECT coalesce(sum(turns), 0) FROM recall_projects)",
    ),
)
_SAID = (
    messages.SCAN.add_columns(own.recall_conversations.c.project, tables.conversations.c.fence)
    .join(
        own.recall_conversations,
        (own.recall_conversations.c.conversation == tables.messages.c.conversation)
        & (own.recall_conversations.c.number >= tables.messages.c.number),
    )
    .join(tables.conversations, tables.conversations.c.id == tables.messages.c.conversation)
)
_TERMS = select(
    own.recall_terms.c.project,
    own.recall_terms.c.term,
    func.sum(func.length(own.recall_terms.c.entries)),
).group_by(own.recall_terms.c.project, own.recall_terms.c.term)


def terms(connection: Connection) -> list[str]:
    """Terms that are not as often in the index as in the messages that it holds."""
    wanted = Counter((project, term) for project, turn in _turns(connection) for term in turn.terms)
    width = len(posting.pack([0]))
    kept = Counter(
        {(project, term): size // width for project, term, size in connection.execute(_TERMS)}
    )
    wrong = sum(1 for key in {*wanted, *kept} if wanted[key] != kept[key])
    if not wrong:
        return []
    return [f"the index of what was said differs from the messages in {wrong:,} terms"]


def _turns(connection: Connection) -> Iterator[tuple[str, Turn]]:
    after = ""
    while True:
        rows = connection.execute(_SAID.limit(BATCH), {"after": after}).all()
        for row in rows:
            *said, project, fence = row
            after = row[0]
            yield project, indexing.turn(messages.load(said), fence)
        if len(rows) < BATCH:
            return
