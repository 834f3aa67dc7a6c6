"""The route of pulling: more of what a pack only names, for agents and people outside."""

from __future__ import annotations

from fastapi import APIRouter

from mufakat.core.pack.pull import Want
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import pulls as shapes

router = APIRouter(tags=["knowledge"])


@router.post("/pull", response_model=shapes.Pulled)
async def pull(here: Here, by: By, body: shapes.Pull) -> Json:
    """Ask for more of something: a skill, what was said, a piece of code, a document."""
    want = Want(body.kind.value, body.query, body.form)
    found = await here.app.knowledge.asking.pull(
        by, want, project=body.project, conversation=body.conversation
    )
    return Json(
        {
            "kind": found.want.kind,
            "query": found.want.query,
            "form": found.want.form.value,
            "text": found.text,
            "ids": list(found.ids),
            "whole": found.whole,
            "why": found.why,
        }
    )
