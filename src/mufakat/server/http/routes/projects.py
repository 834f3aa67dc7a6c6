"""Routes of projects."""

from __future__ import annotations

from fastapi import APIRouter

from mufakat.core.base import ProjectId
from mufakat.server.http import views
from mufakat.server.http.door import Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests

router = APIRouter(prefix="/projects", tags=["projects"])


@router.get("", response_model=answers.Listing[answers.Project])
async def every(here: Here) -> Json:
    """List all projects."""
    items = [views.project(record) for record in await here.app.talk.projects()]
    return Json({"items": items, "next": None})


@router.post("", response_model=answers.Project)
async def ensure(here: Here, body: requests.NewProject) -> Json:
    """Answer the project of a folder; it is added where it is new."""
    return Json(views.project(await here.app.talk.ensure_project(body.path)))


@router.get("/{id}", response_model=answers.Project)
async def one(here: Here, id: Id) -> Json:
    """Show a project."""
    return Json(views.project(await here.app.talk.project(ProjectId(id))))
