"""What branches must agree on with the conversations and messages that they come from."""

from __future__ import annotations

INVARIANTS: tuple[tuple[str, str], ...] = (
    (
        "a branch begins at a message that its parent does not have",
        "SELECT 1 FROM branches b LEFT JOIN messages m ON m.id = b.checkpoint "
        "AND m.conversation = b.parent AND m.number = b.number WHERE m.id IS NULL",
    ),
    (
        "a branch is not one deeper than what it came from",
        "SELECT 1 FROM branches b LEFT JOIN branches p ON p.conversation = b.parent "
        "WHERE b.depth != coalesce(p.depth, 0) + 1",
    ),
    (
        "a branch has lost its conversation or its parent, or they are of two projects",
        "SELECT 1 FROM branches b LEFT JOIN conversations c ON c.id = b.conversation "
        "AND c.project = b.project LEFT JOIN conversations p ON p.id = b.parent "
        "AND p.project = b.project WHERE c.id IS NULL OR p.id IS NULL",
    ),
    (
        "a branch was adopted by a message that is not there",
        "SELECT 1 FROM branches b LEFT JOIN messages m ON m.id = b.summary "
        "AND m.conversation = b.parent AND m.number = b.summary_number "
        "WHERE b.summary != '' AND m.id IS NULL",
    ),
    (
        "a branch is adopted without a message, or has one that it was not adopted by",
        "SELECT 1 FROM branches WHERE (status = 'adopted' AND summary = '') "
        "OR (status = 'open' AND summary != '')",
    ),
)
