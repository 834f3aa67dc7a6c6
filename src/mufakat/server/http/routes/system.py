"""Routes of the server itself: whether it lives, how it is, and care for its store."""

from __future__ import annotations

import os

from fastapi import APIRouter

from mufakat import __version__
from mufakat.sdk import home as homes
from mufakat.server.http import views
from mufakat.server.http.door import Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers, requests

router = APIRouter(tags=["system"])


@router.get("/health", response_model=answers.Health)
async def health() -> Json:
    """Tell that this is Mufakat; needs no token."""
    return Json({"name": "mufakat", "version": __version__, "pid": os.getpid()})


@router.get("/status", response_model=answers.Status)
async def status(here: Here) -> Json:
    """Tell how the server is."""
    app = here.app
    epoch, head = await app.feed.head()
    counts = {
        "projects": len(await app.talk.projects()),
        "unfinished_turns": await app.store.read(lambda tx: len(tx.turns.unfinished())),
        "streams": here.streams.open,
    }
    return Json(
        {
            "version": __version__,
            "pid": os.getpid(),
            "home": str(app.settings.home),
            "epoch": epoch,
            "head": f"{epoch}-{head}",
            "counts": counts,
            "store": "postgresql" if app.settings.store.get_secret_value() else "sqlite",
        }
    )


@router.post("/backup", response_model=answers.Backup)
async def backup(here: Here, body: requests.Nothing) -> Json:
    """Write a verified copy of the database into the home's `backups`."""
    folder = homes.private_folder(here.app.settings.home / homes.BACKUPS)
    return Json({"path": str(await here.app.store.backup(folder))})


@router.post("/check", response_model=answers.StoreHealth)
async def check(here: Here, body: requests.Check) -> Json:
    """Look for damage in the database."""
    return Json(views.health(await here.app.store.check(deep=body.deep)))
