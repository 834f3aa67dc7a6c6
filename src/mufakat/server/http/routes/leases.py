"""Routes of leases: ask, hold, hand on, and look who holds what."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi import Query as QueryOf

from mufakat.core.coordination.asking import Request as Asked
from mufakat.core.coordination.lease import Lease
from mufakat.core.coordination.state import On
from mufakat.server.http import idempotency
from mufakat.server.http import lease_views as views
from mufakat.server.http.door import By, Door, Here, Id, clock, patiently
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import leases as shapes

router = APIRouter(prefix="/leases", tags=["leases"])


def wanted(body: shapes.NewLease) -> Asked:
    """A body as a service takes it."""
    return Asked(
        resources=tuple(body.resources),
        mode=body.mode.value,
        slots=body.slots,
        ttl_seconds=body.ttl,
        wait_seconds=body.wait,
        reason=body.reason,
        next_step=body.next_step,
        deputy=body.deputy,
        rank=body.rank,
    )


@router.post("", response_model=shapes.Granted, status_code=201)
async def acquire(
    request: Request, here: Here, by: By, body: shapes.NewLease, key: idempotency.Key
) -> Json:
    """Ask for resources, all or none; `wait` stands in the queue as long as the client stays."""

    async def work() -> Json:
        ask = partial(here.app.leases.acquire, by, wanted(body), key=key)
        what = ", ".join(body.resources)
        blocking = here.app.states.blocking
        lease = await (blocking(by, On.LEASE, ask, detail=what) if body.wait else ask())
        clamped = body.rank is not None and lease.wanted.rank < body.rank
        return Json(await _shown(here, lease) | {"clamped": clamped}, 201)

    return await patiently(request, here, by, wait=body.wait, work=work)


@router.get("", response_model=answers.Listing[shapes.Lease])
async def every(here: Here, query: Annotated[shapes.LeasePage, QueryOf()]) -> Json:
    """List live leases, whoever holds them."""
    found = await here.app.leases.list(holder=query.holder, resource=query.resource)
    now = await clock(here)
    return Json({"items": [views.lease(one, now) for one in found], "next": None})


@router.get("/queue", response_model=answers.Listing[shapes.Waiter])
async def queue(here: Here) -> Json:
    """List those who wait, in order of arrival."""
    return Json(
        {"items": [views.waiter(one) for one in await here.app.leases.queue()], "next": None}
    )


@router.post("/steal", response_model=shapes.Lease, status_code=201)
async def steal(here: Here, by: By, body: shapes.Steal) -> Json:
    """Take resources from their holders at once; the reason is kept."""
    lease = await here.app.leases.steal(by, tuple(body.resources), body.reason, body.ttl)
    return Json(await _shown(here, lease), 201)


@router.post("/check", response_model=shapes.Checked)
async def check(here: Here, body: shapes.FenceCheck) -> Json:
    """Tell whether a fence still holds; for whatever guards the resource."""
    valid, holder = await here.app.leases.check(body.resource, body.fence)
    return Json({"valid": valid, "holder": holder})


@router.post("/guard", response_model=shapes.Guarded)
async def guard(here: Here, by: By, body: shapes.Paths) -> Json:
    """Tell who stands in the way of changing files, if anybody."""
    holder = await here.app.leases.guard(by, tuple(body.paths))
    return Json({"holder": views.holder(holder) if holder else None})


@router.get("/{id}", response_model=shapes.Lease)
async def one(here: Here, id: Id) -> Json:
    """Show a lease by its id or a unique prefix of it."""
    return Json(await _shown(here, await here.app.leases.get(id)))


@router.post("/{id}/renew", response_model=shapes.Lease)
async def renew(here: Here, by: By, id: Id, body: shapes.Renewal) -> Json:
    """Ask for more time; a lease that is lost stays lost."""
    lease = await here.app.leases.renew(by, id, body.fence, body.ttl)
    return Json(await _shown(here, lease))


@router.post("/{id}/release", response_model=shapes.Released)
async def release(here: Here, by: By, id: Id, body: shapes.Release) -> Json:
    """Give a lease back; harmless where it is gone already."""
    return Json({"answer": await here.app.leases.release(by, id, body.fence)})


@router.post("/{id}/transfer", response_model=shapes.Lease)
async def transfer(here: Here, by: By, id: Id, body: shapes.Transfer) -> Json:
    """Hand a lease to another agent."""
    lease = await here.app.leases.transfer(by, id, body.fence, body.to)
    return Json(await _shown(here, lease))


@router.post("/{id}/defer", response_model=shapes.Lease)
async def defer(here: Here, by: By, id: Id, body: shapes.Release, key: idempotency.Key) -> Json:
    """Put off, once, that a lease passes to a higher class: by one grace period."""
    lease = await here.app.leases.defer(by, id, body.fence, key=key)
    return Json(await _shown(here, lease))


async def _shown(here: Door, lease: Lease) -> dict[str, Any]:
    return views.lease(lease, await clock(here))
