"""Routes of what an agent is told: news, the stop gate, and the whole state at one revision."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.core.base import ConversationId, Revision
from mufakat.core.coordination.digest import Digest
from mufakat.server import sight
from mufakat.server.http import coordination_views as views
from mufakat.server.http import lease_views
from mufakat.server.http.door import By, Here, clock
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import context as shapes
from mufakat.server.http.schemas import mail

router = APIRouter(tags=["context"])


@router.get("/context", response_model=shapes.Digest)
async def context(here: Here, by: By, query: Annotated[shapes.ContextQuery, QueryOf()]) -> Json:
    """Tell what is new for the caller; it changes nothing until it was shown."""
    found = await here.app.context.digest(
        by, budget=query.budget, since=query.since, thread=query.thread
    )
    return Json(views.digest(found))


@router.post("/context/shown", response_model=mail.Counted)
async def accepted(here: Here, by: By, body: shapes.Accepted) -> Json:
    """Say that a digest was put before the agent: it counts as read."""
    told = Digest(
        "",
        shown=tuple(body.shown),
        cursors=tuple((ConversationId(id), number) for id, number in body.cursors.items()),
        begun=tuple(body.begun),
        revision=Revision(body.revision),
    )
    await here.app.context.confirm(by, told)
    return Json({"count": len(body.shown)})


@router.post("/gate", response_model=shapes.Decision)
async def stop(here: Here, by: By, body: shapes.Stop) -> Json:
    """Ask whether a turn may end; mail that is unread holds it."""
    found = await here.app.gate.stop(
        by, session=body.session, turn=body.turn, prompt=body.prompt, background=body.background
    )
    return Json(views.decision(found))


@router.post("/gate/skipped", response_model=mail.Counted)
async def skipped(here: Here, by: By, body: shapes.Skipped) -> Json:
    """Tell how often a turn ended without asking, since no answer came."""
    await here.app.gate.skipped(by, body.count)
    return Json({"count": body.count})


@router.get("/snapshot", response_model=shapes.Snapshot)
async def snapshot(here: Here, by: By) -> Json:
    """Show agents, leases and notices at one revision; events go on from `head`."""
    view = await sight.of(here.app, by)
    found = await here.app.states.snapshot()
    now = await clock(here)
    return Json(
        {
            "epoch": found.epoch,
            "revision": found.revision,
            "head": f"{found.epoch}-{found.revision}",
            "agents": [views.agent(one) for one in found.instances if view.sees(one)],
            "leases": [lease_views.lease(one, now) for one in found.leases],
            "notices": [views.notice(one) for one in found.notices if view.within(one.project)],
        }
    )
