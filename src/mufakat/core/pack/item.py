"""An item: the smallest thing a pack can tell, in four resolutions."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class Trust(StrEnum):
    """Where a text has its authority from; only `platform` has any."""

    PLATFORM = "platform"
    PROJECT = "project"
    PEER = "peer"
    RETRIEVED = "retrieved"


class Resolution(StrEnum):
    """How much of an item is told, from all of it to its name."""

    FULL = "full"
    TRIMMED = "trimmed"
    DIGEST = "digest"
    REFERENCE = "reference"


VALUE: Mapping[Resolution, float] = MappingProxyType(
    {
        Resolution.FULL: 1.0,
        Resolution.TRIMMED: 0.8,
        Resolution.DIGEST: 0.45,
        Resolution.REFERENCE: 0.15,
    }
)
"""What a resolution is worth beside the whole text."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to tell, with every form it may take.

    `forms` maps a resolution to the exact text; a form that would not be shorter than a better
    one is absent. FULL is always there.
    """

    id: str
    source: str
    trust: Trust
    forms: tuple[tuple[Resolution, str], ...]
    author: str = ""
    worth: float = 1.0
    key: str = ""
    """How the agent can pull the rest, where its id alone does not say it."""


@dataclass(frozen=True, slots=True)
class Told:
    """An item as it was put into a pack."""

    id: str
    resolution: Resolution
    chars: int
    digest: str
    """SHA-256 of the exact text, hex."""
    source: str
    trust: Trust
    author: str = ""
    full_chars: int = 0
    """Length of the whole text, where less of it was told."""
    key: str = ""
    """How the agent can pull the rest."""


def digest(text: str) -> str:
    """SHA-256 of a text, hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
