"""The route by which what was said is found again."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import recall as shapes

router = APIRouter(tags=["recall"])


@router.get("/recall", response_model=shapes.Recalled)
async def search(here: Here, by: By, query: Annotated[shapes.Recall, QueryOf()]) -> Json:
    """Find what was said in a project's conversations: turns with those beside them."""
    answer = await here.app.knowledge.recall.ask(
        by,
        query.q,
        project=query.project,
        conversation=query.conversation,
        limit=query.limit,
        chars=query.chars,
    )
    items = [asdict(found) for found in answer.found]
    for item in items:
        del item["source"]
    return Json({"items": items, "next": None, "why": answer.why})
