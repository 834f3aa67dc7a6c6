"""One record by what a person or an agent calls it: its id, or enough of its beginning."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from mufakat.core.base import InvalidInput, NotFound

NAMED = 5
"""Candidates that a refusal names."""


class Named(Protocol):
    """A record with an id."""

    @property
    def id(self) -> str: ...


T = TypeVar("T", bound=Named)


def only(id: str, found: Sequence[T], *, noun: str, fix: str) -> T:
    """The one that was found; raises NotFound for none, InvalidInput for several."""
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.id for one in found[:NAMED])
        raise InvalidInput(f"{id} fits several {noun}s: {names}.", fix="Give more of it.")
    raise NotFound(f"There is no {noun} {id}.", fix=fix)
