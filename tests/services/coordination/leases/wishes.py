"""What random histories ask for: few things and few holders, so that they meet."""

from __future__ import annotations

from hypothesis import strategies as some

from mufakat.core.base import Millis
from mufakat.core.coordination.lease import Lease, Mode, Waiter, Wanted
from services.coordination.leases import model
from services.coordination.leases.model import Entry, Wish
from services.coordination.leases.world import HOLDERS

HOLDER = some.sampled_from(HOLDERS)
RESOURCES = some.one_of(
    some.sampled_from([model.TASK_A, model.TASK_A, model.PORT, model.PY]).map(lambda key: (key,)),
    some.lists(
        some.sampled_from(
            [model.TASK_A, model.TASK_B, model.PORT, model.PY, model.A_FILES, model.B_MD]
        ),
        min_size=1,
        max_size=2,
        unique=True,
    ).map(lambda keys: tuple(sorted(keys))),
)
TTL = some.sampled_from([5_000, 10_000, 30_000, 60_000])
WISH = some.one_of(
    some.builds(
        Wish, HOLDER, RESOURCES, some.booleans(), some.just(1), TTL, some.sampled_from([0, 1, 1, 1])
    ),
    some.builds(
        Wish, HOLDER, some.just((model.SLOT,)), some.just(False), some.sampled_from([2, 2, 3]), TTL
    ),
)
WAIT = some.sampled_from([0, 0, 20_000, 600_000])
FENCE = some.sampled_from(["current", "current", "current", "previous", "next"])


def wanted(wish: Wish) -> Wanted:
    """A wish as the store knows it."""
    mode = Mode.SHARED if wish.shared else Mode.EXCLUSIVE
    return Wanted(wish.holder, wish.resources, mode, slots=wish.slots, ttl=wish.ttl, rank=wish.rank)


def wish_of(lease: Lease) -> Wish:
    """A lease's wish as the model knows it."""
    one = lease.wanted
    shared = one.mode is Mode.SHARED
    return Wish(one.holder, one.resources, shared, one.slots, one.ttl, one.rank)


def waiter_of(entry: Entry) -> Waiter:
    """An entry of the queue as the store knows it."""
    return Waiter(entry.id, wanted(entry.wish), Millis(entry.enqueued), Millis(entry.until))
