"""Skills: what there is, the body for who may have it, and a person's consent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mufakat.core.base import Conflict, Event, NotAllowed, ProjectId
from mufakat.core.coordination.principal import Principal
from mufakat.core.knowledge import skill
from mufakat.core.knowledge.found import Found
from mufakat.core.knowledge.skill import Consent, State
from mufakat.core.pack import pull
from mufakat.core.talk.conversation import Project
from mufakat.ports import knowledge
from mufakat.ports.knowledge import Skill, Skip
from mufakat.ports.scrub import Scrub
from mufakat.ports.store import Store, Transaction
from mufakat.services.knowledge import place
from mufakat.services.knowledge.gathering import Subject

SOURCE = "skill"
MENTIONED = 3
"""Skills of one request whose bodies are told unasked."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A skill, and whether agents get it."""

    skill: Skill
    state: State


@dataclass(frozen=True, slots=True)
class Listing:
    """All skills of a project and of the person, and what was left out with its reason."""

    items: tuple[Shown, ...]
    skips: tuple[Skip, ...]


class Skills:
    """Lists skills, gives out bodies, keeps consent."""

    def __init__(self, store: Store, library: knowledge.Skills, scrub: Scrub) -> None:
        self._store = store
        self._library = library
        self._scrub = scrub

    async def list(self, by: Principal, project: str = "") -> Listing:
        """All, without bodies."""
        here, consents = await self._consents(by, project)
        items, skips = await self._library.list(Path(here.path))
        return Listing(tuple(_shown(self._clean(one), consents) for one in items), tuple(skips))

    async def get(self, by: Principal, name: str, project: str = "") -> Shown:
        """One with its body; a person reads it before they consent, an agent only afterwards.

        Raises NotFound, and NotAllowed where consent is missing.
        """
        here, consents = await self._consents(by, project)
        shown = _shown(self._clean(await self._library.get(Path(here.path), name)), consents)
        if not by.operator:
            _demand(shown)
        return shown

    async def consent(self, by: Principal, name: str, digest: str, project: str = "") -> Shown:
        """Let agents have a skill as it is now; raises Conflict where `digest` is of another text.

        Only a person consents.
        """
        if not by.operator:
            raise NotAllowed("Only a person consents to a skill.")
        here, _ = await self._consents(by, project)
        found = await self._library.get(Path(here.path), name)
        if found.digest != digest:
            raise Conflict(
                f"The skill {name} is not what was read: its digest is {found.digest}.",
                fix="Read it again, then consent to what it says now.",
                digest=found.digest,
            )

        def step(tx: Transaction) -> Consent:
            given = Consent(here.id, name, digest, tx.now(), by.identity)
            tx.consents.keep(given)
            data = {"project": here.id, "digest": digest, "by": by.identity}
            tx.events.record(Event("skill.consented", name, data))
            return given

        given = await self._store.write(step)
        return _shown(self._clean(found), {name: given})

    async def index(self, subject: Subject) -> Sequence[Found]:
        """What agents may pull, a line each; a skill that does not load says why."""
        items, _ = await self._library.list(subject.root)
        consents = await self._of(subject)
        return [_line(_shown(self._clean(one), consents)) for one in items]

    async def bodies(self, subject: Subject) -> Sequence[Found]:
        """The skill that a pull names; for a section, those whose name the request mentions.

        Raises NotFound for a name that there is not, and NotAllowed where consent is missing.
        """
        if subject.whole:
            return [await self._body(subject, subject.text.strip())]
        items, _ = await self._library.list(subject.root)
        named = [one.name for one in items if skill.mentions(subject.text, one.name)]
        return [await self._body(subject, name) for name in named[:MENTIONED]]

    async def _body(self, subject: Subject, name: str) -> Found:
        one = self._clean(await self._library.get(subject.root, name))
        _demand(_shown(one, await self._of(subject)))
        beside = "\n".join(f"- {one.path}/{file}" for file in one.files)
        text = f"{one.body}\n\nFiles beside it:\n{beside}" if beside else one.body
        head = f"skill {name} ({one.origin}, {one.digest[:12]}): {one.description}"
        return Found(f"skill:{name}", SOURCE, head, text, key=pull.key(pull.Kind.SKILL, name))

    async def _of(self, subject: Subject) -> Mapping[str, Consent]:
        project = subject.project
        if project is None:
            return {}
        return await self._store.read(lambda tx: _by_name(tx, project))

    async def _consents(self, by: Principal, name: str) -> tuple[Project, Mapping[str, Consent]]:
        def query(tx: Transaction) -> tuple[Project, Mapping[str, Consent]]:
            here = place.of(tx, by, name)
            return here, _by_name(tx, here.id)

        return await self._store.read(query)

    def _clean(self, one: Skill) -> Skill:
        return replace(
            one, description=self._scrub(one.description).text, body=self._scrub(one.body).text
        )


def _by_name(tx: Transaction, project: ProjectId) -> Mapping[str, Consent]:
    return {one.name: one for one in tx.consents.of(project)}


def _line(shown: Shown) -> Found:
    """A skill in the index; the words of one that nobody has agreed to are not told either."""
    name = shown.skill.name
    why = skill.why_not(name, shown.state)
    text = f"{name}: not loaded, {why}" if why else skill.line(name, shown.skill.description)
    return Found(f"skill:{name}", SOURCE, text, text, key=pull.key(pull.Kind.SKILL, name), why=why)


def _shown(one: Skill, consents: Mapping[str, Consent]) -> Shown:
    return Shown(one, skill.state(one.origin, one.digest, consents.get(one.name)))


def _demand(shown: Shown) -> None:
    if not shown.state.loads:
        name = shown.skill.name
        raise NotAllowed(
            f"Not loaded: {skill.why_not(name, shown.state)}.",
            fix=f"A person reads it and runs: mufakat skills consent {name}",
            state=shown.state.value,
        )
