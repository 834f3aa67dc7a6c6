"""Routes of branches: begun at a message, listed as a tree, adopted, put away, deleted."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from fastapi import Query as QueryOf

from mufakat.server import sight
from mufakat.server.http import branch_views as views
from mufakat.server.http import idempotency
from mufakat.server.http.door import By, Here, Id
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests
from mufakat.server.http.schemas import branches as shapes

router = APIRouter(tags=["branches"])


@router.post("/conversations/{id}/branches", response_model=shapes.Branch, status_code=201)
async def add(here: Here, by: By, id: Id, body: shapes.NewBranch, key: idempotency.Key) -> Json:
    """Branch a conversation from one of its messages."""
    made = await here.app.branches.add(by, id, at=body.message, title=body.title, key=key)
    location = f"/api/v1/branches/{made.conversation.id}"
    return Json(views.branch(made), 201, {"location": location})


@router.get("/branches", response_model=answers.Listing[shapes.Branch])
async def tree(here: Here, by: By, query: Annotated[shapes.BranchPage, QueryOf()]) -> Json:
    """List branches as a tree: each after what it came from."""
    view = await sight.of(here.app, by)
    if query.conversation:
        await sight.conversation(here.app, by, query.conversation)
    found = await here.app.branches.tree(
        conversation=query.conversation,
        project=view.choose(query.project),
        archived=query.archived == "1",
    )
    items = [views.branch(one) for one in found if view.within(one.branch.project)]
    return Json({"items": items, "next": None})


@router.get("/branches/{id}", response_model=shapes.Branch)
async def one(here: Here, by: By, id: Id) -> Json:
    """Show a branch by the id of its conversation or a unique prefix of it."""
    found = await sight.conversation(here.app, by, id)
    return Json(views.branch(await here.app.branches.get(found.id)))


@router.post("/branches/{id}/adopt", response_model=shapes.Branch)
async def adopt(here: Here, by: By, id: Id, body: shapes.Adoption, key: idempotency.Key) -> Json:
    """Tell the parent what a branch came to; only that text comes back."""
    return Json(views.branch(await here.app.branches.adopt(by, id, words=body.text, key=key)))


@router.post("/branches/{id}/archive", response_model=shapes.Branch)
async def archive(here: Here, by: By, id: Id, body: requests.Nothing) -> Json:
    """Put a branch away: lists leave it out, nothing of it is lost."""
    return Json(views.branch(await here.app.branches.archive(by, id)))


@router.put("/branches/{id}/title", response_model=shapes.Branch)
async def rename(here: Here, by: By, id: Id, body: shapes.Title) -> Json:
    """Give a branch another title."""
    return Json(views.branch(await here.app.branches.rename(by, id, body.title)))


@router.delete("/branches/{id}", response_model=shapes.Branch)
async def delete(here: Here, by: By, id: Id) -> Json:
    """Take a branch out of lists, packs, recall and search."""
    return Json(views.branch(await here.app.branches.delete(by, id)))
