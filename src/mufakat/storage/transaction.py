"""One transaction as the services see it: every subject's records, and the store's clock."""

from __future__ import annotations

from mufakat.core.base import Millis
from mufakat.ports import branches as branch_port
from mufakat.ports import coordination, deliberation, documents
from mufakat.ports import recall as recall_port
from mufakat.ports import store as port
from mufakat.storage.agents import Agents
from mufakat.storage.branches import Branches
from mufakat.storage.consents import Consents
from mufakat.storage.conversations import Conversations
from mufakat.storage.credentials import Credentials
from mufakat.storage.cursors import Cursors
from mufakat.storage.decisions import Decisions
from mufakat.storage.events import Events
from mufakat.storage.gates import Gates
from mufakat.storage.imports import Imports
from mufakat.storage.inbox import Inbox
from mufakat.storage.instances import Instances
from mufakat.storage.keys import Keys
from mufakat.storage.leases import Leases
from mufakat.storage.links import Links
from mufakat.storage.members import Members
from mufakat.storage.messages import Messages
from mufakat.storage.notes import Notes
from mufakat.storage.notices import Notices
from mufakat.storage.packs import Packs
from mufakat.storage.projects import Projects
from mufakat.storage.reactions import Reactions
from mufakat.storage.recall import Recall
from mufakat.storage.rooms import Rooms
from mufakat.storage.roundtables import Roundtables
from mufakat.storage.scope import Scope
from mufakat.storage.topics import Topics
from mufakat.storage.turns import Turns
from mufakat.storage.usage import Usages
from mufakat.storage.vectors import Vectors


class Transaction:
    """The port's transaction over one scope."""

    __slots__ = (
        "_scope",
        "agents",
        "branches",
        "consents",
        "conversations",
        "credentials",
        "cursors",
        "decisions",
        "events",
        "gates",
        "imports",
        "inbox",
        "instances",
        "keys",
        "leases",
        "links",
        "members",
        "messages",
        "notes",
        "notices",
        "packs",
        "projects",
        "reactions",
        "recall",
        "rooms",
        "roundtables",
        "topics",
        "turns",
        "usage",
        "vectors",
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
        self.recall: recall_port.Recall = Recall(scope)
        self.topics: port.Topics = Topics(scope)
        self.consents: documents.Consents = Consents(scope)
        self.notes: documents.Notes = Notes(scope)
        self.links: documents.Links = Links(scope)
        self.imports: documents.Imports = Imports(scope)
        self.usage: port.Usages = Usages(scope)
        self.vectors: recall_port.Vectors = Vectors(scope)
        self.branches: branch_port.Branches = Branches(scope)
        self.roundtables: deliberation.Roundtables = Roundtables(scope)
        self.decisions: deliberation.Decisions = Decisions(scope)

    def now(self) -> Millis:
        return self._scope.now
