"""The records of coordination that a golden database holds, since schema 0002."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from equipment import coordination_records as make
from equipment.coordination_records import ALICE, BOB
from equipment.store_records import PROJECT, TALK, number
from mufakat.core.base import Millis
from mufakat.core.coordination.gate import Turn
from mufakat.core.coordination.inbox import Intent, Status
from mufakat.core.coordination.lease import Cause, Lease, Mode
from mufakat.core.coordination.notice import Notice
from mufakat.ports.coordination import Credential, Life, Member
from mufakat.ports.store import Transaction

SINCE = "0002"
FILE, TASK = "file:/srv/demo/**", "task:report"
FENCE = (1 << 40) + 1
WHO = make.full_instance()
CREDENTIAL = Credential("aa", ALICE, 7, Life.SUPERSEDED, "run-1", Millis(4))
SENT = make.envelope(
    2, intent=Intent.REQUEST, refs=("é",), deadline=Millis(50), expires=Millis(90), hops=1
)
GATE = Turn(ALICE, "s-1", "t-1", 1, 7, Millis(5))
NOTICE = Notice(PROJECT, "staging", "is döwn", ALICE, Millis(1), Millis(99))
REACTION = make.reaction(fired=("a/b/1",), pending=("a/b/1",), once=False)
WANTED = make.wanted(FILE, TASK, mode=Mode.SHARED, slots=2, reason="é", next_step="x", deputy=BOB)
LIVE = Lease("l_1", WANTED, (FENCE, FENCE), Millis(1), Millis(9), None, None, Millis(5), Millis(6))
ENDED = Lease(
    "l_2",
    make.wanted(TASK),
    (FENCE + 1,),
    Millis(2),
    Millis(9),
    Millis(7),
    Cause.EXPIRED,
    locked_until=Millis(11),
)
SHOWN: dict[str, Any] = {
    "status": Status.SHOWN,
    "times": 2,
    "turn": "t-1",
    "note": "a note",
    "turns": 1,
}
WAITER = make.waiter("w_1", TASK, holder=BOB)


def fill(tx: Transaction) -> None:
    """One record of every kind; the project, the thread and two messages are there."""
    tx.instances.keep(WHO)
    tx.instances.keep(make.instance(BOB))
    tx.credentials.add(CREDENTIAL)
    tx.members.join(Member(TALK, ALICE, 1))
    tx.inbox.send(SENT)
    sent = tx.inbox.deliver(make.delivery(2))
    tx.inbox.keep(replace(sent, **SHOWN))
    tx.inbox.deliver(make.delivery(2, "role:review", status=Status.HELD))
    for lease in (LIVE, ENDED):
        for resource in lease.wanted.resources:
            tx.leases.next_fence(resource)
        tx.leases.keep(lease)
    tx.leases.enqueue(WAITER)
    tx.gates.keep(GATE)
    tx.notices.keep(NOTICE)
    tx.reactions.keep(REACTION)
    tx.rooms.keep(PROJECT, TALK)


def contents(tx: Transaction) -> dict[str, Any]:
    """Everything that `fill` wrote, as the present version reads it."""
    return {
        "instances": [tx.instances.get(ALICE), tx.instances.get(BOB)],
        "credential": tx.credentials.get("aa"),
        "members": list(tx.members.of(TALK)),
        "envelope": tx.inbox.envelope(number(2)),
        "deliveries": [*tx.inbox.page(BOB), *tx.inbox.held("role:review")],
        "due": len(tx.inbox.due(Millis(50))),
        "leases": [tx.leases.get("l_1"), tx.leases.get("l_2")],
        "live": [lease.id for lease in tx.leases.touching([TASK])],
        "fence": tx.leases.fence(TASK),
        "waiters": list(tx.leases.waiters()),
        "gate": tx.gates.get(ALICE, session="s-1", turn="t-1"),
        "notices": list(tx.notices.live(PROJECT, Millis(9))),
        "reactions": list(tx.reactions.active()),
        "room": tx.rooms.get(PROJECT),
    }


NOTHING: dict[str, Any] = {
    "instances": [None, None],
    "credential": None,
    "members": [],
    "envelope": None,
    "deliveries": [],
    "due": 0,
    "leases": [None, None],
    "live": [],
    "fence": 0,
    "waiters": [],
    "gate": None,
    "notices": [],
    "reactions": [],
    "room": None,
}
EXPECTED: dict[str, Any] = {
    "instances": [WHO, replace(make.instance(BOB), inbox_head=1)],
    "credential": CREDENTIAL,
    "members": [Member(TALK, ALICE, 1)],
    "envelope": SENT,
    "deliveries": [
        make.delivery(2, number=1, **SHOWN),
        make.delivery(2, "role:review", status=Status.HELD),
    ],
    "due": 1,
    "leases": [LIVE, ENDED],
    "live": ["l_1"],
    "fence": FENCE + 1,
    "waiters": [WAITER],
    "gate": GATE,
    "notices": [NOTICE],
    "reactions": [REACTION],
    "room": TALK,
}


def expected(revision: str) -> dict[str, Any]:
    """What a golden database of that schema holds."""
    return EXPECTED if revision >= SINCE else NOTHING
