"""Routes of the graph: who uses a symbol, and what a change may touch."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.ports.knowledge import Relation
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.server.http.schemas import graph as shapes

router = APIRouter(prefix="/graph", tags=["graph"])


@router.get("/blast", response_model=answers.Listing[shapes.Reach])
async def blast(here: Here, by: By, query: Annotated[shapes.BlastQuery, QueryOf()]) -> Json:
    """Tell which files a change of others may touch, most likely first."""
    found = await here.app.knowledge.graphs.blast(
        by, query.path, project=query.project, limit=query.limit
    )
    return Json({"items": [asdict(one) for one in found], "next": None})


@router.get("/{relation}", response_model=answers.Listing[shapes.Node])
async def ask(
    here: Here, by: By, relation: Relation, query: Annotated[shapes.SymbolQuery, QueryOf()]
) -> Json:
    """Tell the callers, callees, importers, tests or definition of a symbol."""
    found = await here.app.knowledge.graphs.ask(
        by, relation, query.symbol, project=query.project, limit=query.limit
    )
    return Json({"items": [asdict(one) for one in found], "next": None})
