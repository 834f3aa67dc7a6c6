"""Routes of notices: shared facts of a project that expire by themselves."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi import Query as QueryOf

from mufakat.server import sight
from mufakat.server.http import coordination_views as views
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import mail as shapes

router = APIRouter(prefix="/notices", tags=["notices"])

Key = Annotated[str, Path(min_length=1, max_length=200)]


@router.get("", response_model=answers.Listing[shapes.Notice])
async def every(here: Here, by: By, query: Annotated[shapes.OfProject, QueryOf()]) -> Json:
    """List the notices that hold now."""
    view = await sight.of(here.app, by)
    found = await here.app.notices.list(project=view.choose(query.project))
    items = [views.notice(one) for one in found if view.within(one.project)]
    return Json({"items": items, "next": None})


@router.put("/{key}", response_model=shapes.Notice)
async def put(here: Here, by: By, key: Key, body: shapes.NewNotice) -> Json:
    """Tell everybody in the project; the newest word on a key holds."""
    view = await sight.of(here.app, by)
    found = await here.app.notices.set(
        by, key, body.text, ttl_seconds=body.ttl, project=view.choose(body.project)
    )
    return Json(views.notice(found))


@router.delete("/{key}", response_model=shapes.Dropped)
async def drop(here: Here, by: By, key: Key, query: Annotated[shapes.OfProject, QueryOf()]) -> Json:
    """Take a notice back."""
    view = await sight.of(here.app, by)
    await here.app.notices.drop(by, key, project=view.choose(query.project))
    return Json({"dropped": True})
