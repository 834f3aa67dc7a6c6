"""One transaction as the services see it: every subject's records, and the store's clock."""

from __future__ import annotations

from mufakat.core.base import Millis
from mufakat.ports import coordination
from mufakat.ports import store as port
from mufakat.storage.agents import Agents
from mufakat.storage.conversations import Conversations
from mufakat.storage.credentials import Credentials
from mufakat.storage.cursors import Cursors
from mufakat.storage.events import Events
from mufakat.storage.gates import Gates
from mufakat.storage.inbox import Inbox
from mufakat.storage.instances import Instances
from mufakat.storage.keys import Keys
from mufakat.storage.leases import Leases
from mufakat.storage.members import Members
from mufakat.storage.messages import Messages
from mufakat.storage.notices import Notices
from mufakat.storage.packs import Packs
from mufakat.storage.projects import Projects
from mufakat.storage.reactions import Reactions
from mufakat.storage.rooms import Rooms
from mufakat.storage.scope import Scope
from mufakat.storage.turns import Turns


class Transaction:
    """The port's transaction over one scope."""

    __slots__ = (
        "_scope",
        "agents",
        "conversations",
        "credentials",
        "cursors",
        "events",
        "gates",
        "inbox",
        "instances",
        "keys",
        "leases",
        "members",
        "messages",
        "notices",
        "packs",
        "projects",
        "reactions",
        "rooms",
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
        self.cursors: port.Cursors = Cursors(scope)
        self.instances: coordination.Instances = Instances(scope)
        self.credentials: coordination.Credentials = Credentials(scope)
        self.members: coordination.Members = Members(scope)
        self.inbox: coordination.Inbox = Inbox(scope)
        self.leases: coordination.Leases = Leases(scope)
        self.gates: coordination.Gates = Gates(scope)
        self.notices: coordination.Notices = Notices(scope)
        self.reactions: coordination.Reactions = Reactions(scope)
        self.rooms: coordination.Rooms = Rooms(scope)

    def now(self) -> Millis:
        return self._scope.now
