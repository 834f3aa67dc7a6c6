"""What a route needs from the server: the application, and the shared parts of this door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Path, Request

from mufakat.app import App
from mufakat.server.http.limits import Limits
from mufakat.server.http.schemas import requests
from mufakat.server.http.streams import Streams


@dataclass(frozen=True, slots=True)
class Door:
    """One server's share of this door."""

    app: App
    limits: Limits
    streams: Streams


async def _door(request: Request) -> Door:
    door: Door = request.app.state.door
    return door


Here = Annotated[Door, Depends(_door)]
Id = Annotated[str, Path(pattern=requests.ID)]
