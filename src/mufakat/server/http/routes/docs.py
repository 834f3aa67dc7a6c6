"""Routes of documents: search them, read them, leave notes on them.

The name of a document is any path, so it comes last and after a word of its own.
"""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi import Query as QueryOf

from mufakat.server.http import document_views as views
from mufakat.server.http.door import By, Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import docs as shapes

router = APIRouter(prefix="/docs", tags=["docs"])


Document = Annotated[str, Path(min_length=1, max_length=400, description="Name, with slashes.")]


@router.get("/search", response_model=shapes.Passages)
async def search(here: Here, by: By, query: Annotated[shapes.DocumentSearch, QueryOf()]) -> Json:
    """Find documents of the project, of content folders and of installed packages."""
    found = await here.app.knowledge.documents.search(
        by, query.q, project=query.project, limit=query.limit
    )
    items = [views.passage(one) for one in found.passages]
    return Json({"items": items, "next": None, "why": found.why})


@router.get("/page/{name:path}", response_model=shapes.Document)
async def one(
    here: Here, by: By, name: Document, query: Annotated[shapes.Section, QueryOf()]
) -> Json:
    """Show a section, or the beginning and all headings, with the notes on the document."""
    found = await here.app.knowledge.documents.get(
        by, name, section=query.section, project=query.project
    )
    notes = [views.note(one) for one in found.notes]
    return Json({**views.passage(found.passage), "notes": notes})


@router.post("/notes/{name:path}", response_model=shapes.Note, status_code=201)
async def note(here: Here, by: By, name: Document, body: shapes.NewNote) -> Json:
    """Leave a note for whoever reads the document next in this project."""
    left = await here.app.knowledge.documents.note(by, name, body.text, project=body.project)
    return Json(views.note(left), 201)
