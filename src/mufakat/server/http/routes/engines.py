"""Routes of engines: what was found on this machine, and what is wrong with it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from mufakat.app import App
from mufakat.server.http import views
from mufakat.server.http.door import Here
from mufakat.server.http.reply import Json
from mufakat.server.http.schemas import answers
from mufakat.settings import Settings

router = APIRouter(tags=["engines"])


@router.get("/engines", response_model=answers.Engines)
async def engines(here: Here) -> Json:
    """Look which engines can run."""
    return Json(await _engines(here.app))


@router.get("/doctor", response_model=answers.Doctor)
async def doctor(here: Here) -> Json:
    """Look at everything that can be wrong with the installation."""
    app = here.app
    found = await _engines(app)
    health = await app.store.check(deep=False)
    return Json(
        found
        | {
            "platform_support": asdict(app.platform_support),
            "store": views.health(health),
            "embedding": await _embedding(app),
            "settings": summary(app.settings),
        }
    )


async def _embedding(app: App) -> dict[str, str]:
    """The model behind the vectors, asked once; an engine of `none` has no problem."""
    engine, vectors = app.settings.embedding.engine, app.knowledge.vectors
    if vectors is None:
        return {"engine": engine, "model": "", "problem": ""}
    problem = await vectors.probe()
    return {"engine": engine, "model": vectors.model, "problem": problem}


async def _engines(app: App) -> dict[str, Any]:
    roster = app.roster
    names = roster.names()
    return {
        "default": roster.default(),
        "engines": [
            views.engine(probe, roster.capabilities(probe.name) if probe.name in names else None)
            for probe in await roster.probes()
        ],
    }


def summary(settings: Settings) -> dict[str, Any]:
    """The settings without what may hold a secret: environments, arguments, configurations."""
    plain = settings.model_dump(mode="json", exclude={"engines"})
    engines = {
        name: one.model_dump(mode="json", include={"command", "model", "base_url"})
        for name, one in settings.engines.items()
    }
    return plain | {"engines": engines}
