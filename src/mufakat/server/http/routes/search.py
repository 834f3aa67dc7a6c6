"""Routes of the code search, and of the index of a project."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.ports.knowledge import Indexed, Standing
from mufakat.server.http import document_views as views
from mufakat.server.http.door import By, Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import requests
from mufakat.server.http.schemas import search as shapes

router = APIRouter(tags=["search"])


@router.get("/search/code", response_model=shapes.CodeHits)
async def code(here: Here, by: By, query: Annotated[shapes.CodeSearch, QueryOf()]) -> Json:
    """Find pieces of a project's code; while it is indexed, among what is read so far."""
    found = await here.app.knowledge.search.search(
        by,
        query.q,
        project=query.project,
        limit=query.limit,
        chars=query.chars or None,
        way=query.way,
    )
    items = [asdict(hit) for hit in found.hits]
    return Json({"items": items, "next": None, "why": found.why, "listing": found.listing})


@router.post("/projects/{id}/index", response_model=shapes.Index, status_code=202)
async def begin(here: Here, by: By, id: Id, body: shapes.Refresh) -> Json:
    """Begin to bring the index of a project up to date; the answer does not wait for it."""
    return Json(_standing(await here.app.knowledge.search.begin(by, id, anew=body.anew)), 202)


@router.post("/projects/{id}/index/cancel", response_model=shapes.Index)
async def cancel(here: Here, by: By, id: Id, body: requests.Nothing) -> Json:
    """Stop making the index of a project; what has been read is kept, the next search goes on."""
    return Json(_standing(await here.app.knowledge.search.cancel(by, id)))


@router.get("/projects/{id}/index", response_model=shapes.Index)
async def standing(here: Here, by: By, id: Id) -> Json:
    """Show how far the index of a project is, and what is left out of it."""
    return Json(_standing(await here.app.knowledge.search.standing(by, id)))


def _standing(found: Standing) -> dict[str, Any]:
    last = found.last or Indexed(0, 0, 0.0)
    return {
        "files": found.files,
        "running": found.running,
        "complete": found.complete,
        "done": found.done,
        "of": found.of,
        "commit": last.commit,
        "seconds": round(last.seconds, 3),
        "changed": last.changed,
        "skipped": views.skipped(last.skipped),
        "error": found.error,
    }
