"""Routes of sessions that the CLIs keep by themselves; for the person alone."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.server.http import document_views as views
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import sessions as shapes
from mufakat.server.http.schemas.mail import OfProject

router = APIRouter(prefix="/sessions/native", tags=["sessions"])


@router.get("", response_model=shapes.NativeSessions)
async def every(here: Here, by: By, query: Annotated[OfProject, QueryOf()]) -> Json:
    """List the sessions of a project that Claude Code, Codex, Gemini CLI and OpenCode keep."""
    found = await here.app.knowledge.native.list(by, query.project)
    items = [views.native(one) for one in found.items]
    return Json({"items": items, "next": None, "skipped": views.skipped(found.skips)})


@router.post("/import", response_model=shapes.Imported)
async def take_over(here: Here, by: By, body: shapes.Importing) -> Json:
    """Keep a session as a conversation; the same one again adds only what is new."""
    return Json(
        views.imported(
            await here.app.knowledge.native.take_over(by, body.engine, body.id, body.project)
        )
    )
