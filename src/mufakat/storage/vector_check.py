"""Whether the vectors of what was said agree with its index; they can be made again."""

from __future__ import annotations

from mufakat.core.knowledge import posting

_LANES = 2 * posting.POSITIONS
INVARIANTS: tuple[tuple[str, str], ...] = (
    (
        "vectors are ahead of the index of what was said",
        "SELECT 1 FROM recall_embedded e LEFT JOIN recall_conversations r "
        "ON r.conversation = e.conversation AND r.ordinal = e.ordinal "
        "WHERE r.conversation IS NULL OR e.talk > r.talk",
    ),
    (
        "a vector of what was said is lost",
        "SELECT 1 FROM recall_embedded e WHERE e.talk != (SELECT count(*) FROM recall_vectors v "
        f"WHERE v.model = e.model AND v.turn >= e.ordinal * {_LANES} "
        f"AND v.turn < e.ordinal * {_LANES} + e.talk)",
    ),
    (
        "a vector of what was said has not the length that it should have",
        "SELECT 1 FROM recall_vectors WHERE length(vector) != 2 * dims",
    ),
)
