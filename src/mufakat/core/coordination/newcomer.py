"""Whom a message is meant for that was kept for somebody who was not there yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mufakat.core.coordination.sending import ROLE, TOPIC


@dataclass(frozen=True, slots=True)
class Topic:
    """A thread, by what a message may call it."""

    id: str
    title: str

    def called(self, name: str) -> bool:
        """Whether a name means this thread."""
        return name == self.id or name.casefold() == self.title.casefold()


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody who has just come, or follows a thread from now on."""

    identity: str
    alias: str = ""
    role: str = ""
    topics: tuple[Topic, ...] = ()


def meant(name: str, one: Newcomer) -> bool:
    """Whether a message kept under a name is for this newcomer.

    A plain name is an alias, or the beginning of an identity: nobody else had one like it.
    """
    if name.startswith(ROLE):
        return bool(one.role) and name.removeprefix(ROLE) == one.role
    if name.startswith(TOPIC):
        return _follows(name.removeprefix(TOPIC), one.topics)
    return bool(name) and (name == one.alias or one.identity.startswith(name))


def _follows(name: str, topics: Iterable[Topic]) -> bool:
    return any(topic.called(name) for topic in topics)
