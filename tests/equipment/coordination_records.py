"""Small records of coordination for tests: agents, their mail and their leases."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from equipment import store_records as make
from equipment.store_records import TALK, number, say
from mufakat.core.base import MessageId, Millis, Revision
from mufakat.core.coordination.inbox import Delivery, Envelope, Intent, Status
from mufakat.core.coordination.instance import Binding, Instance
from mufakat.core.coordination.lease import Lease, Waiter, Wanted
from mufakat.core.coordination.state import On, Standing, State
from mufakat.core.coordination.waiting import Action, Condition, Reaction
from mufakat.ports.store import Transaction

ALICE = "claude@host:a11ce0"
BOB = "codex@host:b0b000"


def instance(identity: str = ALICE, **more: Any) -> Instance:
    engine, _, rest = identity.partition("@")
    host, _, inst = rest.partition(":")
    fields: dict[str, Any] = {
        "instance": inst.ljust(32, "0"),
        "engine": engine,
        "host": host,
        "role": "general",
        "alias": "",
        "project": make.PROJECT,
        "agent": None,
        "parent": "",
        "epoch": 1,
        "binding": Binding(session=f"session of {identity}"),
        "created": Millis(1),
        "seen": Millis(1),
        "standing": Standing(State.IDLE, Millis(1)),
    }
    return Instance(identity, **{**fields, **more})


def full_instance() -> Instance:
    """An instance with no field as it comes by itself."""
    return instance(
        alias="the élder",
        role="review",
        parent=BOB,
        epoch=7,
        binding=Binding("s-1", 4711, 99, "boot-1", "/srv/demo/src", "/srv/demo"),
        created=Millis(5),
        seen=Millis(9),
        standing=Standing(
            State.BLOCKED,
            Millis(8),
            On.LEASE,
            "waits 😀",
            "run-1",
            3,
            2,
            Revision(12),
        ),
    )


def join(tx: Transaction, *identities: str) -> None:
    """A project with one conversation and these agents."""
    make.setup(tx)
    for identity in identities or (ALICE, BOB):
        tx.instances.keep(instance(identity))


def envelope(n: int, **more: Any) -> Envelope:
    fields: dict[str, Any] = {
        "sender": ALICE,
        "to": (BOB,),
        "intent": Intent.INFORM,
        "priority": 1,
        "sent": Millis(n),
    }
    return Envelope(number(n), TALK, **{**fields, **more})


def delivery(n: int, recipient: str = BOB, **more: Any) -> Delivery:
    fields: dict[str, Any] = {"number": 0, "status": Status.QUEUED, "at": Millis(n)}
    return Delivery(recipient, message=number(n), **{**fields, **more})


def post(tx: Transaction, n: int, *recipients: str, **more: Any) -> list[Delivery]:
    """Say message `n` and put it into the inboxes."""
    tx.messages.append(TALK, say(f"text {n}", speaker=ALICE), id=number(n))
    tx.inbox.send(envelope(n, to=recipients or (BOB,), **more))
    return [tx.inbox.deliver(delivery(n, to)) for to in recipients or (BOB,)]


def moved(tx: Transaction, n: int, status: Status, recipient: str = BOB, **more: Any) -> Delivery:
    """Bring a delivery to another status."""
    there = tx.inbox.get(recipient, MessageId(number(n)))
    assert there is not None
    changed = replace(there, status=status, **more)
    tx.inbox.keep(changed)
    return changed


def wanted(*resources: str, **more: Any) -> Wanted:
    fields = {"holder": ALICE, **more}
    return Wanted(resources=tuple(sorted(resources)) or ("file:/srv/demo/a",), **fields)


def grant(tx: Transaction, id: str, *resources: str, **more: Any) -> Lease:
    """A lease as a service grants it: counted on, then kept."""
    ends = {name: more.pop(name) for name in tuple(more) if name in Lease.__dataclass_fields__}
    want = wanted(*resources, **more)
    fences = tuple(tx.leases.next_fence(resource) for resource in want.resources)
    fields: dict[str, Any] = {"since": tx.now(), "expires": Millis(tx.now() + want.ttl), **ends}
    lease = Lease(id, want, fences, **fields)
    tx.leases.keep(lease)
    return lease


def waiter(id: str, *resources: str, **more: Any) -> Waiter:
    times = {"enqueued": Millis(1), "until": Millis(100)}
    times |= {name: more.pop(name) for name in tuple(more) if name in times}
    return Waiter(id, wanted(*resources, **more), **times)


def reaction(id: str = "r_1", **more: Any) -> Reaction:
    fields: dict[str, Any] = {
        "project": make.PROJECT,
        "owner": ALICE,
        "condition": Condition("role:review", frozenset({State.IDLE, State.OFFLINE}), 2.5),
        "action": Action.SEND,
        "data": (("to", BOB), ("body", "gö on")),
        "created": Millis(3),
    }
    return Reaction(id, **{**fields, **more})
