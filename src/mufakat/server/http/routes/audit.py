"""Routes of the event log as evidence: whether it is whole, what it holds, what was so before."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.core.audit import Anchor
from mufakat.core.base import Revision
from mufakat.core.coordination import replay
from mufakat.server.http.door import Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import audit as shapes
from mufakat.services import ledger

router = APIRouter(prefix="/audit", tags=["audit"])


@router.post("/verify", response_model=shapes.Verdict)
async def verify(here: Here, body: shapes.Expected) -> Json:
    """Follow the chain over the whole event log, and compare it with an anchor kept elsewhere."""
    expected = Anchor(Revision(body.revision), body.chain) if body.revision else None
    found = await here.app.ledger.verify(expected)
    return Json(
        {
            "revision": found.anchor.revision,
            "chain": found.anchor.chain,
            "events": found.events,
            "problems": list(found.problems),
        }
    )


@router.get("/events", response_model=shapes.Ledger, response_model_exclude_defaults=True)
async def events(here: Here, query: Annotated[shapes.LedgerPage, QueryOf()]) -> Json:
    """Tell events with their seals, for an archive outside; secrets are taken out."""
    kinds = [kind for kind in query.kinds.split(",") if kind]
    page = await here.app.ledger.page(query.after, kinds=kinds, limit=query.limit)
    items = [ledger.plain(one, scrubbed=one.revision in page.scrubbed) for one in page.events]
    return Json({"items": items, "next": page.reached, "head": page.head})


@router.get("/replay", response_model=shapes.Picture)
async def looked_back(here: Here, query: Annotated[shapes.At, QueryOf()]) -> Json:
    """Tell agents, leases and inboxes as they were at a revision."""
    picture = await here.app.ledger.replay(None if query.at < 0 else query.at)
    return Json(replay.shown(picture))
