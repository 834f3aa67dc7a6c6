"""Routes of skills: what there is, a body, and a person's consent."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi import Query as QueryOf

from mufakat.server.http import document_views as views
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import skills as shapes
from mufakat.server.http.schemas.mail import OfProject

router = APIRouter(prefix="/skills", tags=["skills"])

Skill = Annotated[str, Path(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]


@router.get("", response_model=shapes.Skills)
async def every(here: Here, by: By, query: Annotated[OfProject, QueryOf()]) -> Json:
    """List the skills of a project and of the person, and what cannot be used."""
    found = await here.app.knowledge.skills.list(by, query.project)
    items = [views.skill(one) for one in found.items]
    return Json({"items": items, "next": None, "skipped": views.skipped(found.skips)})


@router.get("/{name}", response_model=shapes.WholeSkill)
async def one(here: Here, by: By, name: Skill, query: Annotated[OfProject, QueryOf()]) -> Json:
    """Show a skill with its body; an agent gets it only where a person has consented."""
    return Json(views.whole_skill(await here.app.knowledge.skills.get(by, name, query.project)))


@router.post("/{name}/consent", response_model=shapes.Skill)
async def consent(here: Here, by: By, name: Skill, body: shapes.Consenting) -> Json:
    """Let agents have a skill, as long as it stays the text with this digest."""
    found = await here.app.knowledge.skills.consent(by, name, body.digest, body.project)
    return Json(views.skill(found))
