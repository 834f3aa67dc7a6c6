"""What a caller may see: the operator everything, an agent itself and its own project."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from mufakat.app import App
from mufakat.core.base import LoggedEvent, NotAllowed, NotFound, ProjectId
from mufakat.core.coordination.instance import Instance
from mufakat.core.coordination.principal import Principal, Right
from mufakat.core.talk.conversation import Conversation

Sieve = Callable[[Sequence[LoggedEvent]], Awaitable[Sequence[LoggedEvent]]]
"""Keeps of some events those that a reader may see."""


@dataclass(frozen=True, slots=True)
class Sight:
    """How far one caller sees."""

    all: bool
    identity: str = ""
    project: ProjectId | None = None

    def sees(self, one: Instance) -> bool:
        """Whether an instance is in sight."""
        return self.all or one.identity == self.identity or self.within(one.project)

    def within(self, project: str | None) -> bool:
        """Whether a project is in sight."""
        return self.all or (project is not None and project == self.project)

    def choose(self, project: str) -> str:
        """The project to read: the one asked for, else the caller's own; raises NotAllowed."""
        if self.all or not project:
            return project or (self.project or "")
        if project != self.project:
            raise NotAllowed(f"Project {project} is another agent's.", fix="Ask for your own.")
        return project


async def of(app: App, by: Principal) -> Sight:
    """How far the caller sees."""
    if by.right is not Right.AGENT:
        return Sight(by.operator, by.identity)
    mine = await app.agents.get(by.identity)
    return Sight(False, by.identity, mine.project)


async def agent(app: App, by: Principal, name: str) -> Instance:
    """An instance by name; raises NotFound, also for one that is out of the caller's sight."""
    sight = await of(app, by)
    one = await app.agents.get(name, project=sight.project)
    if not sight.sees(one):
        raise NotFound(f"There is no agent {name}.", fix="List them: mufakat agents.")
    return one


async def conversation(app: App, by: Principal, id: str) -> Conversation:
    """A conversation; raises NotFound, also for one that is out of the caller's sight."""
    found = await app.talk.conversation(id)
    if not (await of(app, by)).within(found.project):
        raise NotFound(f"There is no conversation {id}.", fix="Ask for one of your own project.")
    return found


async def sieve(app: App, by: Principal) -> Sieve | None:
    """What keeps of the log the part that the caller may see; None for who sees everything."""
    sight = await of(app, by)
    return None if sight.all else _Part(app, sight).keep


class _Part:
    """The events of an agent, of its project, and of leases, which all projects share."""

    def __init__(self, app: App, sight: Sight) -> None:
        self._app = app
        self._sight = sight
        self._threads: dict[str, bool] = {}

    async def keep(self, events: Sequence[LoggedEvent]) -> Sequence[LoggedEvent]:
        return [event for event in events if await self._sees(event)]

    async def _sees(self, event: LoggedEvent) -> bool:
        if event.kind.startswith("lease.") or event.subject == self._sight.identity:
            return True
        if self._sight.within(event.data.get("project")):
            return True
        thread = event.data.get("conversation")
        if not thread:
            return False
        if thread not in self._threads:
            self._threads[thread] = await self._within(thread)
        return self._threads[thread]

    async def _within(self, thread: str) -> bool:
        try:
            found = await self._app.talk.conversation(thread)
        except NotFound:
            # A branch that was deleted since.
            return False
        return self._sight.within(found.project)
