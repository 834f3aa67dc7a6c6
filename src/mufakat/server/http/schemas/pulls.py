"""The shapes of pulling: what is asked for, and what it came to."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mufakat.core.pack.pull import Form, Kind
from mufakat.server.http.schemas.answers import Answer
from mufakat.server.http.schemas.requests import Body, MaybeId, Path


class Pull(Body):
    """A request for more."""

    kind: Annotated[Kind, Field(strict=False)]
    query: Annotated[str, Field(min_length=1, max_length=10_000)]
    """What of it: a name, an id, a path with lines, a question."""
    form: Annotated[Form, Field(strict=False)] = Form.SLICE
    """`probe`: whether there is anything; `slice`: the best of it; `full`: all of it."""
    project: Path = ""
    """Id or folder; empty: the caller's own."""
    conversation: MaybeId = ""
    """From where it is asked; empty: the caller's own."""


class Pulled(Answer):
    """What it came to; where `text` is empty, `why` says why."""

    kind: str
    query: str
    form: str
    text: str
    """Quoted: lines of others stand behind `fence`."""
    ids: list[str]
    whole: int
    """Characters of all that there is."""
    why: str
