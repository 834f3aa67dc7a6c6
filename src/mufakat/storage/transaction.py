"""One transaction as the services see it: every subject's records, and the store's clock."""

from __future__ import annotations

from mufakat.core.base import Millis
from mufakat.ports import store as port
from mufakat.storage.agents import Agents
from mufakat.storage.conversations import Conversations
from mufakat.storage.events import Events
from mufakat.storage.keys import Keys
from mufakat.storage.messages import Messages
from mufakat.storage.packs import Packs
from mufakat.storage.projects import Projects
from mufakat.storage.scope import Scope
from mufakat.storage.turns import Turns


class Transaction:
    """The port's transaction over one scope."""

    __slots__ = (
        "_scope",
        "agents",
        "conversations",
        "events",
        "keys",
        "messages",
        "packs",
        "projects",
        "turns",
    )

    def __init__(self, scope: Scope) -> None:
        self._scope = scope
        self.projects: port.Projects = Projects(scope)
        self.conversations: port.Conversations = Conversations(scope)
        self.messages: port.Messages = Messages(scope)
        self.agents: port.Agents = Agents(scope)
        self.turns: port.Turns = Turns(scope)
        self.packs: port.Packs = Packs(scope)
        self.events: port.Events = Events(scope)
        self.keys: port.Keys = Keys(scope)

    def now(self) -> Millis:
        return self._scope.now
