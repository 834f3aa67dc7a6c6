"""What the records of coordination must agree on, whatever happened."""

from __future__ import annotations

from mufakat.storage import coordination_tables as tables

INVARIANTS: tuple[tuple[str, str], ...] = (
    (
        "an inbox has gaps, or its counter is wrong",
        "SELECT 1 FROM instances i WHERE inbox_head != "
        "(SELECT count(number) FROM deliveries d WHERE d.recipient = i.identity) OR inbox_head != "
        "(SELECT coalesce(max(number), 0) FROM deliveries d WHERE d.recipient = i.identity)",
    ),
    (
        "more of an inbox is acknowledged than there is",
        "SELECT 1 FROM instances WHERE acked < 0 OR acked > inbox_head",
    ),
    (
        "a numbered message is in nobody's inbox",
        "SELECT 1 FROM deliveries d LEFT JOIN instances i ON i.identity = d.recipient "
        "WHERE d.number IS NOT NULL AND i.identity IS NULL",
    ),
    (
        "a message is open without a number, or held with one",
        f"SELECT 1 FROM deliveries WHERE (number IS NULL AND {tables.OPEN}) "
        "OR (number IS NOT NULL AND status = 'held')",
    ),
    (
        "a fence is ahead of its counter",
        "SELECT 1 FROM lease_resources l LEFT JOIN resources r ON r.resource = l.resource "
        "WHERE r.fence IS NULL OR r.fence < l.fence",
    ),
    (
        "a fence is of a generation to come",
        "SELECT 1 FROM resources r, head h WHERE (r.fence >> 40) > h.generation",
    ),
    (
        "a lease and its resources do not agree on whether it is live",
        "SELECT 1 FROM leases l LEFT JOIN lease_resources r ON r.lease = l.id "
        "WHERE r.lease IS NULL OR r.live != CASE WHEN l.ended IS NULL THEN 1 ELSE 0 END",
    ),
    (
        "a resource is held by one alone, and by somebody else too",
        "SELECT 1 FROM lease_resources r JOIN leases l ON l.id = r.lease WHERE r.live = 1 "
        "GROUP BY r.resource HAVING count(DISTINCT l.holder) > 1 AND "
        "max(CASE WHEN l.mode = 'exclusive' AND l.slots = 1 THEN 1 ELSE 0 END) = 1",
    ),
)
